"""A sweep from its question to its result: what is kept is reused, the rest is run and kept.

::

    sweeps/h3/dv-2048-3f9c21ab04de/    name = what was asked
        scenario.toml                  of the first point that could be run
        points.parquet                 a row for each point: keys, remarks, what went wrong
        values.parquet                 a row for each number of each replication
        points.csv                     the estimates, a row for each point, with units in the head
        manifest.json                  what was asked, where it came from, hashes of the others
        sensitivity.csv                the indices, if they were asked for

All but the manifest have the same bytes for the same sweep.
"""

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

import pandas as pd

from dvsim.contract.find import kind_of
from dvsim.contract.kind import How
from dvsim.contract.load import Template, template
from dvsim.core.code import code_version
from dvsim.scenario.override import Override
from dvsim.scenario.render import to_toml
from dvsim.study.design import Design, Plan
from dvsim.study.execute import DEFAULT_PRECISION, check_asked, check_precision, execute
from dvsim.study.folder import SCENARIO, clear_room, keep, make_room
from dvsim.study.parquet import to_parquet
from dvsim.study.precision import MOST
from dvsim.study.sweeps.executors import (
    Chunks,
    Outcome,
    PointTrial,
    Refused,
    keys_of,
    text_or_number,
    trials_of,
)
from dvsim.study.sweeps.grid import Point
from dvsim.study.swept import CSV, POINTS, REMARKS, ROWS, by_point, columns_of, headings
from dvsim.study.table import csv_text
from dvsim.table.manifest import Swept, build_manifest
from dvsim.table.metrics import VALUES, in_order
from dvsim.table.result import SWEEP, Result

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
        outcomes = iter((yield self.valid))
        return [
            next(outcomes) if isinstance(trial, PointTrial) else Outcome(error=trial.error)
            for trial in self.trials
        ]

    @property
    def valid(self) -> list[PointTrial]:
        """The points that can be run."""
        return [trial for trial in self.trials if isinstance(trial, PointTrial)]

    def files(self, swept: Result) -> Mapping[str, bytes]:
        """Return what else the folder of the sweep has, by name."""
        return {}

    def folder(self, root: Path) -> Path:
        """Return where the sweep is kept."""
        parts = [part for part in self.name.split("/") if part not in {"", ".", ".."}]
        return root.joinpath(*parts[:-1], f"{parts[-1]}-{self.digest}")

    @property
    def asked(self) -> tuple[str, int, int | None, float | None]:
        """Version, seed, replications and precision."""
        times = self.how.replications if self.precision is None else None
        return self.how.version, self.how.seed, times, self.precision

    @property
    def digest(self) -> str:
        """Twelve hex digits of everything that the result depends on."""
        identities = [
            trial.folder if isinstance(trial, PointTrial) else trial.error for trial in self.trials
        ]
        text = json.dumps([SWEEP, self.name, list(map(str, self.points)), identities, self.asked])
        return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


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
            `dvsim.study.precision`; 0.05 unless either is given.
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
) -> Result:
    """Run what is not kept yet, keep it, and return the result.

    Args:
        sweep: As `prepare` gives it.
        out: Where run folders go; None keeps none.
        sweeps: Where the folder of the sweep goes; None keeps none.
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
    scenario = sweep.valid[0].scenario
    about, points, values = _rows(sweep, outcomes, out)
    most = int(points["replications"].max()) or sweep.how.replications
    manifest = build_manifest(
        sweep.name,
        version=sweep.how.version,
        seed=sweep.how.seed,
        replications=most,
        backend=SWEEP,
        command=command,
        started=started,
        wall_s=by.took_s,
        swept=about,
    )
    swept = Result(scenario, sweep.how.seed, most, None, manifest, values, {"points": points})
    more = sweep.files(swept)
    if sweeps is None:
        return swept
    table = by_point(swept)
    contents = {
        SCENARIO: to_toml(scenario).encode(),
        POINTS: to_parquet(points, columns_of(about.types)),
        ROWS: to_parquet(values, VALUES),
        CSV: csv_text(headings(swept, table), table.itertuples(index=False, name=None)).encode(),
        **more,
    }
    folder = sweep.folder(sweeps)
    return replace(swept, folder=folder, manifest=keep(folder, contents, manifest))


def _rows(
    sweep: Sweep, outcomes: Sequence[Outcome], out: Path | None
) -> tuple[Swept, pd.DataFrame, pd.DataFrame]:
    keys, units = keys_of(sweep.points)
    of_metrics: dict[str, str] = {}
    rows: list[dict[str, Any]] = []
    found: list[tuple[int, int, str, float]] = []
    together = _together(sweep)
    for trial, outcome in zip(sweep.trials, outcomes, strict=True):
        own = keys[trial.number]
        if outcome.error:
            rows.append({**dict.fromkeys(REMARKS, ""), **own, "error": outcome.error})
            rows[-1] |= {"replications": 0, "precision": math.nan}
            continue
        assert isinstance(trial, PointTrial)
        fixed = {key: text_or_number(trial.scenario.get(key)) for key in together}
        of_metrics |= kind_of(trial.scenario).metrics(trial.scenario)
        first = len(rows)
        found += [(first + at, times, name, value) for at, times, name, value in outcome.values]
        rows += [fixed | dict(at) | own for at in outcome.points]
    every = list(dict.fromkeys([*keys[0], *(key for row in rows for key in row)]))
    every = [key for key in every if key not in REMARKS]
    types = {}
    for key in every:
        numeric = all(isinstance(row.get(key, 0.0), float | int) for row in rows)
        types[key] = "float64" if numeric else "str"
        for row in rows:
            row.setdefault(key, math.nan if numeric else "")
    points = pd.DataFrame(rows).assign(point=range(len(rows))).astype(columns_of(types))
    if out is None:
        points["run"] = ""
    names = in_order([row[2] for row in found], kind_of(sweep.valid[0].scenario).first)
    about = Swept(
        kind=sweep.valid[0].scenario.KIND,
        digest=sweep.digest,
        points=len(sweep.points),
        replications=sweep.asked[2],
        precision=sweep.precision,
        runs=None if out is None else str(out),
        failed=int((points["error"] != "").sum()),
        keys=every,
        results=names,
        units={key: units.get(key, "") for key in every}
        | {name: of_metrics[name] for name in names},
        types=types,
    )
    return about, points[[*columns_of(types)]], _values(found)


def _values(found: Sequence[tuple[int, int, str, float]]) -> pd.DataFrame:
    point, replication, metric, value = zip(*found, strict=True) if found else ((), (), (), ())
    columns = {"point": point, "replication": replication, "iteration": 0, "component": ""}
    columns |= {"instance": 0, "metric": metric, "value": value}
    return pd.DataFrame(columns, columns=list(VALUES)).astype(dict(VALUES))


def _together(sweep: Sweep) -> list[str]:
    """Return what the scenario varies together with keys of the sweep, if it differs.

    Each point has one value of it then, and no row of its own for each.
    """
    scenarios = [trial.scenario for trial in sweep.valid]
    swept = {key.rpartition(".")[2] for key, _ in sweep.points[0].values}
    fixed = [key for key in sweep.own_keys if key not in swept]
    values = {key: {text_or_number(one.get(key)) for one in scenarios} for key in fixed}
    return [
        key
        for key, own in values.items()
        if len(own) > 1 and not any(key in one.keys for one in scenarios)
    ]
