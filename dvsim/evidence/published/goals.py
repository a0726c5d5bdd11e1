"""What the model of the 2018 study was to reach on columns it was not fitted to, and the floor.

The floor is how far the paper's own two runs of a size lie apart: whoever takes the other run for a
prediction does that well. A model that is told run 1 only cannot be expected to do much better.

Statistics are those printed, read as printed, and not zero; a number of samples counts, too. An
error is ln(simulated / published), as everywhere.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import log

from dvsim.evidence.statistics import within
from dvsim.evidence.verdicts import ColumnVerdict, Row, Validation
from dvsim.scenario.reference import published_transports
from dvsim.scenario.spec import Spec
from dvsim.scenario.types import Parameter
from dvsim.scenario.units import Law
from dvsim.study.number_text import log_text

NEAR = 0.25  # of a statistic
SHARE = 0.85  # of the held-out statistics that must be so near
MEAN_NEAR = 0.10
EMPTY_NEAR = 0.03  # of the share of empty intervals, from the range that the quantiles allow


@dataclass(frozen=True)
class Goal:
    """One thing that was wanted of the held-out columns."""

    # what, wanted, got: for people, with the number of cases
    what: str
    wanted: str
    got: str
    floor: str  # the same between the paper's two runs; ``-`` where there is no such thing
    met: bool  # whether `got` is what was wanted


@dataclass(frozen=True)
class Goals:
    """All of them, and the held-out statistics that are not near."""

    # in the order in which they are printed; empty if no held-out column was compared
    table: tuple[Goal, ...]
    misses: tuple[Row, ...]  # held-out statistics outside of `NEAR`, the worst first
    # for each miss, ln(other run / this run) of the paper; None if one of them is zero
    apart: tuple[float | None, ...]


def goals(validation: Validation, scenarios: Iterable[Spec] = ()) -> Goals:
    """Return what was reached.

    Args:
        validation: Of the runs of the five published sizes on both paths; fewer give the goals of
            those.
        scenarios: Of these runs, to count the fitted parameters of their cards; none leaves that
            out.
    """
    rows = [row for row in validation.rows if counted(row)]
    held = [row for row in rows if row.split == "held out"]
    if not held:
        return Goals((), (), ())
    other = {(row.scenario, row.statistic, row.column): row.published for row in rows}
    table = [_near("all", held, other)]
    for path, transport in published_transports().items():
        part = [row for row in held if row.transport == path]
        if part:
            table.append(_near(transport.label, part, other))
        if any(row.statistic == "mean" for row in part):
            table.append(_means(transport.label, part, other))
    empty = [
        column
        for column in validation.columns
        if column.split == "held out" and column.empty_bounds
    ]
    if empty:
        table.append(_empty(empty))
    table += _parameters(scenarios)
    misses = [row for row in held if not within(row.log_error, NEAR)]
    misses.sort(key=lambda row: -_size(row.log_error))
    return Goals(tuple(table), tuple(misses), tuple(_apart(row, other) for row in misses))


def free_parameters(scenarios: Iterable[Spec]) -> dict[str, tuple[str, ...]]:
    """Return the fitted numbers of all cards by transport: ``h3-bridge push, ns/B``.

    A law has two, unless one is 0. A number that several scenarios share is one.
    """
    results: dict[str, dict[str, None]] = {}
    known = published_transports()
    for scenario in scenarios:
        if scenario.reference is None:
            continue
        path = scenario.reference.transport
        names = results.setdefault(path, {})
        for role in known[path].fitted if path in known else ():
            card = scenario.cards[role]
            for parameter in card.parameters.values():
                if parameter.confidence == "calibrated":
                    names.update(dict.fromkeys(_numbers(card.name, parameter)))
    return {path: tuple(names) for path, names in results.items()}


def _numbers(card: str, parameter: Parameter) -> Iterator[str]:
    name, value = f"{card} {parameter.name}", parameter.value
    if not isinstance(value, Law) or value.fixed_ps or not value.per_byte_fs:
        yield name
    if isinstance(value, Law) and value.per_byte_fs:
        yield f"{name}, per byte"


Others = dict[tuple[str, str, str], float]


def counted(row: Row) -> bool:
    """Return whether a row is a published number that is not zero, read as printed."""
    return row.reading == "as printed" and row.published != 0 and row.verdict != "info"


def _near(path: str, rows: list[Row], other: Others) -> Goal:
    good = sum(within(row.log_error, NEAR) for row in rows)
    pairs = [_apart(row, other) for row in rows]
    floor = sum(within(apart, NEAR) for apart in pairs)
    return Goal(
        f"{path}: held-out statistics within {NEAR:.0%}",
        f"at least {SHARE:.0%}",
        f"{good / len(rows):.1%} ({good} of {len(rows)})",
        f"{floor / len(rows):.1%}",
        good >= SHARE * len(rows),
    )


def _means(path: str, rows: list[Row], other: Others) -> Goal:
    means = [row for row in rows if row.statistic == "mean"]
    good = sum(within(row.log_error, MEAN_NEAR) for row in means)
    worst = max(means, key=lambda row: _size(row.log_error))
    floor = max(means, key=lambda row: _size(_apart(row, other)))
    return Goal(
        f"{path}: held-out means within {MEAN_NEAR:.0%}",
        f"{len(means)} of {len(means)}",
        f"{good} of {len(means)}, {log_text(worst.log_error)} at {worst.message_bytes} B "
        f"{worst.column}",
        f"{_size(_apart(floor, other)):.3f} at {floor.message_bytes} B",
        good == len(means),
    )


def _empty(columns: list[ColumnVerdict]) -> Goal:
    far = {column: _outside(column) for column in columns}
    worst = max(columns, key=far.__getitem__)
    return Goal(
        "share of empty intervals, points outside of the published range",
        f"at most {100 * EMPTY_NEAR:.0f}",
        f"{100 * far[worst]:.1f} in {worst.scenario} {worst.column}",
        "-",
        far[worst] <= EMPTY_NEAR,
    )


def _parameters(scenarios: Iterable[Spec]) -> list[Goal]:
    known = published_transports()
    return [
        Goal(
            f"{known[path].label}: fitted parameters",
            f"at most {known[path].parameters}",
            str(len(names)),
            "-",
            len(names) <= known[path].parameters,
        )
        for path, names in free_parameters(scenarios).items()
        if path in known
    ]


def _apart(row: Row, other: Others) -> float | None:
    results = [
        value
        for (scenario, statistic, column), value in other.items()
        if (scenario, statistic) == (row.scenario, row.statistic) and column != row.column
    ]
    return log(results[0] / row.published) if results else None


def _outside(column: ColumnVerdict) -> float:
    if column.empty_share is None or column.empty_bounds is None:
        return 1.0
    low, high = column.empty_bounds
    return max(low - column.empty_share, column.empty_share - high, 0.0)


def _size(error: float | None) -> float:
    return float("inf") if error is None else abs(error)
