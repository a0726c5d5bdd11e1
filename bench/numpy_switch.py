"""The rival: the same switch vectorised with NumPy, as one would write it without a C compiler.

One array per cylinder, natural heights, angles rolled on each slot. Bernoulli arrivals, uniform
traffic, exit at the addressed angle, refused packets dropped. Draws the same packets as the core,
so that results can be compared and not only times.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int64]


def mix(x: Words) -> Words:
    """Return the output function of SplitMix64, element by element."""
    x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return x ^ x >> np.uint64(31)


def reverse(values: Counts, bits: int) -> Counts:
    """Return the values with their lowest `bits` bits mirrored."""
    mirror = np.zeros_like(values)
    for bit in range(bits):
        mirror |= (values >> bit & 1) << (bits - 1 - bit)
    return mirror


class NumpySwitch:
    """A switch of `height` x `angles`, crossing `brc`; -1 marks an empty node."""

    def __init__(self, height: int, angles: int, seed: int = 1) -> None:
        self.height, self.angles = height, angles
        self.n = height.bit_length() - 1
        self.key = mix(np.array([seed], dtype=np.uint64))[0]
        heights = np.arange(height)
        self.u = reverse(heights, self.n)
        self.cross = []  # height from which a staying packet comes, per cylinder
        for c in range(self.n):
            low = self.n - c
            value = (reverse(heights & ((1 << low) - 1), low) + 1) % (1 << low)
            target = heights >> low << low | reverse(value, low)
            self.cross.append(np.argsort(target))
        self.to = [np.full((angles, height), -1, dtype=np.int64) for _ in range(self.n + 1)]
        self.born = [np.zeros((angles, height), dtype=np.int64) for _ in range(self.n + 1)]
        self.angle = np.arange(angles)[:, None]
        self.port = self.angle * height + self.u
        self.now = self.offered = self.accepted = self.delivered = 0
        self.hops = np.zeros(1, dtype=np.int64)

    def step(self, threshold: int) -> None:
        """Run one slot."""
        to, born, n = self.to, self.born, self.n
        leaving = (to[n] >= 0) & (to[n] // self.height == self.angle)
        counts = np.bincount(self.now - born[n][leaving], minlength=len(self.hops))
        self.hops = np.pad(self.hops, (0, len(counts) - len(self.hops))) + counts
        self.delivered += int(leaving.sum())
        to[n][leaving] = -1
        to[n], born[n] = np.roll(to[n], 1, axis=0), np.roll(born[n], 1, axis=0)
        for c in range(n - 1, -1, -1):
            ahead, ahead_born = np.roll(to[c], 1, axis=0), np.roll(born[c], 1, axis=0)
            bit = n - 1 - c
            right = ((ahead ^ np.arange(self.height)) >> bit & 1) == 0
            down = (ahead >= 0) & right & (to[c + 1] < 0)
            to[c + 1][down], born[c + 1][down] = ahead[down], ahead_born[down]
            ahead[down] = -1
            to[c], born[c] = ahead[:, self.cross[c]], ahead_born[:, self.cross[c]]
        index = (self.now * self.angles * self.height + self.port).astype(np.uint64)
        x = mix(self.key + index * np.uint64(0x9E3779B97F4A7C15))
        arrives = (x >> np.uint64(32)).astype(np.int64) < threshold
        address = (x & np.uint64(0xFFFFFFFF)) * np.uint64(self.angles * self.height)
        address = (address >> np.uint64(32)).astype(np.int64)
        address = address // self.height * self.height + self.u[address % self.height]
        taken = arrives & (to[0] < 0)
        to[0][taken], born[0][taken] = address[taken], self.now
        self.offered += int(arrives.sum())
        self.accepted += int(taken.sum())
        self.now += 1
