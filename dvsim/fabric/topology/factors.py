"""The sides of a topology of a number of ports."""

from __future__ import annotations

from collections.abc import Iterator

UNEVEN = 4
"""How many times the smallest side the largest may be."""


def factors(number: int, count: int, least: int) -> list[int] | None:
    """Return `count` factors of a number, as even as they can be, the largest first.

    >>> factors(256, 3, 2)
    [8, 8, 4]
    """
    best = min(_factored(number, count, least), key=max, default=None)
    return best if best is not None and best[0] <= UNEVEN * best[-1] else None


def _factored(number: int, count: int, least: int) -> Iterator[list[int]]:
    if count == 1:
        yield from [[number]] if number >= least else ()
        return
    for factor in range(least, number + 1):
        if factor**count > number:
            return
        if number % factor == 0:
            for larger in _factored(number // factor, count - 1, factor):
                yield [*larger, factor]
