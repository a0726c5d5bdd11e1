"""A part of a sweep, such as 2 of 8: every eighth point, so that all parts take about as long."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dvsim.errors import Argument, ScenarioError

MOST = 10_000


@dataclass(frozen=True)
class Shard:
    """Part `number` of `count`, from 1."""

    number: int
    count: int

    @property
    def name(self) -> str:
        """Of its folder."""
        return f"{self.number}-of-{self.count}"

    def has(self, point: int) -> bool:
        """Say whether a point, from 0, is in it.

        >>> [point for point in range(8) if Shard(2, 3).has(point)]
        [1, 4, 7]
        """
        return point % self.count == self.number - 1


def parse_shard(text: str) -> Shard:
    """Read ``K/N``.

    Raises:
        ScenarioError: If it is something else.
    """
    match = re.fullmatch(r"\s*(\d{1,6})\s*/\s*(\d{1,6})\s*", text)
    if match is None:
        raise ScenarioError.at(Argument("shard"), "is no part; write for example 2/8", text)
    number, count = int(match[1]), int(match[2])
    if not 1 <= number <= count <= MOST:
        message = f"must be from 1/{count or 1} to {count or 1}/{count or 1}"
        message = message if count <= MOST else f"there are at most {MOST:,} parts"
        raise ScenarioError.at(Argument("shard"), message, text)
    return Shard(number, count)
