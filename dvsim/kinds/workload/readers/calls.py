"""MPI calls by name: which are collectives, and which a replay must count if it cannot do them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from dvsim.kinds.workload.collectives import Collectives
from dvsim.kinds.workload.mpi import Program
from dvsim.kinds.workload.readers.text import refuse, refuse_gaps

_NAMES = """
Barrier Bcast Reduce Allreduce Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall
Alltoallv Reduce_scatter Scan Exscan
"""
BLOCKING = {name: name.lower() for name in _NAMES.split()}
BLOCKING["Reduce_scatter_block"] = "reduce_scatter"
"""Name of a collective, without ``MPI_`` → its kind."""

COLLECTIVE = {
    **{name: (kind, False) for name, kind in BLOCKING.items()},
    **{f"I{name.lower()}": (kind, True) for name, kind in BLOCKING.items()},
}
"""Name of a collective, with those that do not block → its kind, and whether it does not block."""

_COMMUNICATES = re.compile(
    r"(I?[Aa]lltoallw|I?[Nn]eighbor_\w+|R?[Pp]ut|R?[Gg]et|R?[Aa]ccumulate|R?[Gg]et_accumulate"
    r"|Fetch_and_op|Compare_and_swap|Win_(?!get_|set_)\w+|File_\w+"
    r"|Comm_(i?dup\w*|create\w*|split\w*|free|accept|connect|disconnect|join|spawn\w*|shrink|agree)"
    r"|Intercomm_\w+|Cart_(create|sub)|Graph_create|Dist_graph_create\w*"
    r"|Isendrecv(_replace)?|[IM]?[Pp]robe|Improbe|Test\w*|Waitany|Waitsome|Cancel|Request_free|Start(all)?"
    r"|(P|B|S|R)?\w*_init|Parrived|Pready\w*)"
)
_LOCAL = {"Comm_create_keyval", "Comm_create_errhandler", "Win_create_keyval", "Test_cancelled"}


def communicates(name: str) -> bool:
    """Return whether a call, named without ``MPI_``, can communicate or wait.

    Of the calls that every reader knows, such as sends and waits, it says nothing.
    """
    bare = name.removeprefix("MPI_").removesuffix("_c")  # of large counts
    return bare not in _LOCAL and _COMMUNICATES.fullmatch(bare) is not None


class Options(NamedTuple):
    """What a trace does not say: algorithms of collectives, and flops per second of a host."""

    table: Collectives
    flops: float


def program_of(
    paths: Sequence[Path],
    rank_of: Callable[[Path], int | None],
    must: str,
    name: str,
    options: Options,
) -> tuple[list[Path], Program]:
    """Return the files of a trace in the order of ranks, and a program to be read from them.

    A name must have a rank, as `must` says, and of its own; no rank may be missing.
    """
    files: dict[int, Path] = {}
    for path in paths:
        rank = rank_of(path)
        if rank is None:
            refuse(path, None, must)
        if rank in files:
            refuse(path, None, f"is of rank {rank}, as {files[rank].name} is")
        files[rank] = path
    ranks = max(files) + 1
    refuse_gaps(paths[0].parent, "file", files)
    ordered = [files[rank] for rank in range(ranks)]
    return ordered, Program(ranks, name or str(paths[0]), map(str, ordered), options.table)


def rank_in(path: Path, name: re.Pattern[str]) -> int | None:
    """Return the rank that the name of a file has as its second group; None if it has none."""
    match = name.fullmatch(path.name)
    return int(match[2]) if match else None
