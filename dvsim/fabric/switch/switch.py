"""The Data Vortex switch as a Python object: `Switch`, and one call per run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple, Unpack

from dvsim.core.vortex import FAULTS
from dvsim.errors import ArgumentError
from dvsim.fabric.switch.check import choice, power_of_two, whole
from dvsim.fabric.switch.choices import CROSSINGS, EXITS
from dvsim.fabric.switch.simulation import Simulation
from dvsim.fabric.switch.traffic import More, Traffic, check_offer

if TYPE_CHECKING:
    import networkx as nx  # type: ignore[import-untyped]

    from dvsim.fabric.switch.result import SwitchRun


class Fault(NamedTuple):
    """Something broken at the node (cylinder, angle, height).

    ``kind`` is one of

    - ``node``: dead. Nothing enters it; a packet whose way along its cylinder leads there is lost.
    - ``down``: the link to the next cylinder is dead; every packet is deflected.
    - ``stay``: the link along its own cylinder is dead; a packet that stays is lost.
    - ``block``: its deflection line is stuck at "taken"; every packet is deflected.
    - ``free``: its deflection line is stuck at "free"; a packet that descends into a taken node
      is lost.
    """

    kind: str
    cylinder: int
    angle: int
    height: int


def check_fault(
    fault: Fault | tuple[str, int, int, int], cylinders: int, angles: int, heights: int
) -> Fault:
    """Return a fault of a switch of that shape; ValueError if it has no such node or link."""
    try:
        kind, cylinder, angle, height = fault
    except (TypeError, ValueError):
        message = f"is (kind, cylinder, angle, height), is {fault!r}"
        raise ArgumentError("faults", message, "a fault") from None
    choice("the kind of a fault", kind, FAULTS, "faults")
    cylinder = whole("the cylinder of a fault", cylinder, 0, cylinders - 1, "faults")
    angle = whole("the angle of a fault", angle, 0, angles - 1, "faults")
    height = whole("the height of a fault", height, 0, heights - 1, "faults")
    if cylinder == cylinders - 1 and kind in ("down", "block", "free"):
        message = f"is of the way down, which cylinder {cylinder}, the innermost, lacks"
        raise ArgumentError("faults", message, f"fault {kind!r}")
    return Fault(kind, cylinder, angle, height)


MOST_ANGLES = 4096


class Switch:
    """A Data Vortex switch: concentric cylinders of nodes, one packet per node, no buffers.

    In every slot every packet moves one angle on. On cylinder c it descends to the next one if bit
    c (most significant first) of its height is that of its address and no packet that stays on the
    next cylinder takes the node below; else it stays and crosses to another height. On the
    innermost cylinder it leaves where it is addressed. Packets enter at cylinder 0, where no packet
    of that cylinder arrives.

    Args:
        height: H, a power of two from 2 to 2^20; there are log2(H) + 1 cylinders.
        angles: A, from 1 to 4096.
        injecting: Angles that have input ports: None for all, a number m for 0 .. m - 1, or the
            angles.
        crossing: ``brc`` (bit-reversed counter), ``xor`` or ``random``, see
            `dvsim.fabric.switch.wiring`. The permutations of ``random`` are drawn from the seed of
            the run; its replications share them.
        exit: ``angle``: H x A outputs, a packet goes round the innermost cylinder to its angle.
            ``any``: H outputs, a packet leaves as soon as it is on the innermost cylinder.
        faults: `Fault` objects, or tuples (kind, cylinder, angle, height).

    Raises:
        ValueError: If an argument is out of range; the text says which and what is allowed.

    Ports are numbered angle * H + height; with exit ``any`` the outputs are the heights.

    >>> switch = Switch(height=4, angles=3)
    >>> switch.nodes, switch.inputs, switch.outputs
    (36, 12, 12)
    >>> run = switch.run(0.01, slots=20_000, warmup=1_000)
    >>> round(run.mean_hops, 1)  # 3/2 log2(H) + (A + 1)/2 without contention
    5.0
    """

    def __init__(
        self,
        height: int,
        angles: int,
        injecting: int | Iterable[int] | None = None,
        crossing: str = "brc",
        exit: str = "angle",
        faults: Iterable[Fault | tuple[str, int, int, int]] | None = None,
    ) -> None:
        self._height = power_of_two("height", height)
        self._angles = whole("angles", angles, 1, MOST_ANGLES)
        self._injecting = _injecting(injecting, self._angles)
        self._crossing = choice("crossing", crossing, CROSSINGS)
        self._exit = choice("exit", exit, EXITS)
        self._faults = tuple(
            check_fault(fault, self.cylinders, self._angles, self._height) for fault in faults or ()
        )

    @property
    def height(self) -> int:
        """H, the heights of each cylinder."""
        return self._height

    @property
    def angles(self) -> int:
        """A, the angles of each cylinder."""
        return self._angles

    @property
    def cylinders(self) -> int:
        """C = log2(H) + 1."""
        return self._height.bit_length()

    @property
    def nodes(self) -> int:
        """Nodes of the switch, C x A x H."""
        return self.cylinders * self._angles * self._height

    @property
    def injecting(self) -> tuple[int, ...]:
        """Angles that have input ports."""
        return self._injecting

    @property
    def inputs(self) -> int:
        """Input ports, H for each angle that injects."""
        return len(self._injecting) * self._height

    @property
    def outputs(self) -> int:
        """Output ports: H x A with exit ``angle``, H with exit ``any``."""
        return self._height * (self._angles if self._exit == "angle" else 1)

    @property
    def crossing(self) -> str:
        """How packets cross that stay: ``brc``, ``xor`` or ``random``."""
        return self._crossing

    @property
    def exit(self) -> str:
        """Where packets leave: ``angle`` or ``any``."""
        return self._exit

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What is broken."""
        return self._faults

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
        replications: int = 1,
        watch: int = 0,
        **more: Unpack[More],
    ) -> SwitchRun:
        """Simulate `warmup` slots, then `slots` slots that are counted.

        Args:
            load: As in `start`.
            slots, warmup: Slots that count, and slots before them that do not.
            seed, pattern, injection, threads, replications, watch: As in `start`; injection
                ``given`` needs `start` itself.
            **more: hot, burst, duty, trace, permutation: see `Traffic`.

        Raises:
            ValueError: If an argument is out of range or does not go with another one.
            MemoryError: If the switch does not fit in memory; said before anything is allocated.
        """
        slots, warmup = whole("slots", slots, 1), whole("warmup", warmup, 0)
        traffic = Traffic.of(load, pattern, injection, **more)
        if traffic.injection == "given":
            message = "needs Switch.start: the packets are yours to give"
            raise ArgumentError("injection", message, "injection 'given'")
        simulation = self.start(
            traffic, seed, threads=threads, replications=replications, watch=watch
        )
        simulation.measure(slots, warmup)
        return simulation.result()

    def start(
        self,
        load: float | Traffic | None = None,
        seed: int = 1,
        pattern: str = "uniform",
        injection: str = "drop",
        threads: int = 1,
        *,
        replications: int = 1,
        watch: int = 0,
        **more: Unpack[More],
    ) -> Simulation:
        """Return a simulation of this switch at slot 0, to be run in steps.

        Args:
            load: Of `Traffic`, or traffic itself, and then no other of its arguments.
            seed: From 0 to 2^64 - 1; the same seed gives the same bytes for any number of threads.
            pattern, injection: Of `Traffic`; injection ``given`` with `Simulation.give`.
            threads: From 1 to 64.
            replications: Independent switches side by side; number r equals a run of its own with
                `replication_seed(seed, r)` (crossing ``random``: but for the wiring, that of
                `seed`).
            watch: Keep the paths of the first so many packets.
            **more: hot, burst, duty, trace, permutation: see `Traffic`.
        """
        traffic = Traffic.of(load, pattern, injection, **more)
        offer = check_offer(self, traffic, seed, replications=replications, watch=watch)
        return Simulation(self, offer, whole("threads", threads, 1, 64))

    def graph(self, seed: int = 1) -> nx.DiGraph:
        """Return the switch as a NetworkX graph, see `dvsim.fabric.switch.graph`."""
        from dvsim.fabric.switch.graph import graph

        return graph(self, seed)

    def __repr__(self) -> str:
        parts = [f"height={self._height}, angles={self._angles}"]
        if len(self._injecting) < self._angles:
            parts.append(f"injecting={list(self._injecting)}")
        parts += [f"crossing={self._crossing!r}, exit={self._exit!r}"]
        if self._faults:
            parts.append(f"{len(self._faults)} faults")
        return f"<Switch {', '.join(parts)}>"


def _injecting(injecting: int | Iterable[int] | None, angles: int) -> tuple[int, ...]:
    if injecting is None:
        return tuple(range(angles))
    if not isinstance(injecting, Iterable):
        return tuple(range(whole("injecting", injecting, 1, angles)))
    chosen = {
        whole("an angle in injecting", angle, 0, angles - 1, "injecting") for angle in injecting
    }
    if not chosen:
        message = f"names no angle; at least one of 0..{angles - 1} must inject"
        raise ArgumentError("injecting", message)
    return tuple(sorted(chosen))
