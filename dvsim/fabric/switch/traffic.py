"""What enters a switch: the arguments of a run, checked, and as the core wants them.

An arrival is a function of seed, port and slot, never of what happened before. So the same seed
offers the same packets to every switch, whatever its crossing, faults or number of threads.
Another `injection` has other packets: "drop" draws uniform ones for 64 inputs at a time.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from dvsim.core.arrays import Ints
from dvsim.core.vortex import VortexParams
from dvsim.errors import ArgumentError
from dvsim.fabric.switch.check import choice, share, whole
from dvsim.fabric.switch.choices import INJECTIONS, PATTERNS
from dvsim.fabric.switch.trace import Trace, read_trace
from dvsim.fabric.switch.wiring import GOLDEN, random_order

if TYPE_CHECKING:
    from dvsim.fabric.switch.switch import Switch

MOST_LANES = 65536  # angles times replications, see vortex.h
_ONE = 1 << 32
_OWN = {"hot": "hot-spot", "burst": "bursty", "duty": "bursty", "trace": "trace"}
_OWN |= {"permutation": "permutation"}

Hot = Mapping[str, Any] | tuple[float, Iterable[int]]
"""``{"fraction": 0.1, "outputs": [0]}`` as in a file, or the two values alone."""


def replication_seed(seed: int, replication: int) -> int:
    """Return the seed whose single run is replication 0, 1, … of a run with `seed`.

    >>> replication_seed(1, 0)
    1
    """
    return (seed + replication * GOLDEN) & ((1 << 64) - 1)


class More(TypedDict, total=False):
    """What only some patterns have, see `Traffic`."""

    hot: Hot | None
    burst: int | None
    duty: float | None
    trace: str | os.PathLike[str] | Sequence[Any] | None
    permutation: Sequence[int] | None


@dataclass(frozen=True, eq=False)
class Traffic:
    """What is offered to the inputs of a switch, or to the ports of a network.

    Args:
        load: Probability of an arrival per slot and input, in [0, 1]; None where something else
            says what arrives (pattern ``trace``) or a packet always waits (injection ``saturate``).
        pattern: ``uniform`` (all outputs alike), ``bit-complement``, ``transpose``, ``shuffle``,
            ``permutation`` (of ports; of a switch heights are permuted, the angle stays),
            ``hot-spot``, ``bursty``, ``trace``.
        injection: ``drop``: a refused packet is gone. ``queue``: it waits in an unbounded queue.
            ``saturate``: a packet always waits. ``given``: packets, or bursts, of the caller's.
        hot: ``{"fraction": 0.1, "outputs": [0]}``, or ``(0.1, [0])``: this share of the packets
            goes to one of these outputs.
        burst, duty: Arrivals come in frames of `burst` slots; a frame is on with probability
            `duty`, and all its packets go to one output.
        trace: Path of a CSV file "slot,input,output" with that header, or the three arrays.
        permutation: Destination of each port, of a switch destination height of each height.

    >>> from dvsim import Switch
    >>> traffic = Traffic(0.2, "hot-spot", hot=(0.5, [0]))
    >>> run = Switch(height=4, angles=3).run(traffic, slots=1000)
    """

    load: float | None = None
    pattern: str = "uniform"
    injection: str = "drop"
    hot: Hot | None = None
    burst: int | None = None
    duty: float | None = None
    trace: str | os.PathLike[str] | Sequence[Any] | None = None
    permutation: Sequence[int] | None = None

    @classmethod
    def of(
        cls, load: float | Traffic | None, pattern: str, injection: str, **more: Unpack[More]
    ) -> Traffic:
        """Return traffic of plain keywords, or that which is given in the place of the load.

        Raises:
            ValueError: If there are keywords beside it.
        """
        if not isinstance(load, Traffic):
            return cls(load, pattern, injection, **more)
        beside = [*["pattern"] * (pattern != "uniform"), *["injection"] * (injection != "drop")]
        for name in (*beside, *more):
            raise ArgumentError(name, "is part of the traffic, and does not go beside it")
        return load

    def as_table(self) -> dict[str, Any]:
        """Return it as the keys of ``[traffic]`` in a scenario; None has no key."""
        table = {item.name: getattr(self, item.name) for item in fields(self)}
        if table["trace"] is not None and not isinstance(table["trace"], str | os.PathLike):
            table["trace"] = list(zip(*table["trace"], strict=True))  # a packet each
        return table


@dataclass(frozen=True, eq=False)
class Offer:
    """The checked arguments of one run that say what is offered and how it enters."""

    load: float | None
    pattern: str
    injection: str
    seed: int
    replications: int
    watch: int
    hot: tuple[float, tuple[int, ...]] | None
    burst: int | None
    duty: float | None
    permutation: tuple[int, ...] | None
    trace: Trace | None


class Ends(NamedTuple):
    """The ports of whatever is offered packets."""

    inputs: npt.NDArray[np.bool_]  # for each port whether it is an input, in any shape
    outputs: int  # number of outputs
    permuted: int  # A permutation is of so many numbers, heights or ports
    # What such a number is called, and how many there are of them.
    one: str
    size: str
    at_once: int = 1  # packets that an input can take in one slot


def check_offer(
    switch: Switch, traffic: Traffic, seed: int = 1, *, replications: int = 1, watch: int = 0
) -> Offer:
    """Check what `Switch.run` is offered; ValueError says what is wrong and what is allowed."""
    injects = np.isin(np.arange(switch.angles), switch.injecting)
    inputs = np.broadcast_to(injects[:, None], (switch.angles, switch.height))  # without a copy
    ends = Ends(inputs, switch.outputs, switch.height, "height", "height")
    most = MOST_LANES // switch.angles
    offer = check_traffic(ends, traffic, seed, replications=replications, most=most, watch=watch)
    given = offer.injection == "given"
    if offer.replications > 1 and (offer.watch or switch.faults or given):
        key = "watch" if offer.watch else "faults" if switch.faults else "injection 'given'"
        raise ArgumentError("replications", f"must be 1 with {key}, is {offer.replications}")
    return offer


def check_traffic(
    ends: Ends,
    traffic: Traffic,
    seed: int,
    *,
    replications: int = 1,
    most: int = 1,
    watch: int = 0,
) -> Offer:
    """Check what is offered to ports; `most` replications. ValueError as for `check_offer`."""
    pattern, injection, hot, duty = traffic.pattern, traffic.injection, traffic.hot, traffic.duty
    choice("pattern", pattern, PATTERNS)
    asked = f"pattern {pattern!r}"
    choice("injection", injection, INJECTIONS)
    for name in _OWN:
        value = getattr(traffic, name)
        if value is not None and pattern != _OWN[name]:
            message = f"is only for pattern {_OWN[name]!r}, pattern is {pattern!r}"
            raise ArgumentError(name, message)
        if value is None and pattern == _OWN[name]:
            raise ArgumentError("pattern", f"needs {name}", asked)
    replications = whole("replications", replications, 1, most)
    watch = whole("watch", watch, 0, (1 << 63) - 1)
    bits = ends.permuted.bit_length() - 1
    if pattern == "transpose" and (ends.permuted != 1 << bits or bits % 2):
        message = f"needs {ends.size} 4, 16, 64, …, is {ends.permuted}"
        raise ArgumentError("pattern", message, asked)
    if pattern in ("bit-complement", "shuffle") and ends.permuted != 1 << bits:
        message = f"needs a power of two of {ends.size}, is {ends.permuted}"
        raise ArgumentError("pattern", message, asked)
    load = _checked_load(traffic.load, pattern, injection)
    if duty is not None:
        duty = share("duty", duty)
        if load is None or duty == 0 or load > duty:
            message = f"must be above 0 and at least the load of {load}, is {duty:g}"
            raise ArgumentError("duty", message)
    return Offer(
        load=load,
        pattern=pattern,
        injection=injection,
        seed=whole("seed", seed, 0, (1 << 64) - 1),
        replications=replications,
        watch=watch,
        hot=None if hot is None else _checked_hot(hot, ends.outputs),
        burst=None if traffic.burst is None else whole("burst", traffic.burst, 1, 1 << 40),
        duty=duty,
        permutation=(
            None if traffic.permutation is None else _checked_permutation(traffic.permutation, ends)
        ),
        trace=(
            None
            if traffic.trace is None
            else read_trace(traffic.trace, ends.inputs, ends.outputs, ends.at_once)
        ),
    )


def common_of(switch: Switch, offer: Offer) -> dict[str, Any]:
    """Return what the cores of switch and network need to know alike; chances are times 2^32."""
    load = 1.0 if offer.load is None else offer.load
    duty = 1.0 if offer.duty is None else offer.duty  # load is made in the frames that are on
    random = switch.crossing == "random"
    return {
        "height": switch.height,
        "angles": switch.angles,
        "crossing": switch.crossing,
        "exit_rule": switch.exit,
        "order": random_order(switch.height, offer.seed) if random else None,
        "injection": offer.injection,
        "seed": offer.seed,
        "arrival_threshold": round(load / duty * _ONE),
        "hot": offer.hot[1] if offer.hot else (),
        "hot_threshold": round(offer.hot[0] * _ONE) if offer.hot else 0,
        "burst_slots": offer.burst or 0,
        "burst_threshold": round(duty * _ONE) if offer.burst else 0,
    }


def params_of(switch: Switch, offer: Offer) -> VortexParams:
    """Return what the core needs to know."""
    return VortexParams(
        **common_of(switch, offer),
        injecting=switch.injecting,
        replications=offer.replications,
        destination=destinations_of(offer, switch.height),
        trace=offer.trace,
        faults=switch.faults,
        watched=offer.watch,
    )


def _checked_load(load: float | None, pattern: str, injection: str) -> float | None:
    if injection == "saturate":
        if pattern in ("bursty", "trace"):
            message = f"does not go with pattern {pattern!r}"
            raise ArgumentError("injection", message, "injection 'saturate'")
        if load is not None and share("load", load) != 1:
            message = "must be 1 or None with injection 'saturate', which always has a packet"
            raise ArgumentError("load", f"{message} to offer; is {load!r}")
        return None
    if pattern == "trace" or injection == "given":
        why = "injection 'given'" if injection == "given" else "pattern 'trace'"
        if load is not None:
            raise ArgumentError(
                "load", f"must be None with {why}, which says what arrives; is {load!r}"
            )
        if injection == "given" and pattern != "uniform":
            message = f"does not go with pattern {pattern!r}"
            raise ArgumentError("injection", message, "injection 'given'")
        return None
    return share("load", load)


def _checked_hot(hot: Hot, outputs: int) -> tuple[float, tuple[int, ...]]:
    keys = ("fraction", "outputs")
    if isinstance(hot, Mapping):
        for key in hot:
            choice("a key in hot", key, keys, "hot")
        for key in keys:
            if key not in hot:
                raise ArgumentError("hot", f"needs {key}")
    try:
        fraction, targets = [hot[key] for key in keys] if isinstance(hot, Mapping) else hot
        ports = tuple(targets)
    except (TypeError, ValueError):
        wanted = "{'fraction': 0.1, 'outputs': [0]} or (0.1, [0])"
        raise ArgumentError("hot", f"must be such as {wanted}, is {hot!r}") from None
    if not ports:
        raise ArgumentError("hot", "names no output")
    checked = tuple(whole("an output in hot", port, 0, outputs - 1, "hot") for port in ports)
    return share("the fraction in hot", fraction, "hot"), checked


def _checked_permutation(permutation: Sequence[int], ends: Ends) -> tuple[int, ...]:
    numbers = tuple(
        whole(f"a {ends.one} in permutation", number, 0, ends.permuted - 1, "permutation")
        for number in permutation
    )
    if sorted(numbers) != list(range(ends.permuted)):
        has = f"has {len(numbers)} entries, {len(set(numbers))} different"
        message = f"must name each of the {ends.permuted} {ends.one}s once, {has}"
        raise ArgumentError("permutation", message)
    return numbers


def destinations_of(offer: Offer, count: int) -> Ints | None:
    """Return where each of `count` numbers sends to, where the traffic is a permutation."""
    numbers = np.arange(count, dtype=np.int64)
    bits = count.bit_length() - 1
    if offer.permutation is not None:
        return np.array(offer.permutation, dtype=np.int64)
    if offer.pattern == "bit-complement":
        return numbers ^ (count - 1)
    if offer.pattern == "shuffle":
        return (numbers << 1 | numbers >> (bits - 1)) & (count - 1)
    if offer.pattern == "transpose":
        half = bits // 2
        return (numbers << half | numbers >> half) & (count - 1)
    return None
