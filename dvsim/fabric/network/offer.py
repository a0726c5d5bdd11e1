"""What is offered to a network: the arguments of a run, checked, and as the core wants them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dvsim.core.arrays import Ints
from dvsim.core.network import NetworkParams
from dvsim.fabric.switch.trace import Trace
from dvsim.fabric.switch.traffic import (
    Ends,
    Offer,
    Traffic,
    check_traffic,
    common_of,
    destinations_of,
)

if TYPE_CHECKING:
    from dvsim.fabric.network.network import Network


def check_offer(network: Network, traffic: Traffic, seed: int = 1) -> Offer:
    """Check what `Network.run` is offered; ValueError says what is wrong and what is allowed."""
    ports = network.ports
    ends = Ends(np.ones(ports, dtype=np.bool_), ports, ports, "port", "ports", network.planes)
    return check_traffic(ends, traffic, seed)


def params_of(network: Network, offer: Offer) -> NetworkParams:
    """Return what the core needs to know."""
    return NetworkParams(
        **common_of(network.switch, offer),
        injecting=network.switch.injecting[0],
        levels=network.levels,
        ports=network.ports,
        planes=network.planes,
        link_slots=network.link,
        destination=destinations_of(offer, network.ports),
        trace=None if offer.trace is None else spread(offer.trace, network.ports, network.planes),
    )


def spread(trace: Trace, ports: int, planes: int) -> tuple[Ints, Ints, Ints]:
    """Spread the packets of a trace: number k of a port goes by plane (port + k) mod planes.

    Returns:
        tuple: Slots, plane * ports + port, outputs.
    """
    by_port = np.argsort(trace.input, kind="stable")
    source = trace.input[by_port]
    number = np.arange(source.size) - np.searchsorted(source, source)  # of the port
    plane = (source + number) % planes
    return trace.slot[by_port], plane * ports + source, trace.output[by_port]
