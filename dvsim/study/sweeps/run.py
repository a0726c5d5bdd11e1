"""A sweep from its question to its table: what is kept is reused, the rest is run and kept."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dvsim.contract.find import kind_named, kind_of
from dvsim.contract.kind import How
from dvsim.contract.load import Template, template
from dvsim.core.code import code_version
from dvsim.scenario.override import Override
from dvsim.study.arguments import DEFAULT_PRECISION, check_asked, check_precision
from dvsim.study.design import Design, Plan
from dvsim.study.execute import execute
from dvsim.study.folder import clear_room, make_room
from dvsim.study.manifest import build_manifest
from dvsim.study.point_numbers import text_or_number
from dvsim.study.precision import shares_of
from dvsim.study.stopping import MOST
from dvsim.study.sweep_table import KIND, LAST, Row, SweepResult, tabulate, write_swept
from dvsim.study.sweeps.executors import Chunks, Outcome, PointTrial, Refused, keys_of, trials_of
from dvsim.study.sweeps.grid import Point

SWEEPS = Path("sweeps")


@dataclass(eq=False)
class Sweep(Design[PointTrial, list[Outcome]]):
    """Many points of one scenario, each checked; the answer is what came of each, in order."""

    name: str  # of the scenario
    points: Sequence[Point]  # what is varied
    trials: Sequence[PointTrial | Refused]  # each of them as it is run
    how: How  # version, seed and replications
    # How well each point shall be known instead, see `dvsim.study.precision`.
    precision: float | None = None
    own_keys: Sequence[str] = ()  # what the scenario varies itself

    def plan(self) -> Plan[PointTrial, list[Outcome]]:
        """Ask for all points that are valid."""
        outcomes = iter((yield [trial for trial in self.trials if isinstance(trial, PointTrial)]))
        return [
            next(outcomes) if isinstance(trial, PointTrial) else Outcome(error=trial.error)
            for trial in self.trials
        ]

    @property
    def kind(self) -> str:
        """The kind of its scenario."""
        valid = (trial for trial in self.trials if isinstance(trial, PointTrial))
        return next(valid).scenario.KIND

    @property
    def digest(self) -> str:
        """Twelve hex digits of everything that the table depends on."""
        identities = [
            trial.folder if isinstance(trial, PointTrial) else trial.error for trial in self.trials
        ]
        text = json.dumps([KIND, self.name, list(map(str, self.points)), identities, self._how])
        return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()

    @property
    def _how(self) -> list[Any]:
        times = self.how.replications if self.precision is None else None
        return [self.how.version, self.how.seed, times, self.precision]

    def files(self, swept: SweepResult) -> Mapping[str, bytes]:
        """Return what else the folder of the table has, by name."""
        return {}

    def folder(self, root: Path) -> Path:
        """Return where the table of the sweep is kept."""
        parts = [part for part in self.name.split("/") if part not in {"", ".", ".."}]
        return root.joinpath(*parts[:-1], f"{parts[-1]}-{self.digest}")

    def about(self) -> dict[str, Any]:
        """Return what was asked, as JSON types."""
        version, seed, replications, precision = self._how
        return {
            "digest": self.digest,
            "points": len(self.points),
            "version": version,
            "seed": seed,
            "replications": replications,
            "precision": precision,
        }


def prepare(
    scenario: str | os.PathLike[str] | Template,
    points: Sequence[Point],
    *,
    overrides: Sequence[Override] = (),
    seed: int = 1,
    replications: int | None = None,
    precision: float | None = None,
    scale: float | None = None,
    progress: bool = False,
) -> Sweep:
    """Check every point of a sweep.

    Args:
        scenario: A name, a path, or a file that was read.
        points: As `dvsim.study.sweeps.grid.plan` gives them.
        overrides, seed, replications, scale: As for one run.
        precision: Instead of `replications`: 3 to 30 for each point, as a pilot says, see
            `dvsim.study.stopping`; 0.05 unless either is given.
        progress: Show on stderr how many of many points are checked.
    """
    if precision is None and replications is None:
        precision = DEFAULT_PRECISION
    if precision is not None:
        check_precision(precision)
    times = MOST if replications is None else replications
    check_asked(seed=seed, replications=times, scale=scale)
    how = How(code_version(), int(seed), int(times), None)
    base = scenario if isinstance(scenario, Template) else template(scenario)
    trials = trials_of(base, points, overrides, how, scale, progress)
    name = next(trial.scenario.name for trial in trials if isinstance(trial, PointTrial))
    tables = base.document.data.get("vary", [])
    return Sweep(name, points, trials, how, precision, [key for own in tables for key in own])


def run(
    sweep: Sweep,
    *,
    out: Path | None = Path("runs"),
    sweeps: Path | None = SWEEPS,
    workers: int | None = None,
    scheduler: str | None = None,
    force: bool = False,
    progress: bool = False,
    command: str | Sequence[str] = "dvsim.sweep(...)",
) -> SweepResult:
    """Run what is not kept yet, keep it, and return the table.

    Args:
        sweep: As `prepare` gives it.
        out: Where run folders go; None keeps none.
        sweeps: Where the folder of the table goes; None keeps none.
        workers: Processes; None takes one for each core.
        scheduler: Of a dask cluster, see `dvsim.study.sweeps.executors.executor`.
        force: Run again, even if the answers are kept.
        progress: Show progress on stderr.
        command: For the manifests.
    """
    check_asked(seed=sweep.how.seed, workers=workers)
    started = datetime.now(UTC)
    by = Chunks(sweep.name, sweep.how, sweep.precision, None if force else out, out)
    by = replace(by, workers=workers, scheduler=scheduler, progress=progress, command=command)
    room = [] if sweeps is None else make_room(sweep.folder(sweeps))
    try:
        outcomes = execute(sweep, by)
    except BaseException:  # Ctrl-C too
        clear_room(room)
        raise
    swept = _table(sweep, outcomes, out)
    swept = replace(swept, manifest=_manifest(sweep, swept, started, by.took_s, command, out))
    files = sweep.files(swept)
    return swept if sweeps is None else write_swept(swept, sweep.folder(sweeps), files)


def _table(sweep: Sweep, outcomes: Sequence[Outcome], out: Path | None) -> SweepResult:
    keys, units = keys_of(sweep.points)
    units, rows = dict(units), []
    together = _together(sweep)
    for trial, (point_numbers, times, folder, error) in zip(sweep.trials, outcomes, strict=True):
        own = keys[trial.number]
        if error:
            rows.append(Row(trial.number, own, {}, error=error))
            continue
        assert isinstance(trial, PointTrial)
        shares = shares_of(point_numbers, kind_of(trial.scenario).headline)[1]
        for item, share in zip(point_numbers, shares, strict=True):
            fixed = {key: text_or_number(trial.scenario.get(key)) for key in together}
            all_keys = own | {k: v for k, v in (fixed | dict(item.inner)).items() if k not in own}
            units |= {key: "" for key in all_keys if key not in units}
            known = kind_of(trial.scenario).metrics(trial.scenario)
            units |= {name: known[name] for name in item.results}
            known_to = share if times > 1 else math.nan
            remarks = (times, known_to, item.bottleneck, item.note, "" if out is None else folder)
            rows.append(Row(trial.number, all_keys, item.results, *remarks))
    table, names = tabulate(rows, list(keys[0]), kind_named(sweep.kind).first)
    every = tuple(
        str(name) for name in table.columns[1 : len(table.columns) - 3 * len(names) - len(LAST)]
    )
    return SweepResult(sweep.name, every, tuple(names), units, table, {})


def _together(sweep: Sweep) -> list[str]:
    """Return what the scenario varies together with keys of the sweep, if it differs.

    Each point has one value of it then, and no row of its own for each.
    """
    scenarios = [trial.scenario for trial in sweep.trials if isinstance(trial, PointTrial)]
    swept = {key.rpartition(".")[2] for key, _ in sweep.points[0].values}
    fixed = [key for key in sweep.own_keys if key not in swept]
    values = {key: {text_or_number(one.get(key)) for one in scenarios} for key in fixed}
    return [
        key
        for key, own in values.items()
        if len(own) > 1 and not any(key in one.keys for one in scenarios)
    ]


def _manifest(
    sweep: Sweep,
    swept: SweepResult,
    started: datetime,
    took_s: float,
    command: str | Sequence[str],
    out: Path | None,
) -> dict[str, Any]:
    kept_in = None if out is None else str(out)
    return build_manifest(
        sweep.name,
        version=sweep.how.version,
        seed=sweep.how.seed,
        replications=swept.replications[1] or sweep.how.replications,
        backend=KIND,
        command=command,
        started=started,
        wall_s=took_s,
        known={
            "kind": sweep.kind,
            "asked": sweep.about(),
            "runs": kept_in,
            "failed": len(swept.failed),
        },
    )
