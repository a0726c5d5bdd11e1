"""What is offered to a network: the arguments of a run, checked, and as the core wants them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dvsim.core.arrays import Ints
from dvsim.core.network_params import NetworkParams
from dvsim.fabric.switch.trace import Trace
from dvsim.fabric.switch.traffic import (
    Ends,
    Offer,
    Traffic,
    chances_of,
    check_traffic,
    destinations_of,
)
from dvsim.fabric.switch.wiring import random_order

if TYPE_CHECKING:
    from dvsim.fabric.network.network import Network


def check_offer(network: Network, traffic: Traffic, seed: int = 1) -> Offer:
    """Check what `Network.run` is offered; ValueError says what is wrong and what is allowed."""
    ports = network.ports
    ends = Ends(np.ones(ports, dtype=np.bool_), ports, ports, "port", "ports", network.planes)
    return check_traffic(ends, traffic, seed)


def params_of(network: Network, offer: Offer) -> NetworkParams:
    """Return what the core needs to know."""
    switch = network.switch
    random = switch.crossing == "random"
    return NetworkParams(
        **chances_of(offer)._asdict(),
        height=switch.height,
        angles=switch.angles,
        crossing=switch.crossing,
        exit_rule=switch.exit,
        injecting=switch.injecting[0],
        order=random_order(switch.height, offer.seed) if random else None,
        levels=network.levels,
        ports=network.ports,
        planes=network.planes,
        link_slots=network.link,
        injection=offer.injection,
        seed=offer.seed,
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
