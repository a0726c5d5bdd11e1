"""DUMPI files, the binary traces of SST: the calls of one rank, with their arguments and times.

A file has a mark, the records of the calls, a header, sizes of types and, at its end, an index of
where these begin. All numbers have their high byte first. Records have no length, so the arguments
of every call must be known to find the next one. The layouts are those of sst-dumpi 1.0 to 13; each
letter is one argument:

``i`` 32 bits, ``l`` 64 bits, ``h`` 16 bits (handles of types, communicators, groups …), ``b`` 8
bits, ``I`` a list of 32 bits, ``H`` a list of 16 bits, ``B`` a list of 8 bits, ``J`` a list of
lists, ``s`` a text, ``S`` statuses, ``A`` texts. From ``?`` to ``!`` stands what only the root has.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dvsim.kinds.workload.readers.text import data_of, refuse

_CALLS = """
Send:ihiih Recv:ihiihS Get_count:Shi Bsend:ihiih Ssend:ihiih Rsend:ihiih Buffer_attach:i
Buffer_detach:i Isend:ihiihi Ibsend:ihiihi Issend:ihiihi Irsend:ihiihi Irecv:ihiihi Wait:iS Test:iiS
Request_free:i Waitany:iIiS Testany:iIiiS Waitall:iIS Testall:iIiS Waitsome:iIiIS Testsome:iIiIS
Iprobe:iihiS Probe:iihS Cancel:i Test_cancelled:Si Send_init:ihiihi Bsend_init:ihiihi
Ssend_init:ihiihi Rsend_init:ihiihi Recv_init:ihiihi Start:i Startall:iI Sendrecv:ihiiihiihS
Sendrecv_replace:ihiiiihS Type_contiguous:ihh Type_vector:iiihh Type_hvector:iiihh
Type_indexed:iIIhh Type_hindexed:iIIhh Type_struct:iIIHh Address:i Type_extent:hi Type_size:hi
Type_lb:hi Type_ub:hi Type_commit:h Type_free:h Get_elements:Shi Pack:ihiiih Unpack:iiiihh
Pack_size:ihhi Barrier:h Bcast:ihih Gather:iihih?ih Gatherv:iiihih?II!h Scatter:iihih?ih
Scatterv:iihihih?II Allgather:ihihh Allgatherv:iihIIhh Alltoall:ihihh Alltoallv:iIIhIIhh
Reduce:ihbih Op_create:ib Op_free:b Allreduce:ihbh Reduce_scatter:iIhbh Scan:ihbh Group_size:hi
Group_rank:hi Group_translate_ranks:hiIhI Group_compare:hhb Comm_group:hh Group_union:hhh
Group_intersection:hhh Group_difference:hhh Group_incl:hiIh Group_excl:hiIh Group_range_incl:hiJh
Group_range_excl:hiJh Group_free:h Comm_size:hi Comm_rank:hi Comm_compare:hhb Comm_dup:hh
Comm_create:hhh Comm_split:hiih Comm_free:h Comm_test_inter:hi Comm_remote_size:hi
Comm_remote_group:hh Intercomm_create:hihiih Intercomm_merge:hih Keyval_create:h Keyval_free:h
Attr_put:hi Attr_get:hii Attr_delete:hi Topo_test:hb Cart_create:hiIIih Dims_create:iiII
Graph_create:ihiIIih Graphdims_get:hii Graph_get:iihiiII Cartdim_get:hi Cart_get:ihiIII
Cart_rank:ihIi Cart_coords:ihiiI Graph_neighbors_count:hii Graph_neighbors:ihiiI Cart_shift:hiiii
Cart_sub:ihIh Cart_map:hiIIi Graph_map:ihiIIi Get_processor_name:si Get_version:ii
Errhandler_create:h Errhandler_set:hh Errhandler_get:hh Errhandler_free:h Error_string:isi
Error_class:ii Wtime: Wtick: Init:A Finalize: Initialized:i Abort:hi Pcontrol:- Close_port:s
Comm_accept:shihh Comm_connect:shihh Comm_disconnect:h Comm_get_parent:h Comm_join:ih Comm_spawn:-
Comm_spawn_multiple:- Lookup_name:shs Open_port:hs Publish_name:shs Unpublish_name:shs
Accumulate:ihiiihbh Get:ihiiihh Put:ihiiihh Win_complete:h Win_create:iihhh Win_fence:bh Win_free:h
Win_get_group:hh Win_lock:bibh Win_post:hbh Win_start:hbh Win_test:hi Win_unlock:ih Win_wait:h
Alltoallw:iIIHIIHh Exscan:ihbh Add_error_class:i Add_error_code:ii Add_error_string:is
Comm_call_errhandler:hi Comm_create_keyval:h Comm_delete_attr:hh Comm_free_keyval:h
Comm_get_attr:hhi Comm_get_name:hsi Comm_set_attr:hh Comm_set_name:hs File_call_errhandler:hi
Grequest_complete:i Grequest_start:i Init_thread:Abb Is_thread_main:i Query_thread:b
Status_set_cancelled:Si Status_set_elements:Shi Type_create_keyval:h Type_delete_attr:hh Type_dup:hh
Type_free_keyval:h Type_get_attr:hhi Type_get_contents:iiihiiiIIH Type_get_envelope:hiiib
Type_get_name:hsi Type_set_attr:hh Type_set_name:hs Type_match_size:bih Win_call_errhandler:hi
Win_create_keyval:h Win_delete_attr:hh Win_free_keyval:h Win_get_attr:hhi Win_get_name:hsi
Win_set_attr:hh Win_set_name:hs Alloc_mem:ih Comm_create_errhandler:h Comm_get_errhandler:hh
Comm_set_errhandler:hh File_create_errhandler:h File_get_errhandler:hh File_set_errhandler:hh
Finalized:i Free_mem: Get_address:i Info_create:h Info_delete:hs Info_dup:hh Info_free:h
Info_get:hsisi Info_get_nkeys:hi Info_get_nthkey:his Info_get_valuelen:hsii Info_set:hss
Pack_external:sihiii Pack_external_size:sihi Request_get_status:iiS Type_create_darray:iiiIBIIbhh
Type_create_hindexed:iIIhh Type_create_hvector:iiihh Type_create_indexed_block:iiIhh
Type_create_resized:hiih Type_create_struct:iIIHh Type_create_subarray:iIIIbhh Type_get_extent:hii
Type_get_true_extent:hii Unpack_external:siiiih Win_create_errhandler:h Win_get_errhandler:hh
Win_set_errhandler:hh File_open:hsbhh File_close:h File_delete:sh File_set_size:hl
File_preallocate:hl File_get_size:hl File_get_group:hh File_get_amode:hb
"""
"""Calls in the order of their numbers, from 0, with their letters; behind them are more of files.

A call with ``-`` has arguments that are not known, which ends the reading.
"""
_PAIRS = [(name, letters) for name, _, letters in (call.partition(":") for call in _CALLS.split())]

NAMES = tuple(name for name, _ in _PAIRS)
LAYOUTS = {name: letters for name, letters in _PAIRS if letters != "-"}

ALL_CALLS = 290
FUNCTION_ENTER, FUNCTION_EXIT, END = ALL_CALLS + 1, ALL_CALLS + 2, ALL_CALLS + 3

ROOT = {"Gather": (0, 3), "Gatherv": (0, 4), "Scatter": (0, 3), "Scatterv": (0, 5)}
"""Where the own rank and the root stand in calls with ``?``."""


MAGIC = b"\xff\xaa\xddDUMPI"
INDEX = 8  # numbers of 64 bits, the mark among them, since version 0.6.6
STATUS, CPU_TIME, WALL_TIME, THREAD, COUNTERS = 3, 4, 8, 64, 128

SIZES = (
    0, 0, 1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8, 16, 8, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20,
)  # fmt: skip
"""Bytes of MPI's own types by their numbers, where a file has no table of them."""


@dataclass(frozen=True)
class Status:
    """What a receive got."""

    size: int
    source: int
    tag: int


@dataclass(frozen=True)
class Call:
    """One call: its name without ``MPI_``, its arguments, begin and end in ns, and place."""

    name: str
    arguments: tuple[Any, ...]
    begin: int
    end: int
    number: int


@dataclass
class Trace:
    """The calls of a rank, and the bytes of each type."""

    calls: list[Call] = field(default_factory=list)
    sizes: dict[int, int] = field(default_factory=dict)
    timed: bool = True


class _File:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.data = data_of(path)
        self.at = 0
        self.what = "its beginning"

    def take(self, count: int) -> bytes:
        end = self.at + count
        if end > len(self.data):
            refuse(
                self.path, None, f"is truncated: it ends at byte {len(self.data)}, in {self.what}"
            )
        data = self.data[self.at : end]
        self.at = end
        return data

    def number(self, size: int, *, signed: bool = False) -> int:
        return int.from_bytes(self.take(size), "big", signed=signed)

    def many(self, code: str, size: int) -> tuple[int, ...]:
        count = self.number(4, signed=True)
        if count <= 0:
            return ()
        if count * size > len(self.data) - self.at:
            refuse(self.path, None, f"has no room for {count} numbers, in {self.what}")
        return struct.unpack(f">{count}{code}", self.take(count * size))

    def texts(self) -> int:
        count = self.number(4, signed=True)
        for _ in range(max(0, count)):
            self.take(max(0, self.number(4, signed=True)))
        return count


def read_file(path: Path, trace: Trace) -> None:
    """Fill a trace with what a file has."""
    file = _File(path)
    if not file.data.startswith(MAGIC):
        refuse(path, None, "is no DUMPI file: it does not begin with its mark")
    places = _index(file)
    trace.sizes.update(enumerate(SIZES))
    version: tuple[int, ...] = (0, 0, 0)
    if places["header"]:
        file.at = places["header"]
        version = tuple(file.take(3))
    if places["sizes"]:
        file.at = places["sizes"]
        trace.sizes.update(enumerate(file.many("i", 4)))
    file.at = places["body"]
    file.number(4)
    offset = file.number(4)
    last = places["header"] or len(file.data)
    while file.at < last:
        number = file.number(2)
        if number == END:
            break
        _call(file, trace, number, offset, version)


def _index(file: _File) -> dict[str, int]:
    names = ("sizes", "addresses", "counters", "header", "body", "footer", "keys")
    counts = dict.fromkeys(names, 0)
    tail = file.data[-8 * INDEX :]
    for lacks in range(4):
        if tail[8 * lacks :].startswith(MAGIC) and len(file.data) >= 8 * INDEX + 8:
            values = struct.unpack(f">{7 - lacks}Q", tail[8 * lacks + 8 :])
            counts.update(zip(names[lacks:], values, strict=True))
            break
    else:
        refuse(file.path, None, "has no index at its end; is it truncated?")
    if max(counts.values()) > len(file.data) or counts["body"] < len(MAGIC):
        refuse(file.path, None, "has an index that leads out of it")
    return counts


def _call(file: _File, trace: Trace, number: int, offset: int, version: tuple[int, ...]) -> None:
    place = len(trace.calls)
    own = number in (FUNCTION_ENTER, FUNCTION_EXIT)
    name = "" if own else NAMES[number] if number < len(NAMES) else f"call {number}"
    file.what = f"call {place + 1}" + (f", MPI_{name}" if name else "")
    layout = "l" if own else LAYOUTS.get(name)
    if layout is None:
        refuse(
            file.path, None, f"{file.what}: its arguments are not known, so nothing behind it is"
        )
    mask = file.number(1)
    if mask & THREAD:
        file.number(2)
    begin = end = 0
    for bit in (CPU_TIME, WALL_TIME):
        if mask & bit:
            begin, end = (
                (file.number(2) + (offset if bit == WALL_TIME else 0)) * 10**9 + file.number(4)
                for _ in range(2)
            )
    if not mask & WALL_TIME:
        trace.timed, begin, end = False, 0, 0
    if mask & COUNTERS:
        file.take(16 * file.number(1))
    arguments: list[Any] = []
    reads = True
    if name == "Init" and version < (0, 6, 2):
        file.number(4)
    for letter in layout:
        if letter in "?!":
            own_rank, root = ROOT[name]
            reads = letter == "!" or arguments[own_rank] == arguments[root]
        elif reads:
            arguments.append(_argument(file, letter, mask, version))
    if not own:
        trace.calls.append(Call(name, tuple(arguments), begin, end, place))


OTHERS: dict[str, Callable[[_File], Any]] = {
    "J": lambda file: tuple(file.many("i", 4) for _ in range(max(0, file.number(4, signed=True)))),
    "A": _File.texts,
    "s": lambda file: file.take(max(0, file.number(4, signed=True))),
}


def _argument(file: _File, letter: str, mask: int, version: tuple[int, ...]) -> Any:  # noqa: ANN401 - of its kind
    if letter in "ilhb":
        size = {"i": 4, "l": 8, "h": 2, "b": 1}[letter]
        return file.number(size, signed=letter in "il")
    if letter in "IHB":
        code, size = {"I": ("i", 4), "H": ("H", 2), "B": ("B", 1)}[letter]
        return file.many(code, size)
    if letter in OTHERS:
        return OTHERS[letter](file)
    if not mask & STATUS:
        return ()
    statuses = []
    for _ in range(max(0, file.number(4, signed=True))):
        size, source = file.number(4, signed=True), file.number(4, signed=True)
        file.take(2)
        tag = file.number(4, signed=True) if version >= (0, 6, 3) else -1
        statuses.append(Status(size, source, tag))
    return tuple(statuses)
