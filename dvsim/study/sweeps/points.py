"""The points of a sweep: every value of each key with every other, or as `together` says.

The order is that of the options, the last key varies fastest; so a point has the same number
wherever it is run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product

from dvsim.contract.load import Template
from dvsim.errors import Advice, Argument, ScenarioError
from dvsim.scenario.override import Override, Setting, read_value
from dvsim.study.sweeps.axis import SAMPLE, Axis, given_axis, parse_axis
from dvsim.study.sweeps.sobol import MOST, Sobol, sample_size
from dvsim.study.sweeps.values import Given
from dvsim.study.sweeps.where import key_of, parse_where


@dataclass(frozen=True)
class Point:
    """The values of the varied keys at one point, as they are typed."""

    values: tuple[tuple[str, str], ...]

    @property
    def settings(self) -> list[Override]:
        """What `overrides` would take."""
        return [setting_of(key, value) for key, value in self.values]

    def __str__(self) -> str:
        return ", ".join(f"{key}={value}" for key, value in self.values)


def setting_of(key: str, value: str) -> Override:
    """Return a value of a varied key as what overrides it."""
    own = value.value if isinstance(value, Given) else read_value(value)
    return Setting(tuple(map(str.strip, key.split("."))), own, f"{key}={value}", Argument("vary"))


def plan(
    vary: Sequence[str | tuple[str, Sequence[object]]],
    base: Template | None = None,
    *,
    together: Sequence[str] = (),
    where: str | None = None,
    sample: str | None = None,
    seed: int = 1,
) -> list[Point]:
    """Return the points that are asked for.

    Args:
        vary: ``KEY=VALUES``, see `dvsim.study.sweeps.axis`, or a key and values of Python.
        base: The scenario, by which a key can have its short and its full name.
        together: Each names varied keys, ``a,b``, whose values go together: the first with the
            first.
        where: A condition that the points meet, see `dvsim.study.sweeps.where`.
        sample: ``sobol:N``: as many points, spread evenly, instead of every combination.
        seed: Of the sample.

    >>> [str(point) for point in plan(["a=1,2", "b=x,y", "c=7"], together=["a,b"])]
    ['a=1, b=x, c=7', 'a=2, b=y, c=7']
    """
    axes = [parse_axis(own) if isinstance(own, str) else given_axis(*own) for own in vary]
    full = str if base is None else base.full
    if not axes:
        raise ScenarioError.at(Argument("vary"), "a sweep varies something; write KEY=a,b")
    keys = [axis.key for axis in axes]
    for number, key in enumerate(keys):
        if key in keys[:number]:
            raise ScenarioError.at(Argument("vary"), "is varied twice", key)
    if sample and together:
        message = Advice("has no meaning with ", Argument("sample"))
        raise ScenarioError.at(Argument("together"), message, together[0])
    design = (
        Sobol(tuple(axes), sample_size(sample), seed)
        if sample
        else Grid(_parts(axes, together, full))
    )
    points = [Point(tuple((key, at[key]) for key in keys)) for at in design.points()]
    if where is not None:
        condition = parse_where(where, keys, full)
        points = [point for point in points if condition.holds(dict(point.values))]
    if not points:
        raise ScenarioError.at(Argument("where"), "leaves no point", str(where))
    return points


@dataclass(frozen=True)
class Zip:
    """Axes whose values go together, the first of one with the first of the others."""

    axes: tuple[Axis, ...]

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The values of all axes at each place."""
        return list(zip(*(axis.values for axis in self.axes), strict=True))


@dataclass(frozen=True)
class Grid:
    """Every place of each part with every other; the last part varies fastest."""

    parts: tuple[Zip, ...]

    def __post_init__(self) -> None:
        axes = [axis for part in self.parts for axis in part.axes]
        endless = next((axis.key for axis in axes if axis.between is not None), None)
        if endless is not None:
            message = Advice("its range has no steps; write lo..hi*2, or ", SAMPLE)
            raise ScenarioError.at(Argument("vary"), message, endless)
        total = math.prod(len(part.axes[0].values) for part in self.parts)
        if total > MOST:
            message = Advice(f"that are {total:,} points, and may be {MOST:,}; ", SAMPLE)
            raise ScenarioError.at(Argument("vary"), message)

    def points(self) -> Iterator[dict[str, str]]:
        """Yield the values of each point by key."""
        keys = [axis.key for part in self.parts for axis in part.axes]
        for chosen in product(*(part.rows for part in self.parts)):
            yield dict(zip(keys, chain.from_iterable(chosen), strict=True))


def _parts(
    axes: Sequence[Axis], together: Sequence[str], full: Callable[[str], str]
) -> tuple[Zip, ...]:
    keys = [axis.key for axis in axes]
    leader: dict[str, str] = {}
    for text in together:
        names = [key_of(name.strip(), keys, text, "together", full) for name in text.split(",")]
        for name in names:
            if name in leader or names.count(name) > 1:
                raise ScenarioError.at(Argument("together"), f"'{name}' is zipped twice", text)
            leader[name] = min(names, key=keys.index)
        if len(names) < 2:
            message = f"names one key, which goes with none; write {names[0]},KEY"
            raise ScenarioError.at(Argument("together"), message, text)
        lengths = {axis.key: len(axis.values) for axis in axes if axis.key in names}
        if len(set(lengths.values())) > 1:
            lengths_text = ", ".join(f"{key} has {length}" for key, length in lengths.items())
            message = f"keys that go together have as many values: {lengths_text}"
            raise ScenarioError.at(Argument("together"), message, text)
    groups: dict[str, list[Axis]] = {}
    for axis in axes:
        groups.setdefault(leader.get(axis.key, axis.key), []).append(axis)
    return tuple(Zip(tuple(group)) for group in groups.values())
