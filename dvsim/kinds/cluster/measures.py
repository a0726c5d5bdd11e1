"""What a run adds up, second by second, and the metrics that come of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dvsim.kinds.cluster.metrics import METRICS
from dvsim.kinds.cluster.spec import ClusterScenario

if TYPE_CHECKING:
    from dvsim.core.cluster.disk import Use

Floats = NDArray[np.float64]
MS, KB, MEGABIT = 1e3, 1e-3, 8e-6
DIGITS = 6
QUANTILES = (0.5, 0.95, 0.99, 1.0)


class Left(NamedTuple):
    """Where messages are at the end of a run that no consumer got."""

    held: float
    waiting: float
    stranded: float


@dataclass
class Sums:
    """What all seconds so far add up to."""

    # Messages up to the end of each second, at their intended times.
    published: list[float] = field(default_factory=lambda: [0.0])
    # Messages that the brokers took, and consumers got.
    taken: float = 0.0
    given: float = 0.0
    admitted: float = 0.0  # messages that publishers have sent
    redelivered: float = 0.0
    resent: float = 0.0
    # Seconds in which publishers are stopped, and in which a volume has no room.
    alarms: int = 0
    full: int = 0
    # Latencies in seconds, and how many messages had them.
    values: list[Floats] = field(default_factory=list)
    weights: list[Floats] = field(default_factory=list)
    busy: list[Floats] = field(default_factory=list)
    uses: list[Floats] = field(default_factory=list)
    network: float = 0.0

    def add(self, taken: float, given: float, busy: Floats, uses: list[Use], sent: Floats) -> None:
        """Add a second."""
        self.taken += taken
        self.given += given
        self.busy.append(busy)
        self.uses.append(np.array([(use.operations, use.bytes, use.syncs) for use in uses]))
        self.network += taken * float(sent.max())

    def metrics(self, scenario: ClusterScenario, stock: Left) -> dict[str, float]:
        """Return all metrics."""
        seconds = scenario.workload.seconds
        values, weights = (
            (np.concatenate(self.values), np.concatenate(self.weights))
            if self.values
            else (np.zeros(0), np.zeros(0))
        )
        late = [value * MS for value in quantiles(values, weights, QUANTILES)]
        operations, written, syncs = np.mean(self.uses, axis=0).T
        busiest = int(operations.argmax())
        month = monthly(scenario)
        out = self.given / seconds
        behind = stock.held + stock.waiting + stock.stranded
        block = written[busiest] / operations[busiest] * KB if operations[busiest] else 0.0
        numbers: dict[str, float] = {
            "rate_in": self.taken / seconds,
            "rate_out": out,
            **dict(zip(("p50", "p95", "p99", "max"), late, strict=True)),
            "cpu": float(np.mean(self.busy, axis=0).max()),
            "iops": float(operations[busiest]),
            "block": float(block),
            "fsyncs": float(syncs.max() * seconds),
            "network": self.network / seconds * MEGABIT,
            "waiting": stock.waiting,
            "held": stock.held,
            "stranded": stock.stranded,
            "redelivered": self.redelivered,
            "resent": self.resent,
            "blocked": self.alarms / seconds,
            "full": self.full / seconds,
            "unstable": float(behind > max(1.0, self.published[-1] / seconds)),
            "month": month,
            "cost": month / out * 1000 if out else float("nan"),
        }
        # what is left of the rounding of sums is nobody's message
        return {name: round(numbers[name], DIGITS) for name in METRICS}


def monthly(scenario: ClusterScenario) -> float:
    """Return dollars for the machines and volumes of a month."""
    cards = scenario.cards
    each: int = cards["host"]["month"] + cards["storage"]["month"]
    return float(each * scenario.system.nodes)


def quantiles(values: Floats, weights: Floats, shares: tuple[float, ...]) -> list[float]:
    """Return quantiles of values that stand for so many messages; not numbers if there are none.

    >>> quantiles(np.array([3.0, 1.0, 2.0]), np.array([1.0, 8.0, 1.0]), (0.5, 0.9, 1.0))
    [1.0, 2.0, 3.0]
    """
    total = weights.sum()
    if not total > 0:
        return [float("nan")] * len(shares)
    order = np.argsort(values, kind="stable")
    heap = np.cumsum(weights[order])
    places = np.searchsorted(heap, np.array(shares) * heap[-1] * (1 - 1e-12))
    return [float(values[order[min(rank, len(order) - 1)]]) for rank in places]
