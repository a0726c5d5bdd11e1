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


STEP = np.uint64(0x9E3779B97F4A7C15)


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
    """A switch of `height` x `angles`, crossing `brc`; -1 marks an empty node.

    There are at least 64 heights, and the angles are a power of two.
    """

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
        self.now = self.offered = self.accepted = self.delivered = 0
        self.hops = np.zeros(1, dtype=np.int64)

    def bits(self, first: int, count: int) -> npt.NDArray[np.bool_]:
        """Return one bit of so many numbers for each lane and bit-reversed height."""
        steps = np.arange(first, first + count, dtype=np.uint64)[:, None]
        words = mix(self.keys + steps * STEP)
        bits = np.unpackbits(words.view(np.uint8), axis=-1, bitorder="little").view(bool)
        places = bits.reshape(count, -1, self.angles, 8, 8).swapaxes(-1, -2)
        return places.swapaxes(1, 2).reshape(count, self.angles, self.height)

    def arrivals(self, threshold: int) -> tuple[npt.NDArray[np.bool_], Counts]:
        """Return where packets arrive, and their addresses, for each angle and height."""
        blocks = self.angles * self.height // 64
        index = self.now * blocks + np.arange(blocks)
        self.keys = mix(self.key + index.astype(np.uint64) * STEP)
        count = self.n + self.angles.bit_length() - 1
        to = np.tensordot(1 << np.arange(count), self.bits(0, count), 1)
        arrives, even = np.zeros(to.shape, bool), np.ones(to.shape, bool)
        for k in range(32):  # highest bit first, until all differ from the threshold
            if threshold & ((1 << (32 - k)) - 1) == 0 or not even.any():
                break
            (bit,) = self.bits(count + k, 1)
            if threshold >> (31 - k) & 1:
                arrives |= even & ~bit
            even &= bit == bool(threshold >> (31 - k) & 1)
        angle = (to // self.height + self.angle) % self.angles
        to = angle * self.height + self.u[to % self.height]
        arrives, to = (np.roll(one, self.now, axis=0)[:, self.u] for one in (arrives, to))
        return arrives, to

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
        arrives, address = self.arrivals(threshold)
        taken = arrives & (to[0] < 0)
        to[0][taken], born[0][taken] = address[taken], self.now
        self.offered += int(arrives.sum())
        self.accepted += int(taken.sum())
        self.now += 1
