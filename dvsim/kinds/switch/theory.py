"""What theory and baselines say of a point, by the names of the metrics."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dvsim.fabric.switch.butterfly import analytic_acceptance
from dvsim.fabric.switch.meanfield import (
    ExitRule,
    blocking,
    carried,
    mean_hops,
    saturation,
    zero_load_hops,
)
from dvsim.kinds.switch.points import switch_of
from dvsim.kinds.switch.spec import SwitchScenario, SwitchTable

Values = Iterator[tuple[str, float]]


def theory_of(name: str, setting: SwitchScenario) -> Values:
    """Yield metrics and values of a point.

    Args:
        name: ``mean-field`` and ``zero-load``, see `dvsim.fabric.switch.meanfield`; ``butterfly``,
            an unbuffered one of as many ports as the switch has inputs, see
            `dvsim.fabric.switch.butterfly`.
        setting: Of a switch under uniform traffic.
    """
    table = setting.switch
    assert table is not None  # `switch_build` has refused theory of a network
    load, injection = setting.traffic.load, setting.traffic.injection
    if name == "mean-field":
        yield from _mean_field(table, 1.0 if load is None else load, injection)
    elif name == "zero-load":
        yield from _zero_load(table)
    else:
        offered = 1.0 if load is None else load
        acceptance = analytic_acceptance(switch_of(table).inputs, offered)
        yield "throughput", offered * acceptance
        yield "acceptance", acceptance


def _mean_field(table: SwitchTable, load: float, injection: str) -> Values:
    height, angles = table.height, table.angles
    exit: ExitRule = "any" if table.exit == "any" else "angle"
    if injection == "queue":
        throughput = min(load, saturation(height, angles, exit))
    else:
        throughput = carried(height, angles, load, exit)
    yield "throughput", throughput
    if load:
        yield "acceptance", throughput / load
    yield "mean_hops", mean_hops(height, angles, throughput, exit)
    if injection != "queue":  # there a slot's refused packet comes again: another law for y_0
        blocked = blocking(height, angles, load, exit)
        yield "blocked", float(blocked.mean())
        for cylinder, share in enumerate(blocked.tolist()):
            yield f"blocked:{cylinder}", share


def _zero_load(table: SwitchTable) -> Values:
    exit: ExitRule = "any" if table.exit == "any" else "angle"
    share = zero_load_hops(table.height, table.angles, exit)
    mean, below = mean_hops(table.height, table.angles, 0.0, exit), np.cumsum(share)
    yield "mean_hops", mean
    yield "mean_latency", mean
    yield "p50", float(np.searchsorted(below, 0.5 - 1e-12))
    yield "p99", float(np.searchsorted(below, 0.99 - 1e-12))
    yield "max", float(share.size - 1)
    for value in np.flatnonzero(share).tolist():
        yield f"hops:{value}", float(share[value])
