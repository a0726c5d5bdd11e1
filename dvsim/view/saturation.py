"""What saturates first and last: lines of points over the load offered to a switch or network.

A point is *saturated* if its switch queues packets, refuses none, and delivers fewer than it is
offered. Its queues then grow for as long as the run lasts, and its throughput is the most that the
line can carry. Where another point of the line delivers what this one is offered, the line can
carry it: a short run at a low load has few packets, of which chance takes some away.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from dvsim.study.number_text import estimate_text, joined
from dvsim.table.estimate import CONFIDENCE, Each, Estimate, change

if TYPE_CHECKING:
    from dvsim.view.axes import Sweep


NEAREST = 16  # candidates whose replications are looked at
NAMED = 3  # of a tie


def tied(
    known: Sequence[Estimate], each: Callable[[int], Each], *, least: bool = False
) -> list[int]:
    """Return which candidates chance does not tell from the largest, or the least; it is first.

    They are compared with it pair by pair, each with a confidence of 1 - 5 % / others, since it
    was chosen among all of them (Bonferroni).

    Args:
        known: The means with their intervals.
        each: From the position of a candidate to its value in each replication, which drew common
            random numbers; nothing where they are gone: then intervals must not touch.
        least: Look for the least.
    """
    sign = -1 if least else 1
    order = sorted(range(len(known)), key=lambda at: -sign * known[at].value)
    best, *others = order
    own, confidence = each(best), 1 - (1 - CONFIDENCE) / max(len(others), 1)

    def alike(at: int, rank: int) -> bool:
        first, other = known[best], known[at]
        if first == other or len(own) == 1:
            return True
        pair = each(at) if own and rank < NEAREST else {}
        if not pair:
            return not (other.high < first.low or other.low > first.high)
        positive = min(*own.values(), *pair.values()) > 0
        apart = change(
            own, pair, "ratio" if positive else "difference", common=True, confidence=confidence
        )
        same = 1 if positive else 0
        return (
            apart is None
            or apart.low is None
            or apart.high is None
            or (apart.low <= same <= apart.high)
        )

    return [best, *(at for rank, at in enumerate(others) if alike(at, rank))]


def together(names: Sequence[str]) -> str:
    """Name those of a tie.

    >>> together(["8"]), together(["8", "9"])
    ('8', '8 and 9, which chance does not tell apart')
    """
    more = len(names) - NAMED
    text = joined([*names[:NAMED], f"{more} more"] if more > 0 else names)
    return text if len(names) == 1 else f"{text}, which chance does not tell apart"


SHORT = 0.02  # of the load; what is delivered falls as much short of it at least
MOST = 4  # lines that are named
UNIT = "packets per slot and input"


class Offered(NamedTuple):
    """One point: `line` names what else was varied, `half` is of the interval of the throughput.

    `point` is its number, for its replications.
    """

    line: str
    load: float
    throughput: float
    half: float
    refused: float
    point: int = -1

    @property
    def short(self) -> bool:
        """Whether it delivers less than what is offered, by more than its interval."""
        missing = self.load - self.throughput
        return self.refused == 0 and missing > max(SHORT * self.load, self.half)


def saturated(points: Iterable[Offered]) -> list[Offered]:
    """Return the points that are saturated, of some lines.

    >>> low = Offered("", 0.01, 0.0078, 0.001, 0)
    >>> saturated([low, Offered("", 0.05, 0.046, 0.008, 0)]), saturated([low]) == [low]
    ([], True)
    """
    known = list(points)
    most: dict[str, float] = {}
    for point in known:
        most[point.line] = max(point.throughput, most.get(point.line, 0.0))
    return [point for point in known if point.short and most[point.line] < point.load]


def saturation_sentence(sweep: Sweep) -> str:
    """Say which line saturates last; nothing where no load was varied, or none saturates."""
    return sentence([*sweep.offered.values()], lambda point: sweep.study.each(point, "throughput"))


def sentence(points: Sequence[Offered], each: Callable[[int], Each] = lambda _: {}) -> str:
    """Say which lines saturate last and what each carries then; nothing if none saturates.

    `each` gives the throughput of a point by replication, see `dvsim.view.saturation.tied`.

    >>> points = [Offered("brc", 0.3, 0.24, 0.002, 0), Offered("random", 0.3, 0.25, 0.002, 0)]
    >>> sentence(points)
    'Saturates last: random, 0.2500 ± 0.0020; then brc, 0.2400 ± 0.0020 packets per slot and input.'
    """
    lines = list(dict.fromkeys(point.line for point in points))
    carried: dict[str, Offered] = {}
    for point in saturated(points):
        if point.throughput > _most(carried.get(point.line)):
            carried[point.line] = point
    if not carried:
        return ""
    ordered = sorted(carried.values(), key=_most, reverse=True)
    texts = [estimate_text(limit.throughput, limit.half) for limit in ordered]
    if len(lines) == 1:
        return f"Saturates at {texts[0]} {UNIT}."
    known = [Estimate.around(limit.throughput, limit.half) for limit in ordered]
    last_ones = tied(known, lambda at: each(ordered[at].point))
    if len(last_ones) == len(ordered) > 1:
        span = texts[0] if len({*texts}) == 1 else f"{texts[-1]} to {texts[0]}"
        alike = f"{len(ordered)} lines saturate alike, as far as chance tells: {span} {UNIT}."
        return f"{alike}{_keeping(points, lines, carried)}"
    named = [ordered[at].line for at in last_ones]
    rest = [at for at in range(len(ordered)) if at not in last_ones]
    sentences = [f"{together(named)}, {texts[0]}"]
    sentences += [f"{ordered[at].line}, {texts[at]}" for at in rest]
    last = f"{sentences[-1]} {UNIT}" if len(sentences) <= MOST else f"first {sentences[-1]} {UNIT}"
    listed = "; then ".join([*sentences[: min(len(sentences) - 1, MOST - 1)], last])
    keeping = _keeping(points, lines, carried)
    return f"{keeping.strip()} The others: {listed}." if keeping else f"Saturates last: {listed}."


def _keeping(points: Sequence[Offered], lines: Sequence[str], carried: Collection[str]) -> str:
    keeping = [line for line in lines if line not in carried]
    if not keeping:
        return ""
    load = min(max(point.load for point in points if point.line == line) for line in keeping)
    named = ", ".join(keeping[:MOST]) + (" and more" if len(keeping) > MOST else "")
    return f" Not saturated up to load {load:g}: {named}."


def _most(point: Offered | None) -> float:
    return -1.0 if point is None else point.throughput
