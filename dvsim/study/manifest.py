"""Where a run came from: enough to repeat it, and to see why a repetition differs.

The manifest holds times and a host, so it differs between two equal runs; the samples, the summary
and the resolved scenario do not, and their SHA-256 sums are in it.
"""

import hashlib
import json
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from dvsim.machine import machine_facts
from dvsim.scenario.find import reference_root
from dvsim.scenario.sampled import Sampled
from dvsim.scenario.types import Card
from dvsim.scenario.units import Law

FORMAT = 5  # raised when the columns of a table, or the names of folders, change
_DIGEST_BYTES = 16


def build_manifest(
    name: str,
    *,
    version: str,
    seed: int,
    replications: int,
    backend: str,
    command: str | Sequence[str],
    started: datetime,
    wall_s: float,
    known: Mapping[str, Any],
) -> dict[str, Any]:
    """Return what is known about a run, a study or a sweep that has just finished; JSON types only.

    Args:
        name: Of the scenario.
        version, seed, replications, backend: What was asked, and of which code.
        command: The words of the command line, or the Python call, that asked for it.
        started: Time zone aware; stored in UTC.
        wall_s: Seconds of work: the wall time of every task, added up, in whichever process it ran.
            With several workers the answer is there sooner.
        known: What else there is to say, such as `run_facts`; JSON types.
    """
    return {
        "format": FORMAT,
        "version": version,
        "git": _own_git(),
        "scenario": name,
        "seed": seed,
        "replications": replications,
        "backend": backend,
        "host": machine_facts(),
        "command": command if isinstance(command, str) else list(command),
        "started": started.astimezone(UTC).isoformat(timespec="seconds"),
        "wall_s": round(wall_s, 3),
        "files": {},  # name -> {"bytes", "sha256"}; filled in when the folder is written
        **known,
    }


def run_facts(
    scenario: Sampled, counters: pd.DataFrame, emulated: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return what the manifest of a run of a system says besides.

    Args:
        scenario: What was run: its cards and reference are named with their hashes.
        counters: Component ``run`` gives the simulated seconds and the events, summed over
            replications and iterations.
        emulated: What is known of an emulated run (JSON types): question, scale, brokers, commands.
            It has no simulated seconds and events.
    """
    facts: dict[str, Any] = {
        "cards": [
            {"role": role, "name": card.name, "kind": card.kind, "blake2b": card_hash(card)}
            for role, card in scenario.system.cards.items()
        ],
        "reference": _reference_files(scenario),
    }
    if emulated is not None:
        return facts | {"emulated": dict(emulated)}
    return facts | {
        "simulated_s": _total(counters, "simulated_s"),
        "events": round(_total(counters, "events")),
    }


def asked_json(result: Any) -> dict[str, Any]:  # noqa: ANN401 - a run or a study
    """Return what a result answers, and where it is kept, as JSON types."""
    return {
        "scenario": result.scenario.name,
        "seed": result.seed,
        "replications": result.replications,
        "folder": None if result.folder is None else str(result.folder),
    }


def card_hash(card: Card) -> str:
    """Return 32 hex digits that change with any parameter, source or confidence of a card."""
    content = {
        name: [
            [p.value.fixed_ps, p.value.per_byte_fs] if isinstance(p.value, Law) else p.value,
            p.dimension,
            p.confidence,
            p.source,
            p.fitted,
        ]
        for name, p in card.parameters.items()
    }
    text = json.dumps([card.name, card.kind, content], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=_DIGEST_BYTES).hexdigest()


@cache  # the code that runs is what was imported, whatever is edited meanwhile
def _own_git() -> dict[str, Any] | None:
    return git_state(Path(__file__).resolve().parents[2])


def git_state(root: Path) -> dict[str, Any] | None:
    """Return commit and dirty flag of the checkout at `root`; None if it is not one.

    A package that is installed inside some other project's checkout is not of that checkout, so
    `root` itself must hold ``.git``.
    """
    if not (root / ".git").exists():
        return None
    commit = _git(root, "rev-parse", "HEAD")
    status = _git(root, "status", "--porcelain")
    if commit is None or status is None:
        return None
    return {"commit": commit, "dirty": status != ""}


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _reference_files(scenario: Sampled) -> list[dict[str, str]]:
    if scenario.reference is None:
        return []
    path = reference_root() / scenario.reference.file
    try:
        digest = hashlib.blake2b(path.read_bytes(), digest_size=_DIGEST_BYTES).hexdigest()
    except OSError:  # the run does not need it; a comparison will say that it is missing
        return []
    return [{"name": scenario.reference.file, "blake2b": digest}]


def _total(counters: pd.DataFrame, metric: str) -> float:
    rows = zip(*(counters[name].tolist() for name in ("component", "metric", "value")), strict=True)
    return float(
        sum(value for component, name, value in rows if (component, name) == ("run", metric))
    )
