"""What was varied, put in order: one key along the axis, a line for every other combination."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import log
from typing import TYPE_CHECKING, Any

from dvsim.scenario.units import is_number, value_text
from dvsim.view.saturation import Offered, saturated

if TYPE_CHECKING:
    from pandas import DataFrame

    from dvsim.table.result import Result

Course = tuple[tuple[float, float], ...]
"""Places on the axis with the value there, in order of the axis."""


@dataclass(frozen=True)
class Mark:
    """One metric at one point: its place on the axis, the mean, its interval, and its standing.

    `settled` is False where any replication says that its figures depend on how long it ran.
    """

    point: int
    x: float
    value: float
    low: float
    high: float
    settled: bool

    @property
    def half(self) -> float:
        """Half of the interval."""
        return (self.high - self.low) / 2


@dataclass(frozen=True)
class Group:
    """Points that make one line, in order of the axis."""

    number: int
    name: str
    points: tuple[int, ...]


@dataclass(frozen=True)
class Theory:
    """What theory says along a line; `owner` is None where it says so of several lines."""

    name: str
    owner: Group | None
    course: Course


class Sweep:
    """Points as lines over one of their keys.

    Args:
        study: The study, or the sweep.
        axis: The key along the axis; then every point stands alone, and no lines join them.

    Attributes:
        key: The key along the axis: the load if it was varied, else the number that took most
            values, else the first key; None if nothing was varied.
        numeric: Whether its values are numbers; else they stand side by side in the order of the
            file.
        values: Its values in the order of the axis.
        groups: One line each.
    """

    def __init__(self, study: Result, axis: str | None = None) -> None:
        self.study = study
        self.joins = axis is None
        keys = study.points
        lengths = [key for key in study.kind.Spec.lengths() if key in keys]  # these name no point
        keys = keys.drop(columns=lengths[: keys.shape[1] - 1])
        keys = study.axes(keys)
        self._keys = keys
        self.key = axis_key(keys) if axis is None else axis
        values = [] if self.key is None else self._keys[self.key].tolist()
        self.numeric = all(is_number(value) for value in values)
        distinct = list(dict.fromkeys(values))
        self.values: Sequence[float | str] = sorted(distinct) if self.numeric else distinct
        self.groups = self._grouped()

    @property
    def tables(self) -> Mapping[str, DataFrame]:
        """Every table of the study, by name."""
        return self.study.tables

    @property
    def joined(self) -> bool:
        """Whether points of one line are joined: their values are numbers."""
        return self.numeric and self.joins

    @property
    def scattered(self) -> bool:
        """Whether points are on no lines, as those of a sample.

        Lines of a grid have most values of the axis, and numbers that go with it rise or fall.
        """
        if 2 * self.count < len(self.groups) * len(self.values):
            return True
        beside = self._keys.sort_values(str(self.key))[self.companions] if self.key else self._keys
        numbers = (beside[name] for name in beside if all(map(is_number, beside[name])))
        return any(
            not (number.is_monotonic_increasing or number.is_monotonic_decreasing)
            for number in numbers
        )

    @property
    def count(self) -> int:
        """How many points there are."""
        return len(self._keys)

    @property
    def logarithmic(self) -> bool:
        """Whether the values of the key, but for a load, are more even on a logarithmic axis."""
        values = sorted(self._numbers)
        if self.key == "load" or len(values) < 2 or values[0] <= 0 or values[-1] < 8 * values[0]:
            return False
        steps, factors = (
            [b - a for a, b in pairwise(sequence)] for sequence in (values, map(log, values))
        )
        return self.doubling or max(steps) / min(steps) > max(factors) / min(factors)

    @property
    def doubling(self) -> bool:
        """Whether the values are powers of two that span a factor of eight: a logarithmic axis."""
        return (
            self.numeric
            and all(float(value).is_integer() and value > 0 for value in self._numbers)
            and all(int(value) & (int(value) - 1) == 0 for value in self._numbers)
            and max(self._numbers, default=1) >= 8 * min(self._numbers, default=1)
        )

    @property
    def companions(self) -> list[str]:
        """Keys that go with the axis, value by value, such as angles with height."""
        return [name for name in self._others if determined(self._keys, self.key, name)]

    @property
    def settled(self) -> bool:
        """Whether every point has settled."""
        return not self.notes

    @cached_property
    def offered(self) -> dict[int, Offered]:
        """By point what it was offered and what it delivered, where its queues can grow."""
        if self.key != "load" or not {"throughput", "refused"} <= self._metrics.keys():
            return {}
        refused = self._metrics["refused"]
        return {
            mark.point: Offered(
                self.called(group),
                mark.x,
                mark.value,
                mark.half,
                refused[mark.point][0],
                mark.point,
            )
            for group in self.groups
            for mark in self.marks(group, "throughput")
        }

    def called(self, group: Group) -> str:
        """Name a line in a sentence: by its value alone where one key has texts that tell."""
        splitting = [name for name in self._others if name not in self.companions]
        if len(splitting) != 1 or any(map(is_number, self._keys[splitting[0]])):
            return group.name
        return group.name.removeprefix(f"{splitting[0]} ")

    @cached_property
    def saturated(self) -> frozenset[int]:
        """The points that deliver less than they are offered, and whose queues grow."""
        beyond = set(saturated(self.offered.values()))
        return frozenset(point for point, load in self.offered.items() if load in beyond)

    def weak(self, mark: Mark) -> bool:
        """Whether a mark is open: it has not settled, or is saturated."""
        return not mark.settled or mark.point in self.saturated

    def standing(self, mark: Mark) -> str:
        """Say in brackets what is wrong with a mark; nothing where nothing is."""
        if mark.point in self.saturated:
            return " (saturated)"
        return "" if mark.settled else " (not settled)"

    @cached_property
    def notes(self) -> dict[int, str]:
        """By point, why it has not settled."""
        return self.study.notes()

    def place(self, point: int) -> float:
        """Return where a point stands on the axis: its value, or its number if it has none."""
        if self.key is None:
            return 0.0
        value = self._keys[self.key].loc[point]
        return float(value) if self.numeric else float(self.values.index(value))

    def text(self, key: object, value: object) -> str:
        """Write a value of a key, with its unit if it has one."""
        return value_text(value, self.study.key_units.get(str(key), ""))

    def name_of(self, point: int) -> str:
        """Name a point by all its varied keys."""
        return self._named(self._keys.loc[point].to_dict()) or "the run"

    def value_text(self, point: int) -> str:
        """Name a point by the key along the axis, and what goes with it."""
        if self.key is None:
            return "the run"
        return self._named(self._keys.loc[point, [self.key, *self.companions]].to_dict())

    def marks(self, group: Group, metric: str) -> list[Mark]:
        """Return a metric along a line; points at which it is not a number are left out."""
        rows = self._metrics.get(metric, {})
        return [
            Mark(point, self.place(point), *rows[point], settled=point not in self.notes)
            for point in group.points
            if point in rows
        ]

    def theories(self, metric: str) -> list[Theory]:
        """Return what theory says of a metric, line by line.

        Where it says the same of several lines, it is there once and belongs to none of them.
        """
        table = self.study.beside
        table = table[(table["metric"] == metric) & table["value"].notna()]
        curves: dict[tuple[str, Course], list[Group]] = {}
        for name, rows in table.groupby("name", sort=False):
            values = dict(zip(rows["point"], rows["value"], strict=True))
            for group in self.groups:
                line = tuple((self.place(p), float(values[p])) for p in group.points if p in values)
                if line:
                    curves.setdefault((str(name), line), []).append(group)
        return [
            Theory(
                ", ".join([name.replace("-", " "), *shared(groups, self.groups)]),
                groups[0] if len(groups) == 1 and len(self.groups) > 1 else None,
                line,
            )
            for (name, line), groups in curves.items()
        ]

    @property
    def _others(self) -> list[str]:
        return [name for name in self._keys.columns if name != self.key]

    @property
    def _numbers(self) -> list[float]:
        return [float(value) for value in self.values] if self.numeric else []

    @cached_property
    def _metrics(self) -> dict[str, dict[int, tuple[float, float, float]]]:
        rows = self.study.estimates().dropna(subset=["value"])
        values: dict[str, dict[int, tuple[float, float, float]]] = {}
        columns = ["metric", "point", "value", "low", "high"]
        for metric, point, value, low, high in rows[columns].itertuples(index=False):
            values.setdefault(str(metric), {})[int(point)] = (float(value), float(low), float(high))
        return values

    def _named(self, values: Mapping[Any, object]) -> str:
        return ", ".join(f"{key} {self.text(key, value)}" for key, value in values.items())

    def _grouped(self) -> list[Group]:
        if not self.joins:
            return [Group(0, "", tuple(sorted(self._keys.index, key=self.place)))]
        splitting = [name for name in self._others if name not in self.companions]
        lines: dict[str, list[int]] = {}
        for point in self._keys.index:
            name = self._named(self._keys.loc[point, splitting].to_dict())
            lines.setdefault(name, []).append(point)
        return [
            Group(number, name, tuple(sorted(points, key=self.place)))
            for number, (name, points) in enumerate(lines.items())
        ]


def shared(groups: Sequence[Group], every: Sequence[Group]) -> list[str]:
    """Return what the names of some lines have in common, unless all lines have it."""
    parts = [group.name.split(", ") for group in groups]
    if len(groups) == len(every):
        return []
    return [part for part in parts[0] if all(part in other for other in parts)]


def axis_key(keys: DataFrame) -> str | None:
    """Choose the key along the axis, see `Sweep`; a key with one value is none to look along."""
    counts = {str(name): keys[name].nunique() for name in keys.columns}
    varied = [name for name, count in counts.items() if count > 1]
    numbers = [name for name in varied if all(is_number(value) for value in keys[name])]
    if "load" in numbers:
        return "load"
    return max(numbers or varied, key=counts.__getitem__, default=None)


def determined(keys: DataFrame, key: str | None, other: str) -> bool:
    """Whether each value of `key` comes with one value of `other`, so that it needs no line."""
    if key is None:
        return False
    return bool((keys.groupby(key, sort=False)[other].nunique(dropna=False) <= 1).all())


def named(values: Mapping[Any, object]) -> str:
    """Write keys with their values.

    >>> named({"height": 16, "load": 0.30, "crossing": "brc"})
    'height 16, load 0.3, crossing brc'
    """
    return ", ".join(f"{key} {value_text(value)}" for key, value in values.items())
