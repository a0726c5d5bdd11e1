"""Random streams named by the component that draws them.

A stream depends on the seed, the replication, the iteration and its name, and on nothing else. A
change to one component therefore leaves the draws of all others alone (common random numbers), and
the same question gives the same bytes whatever the number of worker processes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

BLOCK = 1024  # draws fetched from NumPy at a time; one at a time costs a microsecond each
FIRST = 4  # of the first block of a stream; each is four times as long as the one before


class Streams:
    """The random streams of one iteration of one replication."""

    def __init__(self, seed: int, replication: int, iteration: int) -> None:
        self._key = (replication, iteration)
        self._seed = seed

    def generator(self, name: str) -> np.random.Generator:
        """Return the generator of a component, e.g. ``"broker.1/scatter"``."""
        digest = hashlib.blake2b(name.encode(), digest_size=16).digest()
        words = tuple(int.from_bytes(digest[i : i + 4], "big") for i in range(0, 16, 4))
        sequence = np.random.SeedSequence(self._seed, spawn_key=self._key + words)
        return np.random.default_rng(sequence)

    def normal(self, name: str) -> Iterator[float]:
        """Return an endless iterator of standard normal draws."""
        return _endless(self.generator(name).standard_normal)

    def uniform(self, name: str) -> Iterator[float]:
        """Return an endless iterator of draws from [0, 1)."""
        return _endless(self.generator(name).random)

    def exponential(self, name: str) -> Iterator[float]:
        """Return an endless iterator of exponential draws of mean 1."""
        return _endless(self.generator(name).standard_exponential)


def _endless(draw: Callable[[int], npt.NDArray[np.float64]]) -> Iterator[float]:
    """Yield the draws of a generator, the same whatever the lengths of the blocks.

    The first blocks are short: a system of a thousand ports has ten thousand streams, most of
    which are hardly used.
    """
    block = FIRST
    while True:
        yield from draw(block).tolist()
        block = min(4 * block, BLOCK)
