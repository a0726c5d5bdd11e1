"""The unbuffered butterfly, the baseline that the Data Vortex is held against.

N = 2^n ports, n stages of N/2 elements with two inputs and two outputs, wired as an omega network:
a perfect shuffle before every stage (a butterfly differs from it in the names of its ports only).
Stage i sends a packet to the output that bit i of its address names, most significant bit first.
When two packets want the same output of an element, one of them, drawn at random, gets it and the
other is dropped. Nothing is stored, so a slot knows nothing of the one before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dvsim.fabric.switch.check import power_of_two, share, whole

IDLE = -1
BATCH = 1 << 18  # packets that are worked on at once: few enough for the cache


@dataclass(frozen=True)
class ButterflyRun:
    """Counts of a run; `acceptance` is NaN when nothing was offered."""

    ports: int
    slots: int
    offered: int
    delivered: int

    @property
    def acceptance(self) -> float:
        """Delivered / offered."""
        return self.delivered / self.offered if self.offered else float("nan")

    @property
    def throughput(self) -> float:
        """Packets delivered per port and slot."""
        return self.delivered / (self.ports * self.slots)


class Butterfly:
    """An unbuffered butterfly of 2 x 2 elements.

    Args:
        ports: Inputs, and as many outputs; a power of two.

    Raises:
        ValueError: If `ports` is not a power of two, or a parameter of `run` is out of range.

    >>> run = Butterfly(2).run(load=1.0, slots=10_000)
    >>> abs(run.acceptance - 3 / 4) < 0.01  # two packets, the same output in half of the slots
    True
    """

    def __init__(self, ports: int) -> None:
        self.ports = power_of_two("ports", ports)
        self.stages = self.ports.bit_length() - 1

    def __repr__(self) -> str:
        return f"Butterfly(ports={self.ports})"

    def run(self, load: float, slots: int, seed: int = 1) -> ButterflyRun:
        """Offer uniform Bernoulli traffic: a packet per input and slot with probability `load`.

        Raises:
            ValueError: If the load is outside 0 .. 1 or there is no slot.
        """
        share("load", load)
        whole("slots", slots, 1)
        rng = np.random.default_rng(seed)
        offered = delivered = 0
        rows = max(1, BATCH // self.ports)
        for first in range(0, slots, rows):
            shape = (min(rows, slots - first), self.ports)
            address = rng.integers(self.ports, size=shape, dtype=np.int32)
            address[rng.random(shape, dtype=np.float32) >= load] = IDLE
            offered += int((address != IDLE).sum())
            delivered += int((self.route(address, rng) != IDLE).sum())
        return ButterflyRun(self.ports, slots, offered, delivered)

    def route(
        self, address: npt.NDArray[np.int32], rng: np.random.Generator
    ) -> npt.NDArray[np.int32]:
        """Send one packet per input through the network, for many slots at once.

        Args:
            address: [slots, ports], the output that each input wants, -1 for no packet.
            rng: Decides who wins where two packets meet.

        Returns:
            ndarray of shape (slots, ports): The address of the packet at each output, -1 for none;
            never another's.
        """
        slots, half = address.shape[0], self.ports // 2
        at = address
        for bit in range(self.stages - 1, -1, -1):
            # the shuffle makes inputs i and i + N/2 the two inputs of element i
            upper, lower = at[:, :half], at[:, half:]
            swap = rng.integers(2, size=upper.shape, dtype=np.int8).astype(bool)
            first, second = np.where(swap, lower, upper), np.where(swap, upper, lower)
            at = np.empty((slots, half, 2), dtype=np.int32)
            for output in (0, 1):
                wins = (first != IDLE) & (first >> bit & 1 == output)
                follows = (second != IDLE) & (second >> bit & 1 == output)
                at[:, :, output] = np.where(wins, first, np.where(follows, second, IDLE))
            at = at.reshape(slots, self.ports)
        return at


def analytic_acceptance(ports: int, load: float) -> float:
    r"""Return the expected acceptance of `Butterfly.run` (Patel, IEEE Trans. Computers, 1981).

    An output of an element is idle when neither of its two inputs, each busy with probability p,
    has a packet for it, so over a stage::

        p_{i+1} = 1 - (1 - p_i / 2)^2

    and the acceptance is p_n / p_0. The two inputs of an element come from disjoint parts of the
    network, so for uniform traffic this is exact.

    Raises:
        ValueError: If `ports` is not a power of two or the load is outside 0 .. 1.

    >>> [round(analytic_acceptance(ports, 0.5), 4) for ports in (128, 256)]
    [0.5092, 0.4768]
    """
    stages = power_of_two("ports", ports).bit_length() - 1
    busy, accepted = share("load", load), 1.0
    for _ in range(stages):
        # 1 - (1 - p/2)^2 = p (1 - p/4), which also says what an idle network would accept: all
        accepted *= 1 - busy / 4
        busy *= 1 - busy / 4
    return accepted
