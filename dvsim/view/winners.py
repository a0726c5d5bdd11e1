"""Which of many points is the largest: told only as far as chance leaves it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dvsim.study.number_text import joined
from dvsim.table.estimate import CONFIDENCE, Each, Estimate, change

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
