"""From the tables of a point to the objects that they describe, and what these refuse.

What the switch and the network refuse is refused when a scenario is read, in their words, and there
is no second list of rules. Imported only where it is needed: they bring the compiled core along.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dvsim.errors import ArgumentError
from dvsim.fabric.network import Network
from dvsim.fabric.network import check_offer as of_network
from dvsim.fabric.network.flow import FLOW_KNOWS, flow_knows
from dvsim.fabric.switch import Switch
from dvsim.fabric.switch.traffic import Offer, Traffic
from dvsim.fabric.switch.traffic import check_offer as of_switch
from dvsim.kinds.switch.spec import NetworkTable, Packets, SwitchScenario, SwitchTable, TrafficTable


def device_of(setting: SwitchScenario) -> Switch | Network:
    """Make the switch or network of a point.

    Raises:
        ValueError: If it cannot be.
    """
    if setting.switch is not None:
        return switch_of(setting.switch)
    assert setting.network is not None  # one of the two is there
    return network_of(setting.network)


def switch_of(table: SwitchTable) -> Switch:
    """Make a switch."""
    return Switch(
        table.height, table.angles, table.injecting, table.crossing, table.exit, table.faults
    )


def network_of(table: NetworkTable) -> Network:
    """Make a network."""
    return Network(
        table.preset,
        switch=None if table.switch is None else switch_of(table.switch),
        levels=table.levels,
        ports=table.ports,
        planes=table.planes,
        link=table.link,
    )


def traffic_of(table: TrafficTable) -> Traffic:
    """Return the traffic of a table."""
    hot, trace = table.hot, table.trace
    assert not isinstance(trace, str)  # the file was read with the scenario
    return Traffic(
        table.load,
        table.pattern,
        table.injection,
        hot=None if hot is None else (hot.fraction, hot.outputs),
        burst=table.burst,
        duty=table.duty,
        permutation=table.permutation,
        trace=None if trace is None else arrays_of(trace),
    )


def arrays_of(packets: Packets) -> tuple[Any, Any, Any]:
    """Return slots, inputs and outputs of a trace, shape (packets,) each."""
    slot, source, target = np.array(packets, dtype=np.int64).reshape(-1, 3).T
    return slot, source, target


def read_packets(path: Path, setting: SwitchScenario) -> Packets:
    """Read the trace of a file; the trace of `setting` does not count.

    Raises:
        ValueError: If it is no trace of the device of this point; with file and line.
    """
    bare = replace(setting, traffic=replace(setting.traffic, trace=None))
    trace = _offer(bare, {"trace": path}).trace
    assert trace is not None  # it was given
    columns = zip(trace.slot.tolist(), trace.input.tolist(), trace.output.tolist(), strict=True)
    return tuple(columns)


def nodes_of(setting: SwitchScenario) -> int:
    """Return the nodes of the device of a point, those of all planes of a network."""
    return int(device_of(setting).nodes)


def node_updates(setting: SwitchScenario) -> int:
    """Return how many nodes are updated in all slots of a run."""
    return nodes_of(setting) * (setting.traffic.slots + setting.traffic.warmup)


def refused(setting: SwitchScenario) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a point: a key by its short name, and a message.

    Only the first thing is told of what is wrong together; what is wrong alone is told by the
    schema, all at once.
    """
    traffic = setting.traffic
    if traffic.load is None and traffic.pattern != "trace" and traffic.injection != "saturate":
        yield "load", "missing; the share of slots in which a packet arrives at an input, 0 to 1"
        return
    try:
        _offer(setting, {})
    except ArgumentError as error:
        yield error.argument, said(str(error), error.argument)


def _offer(setting: SwitchScenario, more: dict[str, Any]) -> Offer:
    traffic = replace(traffic_of(setting.traffic), **more)
    if setting.switch is not None:
        return of_switch(switch_of(setting.switch), traffic)
    assert setting.network is not None  # one of the two is there
    offer = of_network(network_of(setting.network), traffic)
    if setting.network.fidelity == "flow" and not flow_knows(offer):
        raise ArgumentError("fidelity", f"{FLOW_KNOWS}; use 'cycle'", "fidelity 'flow'")
    return offer


def said(message: str, key: str) -> str:
    """Return a message without the key in front, which its place tells already.

    >>> said("load must be None with pattern 'trace', which says what arrives; is 0.3", "load")
    "must be absent with pattern 'trace', which says what arrives; is 0.3"
    """
    return message.removeprefix(f"{key} ").replace("None", "absent")
