"""Do skeletons send what their names say, with as many messages and bytes as can be counted?"""

from collections import Counter

import numpy as np
import pytest
from pydantic import ValidationError

from dvsim.core.replay import DONE, Costs, ReplayCore
from dvsim.errors import ScenarioError
from dvsim.kinds.workload.check import CALC, COLLECTIVE_TAG, RECV, SEND
from dvsim.kinds.workload.collectives import Collectives, Rule, schedule
from dvsim.kinds.workload.irregular_skeletons import SKELETONS, AnySkeleton
from dvsim.kinds.workload.mpi import Program
from dvsim.kinds.workload.skeletons import decomposed
from dvsim.scenario.fields import adapter

COSTS = Costs(2_500_000, 1_500_000, 1_000_000, 6_000_000, 0, 65_535)


def made(name, **options):
    return SKELETONS[name](**options).graph()


def ends(graph, kind):
    """Return how often each (source, target, tag, size) is, of sends or of receives."""
    here = np.flatnonzero(graph.kind == kind)
    ranks = np.searchsorted(graph.first, here, side="right") - 1
    pair = (ranks, graph.peer[here]) if kind == SEND else (graph.peer[here], ranks)
    return Counter(
        zip(*(one.tolist() for one in (*pair, graph.tag[here], graph.size[here])), strict=True)
    )


def finished(graph):
    core = ReplayCore(graph, COSTS)
    core.run()
    assert (core.course.state == DONE).all()
    return core.course.finish


@pytest.mark.parametrize("name", SKELETONS)
@pytest.mark.parametrize("ranks", [1, 6, 12])
def test_every_message_has_a_receive_and_the_program_ends(name, ranks):
    options = {"sweep3d": {"nz": 4, "kba": 2}, "gups": {"updates": 20, "window": 8}}
    graph = made(name, ranks=ranks, iterations=2, **options.get(name, {}))
    assert ends(graph, SEND) == ends(graph, RECV)
    assert graph.ranks == ranks
    assert (finished(graph) > 0).all() or (ranks == 1 and not graph.messages)
    assert graph.digest == made(name, ranks=ranks, iterations=2, **options.get(name, {})).digest


def own(graph):
    mine = (graph.kind == SEND) & (graph.tag < COLLECTIVE_TAG)
    return int(mine.sum()), int(graph.size[mine].sum())


def test_a_halo_of_faces_has_as_many_as_the_grid():
    x, y, z, n = 4, 3, 2, 10
    graph = made("halo3d", ranks=24, pex=x, pey=y, pez=z, nx=n, ny=n, nz=n, doreduce=0)
    faces = 2 * ((x - 1) * y * z + x * (y - 1) * z + x * y * (z - 1))
    assert own(graph) == (faces, faces * n * n * 8)
    assert graph.messages == faces


def test_a_halo_of_26_has_faces_edges_and_corners():
    sides, (nx, ny, nz) = np.array([3, 3, 3]), (5, 7, 11)
    graph = made("halo3d26", ranks=27, nx=nx, ny=ny, nz=nz, fields_per_cell=2, iterations=3)
    middle = (graph.kind == SEND) & (graph.tag < COLLECTIVE_TAG)
    middle[: graph.first[13]] = middle[graph.first[14] :] = False
    cells = 2 * (nx * ny + nx * nz + ny * nz) + 4 * (nx + ny + nz) + 8
    assert middle.sum() == 3 * 26
    assert graph.size[middle].sum() == 3 * cells * 2 * 8
    pairs = np.prod(3 * sides - 2) - 27
    assert own(graph)[0] == 3 * pairs
    compute = graph.size[graph.kind == CALC].max()
    assert compute == round(nx * ny * nz * 2 * 26 / 1e10 * 1e12)
    assert made("halo3d26", ranks=27, computetime=7).size[0] == 7000


def test_a_sweep_passes_the_plane_from_every_corner():
    graph = made("sweep3d", ranks=12, pex=4, pey=3, nz=10, kba=5)
    blocks, links = 8 * 2, 3 * 3 + 4 * 2
    assert own(graph)[0] == blocks * links
    assert own(graph)[1] == blocks * (9 * 50 + 8 * 50) * 5 * 8 * 8
    with pytest.raises(ValueError, match="kba must divide nz, 10; is 3"):
        made("sweep3d", ranks=12, nz=10, kba=3)


def test_a_transform_exchanges_in_rows_and_columns():
    table = Collectives(alltoall=(Rule("pairwise"),))
    graph = SKELETONS["fft3d"](ranks=12, nx=12, ny=12, nz=12, npRow=4).graph(table)
    cells = 12**3 // 12
    assert graph.messages == 2 * 12 * (3 + 2)
    assert graph.bytes == 2 * 12 * 16 * (3 * (cells // 4) + 2 * (cells // 3))
    with pytest.raises(ValueError, match="npRow must divide the 12 ranks, is 5"):
        made("fft3d", ranks=12, npRow=5)


def test_traffic_without_neighbours():
    assert own(made("gups", ranks=5, updates=10, aggregate=4, window=2)) == (15, 15 * 64)
    assert own(made("incast", ranks=9, bytes=100, root=3, iterations=2)) == (16, 1600)
    assert set(ends(made("permutation", ranks=4, shift=1), SEND)) == {
        (0, 1, 0, 4096), (1, 2, 0, 4096), (2, 3, 0, 4096), (3, 0, 0, 4096),
    }  # fmt: skip
    drawn = ends(made("permutation", ranks=50, seed=3), SEND)
    assert len({target for _, target, *_ in drawn}) == len(drawn)
    assert drawn != ends(made("permutation", ranks=50, seed=4), SEND)


@pytest.mark.parametrize(
    ("ranks", "given", "found"),
    [
        (4096, (0, 0, 0), (16, 16, 16)),
        (12, (0, 0), (4, 3)),
        (12, (2, 0, 0), (2, 3, 2)),
        (7, (0, 0, 0), (7, 1, 1)),
    ],
)
def test_a_decomposition_is_near_to_a_cube(ranks, given, found):
    assert decomposed(ranks, given) == found


@pytest.mark.parametrize("given", [(5, 0), (3, 3), (24, 1)])
def test_a_decomposition_that_does_not_fit_is_refused(given):
    with pytest.raises(ValueError, match="does not fit 12 ranks"):
        decomposed(12, given)


def test_a_table_of_a_file_is_read_by_its_name():
    reader = adapter(AnySkeleton)
    one = reader.validate_python({"name": "halo3d", "ranks": 8, "nx": 20})
    assert one == SKELETONS["halo3d"](ranks=8, nx=20)
    for wrong in (
        {"name": "halo3d", "ranks": 8, "mx": 20},
        {"name": "halo4d", "ranks": 8},
        {"name": "incast", "ranks": 0},
        {"name": "halo3d", "ranks": 8, "peflops": 0.0},
    ):
        with pytest.raises(ValidationError):
            reader.validate_python(wrong)


@pytest.mark.parametrize(
    ("ranks", "iterations", "operations"), [(1 << 22, 1 << 20, 1 << 42), (64, 10**5, 283_200_000)]
)
def test_a_program_beyond_memory_is_refused_before_it_is_laid(
    ranks, iterations, operations, monkeypatch
):
    """By its ranks and iterations, or by its first iteration."""
    monkeypatch.setattr("dvsim.core.arrays.available_bytes", lambda: 4 << 30)
    made = SKELETONS["halo3d26"](ranks=ranks, iterations=iterations)
    with pytest.raises(ScenarioError, match="are available") as error:
        made.graph()
    said = int(error.value.faults[0].message.split()[3].replace(",", ""))
    assert operations <= said < 1.2 * operations


def test_a_collective_beyond_memory_is_refused():
    with pytest.raises(ValueError, match="an alltoall of 100000 ranks has more than"):
        made("alltoall", ranks=100_000, bytes=1 << 20)


LATENCY, BOTH, BYTE = 2_500_000, 2 * 1_500_000, 6_000  # ps; both overheads; of a byte
TIMED = [
    ("barrier", "dissemination", lambda p, log, n: log * (BOTH + LATENCY)),
    ("bcast", "binomial", lambda p, log, n: log * (BOTH + LATENCY + (n - 1) * BYTE)),
    ("reduce", "binomial", lambda p, log, n: log * (BOTH + LATENCY + (n - 1) * BYTE)),
    ("allreduce", "recursive_doubling", lambda p, log, n: log * (BOTH + LATENCY + (n - 1) * BYTE)),
    ("allgather", "ring", lambda p, log, n: (p - 1) * (BOTH + LATENCY + (n - 1) * BYTE)),
    ("alltoall", "pairwise", lambda p, log, n: (p - 1) * (BOTH + LATENCY + (n - 1) * BYTE)),
    ("alltoall", "bruck", lambda p, log, n: log * (BOTH + LATENCY + (n * p // 2 - 1) * BYTE)),
    ("scan", "linear", lambda p, log, n: (p - 1) * (BOTH + LATENCY + (n - 1) * BYTE)),
    ("allgather", "bruck",
     lambda p, log, n: log * (BOTH + LATENCY - BYTE) + (p - 1) * n * BYTE),
    ("reduce_scatter", "recursive_halving",
     lambda p, log, n: log * (BOTH + LATENCY - BYTE) + (p - 1) * n * BYTE),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "name", "form"), TIMED)
@pytest.mark.parametrize("ranks", [2, 8, 16])
def test_at_zero_load_a_collective_takes_its_closed_form(kind, name, form, ranks):
    table = Collectives(**{kind: (Rule(name),)})
    program = Program(ranks, table=table)
    for rank in range(ranks):
        program.collective(rank, kind, 64)
    expected = form(ranks, (ranks - 1).bit_length(), 64)
    assert finished(program.graph()).max() == expected
    sends = schedule(kind, ranks, 64, algorithm=name).kind == SEND
    assert sends.sum() == program.graph().messages
