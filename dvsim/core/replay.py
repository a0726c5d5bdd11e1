"""Operations of many ranks in virtual time (models/workload/replay.h), as NumPy arrays."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from dvsim.core._core import ffi, lib
from dvsim.core.arrays import Ints, check_memory, kept_pointer

EVENTS = 1 << 18  # of a call, so that Ctrl-C is answered
WAITING, FREE, OPEN, DONE = range(4)
_POINTERS = {np.int64: "int64_t *", np.int32: "int32_t *", np.uint8: "uint8_t *"}
_GRAPH: dict[str, type[np.generic]] = {
    "first": np.int64, "kind": np.uint8, "peer": np.int32, "tag": np.int32, "size": np.int64,
    "cpu": np.uint8, "nic": np.uint8, "start": np.int64, "to": np.int64, "after_start": np.uint8,
}  # fmt: skip
_COURSE = np.dtype(
    [("begin", "i8"), ("end", "i8"), ("arrived", "i8"), ("handled", "i8"), ("latency", "i8"),
     ("serial", "i8"), ("cause", "i4"), ("delayed", "i4"), ("pair", "i4"), ("state", "u1")],
    align=True,
)  # fmt: skip
"""dvsim_course: one line of the cache for each operation."""
BYTES = 64 + 64 + 64 + 80
"""Of an operation, about: its columns, its state, what comes of it, lists and events."""


class Operations(Protocol):
    """The columns of a graph, see models/workload/replay.h."""

    @property
    def ranks(self) -> int:
        """How many ranks there are."""

    @property
    def private_tag(self) -> int:
        """Messages of tags from here on are not for receives of any tag; 0 if there are none."""

    @property
    def agent(self) -> int:
        """A processor that works beside the program of its rank; 0: none."""


class Costs(NamedTuple):
    """LogGOPS in picoseconds and, of a byte, in femtoseconds; `eager_bytes` is S."""

    latency_ps: int
    overhead_ps: int
    gap_ps: int
    gap_byte_fs: int
    overhead_byte_fs: int
    eager_bytes: int


class Fabric(Protocol):
    """What carries messages: something with a ``dvsim_fabric *`` of models/workload/fabric.h."""

    @property
    def native(self) -> Any:  # noqa: ANN401 - a C pointer
        """The table of functions; it lives as long as the object."""


class Course(NamedTuple):
    """What came of each operation: times in picoseconds, see models/workload/replay.h.

    `finish` is by rank; all others by operation. `pair` is the receive of a send and the send of a
    receive, -1 without one. `arrived` and `handled` are of the message of a send.
    """

    begin: Ints
    end: Ints
    cause: npt.NDArray[np.int32]
    pair: npt.NDArray[np.int32]
    arrived: Ints
    handled: Ints
    delayed: npt.NDArray[np.int32]
    latency: Ints
    serial: Ints
    state: npt.NDArray[np.uint8]
    finish: Ints


class Path(NamedTuple):
    """Parts of a time in picoseconds, and how many operations are on the way."""

    compute: int
    overhead: int
    latency: int
    bandwidth: int
    contention: int
    wait: int
    steps: int


def _lines(count: int) -> npt.NDArray[np.void]:
    size = _COURSE.itemsize
    buffer = np.empty((count + 1) * size, dtype=np.uint8)
    first = -buffer.ctypes.data % size
    return buffer[first : first + count * size].view(_COURSE)


class ReplayCore:
    """A replay in the C core.

    Args:
        graph: The operations; its arrays must not change meanwhile.
        costs: At the hosts, and without a fabric of the way.
        fabric: What carries the messages; None for LogGOPS.
        place: The port of each rank; needed with a fabric.

    Raises:
        MemoryError: If it does not fit in memory; nothing has been allocated then.
    """

    def __init__(
        self,
        graph: Operations,
        costs: Costs,
        fabric: Fabric | None = None,
        placement: npt.ArrayLike | None = None,
    ) -> None:
        count = int(np.asarray(graph.first)[-1])  # type: ignore[attr-defined]
        check_memory(f"a replay of {count:,} operations", BYTES * count)
        self._alive: list[Any] = [fabric, graph]
        native = ffi.new("dvsim_graph *")
        native.ranks = graph.ranks
        native.private_tag = graph.private_tag
        native.agent = graph.agent
        for name, kind in _GRAPH.items():
            pointer = kept_pointer(self._alive, getattr(graph, name), kind, _POINTERS[kind])
            setattr(native, name, pointer)
        course, finish = _lines(count), np.empty(graph.ranks, dtype=np.int64)
        self.course = Course._make([*(course[name] for name in Course._fields[:-1]), finish])
        where = ffi.NULL
        if placement is not None:
            where = kept_pointer(self._alive, placement, np.int32, "int32_t *")
        carried = ffi.NULL if fabric is None else fabric.native
        replay = lib.dvsim_replay_create(
            native,
            ffi.new("dvsim_loggops *", costs),
            carried,
            where,
            ffi.cast("dvsim_course *", course.ctypes.data),
            kept_pointer(self._alive, finish, np.int64, "int64_t *"),
        )
        if replay == ffi.NULL:
            raise MemoryError(f"no memory for a replay of {count:,} operations")
        self._replay = ffi.gc(replay, lib.dvsim_replay_free)

    def run(self) -> None:
        """Run until nothing more can happen.

        Raises:
            MemoryError: If there is no memory for what is under way.
            OverflowError: If it takes longer than times are counted.
            ValueError: If the fabric refuses a message.
        """
        while (remaining := lib.dvsim_replay_run(self._replay, EVENTS)) > 0:
            pass
        if remaining == lib.DVSIM_ENOMEM:
            raise MemoryError("no memory for the events of the replay")
        if remaining == lib.DVSIM_ERANGE:
            raise OverflowError("takes more than 26 days, the longest time of a replay")
        if remaining < 0:
            raise ValueError(f"the fabric refuses a message (code {remaining})")

    @property
    def done(self) -> int:
        """Operations that are done."""
        return int(lib.dvsim_replay_done(self._replay))

    def path(self, last: int, capacity: int = 0) -> tuple[Path, Ints]:
        """Return what the time until an operation ended was spent on; at most `capacity` steps."""
        path, way = ffi.new("dvsim_path *"), np.empty(capacity, dtype=np.int64)
        pointer = ffi.cast("int64_t *", way.ctypes.data) if capacity else ffi.NULL
        lib.dvsim_replay_path(self._replay, last, path, pointer, capacity)
        parts = [int(getattr(path, f"{name}_ps")) for name in Path._fields[:-1]]
        return Path._make([*parts, int(path.steps)]), way[: min(capacity, int(path.steps))]
