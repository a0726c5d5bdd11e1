"""MPI calls by name: which are collectives, and which a replay must count if it cannot do them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from dvsim.kinds.workload.collectives import Collectives
from dvsim.kinds.workload.mpi import Program
from dvsim.kinds.workload.readers.text import refuse

BLOCKING = {
    "Barrier": "barrier",
    "Bcast": "bcast",
    "Reduce": "reduce",
    "Allreduce": "allreduce",
    "Gather": "gather",
    "Gatherv": "gatherv",
    "Scatter": "scatter",
    "Scatterv": "scatterv",
    "Allgather": "allgather",
    "Allgatherv": "allgatherv",
    "Alltoall": "alltoall",
    "Alltoallv": "alltoallv",
    "Reduce_scatter": "reduce_scatter",
    "Reduce_scatter_block": "reduce_scatter",
    "Scan": "scan",
    "Exscan": "exscan",
}
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
    r"|[IM]?[Pp]robe|Improbe|Test\w*|Waitany|Waitsome|Cancel|Request_free|Start(all)?"
    r"|(P|B|S|R)?\w*_init|Parrived|Pready\w*)"
)
_LOCAL = {"Comm_create_keyval", "Comm_create_errhandler", "Win_create_keyval", "Test_cancelled"}


def communicates(name: str) -> bool:
    """Return whether a call, named without ``MPI_``, can communicate or wait.

    Of the calls that every reader knows, such as sends and waits, it says nothing.
    """
    bare = name.removeprefix("MPI_")
    return bare not in _LOCAL and _COMMUNICATES.fullmatch(bare) is not None


def program_of(
    files: Mapping[int, Path], paths: Sequence[Path], name: str, table: Collectives
) -> tuple[int, Program]:
    """Return how many ranks there are, and a program to be read from the file of each.

    Raises:
        ScenarioError: If there is no file of a rank below the last one.
    """
    ranks = max(files) + 1
    if len(files) < ranks:
        lacks = next(rank for rank in range(ranks) if rank not in files)
        refuse(paths[0].parent, None, f"has no file of rank {lacks}, but of rank {ranks - 1}")
    ordered = [str(files[rank]) for rank in range(ranks)]
    return ranks, Program(ranks, name or str(paths[0]), ordered, table)
