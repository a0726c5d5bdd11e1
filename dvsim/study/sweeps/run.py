"""A sweep from its question to its table: what is kept is reused, the rest is run and kept."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dvsim.asked import DEFAULT_REPLICATIONS, check_asked, check_precision
from dvsim.backends.code import code_version
from dvsim.backends.pool import default_workers
from dvsim.kinds.base import How, kind_of
from dvsim.kinds.load import Template, template
from dvsim.progress import Part, Progress
from dvsim.results.kept import keep_many
from dvsim.results.manifest import build_manifest
from dvsim.results.precision import shares_of
from dvsim.results.statistics import STEPS
from dvsim.results.swept import KIND, LAST, Row, Swept, tabulate, write_swept
from dvsim.scenario.spec import Spec
from dvsim.study.sweeps.asked import Asked, Found, Refused, ask, cached, keys_of
from dvsim.study.sweeps.executors import done, executor
from dvsim.study.sweeps.plan import Point
from dvsim.study.sweeps.shard import Shard

SWEEPS = Path("sweeps")


@dataclass(frozen=True)
class Sweep:
    """A sweep that is ready to be run: every point is checked.

    Attributes
    ----------
    name
        Of the scenario.
    points
        What is varied.
    asked
        Each of them as it is run.
    how
        Version, seed and replications.
    precision
        How well each point shall be known instead, see `dvsim.results.precision`.
    """

    name: str
    points: Sequence[Point]
    asked: Sequence[Asked | Refused]
    how: How
    precision: float | None = None

    @property
    def digest(self) -> str:
        """Twelve hex digits of everything that the table depends on."""
        told = [one.folder if isinstance(one, Asked) else one.error for one in self.asked]
        text = json.dumps([KIND, self.name, list(map(str, self.points)), told, self._how])
        return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()

    @property
    def _how(self) -> list[Any]:
        times = self.how.replications if self.precision is None else None
        return [self.how.version, self.how.seed, times, self.precision]

    def folder(self, root: Path, shard: Shard | None = None) -> Path:
        """Return where the table of the sweep, or of a shard of it, is kept."""
        parts = [part for part in self.name.split("/") if part not in {"", ".", ".."}]
        whole = root.joinpath(*parts[:-1], f"{parts[-1]}-{self.digest}")
        return whole if shard is None else parts_of(whole) / shard.name

    def part(self, shard: Shard | None) -> list[Asked | Refused]:
        """Return the points of a shard."""
        return [one for one in self.asked if shard is None or shard.has(one.number)]

    def about(self, shard: Shard | None) -> dict[str, Any]:
        """Return what was asked, as JSON types; the same for all shards but for its own name."""
        version, seed, replications, precision = self._how
        return {
            "digest": self.digest,
            "points": len(self.points),
            "version": version,
            "seed": seed,
            "replications": replications,
            "precision": precision,
            "shard": None if shard is None else [shard.number, shard.count],
        }


def parts_of(folder: Path) -> Path:
    """Return where the shards of a sweep are: beside its folder, which is replaced as a whole."""
    return folder.with_name(f"{folder.name}.parts")


def prepare(
    scenario: str | os.PathLike[str] | Template,
    points: Sequence[Point],
    *,
    overrides: Sequence[str] = (),
    seed: int = 1,
    replications: int | None = None,
    precision: float | None = None,
    scale: float | None = None,
) -> Sweep:
    """Check every point of a sweep.

    Parameters
    ----------
    scenario
        A name, a path, or a file that was read.
    points
        As `dvsim.study.sweeps.plan.plan` gives them.
    overrides, seed, replications, scale
        As for one run; `replications` is 10 unless given.
    precision
        Instead of `replications`: 3 to 30 for each point, until it is known so well, see
        `dvsim.results.precision`.

    Raises
    ------
    ScenarioError
        If no point is valid; points that are not stay in the table, with their faults.
    """
    times = DEFAULT_REPLICATIONS["sim"] if replications is None else replications
    check_asked(seed=seed, replications=times, scale=scale)
    if precision is not None:
        check_precision(precision)
    steps = (times,) if precision is None else STEPS
    how = How(code_version(), seed, steps[0], None)
    base = scenario if isinstance(scenario, Template) else template(scenario)
    asked = ask(base, points, overrides, how, scale, steps)
    name = next(one.scenario.name for one in asked if isinstance(one, Asked))
    return Sweep(name, points, asked, how, precision)


def run(
    sweep: Sweep,
    *,
    out: Path | None = Path("runs"),
    sweeps: Path | None = SWEEPS,
    shard: Shard | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    force: bool = False,
    progress: bool = False,
    command: str | Sequence[str] = "dvsim.sweep(...)",
    explain: Callable[[Swept], Mapping[str, bytes]] | None = None,
) -> Swept:
    """Run what is not kept yet, keep it, and return the table.

    Parameters
    ----------
    sweep
        As `prepare` gives it.
    out
        Where run folders go; None keeps none.
    sweeps
        Where the folder of the table goes; None keeps none.
    shard
        Run this part only.
    workers
        Processes; None takes one for each core.
    scheduler
        Of a dask cluster, see `dvsim.study.sweeps.executors.executor`.
    force
        Run again, even if the answers are kept.
    progress
        Show progress on stderr.
    command
        For the manifests.
    explain
        Gives more files for the folder of the table, by name.

    Raises
    ------
    RunFailed
        If a worker dies. What was done is kept; run it again to go on.
    OutputError
        If a folder cannot be written.
    """
    check_asked(seed=sweep.how.seed, workers=workers)
    started = datetime.now(UTC)
    part = sweep.part(shard)
    asked = [one for one in part if isinstance(one, Asked)]
    state = cached(None if force else out, asked, sweep.how, sweep.precision)
    found, wrong = dict(state.found), dict(state.wrong)
    wrong |= {one.number: one.error for one in part if isinstance(one, Refused)}
    missing = {one.folder: one for one in state.missing}
    took_s = 0.0
    if missing:
        processes = min(workers or default_workers(), len(missing))
        parts: dict[Hashable, Part] = {
            one.number: Part(1, _expected_s(one.scenario)) for one in missing.values()
        }
        with (
            Progress(len(missing), visible=progress, what="points", parts=parts) as shown,
            executor(processes, scheduler) as by,
        ):
            todo = list(missing.values())
            for some in done(todo, sweep.how, sweep.precision, command, by):
                good = [one for one in some if not one.error]
                runs = [run for one in good for run in one.runs]
                if out is not None and runs:
                    keep_many({out / run.folder: (run.contents, run.manifest) for run in runs})
                found |= {one.number: one.found for one in good}
                wrong |= {one.number: one.error for one in some if one.error}
                took_s += sum(one.took_s for one in some)
                for one in some:
                    shown.done(sweep.name, 1, {}, one.number, one.took_s)
        _share(asked, missing, found, wrong)
    swept = _table(sweep, part, found, wrong, out)
    swept = replace(swept, manifest=_manifest(sweep, shard, swept, started, took_s, command, out))
    more = {} if explain is None else explain(swept)
    if sweeps is None:
        return swept
    return write_swept(swept, sweep.folder(sweeps, shard), more)


def _expected_s(scenario: Spec) -> float:
    """Return about how long a replication takes at all points of a scenario."""
    kind = kind_of(scenario)
    return sum(float(kind.seconds(scenario.at(n))) for n in range(len(scenario.points)))


def _share(
    asked: Sequence[Asked],
    ran: Mapping[str, Asked],
    found: dict[int, Found],
    wrong: dict[int, str],
) -> None:
    """Give points that ask the same, and were run once, the same answer."""
    for one in asked:
        other = ran.get(one.folder, one).number
        if other in found:
            found.setdefault(one.number, found[other])
        elif other in wrong:
            wrong.setdefault(one.number, wrong[other])


def _table(
    sweep: Sweep,
    part: Sequence[Asked | Refused],
    found: Mapping[int, Found],
    wrong: Mapping[int, str],
    out: Path | None,
) -> Swept:
    keys, units = keys_of(sweep.points)
    units = dict(units)
    rows = []
    for one in part:
        own = keys[one.number]
        if one.number in wrong:
            rows.append(Row(one.number, own, {}, error=wrong[one.number]))
            continue
        assert isinstance(one, Asked)
        keyed, times, folder = found[one.number]
        shares = shares_of(keyed, kind_of(one.scenario).headline)[1]
        for item, share in zip(keyed, shares, strict=True):
            all_keys = {**own, **{k: v for k, v in item.inner.items() if k not in own}}
            units |= {key: "" for key in item.inner if key not in units}
            known = kind_of(one.scenario).metrics(one.scenario)
            units |= {name: known[name] for name in item.results}
            known_to = share if times > 1 else math.nan
            said = (times, known_to, item.bottleneck, item.note, "" if out is None else folder)
            rows.append(Row(one.number, all_keys, item.results, *said))
    table, names = tabulate(rows, list(keys[0]))
    every = tuple(
        str(name) for name in table.columns[1 : len(table.columns) - 3 * len(names) - len(LAST)]
    )
    return Swept(sweep.name, every, tuple(names), units, table, {})


def _manifest(
    sweep: Sweep,
    shard: Shard | None,
    swept: Swept,
    started: datetime,
    took_s: float,
    command: str | Sequence[str],
    out: Path | None,
) -> dict[str, Any]:
    known = {
        "asked": sweep.about(shard),
        "runs": None if out is None else str(out),
        "failed": len(swept.failed),
    }
    return build_manifest(
        sweep.name,
        version=sweep.how.version,
        seed=sweep.how.seed,
        replications=swept.replications[1] or sweep.how.replications,
        backend=KIND,
        command=command,
        started=started,
        wall_s=took_s,
        known=known,
    )
