"""Runs of a network at flow fidelity: built of tables of its switch, with the error stated.

A packet that climbs to level k passes 2k + 1 switches and 2k + 2 links. Its latency is taken as the
sum of what independent packets take in each of these switches at the load that they have
(`dvsim.fabric.network.units`), and of the links:

    P(climbs to level k) = s_{k-1} - s_k,   s_k = 1 - (ports below a group of level k) / ports
    load of a link up from level k = s_k * accepted load of a port

What that leaves out is that packets which pass a switch together meet again at the next. How much
it matters is measured: against the cycle level, on one plane and for a few hundred slots.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from dvsim.core.network import NetworkCore, NetworkCounts
from dvsim.errors import ArgumentError
from dvsim.fabric.network.offer import check_offer, params_of
from dvsim.fabric.network.result import Error, NetworkRun
from dvsim.fabric.network.tree import sizes
from dvsim.fabric.network.units import Part, Unit, added, kept, mean_of, unit_of
from dvsim.fabric.switch.figures import Floats
from dvsim.fabric.switch.traffic import Offer, Traffic
from dvsim.scenario.types import BEYOND

if TYPE_CHECKING:
    from dvsim.fabric.network.network import Network
    from dvsim.fabric.network.tree import Tree

FEWEST_SLOTS, MOST_SLOTS = 300, 20_000  # of the run that tells the error
USUAL_UPDATES = 1 << 27  # node updates of it, a tenth of a second;
MOST_UPDATES = 1 << 31  # where the fewest slots are more: a second or two
FULL = 0.99  # a switch that passes less of what arrives is beyond saturation


class Estimate(NamedTuple):
    """What is expected at one load."""

    # Packets per slot and port of a plane.
    accepted: float
    delivered: float
    # Shares, by nodes and by slots.
    hops: Floats
    latency: Floats
    wait: float  # mean slots at the port
    units: tuple[Unit, ...]  # by level, at that load
    notes: tuple[str, ...]  # what is beyond saturation


FLOW_KNOWS = "knows pattern 'uniform' with injection 'drop' or 'queue'"


def flow_knows(offer: Offer) -> bool:
    """Return whether there are tables for what is offered."""
    return offer.pattern == "uniform" and offer.injection in ("drop", "queue")


def run_flow(network: Network, offer: Offer, slots: int, warmup: int) -> NetworkRun:
    """Return what a run is expected to count, rounded to whole packets, with its error.

    Raises:
        ValueError: For other traffic than uniform, dropped or queued.
    """
    if not flow_knows(offer):
        offered = f"pattern {offer.pattern!r} with injection {offer.injection!r}"
        message = f"{FLOW_KNOWS}, not {offered}; use fidelity='cycle'"
        raise ArgumentError("fidelity", message, "fidelity 'flow'")
    assert offer.load is not None  # uniform traffic that is dropped or queued has one
    estimated = estimate(network, offer.load, offer.injection)
    return NetworkRun(
        network=network,
        offer=offer,
        warmup=warmup,
        counts=_counts(network, offer, slots, estimated),
        notes=estimated.notes,
        fidelity="flow",
        error=error_of(network, offer.load, offer.injection),
    )


def estimate(network: Network, load: float, injection: str) -> Estimate:
    """Put the switches on the way of a packet together."""
    shape, switch = network.tree, network.switch
    parts = parts_of(shape)
    first = unit_of(switch, parts[0], load, injection)
    accepted = load * (first.passed if injection == "drop" else 1.0)
    units = tuple(unit_of(switch, part, accepted, "queue") for part in parts)
    notes = tuple(
        f"{BEYOND}: switches of level {level} pass {unit.passed:.1%} of their packets, "
        "latency grows with the run"
        for level, unit in enumerate(units)
        if unit.passed < FULL and accepted > 0
    )
    delivered = accepted * (min(unit.passed for unit in units) if notes else 1.0)
    hops, latency = (_along(shape, first, units, name) for name in ("hops", "latency"))
    for climbed, (share, chain) in enumerate(zip(_climbs(shape), latency, strict=True)):
        latency[climbed] = share * np.concatenate(
            [np.zeros((2 * climbed + 2) * network.link), chain]
        )
    return Estimate(
        accepted=accepted,
        delivered=delivered,
        hops=added([share * chain for share, chain in zip(_climbs(shape), hops, strict=True)]),
        latency=added(latency),
        wait=first.wait,
        units=units,
        notes=notes,
    )


def parts_of(shape: Tree) -> list[Part]:
    """Return the part of the switches of each level."""
    top, before, parts = shape.levels - 1, 1.0, []
    for level in range(shape.levels):
        beyond = 1 - shape.reach(level) / shape.ports
        if level < top:
            parts.append(Part(before, beyond, shape.radix // 2, 0))
        else:
            groups = shape.radix // shape.parallel if top else 0
            parts.append(Part(before, 0.0, shape.radix, groups))
        before = beyond
    return parts


def error_of(network: Network, load: float, injection: str) -> Error:
    """Hold the flow level against a run of one plane; of a smaller tree if it would take long."""
    sample = sample_of(network)
    slots = min(MOST_SLOTS, max(FEWEST_SLOTS, USUAL_UPDATES // sample.nodes))

    def measure() -> dict[str, float]:
        estimated = estimate(sample, load, injection)
        offer = check_offer(sample, Traffic(load, injection=injection))
        core = NetworkCore(params_of(sample, offer))
        core.run(_settling(sample))
        core.reset()
        core.run(slots)
        counts = core.counts()
        delivered = counts.delivered / (slots * sample.ports)
        if not counts.delivered:
            return {"latency": 0.0, "throughput": 0.0}
        latency = float(counts.latency @ np.arange(counts.latency.size)) / counts.delivered
        return {
            "latency": abs(mean_of(estimated.latency) - latency) / latency,
            "throughput": abs(estimated.delivered - delivered) / delivered,
        }

    depends_on = {"load": load, "injection": injection, "slots": slots}
    errors = kept("error", measure, network=[str(part) for part in sample.identity], **depends_on)
    return Error(errors["latency"], errors["throughput"], sample.ports)


def sample_of(network: Network) -> Network:
    """Return one plane of the network, with fewer ports if that is too large to be run."""
    allowed = [size for size in sizes(network.radix, network.levels) if size <= network.ports]
    for ports in (network.ports, *sorted(allowed, reverse=True)):
        sample = type(network)(
            switch=network.switch, levels=network.levels, ports=ports, planes=1, link=network.link
        )
        if sample.nodes * (_settling(sample) + FEWEST_SLOTS) <= MOST_UPDATES:
            break
    return sample


def _settling(network: Network) -> int:
    way = 2 * network.levels * (2 * network.switch.cylinders + network.link)
    return 100 + 4 * way


def _climbs(shape: Tree) -> list[float]:
    reach = [0, *(shape.reach(level) for level in range(shape.levels))]
    return [(reach[level + 1] - reach[level]) / shape.ports for level in range(shape.levels)]


def _along(shape: Tree, first: Unit, units: tuple[Unit, ...], name: str) -> list[Floats]:
    stretches = []
    for climbed in range(shape.levels):
        way = [*range(climbed + 1), *reversed(range(climbed))]
        chain: Floats = getattr(first, name)
        for level in way[1:]:
            chain = np.convolve(chain, getattr(units[level], name))
        stretches.append(chain)
    return stretches


def _counts(network: Network, offer: Offer, slots: int, estimated: Estimate) -> NetworkCounts:
    inputs, load = network.ports * network.planes, offer.load or 0.0
    ends = (network.planes, network.ports)

    def at(rate: float) -> npt.NDArray[np.int64]:
        per_port, more = divmod(round(rate * slots * inputs), inputs)
        flat = np.full(inputs, per_port, dtype=np.int64)
        flat[:more] += 1
        return flat.reshape(ends)

    offered, accepted, delivered = (
        at(rate) for rate in (load, estimated.accepted, estimated.delivered)
    )
    cylinders = [
        np.array(
            [
                getattr(unit, name) * count * network.planes * slots
                for unit, count in zip(estimated.units, network.switches, strict=True)
            ]
        )
        .round()
        .astype(np.int64)
        for name in ("wanted", "blocked", "present")
    ]
    inside = mean_of(estimated.latency) - estimated.wait - network.link
    waiting = round(estimated.delivered * inputs * estimated.wait)
    packets = int(delivered.sum())
    return NetworkCounts(
        slots=slots,
        offered=int(offered.sum()),
        accepted=int(accepted.sum()),
        delivered=packets,
        in_flight=round(estimated.delivered * inputs * inside),
        waiting=waiting if offer.injection == "queue" else 0,
        offered_at=offered,
        accepted_at=accepted,
        delivered_at=delivered,
        hops=_whole(estimated.hops, packets),
        latency=_whole(estimated.latency, packets),
        wanted=cylinders[0],
        blocked=cylinders[1],
        present=cylinders[2],
        queue_peak=np.zeros((network.levels, 2), dtype=np.int64),
        queue_sum=np.zeros((network.levels, 2), dtype=np.int64),
    )


def _whole(shares: Floats, packets: int) -> npt.NDArray[np.int64]:
    sums: npt.NDArray[np.int64] = np.rint(
        np.cumsum(shares) / max(shares.sum(), 1e-300) * packets
    ).astype(np.int64)
    whole = np.diff(sums, prepend=0)
    return whole[: int(np.flatnonzero(whole)[-1]) + 1] if packets else whole[:0]
