"""The binding of the switch of models/vortex: its parameters, and the core that runs it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dvsim.core._core import ffi, lib
from dvsim.core.arrays import Ints, check_memory, copied, counted, kept_pointer, records

# The parameters of the switch core, and how they become the C struct (models/vortex/vortex.h).
#
# The core writes heights bit-reversed; that is turned here, so that nothing above sees it.

CROSSINGS = {
    "brc": lib.DVSIM_CROSS_BRC,
    "xor": lib.DVSIM_CROSS_XOR,
    "random": lib.DVSIM_CROSS_RANDOM,
}
EXITS = {"angle": lib.DVSIM_EXIT_ANGLE, "any": lib.DVSIM_EXIT_ANY}
INJECTIONS = {
    "drop": lib.DVSIM_INJECT_DROP,
    "queue": lib.DVSIM_INJECT_QUEUE,
    "saturate": lib.DVSIM_INJECT_SATURATE,
    "given": lib.DVSIM_INJECT_GIVEN,
}
LAYOUTS = {
    "best": lib.DVSIM_LAYOUT_BEST,
    "words": lib.DVSIM_LAYOUT_WORDS,
    "slices": lib.DVSIM_LAYOUT_SLICES,
}
FAULTS = {
    "node": lib.DVSIM_FAULT_NODE,
    "down": lib.DVSIM_FAULT_DOWN,
    "stay": lib.DVSIM_FAULT_STAY,
    "block": lib.DVSIM_FAULT_BLOCK,
    "free": lib.DVSIM_FAULT_FREE,
}


@dataclass(frozen=True, kw_only=True)
class CoreParams:
    """What switches are made of and what is offered to them; probabilities are times 2^32."""

    height: int
    angles: int
    crossing: str = "brc"
    exit_rule: str = "angle"
    order: npt.NDArray[np.uint32] | None = None
    injection: str = "drop"
    layout: str = "best"  # of packets in memory: no result depends on it
    seed: int = 1
    arrival_threshold: int = 0
    destination: Ints | None = None
    hot: tuple[int, ...] = ()
    hot_threshold: int = 0
    burst_slots: int = 0
    burst_threshold: int = 0
    trace: tuple[Ints, Ints, Ints] | None = None  # slot, input, output


@dataclass(frozen=True, kw_only=True)
class VortexParams(CoreParams):
    """What a switch is made of; ports are angle * height + height."""

    injecting: tuple[int, ...]
    replications: int = 1
    faults: tuple[tuple[str, int, int, int], ...] = ()  # kind, cylinder, angle, height
    watched: int = 0


def set_common(
    native: Any,  # noqa: ANN401 - a C struct
    traffic: Any,  # noqa: ANN401
    params: CoreParams,
    alive: list[Any],
    inputs: int,
) -> None:
    """Set what structs of switch and network share; `alive` gets what they point to."""
    pointer = partial(kept_pointer, alive)
    for name in ("height", "angles", "seed"):
        setattr(native, name, getattr(params, name))
    native.crossing = CROSSINGS[params.crossing]
    native.exit_rule = EXITS[params.exit_rule]
    native.injection = INJECTIONS[params.injection]
    native.layout = LAYOUTS[params.layout]
    if params.order is not None:
        native.order = pointer(params.order, np.uint32, "uint32_t *")
    for name in ("arrival_threshold", "hot_threshold", "burst_slots", "burst_threshold"):
        setattr(traffic, name, getattr(params, name))
    if params.destination is not None:
        traffic.destination = pointer(params.destination, np.uint32, "uint32_t *")
    if params.hot:
        traffic.hot, traffic.hots = pointer(params.hot, np.uint32, "uint32_t *"), len(params.hot)
    if params.trace is not None:
        slot, port, to = params.trace
        by_port = np.lexsort((slot, port))
        start = np.searchsorted(port[by_port], np.arange(inputs + 1))
        traffic.trace_start = pointer(start, np.int64, "int64_t *")
        traffic.trace_slot = pointer(slot[by_port], np.int64, "int64_t *")
        traffic.trace_to = pointer(to[by_port], np.uint32, "uint32_t *")


def reversed_heights(values: Ints, height: int) -> Ints:
    """Return ports or heights with the bits of the height reversed; twice gives them back."""
    bits = height.bit_length() - 1
    mirrored = values - values % height
    for bit in range(bits):
        mirrored |= (values >> bit & 1) << (bits - 1 - bit)
    return mirrored


def native_params(params: VortexParams) -> tuple[Any, list[Any]]:
    """Return the C struct, and what it points to."""
    alive: list[Any] = []
    native = ffi.new("dvsim_vortex_params *")
    turned = partial(reversed_heights, height=params.height)
    arrays: dict[str, Any] = {"hot": tuple(turned(np.array(params.hot, dtype=np.int64)).tolist())}
    if params.destination is not None:
        arrays["destination"] = turned(params.destination)[turned(np.arange(params.height))]
    if params.trace is not None:
        slot, port, to = params.trace
        arrays["trace"] = slot, turned(port), turned(to)
    inputs = params.angles * params.height
    set_common(native, native, replace(params, **arrays), alive, inputs)
    native.replications, native.watched = params.replications, params.watched
    flags = [angle in set(params.injecting) for angle in range(params.angles)]
    native.injecting = kept_pointer(alive, flags, np.uint8, "uint8_t *")
    faults = ffi.new("dvsim_fault[]", len(params.faults))
    for fault, (kind, cylinder, angle, at) in zip(faults, params.faults, strict=True):
        fault.kind, fault.cylinder, fault.angle, fault.height = FAULTS[kind], cylinder, angle, at
    alive.append(faults)
    native.faults, native.fault_count = faults, len(params.faults)
    return native, alive


# The cycle-accurate switch (models/vortex/vortex.h) as an object; its counts are NumPy arrays.
#
# The caller, `dvsim.fabric.switch`, checks the arguments first and reports what is wrong.

EVENTS = ("enter", "cross", "deflect", "descend", "leave", "lose")
"""Names of the kinds of event, in the order of the C enumeration."""

EVENT = np.dtype(
    [(name, np.int64) for name in ("slot", "packet", "by")]
    + [(name, np.int32) for name in ("kind", "cylinder")]
    + [(name, np.int64) for name in ("angle", "height", "to_angle", "to_height")]
)
DELIVERY = np.dtype([(name, np.int64) for name in ("handle", "slot", "angle", "height", "hops")])


class Counts(NamedTuple):
    """Counts since the last reset; `_at` arrays are [replications, angles, heights]."""

    slots: int
    offered: int
    accepted: int
    delivered: int
    lost: int
    in_flight: int
    waiting: int
    offered_at: Ints
    accepted_at: Ints
    delivered_at: Ints
    lost_at: Ints
    hops: Ints
    latency: Ints
    wanted: Ints
    blocked: Ints
    present: Ints


class Totals(NamedTuple):
    """The numbers of `Counts` that say how a run is going."""

    slots: int
    delivered: int
    waiting: int


def simd() -> str:
    """Return the instruction set of the inner loops; DVSIM_SIMD in the environment forces one."""
    return str(ffi.string(lib.dvsim_vortex_simd()).decode())


class Vortex:
    """A switch in the C core, or several independent ones side by side.

    Args:
        params: Checked parameters.
        threads: Threads of the core; they do not change any result.

    Raises:
        MemoryError: If it does not fit in memory; nothing has been allocated then.
        ValueError: If the core refuses the parameters.
    """

    def __init__(self, params: VortexParams, threads: int = 1) -> None:
        self._shape = (params.replications, params.angles, params.height)
        native, alive = native_params(params)
        needed = int(lib.dvsim_vortex_bytes(native, threads))
        if needed < 0:
            raise ValueError("the switch core refuses its parameters")
        check_memory("the switch", needed)
        vortex = lib.dvsim_vortex_create(native, threads)
        del alive  # the core has copied what they point to
        if vortex == ffi.NULL:
            raise MemoryError(f"the switch needs {needed:,} B of memory and did not get them")
        self._vortex = ffi.gc(vortex, lib.dvsim_vortex_free, needed)

    def run(self, slots: int) -> None:
        """Run so many slots; the interpreter is free meanwhile."""
        if lib.dvsim_vortex_run(self._vortex, slots):
            raise MemoryError("no memory for longer histograms or lists")

    def reset(self) -> None:
        """Set all counts to zero; packets and queues stay."""
        lib.dvsim_vortex_reset_counts(self._vortex)

    def slots(self) -> int:
        """Return the slots since the last reset."""
        return self.totals().slots

    def totals(self) -> Totals:
        """Return a few totals, without the arrays of `counts`."""
        now = ffi.new("dvsim_vortex_totals *")
        lib.dvsim_vortex_totals_now(self._vortex, now)
        return Totals(now.slots, now.delivered, now.waiting)

    def counts(self) -> Counts:
        """Return all counts, as copies."""
        now, cylinders = self._counts_now(), (self._shape[2].bit_length(),)
        shapes = dict.fromkeys(
            ("offered_at", "accepted_at", "delivered_at", "lost_at"), self._shape
        )
        lengths = {"hops": (now.hops_length,), "latency": (now.latency_length,)}
        inside = dict.fromkeys(("wanted", "blocked", "present"), cylinders)
        return counted(Counts, now, {**shapes, **lengths, **inside})

    def at(self, cylinder: int, angle: int, height: int) -> int | None:
        """Return the address (angle * height + height) of the packet at a node, None if free."""
        number = int(lib.dvsim_vortex_at(self._vortex, cylinder, angle, height))
        return number - 1 if number > 0 else None

    def give(self, port: int, to: int, handle: int) -> bool:
        """Offer a packet in the next slot; False if one is offered at that port already."""
        height = self._shape[2]
        arguments = (*divmod(port, height), *divmod(to, height), handle)
        code = lib.dvsim_vortex_give(self._vortex, *arguments)
        if code == lib.DVSIM_EINVAL:
            raise ValueError(f"no input {port} or no output {to}")
        return bool(code == lib.DVSIM_OK)

    def deliveries(self) -> npt.NDArray[Any]:
        """Return what left in the last `run`, as records of `DELIVERY`."""
        first = ffi.new("dvsim_delivery **")
        return records(first, lib.dvsim_vortex_deliveries(self._vortex, first), DELIVERY)

    def refused(self) -> Ints:
        """Return the handles of what was refused in the last `run`."""
        first = ffi.new("int64_t **")
        return copied(*_found(first, lib.dvsim_vortex_refused(self._vortex, first)))

    def events(self) -> npt.NDArray[Any]:
        """Return what happened to the watched packets since creation, as records of `EVENT`."""
        first = ffi.new("dvsim_event **")
        return records(first, lib.dvsim_vortex_events(self._vortex, first), EVENT)

    def save(self) -> bytes:
        """Return the state as bytes.

        Raises:
            ValueError: If packets are watched or given: they are more than the state has room for.
        """
        size = int(lib.dvsim_vortex_state_bytes(self._vortex))
        if size < 0:
            raise ValueError("a switch with watched or given packets cannot be saved")
        state = ffi.new("uint8_t[]", size)
        lib.dvsim_vortex_save(self._vortex, state)
        return bytes(ffi.buffer(state))

    def load(self, state: bytes) -> None:
        """Continue from a state that `save` of an equal switch gave; ValueError for another."""
        if lib.dvsim_vortex_load(self._vortex, ffi.from_buffer("uint8_t[]", state), len(state)):
            raise ValueError("not a state of this switch")

    def _counts_now(self) -> Any:  # noqa: ANN401 - a C struct
        counts = ffi.new("dvsim_vortex_counts *")
        if lib.dvsim_vortex_counts_now(self._vortex, counts):
            raise MemoryError("no memory for the counts")
        return counts


def _found(first: Any, length: int) -> tuple[Any, int]:  # noqa: ANN401 - a C pointer
    return first[0], int(length)
