"""The binding of the network of models/network: its parameters, and the core that runs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dvsim.core._core import ffi, lib
from dvsim.core.arrays import Ints, check_memory, counted, records
from dvsim.core.vortex import CoreParams, Totals, set_common


@dataclass(frozen=True, kw_only=True)
class NetworkParams(CoreParams):
    """What a network is made of; an input of its trace is plane * ports + input."""

    levels: int
    ports: int
    planes: int
    link_slots: int
    exit_rule: str = "any"
    injecting: int = 0  # exit any: the angle that injects
    together: int = 0  # planes that are run in lockstep, 0: the core chooses


def native_network_params(params: NetworkParams) -> tuple[Any, list[Any]]:
    """Return the C struct, and what it points to."""
    alive: list[Any] = []
    native = ffi.new("dvsim_network_params *")
    for name in ("injecting", "levels", "ports", "planes", "link_slots", "together"):
        setattr(native, name, getattr(params, name))
    set_common(native, native.traffic, params, alive, params.planes * params.ports)
    return native, alive


# The cycle-accurate network (models/network/network.h) as an object; its counts are NumPy arrays.
#
# The caller, `dvsim.fabric.network`, checks the arguments first and reports what is wrong.

CALL_NODES = 40_000_000  # node updates of a call and thread, so that Ctrl-C is answered
_FAILED = "no memory for longer queues: this network cannot go on"

COMPLETION = np.dtype([(name, np.int64) for name in ("handle", "first_slot", "last_slot")])


class NetworkCounts(NamedTuple):
    """Counts since the last reset, shaped as network.h says."""

    slots: int
    offered: int
    accepted: int
    delivered: int
    in_flight: int
    waiting: int
    offered_at: Ints
    accepted_at: Ints
    delivered_at: Ints
    hops: Ints
    latency: Ints
    wanted: Ints
    blocked: Ints
    present: Ints
    queue_peak: Ints
    queue_sum: Ints


def network_bytes(params: NetworkParams) -> int:
    """Return the bytes that a network takes; ValueError if the core refuses the parameters."""
    native, alive = native_network_params(params)
    needed = int(lib.dvsim_network_bytes(native))
    del alive
    if needed < 0:
        raise ValueError("the network core refuses its parameters")
    return needed


class NetworkCore:
    """A network in the C core.

    Args:
        params: Checked parameters.
        threads: Threads of the core; they do not change any result.

    Raises:
        MemoryError: If it does not fit in memory; nothing has been allocated then.
        ValueError: If the core refuses the parameters.
    """

    def __init__(self, params: NetworkParams, threads: int = 1) -> None:
        self._params = params
        self._threads = threads
        self._slots = 0
        needed = network_bytes(params)
        check_memory("the network", needed)
        native, alive = native_network_params(params)
        network = lib.dvsim_network_create(native, threads)
        del alive  # the core has copied what they point to
        if network == ffi.NULL:
            raise MemoryError(f"the network needs {needed:,} B of memory and did not get them")
        self._network = ffi.gc(network, lib.dvsim_network_free, needed)
        # of a group, or more: a node takes 3 bytes or more
        self._nodes = needed // 3 // int(lib.dvsim_network_groups(network))

    def run(self, slots: int) -> None:
        """Run so many slots; the interpreter is free meanwhile.

        What KeyboardInterrupt leaves undone is done by the next call of whatever method.
        """
        self._finish()
        if lib.dvsim_network_begin(self._network, slots):
            raise MemoryError(_FAILED)
        self._slots = slots
        self._finish()

    def run_until(self, slots: int) -> int:
        """Run to the end of the slot that completes a burst, at most `slots`; return how many."""
        self._finish()
        ran = int(lib.dvsim_network_run_until(self._network, slots))
        if ran < 0:
            raise MemoryError(_FAILED)
        return ran

    def send(
        self, source: int, to: int, words: int, handle: int, slots: Ints | None = None
    ) -> bool:
        """Send a burst; False if as many are on their way as can be told apart.

        `slots`, of as many places as there are words, gets the slot in which each is delivered; the
        caller keeps it until the burst is completed.
        """
        self._finish()
        burst = (self._network, source, to, words, handle)
        if slots is None:
            code = lib.dvsim_network_send(*burst)
        else:
            noted = ffi.cast("int64_t *", slots.ctypes.data)
            code = lib.dvsim_network_send_noted(*burst, noted)
        if code == lib.DVSIM_EINVAL:
            raise ValueError(f"no port {source} or {to}, or no words")
        if code == lib.DVSIM_ENOMEM:
            raise MemoryError("no memory for more bursts")
        return bool(code == lib.DVSIM_OK)

    def completions(self) -> npt.NDArray[Any]:
        """Return the bursts completed in the last run, as records of `COMPLETION`."""
        self._finish()
        first = ffi.new("dvsim_completion **")
        return records(first, lib.dvsim_network_completions(self._network, first), COMPLETION)

    def reset(self) -> None:
        """Set all counts to zero; packets and queues stay."""
        self._finish()
        lib.dvsim_network_reset_counts(self._network)

    def slots(self) -> int:
        """Return the slots since the last reset; those that an interrupt has cut short count."""
        return int(lib.dvsim_network_slots_now(self._network))

    def totals(self) -> Totals:
        """Return a few totals, without the arrays of `counts`."""
        self._finish()
        now = ffi.new("dvsim_network_totals *")
        lib.dvsim_network_totals_now(self._network, now)
        return Totals(now.slots, now.delivered, now.waiting)

    def counts(self) -> NetworkCounts:
        """Return all counts, as copies."""
        self._finish()
        now = ffi.new("dvsim_network_counts *")
        if lib.dvsim_network_counts_now(self._network, now):
            raise MemoryError("no memory for the counts")
        params = self._params
        ends, links = (params.planes, params.ports), (params.levels, 2)
        nodes = (params.levels, params.height.bit_length())
        shapes = dict.fromkeys(("offered_at", "accepted_at", "delivered_at"), ends)
        inside = dict.fromkeys(("wanted", "blocked", "present"), nodes)
        between = dict.fromkeys(("queue_peak", "queue_sum"), links)
        lengths = {"hops": (now.hops_length,), "latency": (now.latency_length,)}
        return counted(NetworkCounts, now, {**shapes, **lengths, **inside, **between})

    def _finish(self) -> None:
        while True:
            nodes = self._nodes * max(1, self._slots)
            groups = max(1, CALL_NODES // nodes) * self._threads
            remaining = int(lib.dvsim_network_go_on(self._network, groups))
            if remaining < 0:
                raise MemoryError(_FAILED)
            if remaining == 0:
                return
