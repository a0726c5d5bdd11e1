"""What limits a run: how busy each stage was, by the counters that the run kept."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from dvsim.study.number_text import share_text

# in the order in which a message meets them
STAGES = {
    "publisher": "publisher",
    "source": "sender's port",
    "fabric": "fabric port",
    "link": "link",
    "card": "card DMA",
    "bridge": "bridge threads",
    "socket": "AMQP socket",
    # of a broker that is a node of a cluster
    "queue": "queue process",
    "leader": "leader's CPU",
    "follower": "follower's CPU",
    "disk": "disk",
    "network": "network between brokers",
    "confirms": "waiting for confirms",
    "broker": "broker",
}
NO_STAGE = "no stage alone"  # limits: several wait for each other
KEPT_UP = 0.95  # of what an open loop offers, delivered: then nothing else limits it
SATURATED = 0.9  # a stage busy for less than this share of the time does not limit the run alone


@dataclass(frozen=True)
class Stage:
    """How busy the busiest instance of a stage was, as a share of the time."""

    name: str
    utilisation: float

    @property
    def text(self) -> str:
        """The stage as people call it."""
        return STAGES.get(self.name, self.name)


def stages_of(values: pd.DataFrame) -> list[Stage]:
    """Return the stages among the values of a result, in the order of the path.

    Means over iterations and replications; of several alike that which is busiest on average.
    """
    busy = values[values["metric"] == "utilisation"]
    instances = busy.groupby(["component", "instance"])["value"].mean()
    busiest_of: dict[str, float] = {}
    for name, share in instances.groupby(level="component").max().items():
        busiest_of[str(name)] = float(share)
    order = [*STAGES, *sorted(busiest_of)]
    return [Stage(name, busiest_of[name]) for name in sorted(busiest_of, key=order.index)]


def busiest(values: pd.DataFrame) -> Stage | None:
    """Return the stage that was busy for the longest, None where nothing was counted."""
    return max(stages_of(values), key=lambda stage: stage.utilisation, default=None)


@dataclass(frozen=True, repr=False)
class Limit:
    """What keeps a run from being faster: a stage that is always busy, or what the others wait for.

    Attributes:
        cause: The stage, ``waiting for credits`` where a sender waits for room, ``the offered
            load`` of an open loop that keeps up, or ``no stage alone``.
        stage: The busiest stage.
        busy: For which share of the time it was busy.

    >>> Limit("waiting for credits", "AMQP socket", 0.75), Limit("broker", "broker", 0.987)
    (waiting for credits (AMQP socket 75 % busy), broker (99 % busy))
    """

    cause: str
    stage: str
    busy: float

    def __str__(self) -> str:
        named = "" if self.cause == self.stage else f"{self.stage} "
        return f"{self.cause} ({named}{share_text(self.busy)} busy)"

    __repr__ = __str__


def limit_of(stages: list[Stage], rate: float, offered: float | None, waits: str) -> Limit | None:
    """Return what limits a run; None where no stage was counted, as in an emulated run.

    Args:
        stages: See `stages_of`.
        rate: Whole messages per second over all receivers.
        offered: The same, of an open loop.
        waits: For what a closed loop waits in which no stage is saturated: over the Data Vortex for
            credits, one for a buffer of the ring, which a poll gives back. Empty for each other.
    """
    stage = max(stages, key=lambda stage: stage.utilisation, default=None)
    if stage is None:
        return None
    if stage.utilisation >= SATURATED:
        return Limit(stage.text, stage.text, stage.utilisation)
    kept_up = offered is not None and rate >= KEPT_UP * offered
    cause = "the offered load" if kept_up else waits or NO_STAGE
    return Limit(cause, stage.text, stage.utilisation)
