"""What a study varied, put in order: one key along the axis, a line for every other combination."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any

from dvsim.kinds.switch.result import Study
from dvsim.report.prepare import BLUE, OTHER_COLOURS, VERMILION
from dvsim.report.telling import one_of_each

if TYPE_CHECKING:
    from pandas import DataFrame

    from dvsim.results.points import PointsStudy

LENGTHS = ("slots", "warmup", "messages")  # how long a run is: it names no point beside another key
COLOURS = (BLUE, VERMILION, *OTHER_COLOURS[:-1])  # yellow is too pale for a line on white
SYMBOLS = ("circle", "square", "triangle-up", "diamond", "triangle-down", "pentagon", "hexagon")

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

    @property
    def colour(self) -> str:
        """Colour of the line, "#rrggbb"."""
        return COLOURS[self.number % len(COLOURS)]

    @property
    def symbol(self) -> str:
        """Its mark; with more lines than colours, two of one colour differ in it."""
        return SYMBOLS[(self.number + 2 * (self.number // len(COLOURS))) % len(SYMBOLS)]


@dataclass(frozen=True)
class Theory:
    """What theory says along a line; `owner` is None where it says so of several lines."""

    name: str
    owner: Group | None
    course: Course


class Sweep:
    """A study's points as lines over one of its keys.

    Parameters
    ----------
    study : PointsStudy
        The study.

    Attributes
    ----------
    key : str or None
        The key along the axis: the load if it was varied, else the number that took most values,
        else the first key; None if nothing was varied.
    numeric : bool
        Whether its values are numbers; else they stand side by side in the order of the file.
    values : sequence
        Its values in the order of the axis.
    groups : sequence of Group
        One line each.
    """

    def __init__(self, study: PointsStudy) -> None:
        self.study = study
        keys = study.keys()
        lengths = [key for key in LENGTHS if key in keys]
        keys = keys.drop(columns=lengths[: keys.shape[1] - 1])
        self._keys = by_ports(keys) if isinstance(study, Study) else one_of_each(study, keys)
        self.key = axis_key(self._keys)
        found = [] if self.key is None else self._keys[self.key].tolist()
        self.numeric = all(is_number(value) for value in found)
        distinct = list(dict.fromkeys(found))
        self.values: Sequence[float | str] = sorted(distinct) if self.numeric else distinct
        self.groups = self._grouped()

    @property
    def switch(self) -> Study:
        """The study, of a switch or network."""
        assert isinstance(self.study, Study)  # it has a figure that others have not
        return self.study

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
    def notes(self) -> dict[int, str]:
        """By point, why it has not settled."""
        return self.study.notes()

    def place(self, point: int) -> float:
        """Return where a point stands on the axis: its value, or its number if it has none."""
        if self.key is None:
            return 0.0
        value = self._keys[self.key].iloc[point]
        return float(value) if self.numeric else float(self.values.index(value))

    def name_of(self, point: int) -> str:
        """Name a point by all its varied keys."""
        return named(self._keys.iloc[point].to_dict()) or "the run"

    def value_text(self, point: int) -> str:
        """Name a point by the key along the axis, and what goes with it."""
        if self.key is None:
            return "the run"
        return named(self._keys.iloc[point][[self.key, *self.companions]].to_dict())

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
        found: dict[tuple[str, Course], list[Group]] = {}
        for name, rows in table.groupby("name", sort=False):
            values = dict(zip(rows["point"], rows["value"], strict=True))
            for group in self.groups:
                line = tuple((self.place(p), float(values[p])) for p in group.points if p in values)
                if line:
                    found.setdefault((str(name), line), []).append(group)
        return [
            Theory(
                ", ".join([name.replace("-", " "), *shared(groups, self.groups)]),
                groups[0] if len(groups) == 1 and len(self.groups) > 1 else None,
                line,
            )
            for (name, line), groups in found.items()
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
        found: dict[str, dict[int, tuple[float, float, float]]] = {}
        columns = ["metric", "point", "value", "low", "high"]
        for metric, point, value, low, high in rows[columns].itertuples(index=False):
            found.setdefault(str(metric), {})[int(point)] = (float(value), float(low), float(high))
        return found

    def _grouped(self) -> list[Group]:
        splitting = [name for name in self._others if name not in self.companions]
        lines: dict[str, list[int]] = {}
        for point in range(len(self._keys)):
            name = named(self._keys.iloc[point][splitting].to_dict())
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


def by_ports(keys: DataFrame) -> DataFrame:
    """Put H x A in the place of the height where switches of one size differ in their angles.

    So it is when heights and angles were varied together, and no size has one shape only: then the
    question is what the angles do at a fixed number of ports.
    """
    if not {"height", "angles"} <= set(keys) or "load" in keys:
        return keys
    shapes = keys[["height", "angles"]].drop_duplicates()
    ports = shapes["height"] * shapes["angles"]
    crossed = len(shapes) == shapes["height"].nunique() * shapes["angles"].nunique()
    if crossed or ports.value_counts().min() < 2:
        return keys
    named = keys.assign(ports=keys["height"] * keys["angles"])
    return named.drop(columns="height").loc[:, ["ports", *keys.columns.drop("height")]]


def determined(keys: DataFrame, key: str | None, other: str) -> bool:
    """Whether each value of `key` comes with one value of `other`, so that it needs no line."""
    if key is None:
        return False
    return bool((keys.groupby(key, sort=False)[other].nunique(dropna=False) <= 1).all())


def named(values: Mapping[Any, object]) -> str:
    """Write keys with their values.

    Examples
    --------
    >>> named({"height": 16, "load": 0.30, "crossing": "brc"})
    'height 16, load 0.3, crossing brc'
    """
    return ", ".join(f"{key} {value_text(value)}" for key, value in values.items())


def value_text(value: object) -> str:
    """Write a value as people do.

    Examples
    --------
    >>> value_text(0.30), value_text(1048576.0), value_text("brc"), value_text(None)
    ('0.3', '1,048,576', 'brc', 'none')
    """
    if value in (None, "") or value != value:  # noqa: PLR0124 - not a number
        return "none"
    if not is_number(value):
        return str(value)
    number = float(value)  # type: ignore[arg-type]
    return f"{int(number):,}" if number.is_integer() else f"{number:g}"


def is_number(value: object) -> bool:
    """Whether a value is a number; a truth is none, and nor is what is not a number."""
    return isinstance(value, Real) and not isinstance(value, bool) and value == value  # noqa: PLR0124
