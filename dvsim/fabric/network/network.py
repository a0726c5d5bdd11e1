"""A network of Data Vortex switches as a Python object: `Network`, and one call per run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from dvsim.core.network import network_bytes
from dvsim.errors import ArgumentError
from dvsim.fabric.network.flow import flow_knows, run_flow
from dvsim.fabric.network.offer import check_offer, params_of
from dvsim.fabric.network.simulation import NetworkSimulation
from dvsim.fabric.network.tree import (
    MOST_LEVELS,
    PRESET_RADIX,
    PRESETS,
    Tree,
    levels_of,
    sizes,
    tree,
)
from dvsim.fabric.switch.check import choice, whole
from dvsim.fabric.switch.switch import Switch
from dvsim.fabric.switch.traffic import More, Traffic
from dvsim.scenario.card import load_card
from dvsim.scenario.find import FABRIC_CARD
from dvsim.scenario.types import Card, slot_of

if TYPE_CHECKING:
    import networkx as nx  # type: ignore[import-untyped]

    from dvsim.fabric.network.result import NetworkRun


MOST_PORTS = 1 << 24
MOST_LANES = 65536  # switches of a level times angles, see vortex.h
MOST_ADDRESSES = 1 << 39  # heights, angles and ports: 24 bits of 63 must be left for times


def vortex_card(card: str | Card) -> Card:
    """Return a card, by its name if it is one; ValueError if it is of another kind."""
    loaded = card if isinstance(card, Card) else load_card(card)
    if loaded.kind != "vortex":
        message = f"must be of kind 'vortex', {loaded.name!r} is of kind {loaded.kind!r}"
        raise ArgumentError("card", message)
    return loaded


def radix_of(switch: Switch) -> int:
    """Return the ports of a switch; ValueError if it has not as many inputs as outputs."""
    if switch.faults:
        message = f"has no faults, this one has {len(switch.faults)}"
        raise ArgumentError("switch", message, "the switch of a network")
    most = 1 if switch.exit == "any" else switch.angles
    if len(switch.injecting) != most:
        wanted = "one injecting angle" if switch.exit == "any" else "all angles injecting"
        message = (
            f"has as many inputs as outputs: with exit {switch.exit!r} "
            f"{wanted}, not {len(switch.injecting)} of {switch.angles}"
        )
        raise ArgumentError("switch", message, "the switch of a network")
    return switch.outputs


def check_size(shape: Tree, switch: Switch) -> None:
    """Raise ValueError for a plane that the core cannot run."""
    if shape.ports > MOST_PORTS:
        raise ArgumentError("ports", f"must be at most {MOST_PORTS}, is {shape.ports}")
    address = switch.height * (1 << (switch.angles - 1).bit_length()) * shape.ports
    if address > MOST_ADDRESSES:
        message = f"{shape.ports} ports leave no room in a packet for the time"
        raise ArgumentError("ports", message, "the switches are too large for a network:")
    lanes = max(shape.switches) * switch.angles
    if lanes > MOST_LANES:
        message = (
            f"may have {MOST_LANES // switch.angles} switches of {switch.angles} angles, "
            f"these {shape.ports} ports need {max(shape.switches)}"
        )
        raise ArgumentError("ports", message, "a level")


MOST_PLANES = 256
MOST_LINK = 65536
MOST_THREADS = 64
MOST_UPDATES = 1 << 34  # node updates that fidelity "auto" leaves to the cycle level
FIDELITIES = ("cycle", "flow", "auto")


class Network:
    """Parallel networks ("planes") of Data Vortex switches.

    Every port has one input and one output on each plane. A plane is one switch, or a folded Clos
    of 2 or 3 levels of equal switches: a packet goes up by random links until its destination is
    below, and from there down by its address. Between two switches, and to the port, is a link: a
    queue that delays by `link` slots and passes one packet per slot. Queues have no bound.

    Args:
        preset: ``dv202`` .. ``dv216``: 2^2 .. 2^16 ports in 1, 2 or 3 levels. The switch of a
            preset has as many heights as ports, at most 64, the card's angles, one that injects,
            and exit ``any``. That is assumed, as the vendor's is not public: of the switches with
            one injecting angle it is the one that the literature found best.
        switch: Instead of a preset: a `Switch` without faults, either with exit ``any`` and one
            injecting angle (H ports) or with exit ``angle`` and all angles injecting (A x H ports).
        levels, ports: With `switch`: 1 to 3 levels (default 1), and the ports (default: as many as
            they can have).
        planes, link: Parallel networks and the slots of a link; default: the card's.
        card: A vortex card, or its name. Its `port_rate` and the planes give the length of a slot:
            planes x 8 B / port_rate.

    Raises:
        ValueError: If there is no such network; the text says what is nearest.

    Word k of all that a port sends goes by plane (port + k) mod planes; in generated traffic each
    input of each plane has arrivals of its own.

    >>> network = Network("dv208")
    >>> network.ports, network.levels, network.switches, network.nodes
    (256, 2, (8, 4), 516096)
    >>> run = network.run(0.3, slots=400, warmup=100)
    >>> round(run.acceptance, 3), round(run.throughput, 2)
    (1.0, 0.3)
    """

    def __init__(
        self,
        preset: str | None = None,
        *,
        switch: Switch | None = None,
        levels: int | None = None,
        ports: int | None = None,
        planes: int | None = None,
        link: int | None = None,
        card: str | Card = FABRIC_CARD,
    ) -> None:
        self._card = vortex_card(card)
        self._preset = preset
        if preset is not None:
            own = {"switch": switch, "levels": levels, "ports": ports}
            for name, value in own.items():
                if value is not None:
                    message = f"does not go with preset {preset!r}, which has its own"
                    raise ArgumentError(name, message)
            ports = PRESETS[choice("preset", preset, PRESETS)]
            levels = levels_of(ports)
            height = min(ports, PRESET_RADIX)
            switch = Switch(height, int(self._card["switch_angles"]), injecting=[0], exit="any")
        if switch is None:
            message = f"needs a preset ({', '.join(PRESETS)}) or a switch"
            raise ArgumentError("preset", message, "a network")
        self._switch = switch
        radix = radix_of(switch)
        levels = 1 if levels is None else whole("levels", levels, 1, MOST_LEVELS)
        ports = sizes(radix, levels)[-1] if ports is None else whole("ports", ports, 2)
        self._tree = tree(radix, levels, ports)
        check_size(self._tree, switch)
        given = self._card["planes"] if planes is None else planes
        self._planes = whole("planes", given, 1, MOST_PLANES)
        if link is None:
            link = -(-int(self._card["link"]) // self.slot_ps)
        self._link = whole("link", link, 0, MOST_LINK)

    @property
    def preset(self) -> str | None:
        """Name of the preset, if it is one."""
        return self._preset

    @property
    def switch(self) -> Switch:
        """The switch that it is made of."""
        return self._switch

    @property
    def tree(self) -> Tree:
        """The shape of a plane."""
        return self._tree

    @property
    def ports(self) -> int:
        """Ports of the network, each with an input and an output on every plane."""
        return self._tree.ports

    @property
    def planes(self) -> int:
        """Parallel networks."""
        return self._planes

    @property
    def levels(self) -> int:
        """Levels of switches."""
        return self._tree.levels

    @property
    def switches(self) -> tuple[int, ...]:
        """Switches of one plane by level, the leaves first."""
        return self._tree.switches

    @property
    def radix(self) -> int:
        """Inputs, and outputs, of a switch."""
        return self._tree.radix

    @property
    def nodes(self) -> int:
        """Nodes of all switches of all planes."""
        return self.planes * sum(self.switches) * self.switch.nodes

    @property
    def inputs(self) -> int:
        """Inputs of one plane: its ports."""
        return self.ports

    @property
    def link(self) -> int:
        """Slots from the output of a switch to the next switch or port."""
        return self._link

    @property
    def slot_ps(self) -> int:
        """Length of a slot in picoseconds: planes x 8 B / port_rate of the card."""
        return slot_of(self._card, self._planes)

    @property
    def memory(self) -> int:
        """Bytes that a run takes, before queues grow."""
        offer = check_offer(self, Traffic(1.0, injection="queue"))
        return network_bytes(params_of(self, offer))

    def run(
        self,
        load: float | Traffic | None,
        slots: int,
        warmup: int = 0,
        seed: int = 1,
        pattern: str = "uniform",
        injection: str = "drop",
        threads: int = 1,
        *,
        fidelity: str = "cycle",
        **more: Unpack[More],
    ) -> NetworkRun:
        """Simulate `warmup` slots, then `slots` slots that are counted.

        Args:
            load: As in `start`.
            slots, warmup: Slots that count, and slots before them that do not.
            seed, pattern, injection, threads: As in `start`; injection ``given`` needs `start`
                itself.
            fidelity: ``cycle``: every packet. ``flow``: what is expected, from tables of the
                switch, for uniform traffic that is dropped or queued; the error is measured and
                stated. ``auto``: flow where it applies and the cycle level would take more than
                2^34 node updates, some ten seconds of one core.
            **more: hot, burst, duty, trace, permutation: see `Traffic`.

        Raises:
            ValueError: If an argument is out of range or does not go with another one.
            MemoryError: If the network does not fit in memory; said before anything is allocated.
        """
        slots, warmup = whole("slots", slots, 1), whole("warmup", warmup, 0)
        choice("fidelity", fidelity, FIDELITIES)
        traffic = Traffic.of(load, pattern, injection, **more)
        if traffic.injection == "given":
            message = "needs Network.start: the bursts are yours to send"
            raise ArgumentError("injection", message, "injection 'given'")
        threads = whole("threads", threads, 1, MOST_THREADS)
        offer = check_offer(self, traffic, seed)
        updates = self.nodes * (warmup + slots)
        if fidelity == "flow" or (
            fidelity == "auto" and flow_knows(offer) and updates > MOST_UPDATES
        ):
            return run_flow(self, offer, slots, warmup)
        simulation = NetworkSimulation(self, offer, threads)
        simulation.measure(slots, warmup)
        return simulation.result()

    def start(
        self,
        load: float | Traffic | None = None,
        seed: int = 1,
        pattern: str = "uniform",
        injection: str = "drop",
        threads: int = 1,
        **more: Unpack[More],
    ) -> NetworkSimulation:
        """Return a simulation of this network at slot 0, to be run in steps.

        Args:
            load: Of `Traffic`, for each input of each plane; or traffic itself, and then no other
                of its arguments.
            seed: From 0 to 2^64 - 1; the same seed gives the same bytes for any number of threads.
            pattern, injection: Of `Traffic`; injection ``given`` with `NetworkSimulation.send`.
            threads: From 1 to 64; planes are spread over them.
            **more: hot, burst, duty, trace, permutation: see `Traffic`. Ports spread the packets of
                a trace over the planes by the rule; as many as there are planes may arrive at a
                port in one slot.
        """
        offer = check_offer(self, Traffic.of(load, pattern, injection, **more), seed)
        return NetworkSimulation(self, offer, whole("threads", threads, 1, MOST_THREADS))

    def graph(self) -> nx.DiGraph:
        """Return one plane as a NetworkX graph, see `dvsim.fabric.network.graph`."""
        from dvsim.fabric.network.graph import graph

        return graph(self)

    @property
    def identity(self) -> tuple[object, ...]:
        """All that makes a difference to a run; networks with the same one are equal."""
        switch = self._switch
        geometry = (switch.height, switch.angles, switch.injecting, switch.crossing, switch.exit)
        return (*geometry, self.levels, self.ports, self.planes, self.link, self.slot_ps)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Network) and self.identity == other.identity

    def __hash__(self) -> int:
        return hash(self.identity)

    def __repr__(self) -> str:
        shape = " + ".join(map(str, self.switches))
        name = f"{self._preset}, " if self._preset else ""
        return (
            f"<Network {name}{self.ports} ports, {self.planes} planes of {shape} switches "
            f"{self.switch.height} x {self.switch.angles}, link {self.link} slots>"
        )
