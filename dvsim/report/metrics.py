"""Metrics of a study as people read them, and the lines that others have drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dvsim.kinds.hosts.result import MessagingStudy
from dvsim.kinds.switch.result import Study
from dvsim.report.flow_metrics import FLOW_NAMES, FLOW_UNITS, shown_of_flows
from dvsim.report.sweep import Sweep
from dvsim.report.swept_points import SweptPoints
from dvsim.results.amounts import amount_text, estimate_text, number_text

if TYPE_CHECKING:
    from dvsim.results.points import PointsStudy

NAMES = {
    "throughput": "throughput",
    "acceptance": "acceptance",
    "mean_hops": "mean hops",
    "mean_latency": "mean latency",
    "p99": "99 % of the latencies",
    "lost": "packets lost",
    **FLOW_NAMES,
}
UNITS = {
    "throughput": "packets per slot and input",
    "acceptance": "accepted / offered",
    "mean_hops": "nodes visited",
    "mean_latency": "slots",
    "p99": "slots",
    "lost": "packets",
    **FLOW_UNITS,
}
PS_PER_NS = 1000


@dataclass(frozen=True)
class Line:
    """A level that was published for a metric, and the studies beside which it is drawn."""

    metric: str
    key: str
    value: float
    text: str
    injection: str | None = None

    def belongs(self, sweep: Sweep, metric: str) -> bool:
        """Whether a study asks what this line answers."""
        if not isinstance(sweep.study, Study):
            return False
        setting = sweep.study.scenario
        network = setting.network
        table = setting.switch if network is None else network.switch
        if metric != self.metric or sweep.key != self.key or table is None:
            return False
        if self.injection is not None:
            return setting.traffic.injection == self.injection
        return table.injecting is not None  # some angles are idle


LINES = (
    Line(
        "throughput",
        "height",
        2 / 9,
        "2/9: published limit for few angles, many heights",
        injection="saturate",
    ),
    Line("acceptance", "angles", 0.99, "99 %: published for five idle angles to one"),
)


def name_of(metric: str) -> str:
    """Name a metric, or the result of a sweep, as people do."""
    return NAMES.get(metric, metric.replace("_", " "))


def unit_of(study: PointsStudy | SweptPoints, metric: str) -> str:
    """Return the unit of a metric; empty of a plain number."""
    own = study.METRICS.get(metric, "")
    unit = own if is_time(study, metric) else UNITS.get(metric) or own
    return {"1": "", "1/s": "msg/s" if metric == "delivered_rate" else unit}.get(unit, unit)


def is_time(study: PointsStudy | SweptPoints, metric: str) -> bool:
    """Return whether a metric that is in slots of a switch is in units of time here."""
    return UNITS.get(metric) == "slots" and study.METRICS.get(metric, "") not in ("", "slots")


def shown(study: PointsStudy | SweptPoints) -> list[str]:
    """Choose the metrics that say something about a study.

    A packet that waits is never refused, one that always waits has no latency to speak of, and
    where nothing waits the latency is the hops.
    """
    if isinstance(study, SweptPoints):
        return study.shown
    if isinstance(study, MessagingStudy):
        return shown_of_flows(study)
    if not isinstance(study, Study):
        return [name for name in study.SHOWN if study.points[name].notna().any()]
    scenario = study.scenario
    injection = "any" if "injection" in scenario.keys else scenario.traffic.injection
    chosen = {
        "queue": ["mean_latency", "throughput"],
        "saturate": ["throughput", "mean_hops"],
    }.get(injection, ["throughput", "acceptance", "mean_hops", "mean_latency"])
    if study.points["mean_latency"].equals(study.points["mean_hops"].rename("mean_latency")):
        chosen = [metric for metric in chosen if metric != "mean_latency"]
    if study.points["lost"].gt(0).any():
        chosen = [*chosen, "lost"]
    return [metric for metric in chosen if study.points[metric].notna().any()]


def metric_text(
    study: PointsStudy | SweptPoints, metric: str, value: float, half: float = 0.0
) -> str:
    """Write a metric with its interval and unit; slots in time too, where a slot has one."""
    if metric not in UNITS or is_time(study, metric):
        return amount_text(value, half, unit_of(study, metric))
    text = estimate_text(value, half)
    if metric in FLOW_UNITS:
        return f"{text} {UNITS[metric]}".removesuffix(" 1")
    if UNITS[metric] != "slots":
        return text
    if study.slot_ps is None:
        return f"{text} slots"
    return f"{text} slots ({number_text(value * study.slot_ps / PS_PER_NS)} ns)"
