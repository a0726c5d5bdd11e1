"""What is measured of a system: each metric once, with its unit, its title and its formula.

A metric with a formula can stand beside the rate in the answer to an open question, under `also`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from dvsim.table.metrics import Metric, unsigned

if TYPE_CHECKING:
    import pandas as pd

    from dvsim.table.result import Result

BEHIND = "behind"
"""How late the last messages of an open loop are, in seconds; it grows beyond saturation."""


def _counter(run: Result, component: str, metric: str) -> pd.Series[float]:
    table = run.values
    rows = table[(table["component"] == component) & (table["metric"] == metric)]
    return rows.groupby(["replication", "iteration", "instance"])["value"].sum()


def _mean(component: str, metric: str) -> Callable[[Result], float]:
    return lambda run: float(_counter(run, component, metric).mean())


def _overruns(run: Result) -> float:
    windows = _counter(run, "card", "windows").sum()
    return float(_counter(run, "card", "overruns").sum() / windows) if windows else float("nan")


def _empty(run: Result) -> float:
    return float((run.sides["samples"]["pieces"] == 0).mean())


def _port(run: Result) -> float:
    several = _counter(run, "source", "utilisation")
    return float((_counter(run, "fabric", "utilisation") if several.empty else several).mean())


def _peak(run: Result) -> float:
    return float(_counter(run, "card", "sram_peak_bytes").max())


def _paged(run: Result) -> float:
    paged = _counter(run, "broker", "paged_bytes")
    return float(paged.groupby(level=["replication", "iteration"]).sum().mean())


METRICS: Mapping[str, Metric] = unsigned(
    {
        "delivered_rate": Metric("1/s", axis="msg/s", written="msg/s", shown=True),
        "payload_rate": Metric("B/s", shown=True),
        BEHIND: Metric("s"),
        "overruns": Metric("%", "buffers that overrun", of=_overruns),
        "empty": Metric("%", "polls that find nothing", of=_empty),
        "sram": Metric("B", "most in the SRAM of a card", of=_peak),
        "paged": Metric("B", "paged to disk", of=_paged),
        "blocked": Metric("s", "publishers of a node blocked for", of=_mean("broker", "blocked_s")),
        "port": Metric("%", "a sender's port in use", of=_port),
        "latency": Metric(
            "s", "first word through the fabric after", of=_mean("fabric", "latency_s")
        ),
        "together": Metric(
            "B/s",
            "what the fabric carries for each when all send at once",
            of=_mean("fabric", "rate_together"),
        ),
        "late": Metric("%", "words that come after a later one", of=_mean("fabric", "late_share")),
        "resequencing": Metric(
            "1",
            "words that a port must hold back to deliver in order",
            of=_mean("fabric", "order_words"),
        ),
        "holding": Metric(
            "s", "for which it holds a word back, at most", of=_mean("fabric", "order_wait_s")
        ),
    }
)
"""By name: of the numbers of a sweep, and of those that an open question names under `also`."""
