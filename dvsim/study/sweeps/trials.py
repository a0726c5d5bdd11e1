"""Each point as a checked scenario: what is run, where it is kept, and what is there already."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from dvsim.contract.find import kind_of
from dvsim.contract.kind import How
from dvsim.contract.load import Template
from dvsim.errors import Argument, Fault, RunFailed, ScenarioError
from dvsim.progress import Progress
from dvsim.scenario.document import OVERRIDES
from dvsim.scenario.override import Override
from dvsim.scenario.render import to_toml
from dvsim.scenario.spec import Spec
from dvsim.study.arguments import check_extent
from dvsim.study.folder import SCENARIO, another, broken, is_there, read_checked, read_manifest
from dvsim.study.parquet import from_parquet
from dvsim.study.point_numbers import PointNumbers
from dvsim.study.precision import shares_of
from dvsim.study.stopping import PILOT, needed, pilot_seed
from dvsim.study.store import find_kept, folder_of
from dvsim.study.sweeps.points import Point, setting_of
from dvsim.study.sweeps.values import PLAIN, number_of

VARY = Argument("vary")
MANY = 5_000  # points that take some seconds to be checked


@dataclass(frozen=True)
class PointTrial:
    """A point that can be run."""

    number: int  # of the point, from 0
    scenario: Spec  # resolved and scaled
    folder: str  # of its run, below the root of runs, with ``/``
    digest: str  # SHA-256 of the scenario as its runs keep it
    # How many replications it gets; None of one whose pilot is still to be run.
    times: int | None = None
    begun: Any = None  # the run of fewer replications that is kept


@dataclass(frozen=True)
class Refused:
    """A point that is no valid scenario."""

    number: int
    error: str


class Outcome(NamedTuple):
    """What came of a point."""

    point_numbers: Sequence[PointNumbers] = ()  # its numbers
    replications: int = 0  # over how many they are
    folder: str = ""  # of that run, below the root of runs
    error: str = ""  # what went wrong instead; empty if nothing did


def trials_of(
    template: Template,
    points: Sequence[Point],
    overrides: Sequence[Override],
    how: How,
    scale: float | None = None,
    progress: bool = False,
) -> list[PointTrial | Refused]:
    """Check every point.

    Args:
        template: The scenario as its files have it.
        points: What is varied.
        overrides: What is set in all points.
        how, scale: As in `dvsim.session.run_scenarios`.
        progress: Show on stderr how many of `MANY` points or more are checked.
    """
    varied = {key for point in points for key, _ in point.values}
    if twice := template.twice([*overrides, *points[0].settings]):
        raise ScenarioError(twice)
    trials: list[PointTrial | Refused] = []
    first: ScenarioError | None = None
    alone: set[str] = set()  # keys whose values were checked each by itself
    with Progress(
        len(points), visible=progress and len(points) > MANY, what="points checked"
    ) as shown:
        for number, point in enumerate(points):
            shown.done("before the first run", 1, {})
            try:
                spec = template.resolved([*overrides, *point.settings]).scenario
                spec = _with_one_row(spec, template.base, point)
                scenario = spec.scaled(1.0 if scale is None else scale)
                check_extent([scenario], how.replications)
            except ScenarioError as refused:
                error = ScenarioError(_of_vary(refused.faults, varied))
                first = first or error
                for key in {fault.key for fault in error.faults if fault.file == VARY} - alone:
                    alone.add(key)
                    _check_alone(template, overrides, points, key)
                trials.append(Refused(number, _faults(error)))
                continue
            text = to_toml(scenario)
            folder = folder_of(how, Path(), scenario, text).as_posix()
            digest = hashlib.sha256(text.encode()).hexdigest()
            trials.append(PointTrial(number, scenario, folder, digest))
    if first is not None and all(isinstance(trial, Refused) for trial in trials):
        raise first
    return trials


def _with_one_row(spec: Spec, base: Spec | None, point: Point) -> Spec:
    """Return a point with one value of what its scenario varies together with a swept key.

    Where the scenario does not have the value of that key, the others have their first.
    """
    swept = {key.rpartition(".")[2] for key, _ in point.values}
    for table in () if base is None else base.vary:
        if any(spec.value(key) not in table[key] for key in swept.intersection(table)):
            for key in spec.keys:
                if key in table:
                    spec = spec.fixed(key, table[key][0])
    return spec


def _check_alone(
    template: Template, overrides: Sequence[Override], points: Sequence[Point], full: str
) -> None:
    key, place = next(
        (key, place)
        for place, (key, _) in enumerate(points[0].values)
        if f".{full}".endswith(f".{key}")
    )
    values = dict.fromkeys(point.values[place][1] for point in points)
    wrong = [
        fault for value in values for fault in template.wrong([*overrides, setting_of(key, value)])
    ]
    faults = [fault for fault in _of_vary(wrong, [key]) if fault.file == VARY]
    if faults:
        raise ScenarioError(faults)


def _of_vary(faults: Iterable[Fault], varied: Collection[str]) -> list[Fault]:
    return [
        replace(fault, file=VARY)
        if fault.file == OVERRIDES.file
        and any(f".{fault.key}".endswith(f".{key}") for key in varied)
        else fault
        for fault in faults
    ]


def keys_of(points: Sequence[Point]) -> tuple[list[dict[str, float | str]], dict[str, str]]:
    """Return the varied values of each point as a table holds them, and the unit of each key.

    The values of a key are numbers if all of them are, in one unit; else they are the texts.
    """
    columns: dict[str, list[float | str]] = {}
    units: dict[str, str] = {}
    for position, (key, _) in enumerate(points[0].values):
        texts = [point.values[position][1] for point in points]
        numbers = {text: number_of(text) for text in dict.fromkeys(texts)}
        kinds = {None if number is None else number.unit for number in numbers.values()}
        if key.endswith("_bytes") and kinds <= {PLAIN, "B"}:
            kinds = {"B"}  # a plain number is bytes there
        units[key] = kinds.pop() or "" if len(kinds) == 1 else ""
        numeric = units[key] != ""
        value = {
            text: float(number.value) if numeric and number is not None else text.strip("\"'")
            for text, number in numbers.items()
        }
        columns[key] = [value[text] for text in texts]
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return rows, units


def pilot_of(how: How) -> How:
    """Return how the pilot of a point is run."""
    return replace(how, seed=pilot_seed(how.seed), replications=PILOT, first=1, pilot=True)


def times_of(scenario: Spec, pilot: Sequence[PointNumbers], precision: float) -> int:
    """Return how many replications a point gets by the numbers of its pilot."""
    return needed(max(shares_of(pilot, kind_of(scenario).headline)[1]), precision)


def known(root: Path, trial: PointTrial, how: How) -> list[PointNumbers] | None:
    """Return the numbers of the first replications of a kept point, None if not all are there.

    The scenario is compared by its bytes, which is as good as reading it and much quicker.
    """
    scenario, folder = trial.scenario, root / trial.folder
    if how.pilot:
        folder = folder_of(how, root, scenario)
    kind = kind_of(scenario)
    if not is_there(folder):
        return None
    manifest = read_manifest(folder)
    same = manifest["files"].get(SCENARIO, {}).get("sha256") == trial.digest
    identity = (manifest.get("version"), manifest.get("seed"))
    if not same or identity != (kind.version(how), how.seed):
        raise another(folder)
    for name in manifest["files"]:
        if not (folder / name).is_file():
            raise broken(folder, f"{name} is missing")
    if manifest["replications"] < how.replications:
        return None
    tables = {}
    for name in kind.brief_tables:
        data = read_checked(folder, f"{name}.parquet", manifest)
        try:
            table = from_parquet(data, kind.tables[name])
        except ValueError as error:
            raise broken(folder, f"{name}.parquet: {error}") from error
        tables[name] = table[table["replication"] <= how.replications]
    try:
        numbers: list[PointNumbers] = kind.point_numbers(scenario, tables)
        return numbers
    except KeyError as error:
        raise broken(folder, f"{', '.join(tables)}: {error}") from error


def find(root: Path, trial: PointTrial, how: How, precision: float | None) -> Outcome | PointTrial:
    """Return what is kept of a point, or the point with what is known of it, to be run."""
    scenario, times = trial.scenario, how.replications if precision is None else None
    try:
        if precision is not None and (pilot := known(root, trial, pilot_of(how))) is not None:
            times = times_of(scenario, pilot, precision)
        if times is not None:
            numbers = known(root, trial, replace(how, replications=times))
            if numbers is not None:
                return Outcome(numbers, times, trial.folder)
        return replace(trial, times=times, begun=find_kept(how, root, scenario))
    except RunFailed as error:
        return Outcome(error=one_line(error))


def one_line(error: Exception) -> str:
    """Return an error as a table holds it."""
    return "; ".join(str(error).splitlines())


def _faults(error: ScenarioError) -> str:
    short = (replace(fault, file=Path(fault.file).name) for fault in error.faults)
    return "; ".join(map(str, short))
