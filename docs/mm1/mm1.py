"""An M/M/1 queue as a kind of dvsim: customers who come at random to one server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from dvsim.contract.kind import Keys, Order
from dvsim.core.observer import Observer
from dvsim.kinds.points import PointsKind
from dvsim.scenario.fields import Number, Varied, Vary, Whole
from dvsim.scenario.spec import Spec, Table
from dvsim.table.metrics import Metric

US = 10**6  # picoseconds, in which timelines count
Load = Annotated[Number, Field(gt=0, lt=1, description="customers per service")]
Customers = Annotated[Whole, Field(ge=100, le=10**7, description="that are counted")]


@dataclass(frozen=True)
class Queue(Table):
    """The table ``[queue]`` of a file; its keys can stand in ``[[vary]]``, too."""

    VARIED: ClassVar[bool] = True

    load: Load
    customers: Customers = 10_000


@dataclass(frozen=True, kw_only=True)
class QueueScenario(Spec):
    """A file with ``kind = "mm1"``."""

    KIND: ClassVar[str] = "mm1"
    LENGTH: ClassVar[str] = "customers"  # what --scale multiplies

    queue: Queue
    vary: Annotated[Varied, Vary(Queue)] = ()


def customers(queue: Queue, seed: int, replication: int) -> tuple[np.ndarray, ...]:
    """Return the time before each customer, what each waits and is served for, in mean services.

    A wait is that of the customer before, plus its service, less the time between the two, and at
    least 0 (Lindley): a random walk that does not fall below 0.
    """
    draws = np.random.default_rng([seed, replication])
    gaps = draws.exponential(1 / queue.load, queue.customers)
    served = draws.exponential(1.0, queue.customers)
    walk = np.concatenate([[0.0], np.cumsum(served[:-1] - gaps[1:])])
    return gaps, walk - np.minimum.accumulate(walk), served


class QueueKind(PointsKind):
    """What dvsim asks about a queue."""

    name = "mm1"
    about = "of an M/M/1 queue"
    Spec: ClassVar[type[Spec]] = QueueScenario
    registry: ClassVar[dict[str, Metric]] = {"wait": Metric("services"), "busy": Metric("1")}
    orders: ClassVar[Keys] = {"load": Order("share", 0.01, 0.99, (0.01, 0.99))}

    def run(self, scenario: QueueScenario, seed: int, replication: int) -> dict[str, float]:
        """Return how long a customer waits and how busy the server is, in mean service times."""
        gaps, waits, served = customers(scenario.queue, seed, replication)
        return {"wait": float(waits.mean()), "busy": float(served.sum() / gaps.sum())}

    def trace(self, scenario: QueueScenario, seed: int, timeline: Observer) -> dict[str, str]:
        """Show when the server serves and how long each waits; a mean service takes 1 us."""
        gaps, waits, served = customers(scenario.at(0).queue, seed, 1)
        came = np.cumsum(gaps)
        begin, end = came + waits, came + waits + served
        for times in np.stack([came, begin, end], axis=1) * US:
            arrived, began, ended = map(int, times)
            timeline.worked(self, "server", began, ended, 1)
            timeline.passed("queue", "waits", arrived, began, 1)
        return {"clock": "1 us is a mean service"}

    def seconds(self, scenario: QueueScenario) -> float:
        """Return about how long that takes."""
        return scenario.queue.customers * 1e-7


KIND = QueueKind()
