"""Results side by side: one join of long tables, whatever made the numbers and of whatever kind.

Runs of systems have their statistics compared: rates where they count the same thing, pieces only
if all runs count them, whole messages always. Of results of any kinds, runs beside studies and
sweeps too, the metrics that all have are compared, at the points that belong together: see
`dvsim.table.match`. What was asked differently is told, not refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dvsim.scenario.spec import point_text
from dvsim.study.changes import changes_of
from dvsim.study.number_text import counted, joined
from dvsim.table.estimate import Change, Floats, change, estimate
from dvsim.table.match import Measured, differences, match, measured, shared_metrics
from dvsim.table.metrics import Metric
from dvsim.table.result import Result
from dvsim.table.samples import STATISTICS, SYSTEM

ON = ["point", "component", "metric"]
SHARE = "1"  # the unit of what is subtracted, not divided
MARGIN = 0.02  # a ratio that is surely nearer to 1 is no change that anybody would notice
CHANCE = 0.1  # a ratio without interval that is nearer to 1 may be chance
CHANGED = ("kind", "change", "change_low", "change_high", "by", "verdict")


def compare(
    first: pd.DataFrame, other: pd.DataFrame, *, on: Sequence[str] = ON, common: bool
) -> pd.DataFrame:
    """Join two long tables on the keys that both have, and say what became of each value.

    Args:
        first, other: Tables with the columns `on`, replication, value, unit and signed: whether it
            may be negative. A unit counts as a key.
        on: What tells values apart.
        common: Whether replication r of both drew the same random numbers: then the interval is
            over the pairs that both have, else it is Welch's.

    Returns:
        DataFrame: `on`, unit; value, low, high and n of the other; the change from the first, its
        kind (ratio; of shares, and where one of the means is 0, difference), its 95 % interval
        change_low and change_high, by what that is (paired, Welch), and the verdict: see `verdict`.
        What only one has stands there without a change.
    """
    left, right = (_by_key(table, on) for table in (first, other))
    rows = []
    for key in dict.fromkeys([*left, *right]):
        *where, unit, signed = key
        a, b = left.get(key, {}), right.get(key, {})
        value = estimate(b.values(), signed=signed)
        zero = any(sum(each.values()) == 0 for each in (a, b) if each)
        made = change(a, b, "difference" if unit == SHARE or zero else "ratio", common=common)
        changed = ("", np.nan, np.nan, np.nan, "", "") if made is None else (*made, verdict(made))
        rows.append((*where, unit, *value, len(b), *changed))
    table = pd.DataFrame(rows, columns=[*on, "unit", "value", "low", "high", "n", *CHANGED])
    return table.astype(dict.fromkeys(("change", "change_low", "change_high"), float))


def verdict(made: Change) -> str:
    """Say whether a change "rises", "falls", "stays", is "equal" to the first or "open".

    A ratio stays if its 95 % interval lies within `MARGIN` of 1. Else it rises or falls if the
    interval lies beyond 1, and is open if 1 is in it; of a ratio without interval `CHANCE` is that
    of one. A difference is held against 0 and has no margin.

    >>> pairs = (3, 0.1), (0.9, 0.01), (1.008, 0.005), (0.99, 0.02), (1.2, 0.4), (1, 0)
    >>> [verdict(Change("ratio", x, x - half, x + half, "paired")) for x, half in pairs]
    ['rises', 'falls', 'stays', 'open', 'open', 'equal']
    >>> verdict(Change("ratio", 1.08)), verdict(Change("ratio", 1.2)), verdict(Change("ratio", 1))
    ('open', 'rises', 'equal')
    """
    nothing = 1.0 if made.kind == "ratio" else 0.0
    chance = CHANCE if made.kind == "ratio" else 0.0
    low = made.value - chance if made.low is None else made.low
    high = made.value + chance if made.high is None else made.high
    if made.value == nothing and made.high in (None, nothing):
        return "equal"
    if made.kind == "ratio" and max(1 - low, high - 1) <= MARGIN:
        return "stays"
    if low <= nothing <= high:
        return "open"
    return "rises" if made.value > nothing else "falls"


def beside(
    numbers: pd.DataFrame, estimates: pd.DataFrame, on: Sequence[str], *, how: str = "inner"
) -> pd.DataFrame:
    """Hold estimates against numbers of which each stands alone: printed, or measured once.

    Args:
        numbers: With the columns `on`, measured, and tolerance: relative, not a number for none.
            What else there is stays.
        estimates: With the columns `on`, value, low, high.
        on: What tells numbers apart.
        how: ``inner`` leaves out numbers without an estimate; ``left`` holds 0 against them.

    Returns:
        DataFrame: `numbers`, in their order; simulated, with its interval low and high; ratio,
        simulated over measured, and log_error, its logarithm, not numbers where one of both is
        zero; and the verdict: pass, fail, or info without a tolerance, see `agree`.
    """
    ends = ["value", "low", "high"]
    table = numbers.merge(estimates[[*on, *ends]], on=list(on), how=how)  # type: ignore[arg-type]
    table = table.rename(columns={"value": "simulated"})
    names = ["measured", "tolerance", "simulated", "low", "high"]
    table[names] = table[names].astype(float)
    table[names[2:]] = table[names[2:]].fillna(0.0)
    pair = table["simulated"], table["measured"]
    table["ratio"] = np.divide(pair[0], pair[1].where(pair[1] > 0))
    table["log_error"] = log_errors(*pair)
    words = np.where(agree(*pair, table["tolerance"]), "pass", "fail")
    table["verdict"] = np.where(table["tolerance"].isna(), "info", words)
    return table


def log_errors(simulated: npt.ArrayLike, measured: npt.ArrayLike) -> Floats:
    """Return ln(simulated / measured), not a number where one is not above zero.

    It is the same for twice and for half.
    """
    above = (np.asarray(simulated, np.float64), np.asarray(measured, np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((above[0] > 0) & (above[1] > 0), np.log(above[0] / above[1]), np.nan)


def agree(
    simulated: npt.ArrayLike, measured: npt.ArrayLike, tolerance: npt.ArrayLike
) -> npt.NDArray[np.bool_]:
    """Return which numbers are others within a relative tolerance; only zero is near zero.

    A tolerance of x allows an absolute `log_errors` of ln(1 + x).

    >>> agree([114.9, 115.1, 86.9, 0.0, 0.0, 1.0], [100.0, 100.0, 100.0, 0.0, 1.0, 0.0], 0.15)
    array([ True, False, False,  True, False, False])
    """
    near = np.abs(log_errors(simulated, measured)) <= np.log1p(np.asarray(tolerance, np.float64))
    zero = (np.asarray(measured) == 0) & (np.asarray(simulated) == 0)
    return np.asarray(near | zero, dtype=np.bool_)


def _by_key(table: pd.DataFrame, on: Sequence[str]) -> dict[tuple[Any, ...], dict[int, float]]:
    found: dict[tuple[Any, ...], dict[int, float]] = {}
    known = table[table["value"].notna()]
    columns = (known[name].tolist() for name in (*on, "unit", "signed", "replication", "value"))
    for *key, replication, value in zip(*columns, strict=True):
        found.setdefault(tuple(key), {})[replication] = value
    return found


@dataclass(frozen=True)
class Comparison:
    """Results side by side; the first is what the others are held against.

    Attributes:
        differences: What was asked or done differently, in words for each result.
        rows: As `compare` has them, with the column result, from 1; the first has no changes.
            Of runs of systems alone a component is a column, or `SYSTEM` for all receivers.
        points: By number, the keys that tell points apart, with their values.
        numbers: Of each result, which of its own points each of these is.
        metrics, shown: Unless all are runs of systems: the metrics that all have, as the first
            describes them, and those of them that a table for people has.
        single: By number, from 1, results with one point that have none of the keys that tell the
            points of others apart.
        unmatched: Of each result its points that match none of another.
        own_metrics, own_keys: Of each result the metrics and varied keys that another has not.
    """

    results: tuple[Any, ...]
    differences: tuple[tuple[str, tuple[str, ...]], ...]
    rows: pd.DataFrame
    points: Sequence[Mapping[str, Any]] = ({},)
    numbers: Sequence[Sequence[int]] = ()
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    shown: tuple[str, ...] = ()
    single: Sequence[int] = ()
    unmatched: Sequence[Sequence[Mapping[str, Any]]] = ()
    own_metrics: Sequence[Sequence[str]] = ()
    own_keys: Sequence[Sequence[str]] = ()

    @property
    def what(self) -> str:
        """What is compared: runs, studies, sweeps, or results of several sorts."""
        sorts = set(map(sort_of, self.results))
        return sorts.pop() if len(sorts) == 1 else "results"


def sort_of(result: Result) -> str:
    """Return which sort of results one is of: runs of systems, studies, or sweeps."""
    if result.swept:
        return "sweeps"
    return "runs" if result.sampled else "studies"


def side_by_side(results: Sequence[Result]) -> Comparison:
    """Put two or more results side by side, of any kinds: runs, studies, points of sweeps.

    Raises:
        ValueError: If there are fewer, they share no metrics or no points, or so few keys that
            too many points would stand beside each other.
    """
    if len(results) < 2:
        raise ValueError(f"a comparison needs two runs, not {len(results)}")
    if all(result.sampled for result in results):
        rows = _rows(results, list(_statistics(results)))
        told = tuple(differences(results))
        return Comparison(tuple(results), told, rows, numbers=[[0] for _ in results])
    sides = [measured(result) for result in results]
    metrics = shared_metrics(sides)
    if not metrics:
        raise ValueError(_nothing_shared(sides))
    matched = match([side.keys for side in sides])
    if not matched.points:
        varied = (
            f"is at {point_text(points[0])}"
            if len(side.keys.points) == 1
            else f"varies {', '.join(side.keys.names)}"
            for side, points in zip(sides, matched.unmatched, strict=True)
        )
        raise ValueError(f"they have no point in common: {_each(results, varied)}")
    numbers = list(zip(*(numbers for _, numbers in matched.points), strict=True))
    tables = [side.table(own, metrics) for side, own in zip(sides, numbers, strict=True)]
    shown = [name for side in sides for name in side.shown if name in metrics]
    return Comparison(
        tuple(results),
        tuple(differences(results, matched.keys)),
        _rows(results, tables),
        [point for point, _ in matched.points],
        numbers,
        metrics,
        tuple(dict.fromkeys(shown)) or tuple(metrics),
        matched.single,
        matched.unmatched,
        [[name for name in side.metrics if name not in metrics] for side in sides],
        matched.own,
    )


def _rows(results: Sequence[Result], tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    sides = [
        compare(tables[0], table, common=common)
        for table, common in zip(tables, in_common(results), strict=True)
    ]
    nothing = dict.fromkeys(("kind", "by", "verdict"), "")
    sides[0] = sides[0].assign(**nothing, change=np.nan, change_low=np.nan, change_high=np.nan)
    return pd.concat([one.assign(result=n) for n, one in enumerate(sides, 1)], ignore_index=True)


def _statistics(runs: Sequence[Result]) -> Iterator[pd.DataFrame]:
    # what all runs count and print first has all statistics; of the rest the mean is enough
    first, *others = (run.scenario for run in runs)
    readings = [r for r in first.readings if all(r in other.readings for other in others)]
    columns = [c for c in first.probe.columns if all(c in other.probe.columns for other in others)]
    order = [
        (column, f"{reading}.{statistic}")
        for column in columns
        for reading in readings
        for statistic in (STATISTICS if reading == readings[0] else ("mean",))
    ]
    order = [(SYSTEM, "rate"), (SYSTEM, "payload_rate"), *order]
    places = {key: place for place, key in enumerate(order)}
    for run in runs:
        rows = run.values[run.values["iteration"] == 0]
        keys = zip(rows["component"], rows["metric"], strict=True)
        table = rows.assign(place=[places.get(key, -1) for key in keys])
        table = table[table["place"] >= 0].sort_values("place", kind="stable")
        samples = table["metric"].str.endswith(".count")  # a ratio is said of them
        units = table["metric"].map({name: run.kind.unit(name) for _, name in order})
        yield table.assign(unit=units.mask(samples, "samples"), signed=False)


def _each(results: Sequence[Result], texts: Iterable[str]) -> str:
    named = zip(names_of(results), texts, strict=True)
    return "; ".join(f"{name} {text}" for name, text in named)


def _nothing_shared(sides: Sequence[Measured]) -> str:
    had = (
        ", ".join(n + f" ({m.unit})" * (m.unit != "1") for n, m in side.metrics.items())
        for side in sides
    )
    text = _each([side.result for side in sides], (f"has {names}" for names in had))
    first, *others = (side.metrics for side in sides)
    alike = [name for name in first if all(name in other for other in others)]
    differ = f"; {joined(alike)} differ in unit or meaning" if alike else ""
    return f"they share no metrics: {text}{differ}"


def names_of(results: Sequence[Result]) -> list[str]:
    """Return the name of each result with what was changed in it; of several alike what else.

    Examples: ``h3/dv-8192`` and ``h3/dv-8192 with 4 sockets``; ``h3/dv-8`` and ``h3/dv-8, seed 2``.
    """
    names, facts = [], []
    for result in results:
        length = ""
        if result.swept:
            name = result.name
        else:
            changes = changes_of(result.scenario)
            name = changes.name + result.manifest.emulated_text
            length = f"{changes.length:.3g} of its {result.scenario.LENGTH}"
        names.append(name)
        version = f"version {result.manifest.version}"
        seed = f"seed {result.seed}"
        facts.append((length, seed, counted(result.replications), version))
    for texts in zip(*facts, strict=True):
        for same in {name for name in names if names.count(name) > 1}:
            alike = [position for position, name in enumerate(names) if name == same]
            if len({texts[position] for position in alike}) > 1:
                for position in alike:
                    names[position] += f", {texts[position]}"
    return names


def in_common(results: Sequence[Result]) -> list[bool]:
    """Return of each result whether its replications had the random numbers of those of the first.

    True for simulated results of the same kind and seed, never for emulated ones.
    """
    first = results[0]
    return [
        first.simulated
        and result.simulated
        and (result.seed, result.scenario.KIND) == (first.seed, first.scenario.KIND)
        for result in results
    ]


def rate_ratio(first: Result, other: Result) -> Change | None:
    """Return how many times the rate of the first run another has; None where one has none."""
    a, b = first.headline().values, other.headline().values
    return change(a, b, "ratio", common=in_common([first, other])[1])


def interval_notes(comparison: Comparison) -> Iterator[str]:
    """Say how the interval of each result against the first was made, results alike together."""
    notes: dict[str, list[str]] = {}
    seed = comparison.results[0].seed
    texts = {
        "paired": f"paired over replications: seed {seed} drew the same numbers for both",
        "Welch": "of independent runs, by Welch",
    }
    for number in range(2, len(comparison.results) + 1):
        by = set(comparison.rows.loc[comparison.rows["result"] == number, "by"])
        note = "; ".join(text for way, text in texts.items() if way in by)
        notes.setdefault(note or "no interval", []).append(f"{number}/1")
    for note, which in notes.items():
        yield f"{', '.join(which)}: {note}"
