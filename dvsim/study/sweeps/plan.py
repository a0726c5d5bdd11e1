"""The points of a sweep: every value of each key with every other, or as ``--zip`` says.

The order is that of the options, the last key varies fastest; so a point has the same number
wherever it is run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from dvsim.errors import Fault, ScenarioError
from dvsim.scenario.find import nearest
from dvsim.study.arguments import check_asked
from dvsim.study.sweeps.axis import Axis, parse_axis
from dvsim.study.sweeps.where import key_of, parse_where

MOST = 1_000_000  # points of a sweep
_METHODS = ("sobol",)


@dataclass(frozen=True)
class Point:
    """The values of the varied keys at one point, as they are typed."""

    values: tuple[tuple[str, str], ...]

    @property
    def overrides(self) -> list[str]:
        """What ``--set`` would take."""
        return [f"{key}={value}" for key, value in self.values]

    def __str__(self) -> str:
        return ", ".join(self.overrides)


def plan(
    vary: Sequence[str],
    *,
    together: Sequence[str] = (),
    where: str | None = None,
    sample: str | None = None,
    seed: int = 1,
) -> list[Point]:
    """Return the points that are asked for.

    Args:
        vary: ``KEY=VALUES``, see `dvsim.study.sweeps.axis`.
        together: Each names varied keys, ``a,b``, whose values go together: the first with the
            first.
        where: A condition that the points meet, see `dvsim.study.sweeps.where`.
        sample: ``sobol:N``: as many points, spread evenly, instead of every combination.
        seed: Of the sample.

    Raises:
        ScenarioError: If an option is wrong, or no point is left.

    >>> [str(point) for point in plan(["a=1,2", "b=x,y", "c=7"], together=["a,b"])]
    ['a=1, b=x, c=7', 'a=2, b=y, c=7']
    """
    axes = [parse_axis(text) for text in vary]
    if not axes:
        raise ScenarioError([Fault("--vary", None, "", "a sweep varies something; write KEY=a,b")])
    keys = [axis.key for axis in axes]
    for number, key in enumerate(keys):
        if key in keys[:number]:
            raise ScenarioError([Fault("--vary", None, key, "is varied twice")])
    rows = _sampled(axes, sample, seed, together) if sample else _crossed(axes, together)
    points = [Point(tuple(zip(keys, row, strict=True))) for row in rows]
    if where is not None:
        condition = parse_where(where, keys)
        points = [point for point in points if condition.holds(dict(point.values))]
    if not points:
        raise ScenarioError([Fault("--where", None, str(where), "leaves no point")])
    return points


def _crossed(axes: Sequence[Axis], together: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield every combination, keys that go together in step."""
    open_ended = next((axis.key for axis in axes if axis.between is not None), None)
    if open_ended is not None:
        message = "its range has no steps; write lo..hi*2, or sample it: --sample sobol:64"
        raise ScenarioError([Fault("--vary", None, open_ended, message)])
    groups = _groups(axes, together)
    total = 1
    for group in groups:
        total *= len(group[0].values)
    if total > MOST:
        message = f"that are {total:,} points, and may be {MOST:,}; --sample takes some of them"
        raise ScenarioError([Fault("--vary", None, "", message)])
    order = [axis.key for group in groups for axis in group]
    places = [order.index(axis.key) for axis in axes]
    columns = (list(zip(*(axis.values for axis in group), strict=True)) for group in groups)
    for chosen in product(*columns):
        row = [value for part in chosen for value in part]
        yield tuple(row[place] for place in places)


def _groups(axes: Sequence[Axis], together: Sequence[str]) -> list[list[Axis]]:
    """Return the axes that go together, each group in the place of its first."""
    keys = [axis.key for axis in axes]
    leader: dict[str, str] = {}
    for text in together:
        names = [key_of(name.strip(), keys, text, "--zip") for name in text.split(",")]
        for name in names:
            if name in leader or names.count(name) > 1:
                raise ScenarioError([Fault("--zip", None, text, f"'{name}' is zipped twice")])
            leader[name] = min(names, key=keys.index)
        if len(names) < 2:
            message = f"names one key, which goes with none; write --zip {names[0]},KEY"
            raise ScenarioError([Fault("--zip", None, text, message)])
        lengths = {axis.key: len(axis.values) for axis in axes if axis.key in names}
        if len(set(lengths.values())) > 1:
            said = ", ".join(f"{key} has {length}" for key, length in lengths.items())
            message = f"keys that go together have as many values: {said}"
            raise ScenarioError([Fault("--zip", None, text, message)])
    groups: dict[str, list[Axis]] = {}
    for axis in axes:
        groups.setdefault(leader.get(axis.key, axis.key), []).append(axis)
    return list(groups.values())


def _sampled(
    axes: Sequence[Axis], sample: str, seed: int, together: Sequence[str]
) -> Iterator[tuple[str, ...]]:
    """Yield the points of a scrambled Sobol sequence; the same seed gives the same ones."""
    from scipy.stats import qmc

    if together:
        raise ScenarioError([Fault("--zip", None, together[0], "has no meaning with --sample")])
    count = sample_size(sample)
    check_asked(seed=seed)
    for shares in qmc.Sobol(len(axes), scramble=True, rng=seed).random(count).tolist():
        yield tuple(axis.at(share) for axis, share in zip(axes, shares, strict=True))


def sample_size(text: str) -> int:
    """Return the number of points of ``sobol:64``.

    Raises:
        ScenarioError: If it is something else, or the number is no power of two: only then they are
            spread evenly.
    """
    match = re.fullmatch(r"(\w+):(\d{1,9})", text.strip())
    if match is None or match[1] not in _METHODS:
        near = nearest(text.partition(":")[0], _METHODS)
        message = "is no way to sample; write sobol:64"
        hint = f"{near}:64" if near and match is None else None
        raise ScenarioError([Fault("--sample", None, text, message, hint)])
    count = int(match[2])
    return power_of_two("--sample", text, count, f"{match[1]}:")


def power_of_two(option: str, text: str, count: int, before: str = "") -> int:
    """Return a number that must be a power of two, from 2 to the most there can be."""
    if count < 2 or count > MOST or count & (count - 1):
        near = 1 << min((max(count, 2) - 1).bit_length(), 19)  # the next one up
        message = f"{count} is no power of two from 2 to {2**19:,}"
        raise ScenarioError([Fault(option, None, text, message, f"{before}{near}")])
    return count
