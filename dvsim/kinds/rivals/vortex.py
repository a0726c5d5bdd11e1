"""A Data Vortex under the traffic of its rivals."""

from __future__ import annotations

import numpy as np

from dvsim.contract.kind import Plain
from dvsim.fabric.switch import Switch, Traffic
from dvsim.kinds.rivals.offered import packets_of
from dvsim.kinds.rivals.spec import RivalScenario


def run_vortex(scenario: RivalScenario, seed: int) -> Plain:
    """Run a Data Vortex; of several planes one, which gets its share of the packets."""
    table, traffic = scenario.topology, scenario.traffic
    planes, ports = table.planes, table.ports
    offered = packets_of(traffic, ports, traffic.load / planes, seed)
    given = Traffic(pattern="trace", injection=traffic.injection, trace=offered[:3])
    switch = Switch(ports // table.angles, table.angles)
    run = switch.run(given, traffic.slots, traffic.warmup, seed)
    inside = np.cumsum(run.hops) / max(1, int(run.hops.sum()))
    some = bool(run.hops.sum())
    return Plain(
        {
            "throughput": run.throughput * planes,
            "mean_latency": run.mean_latency + offered.wait,
            "inside": run.mean_hops,
            "inside_p50": float(np.searchsorted(inside, 0.5)) if some else np.nan,
            "inside_p99": float(np.searchsorted(inside, 0.99)) if some else np.nan,
            "hops": run.mean_hops,
        },
        notes="; ".join(run.notes),
    )
