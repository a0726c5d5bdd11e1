"""What limits a run: how busy each stage was, by the counters that the run kept."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

# in the order in which a message meets them
STAGES = {
    "publisher": "publisher",
    "source": "sender's port",
    "fabric": "fabric port",
    "link": "link",
    "card": "card DMA",
    "bridge": "bridge threads",
    "socket": "AMQP socket",
    "broker": "broker",
}
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


def stages_of(counters: pd.DataFrame) -> list[Stage]:
    """Return the stages of a run, in the order of the path; means over iterations and runs."""
    busy = counters[counters["metric"] == "utilisation"]
    instances = busy.groupby("component")["value"].mean()
    busiest_of: dict[str, float] = {}
    for component, share in instances.items():
        name = str(component).split(".", maxsplit=1)[0]
        busiest_of[name] = max(busiest_of.get(name, 0.0), float(share))
    order = [*STAGES, *sorted(busiest_of)]
    return [Stage(name, busiest_of[name]) for name in sorted(busiest_of, key=order.index)]


def busiest(counters: pd.DataFrame) -> Stage | None:
    """Return the stage that was busy for the longest, None where nothing was counted."""
    return max(stages_of(counters), key=lambda stage: stage.utilisation, default=None)


def bottleneck_text(counters: pd.DataFrame) -> str:
    """Name the bottleneck, or say that no stage was busy enough to be one."""
    stage = busiest(counters)
    if stage is None:
        return "not counted"
    if stage.utilisation < SATURATED:
        return f"none saturated; busiest: {stage.text}"
    return stage.text
