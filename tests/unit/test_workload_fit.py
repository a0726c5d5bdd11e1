"""Do numbers that were fitted to some programs give the times of others?"""

from pathlib import Path

import pytest
from click.testing import CliRunner
from otf2_writer import Otf2

from dvsim.cli.main import cli
from dvsim.errors import ScenarioError
from dvsim.kinds.workload.fabrics import choose
from dvsim.kinds.workload.fit import measurements, ping_pong, window
from dvsim.kinds.workload.graph import CALC, SEND, Builder
from dvsim.kinds.workload.replay import replay_graph
from dvsim.kinds.workload.session import replays
from dvsim.scenario.card import load_card

NS = 1000


def ring(ranks, sizes, compute_ns):
    """Return a program in which each rank computes, sends to the next and receives, in turns."""
    builder = Builder(ranks, "ring")
    for rank in range(ranks):
        before = []
        for tag, size in enumerate(sizes):
            work = builder.calc(rank, compute_ns * (1 + (rank + tag) % 3) * NS, after=before)
            sent = builder.send(rank, (rank + 1) % ranks, size, tag, after=[work])
            before = [builder.recv(rank, (rank - 1) % ranks, size, tag, after=[sent])]
    return builder.build()


def traced(graph, fabric, folder):
    """Run a program of blocking calls over a fabric, and write what a tracer would have seen."""
    found = replay_graph(graph, fabric)
    begin, end = found.course.begin, found.course.end
    archive = Otf2(graph.ranks)
    for rank in range(graph.ranks):
        before = 1000
        archive.call(rank, 0, before, "MPI_Init")
        for one in range(int(graph.first[rank]), int(graph.first[rank + 1])):
            if graph.kind[one] == CALC:
                before = 1000 + int(end[one]) // NS
                continue
            what, name = ("send", "MPI_Send") if graph.kind[one] == SEND else ("recv", "MPI_Recv")
            message = (what, int(graph.peer[one]), int(graph.size[one]), int(graph.tag[one]))
            entered = max(before, 1000 + int(begin[one]) // NS) if what == "send" else before
            before = 1000 + int(end[one]) // NS
            archive.call(rank, entered, before, name, message)
        archive.call(rank, before, before, "MPI_Finalize")
    folder.mkdir()
    return archive.write(folder)


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """Return traces of a machine that the fit knows nothing of: each word through cards, slots."""
    folder = tmp_path_factory.mktemp("machine")
    fabric = choose("dv202", {"fidelity": "cycle", "o": "400ns", "S": str(1 << 20)}, 4)
    programs = {
        "ping-small": ping_pong(64),
        "ping-large": ping_pong(20_000),
        "window": window(2000),
        "ring": ring(4, [100, 5000, 64, 30_000, 800] * 3, 2000),
    }
    return {name: traced(graph, fabric, folder / name) for name, graph in programs.items()}


def test_a_trace_that_was_not_used_to_fit_takes_as_long_as_it_says(machine):
    fit = [machine[name] for name in ("ping-small", "ping-large", "window")]
    settings = {"S": str(1 << 20)}
    (first,) = replays(machine["ring"], "fdr", settings)
    (found,) = replays(machine["ring"], "fdr", settings, fit=fit)
    traced_ns = found.graph.traced_ns
    assert abs(first.time_ns / traced_ns - 1) > 0.1  # the card as it is does not know the machine
    assert found.parts["compute"] < 0.7 * found.time_ps  # nor is computing all that there is
    assert abs(found.time_ns / traced_ns - 1) < 0.1


def test_osu_tables_give_the_numbers_of_the_machine_and_a_card(tmp_path):
    true = choose("fdr", {"L": "1700ns", "o": "300ns", "G": "0.4ns", "S": str(1 << 20)})
    sizes = (8, 256, 8192, 65536)
    times = {size: replay_graph(ping_pong(size), true).time_ns / 8000 for size in sizes}
    rates = {size: 64 * size / replay_graph(window(size), true).time_ns * 1000 for size in sizes}
    for name, head, rows in (
        ("latency.txt", "# OSU MPI Latency Test v5.9\n# Size          Latency (us)", times),
        ("bw.txt", "# OSU MPI Bandwidth Test v5.9\n# Size      Bandwidth (MB/s)", rates),
    ):
        lines = [f"{size:<22}{value:.4f}" for size, value in rows.items()]
        (tmp_path / name).write_text("\n".join([head, *lines, ""]))
    goal = "num_ranks 2\nrank 0 {\nsend 5000b to 1\n}\nrank 1 {\nrecv 5000b from 0\n}\n"
    (tmp_path / "one.goal").write_text(goal)
    card = tmp_path / "mine.toml"
    fit = [part for name in ("latency.txt", "bw.txt") for part in ("--fit", str(tmp_path / name))]
    told = CliRunner().invoke(
        cli, ["replay", str(tmp_path / "one.goal"), "--fabric", "fdr", "--set", "S=1MiB", *fit,
              "--card", str(card)],
        catch_exceptions=False,
    )  # fmt: skip
    assert told.exit_code == 0
    assert "fitted to" in told.output
    written = load_card(card)
    assert written["latency"] == pytest.approx(1_700_000, rel=0.01)
    assert written["overhead"].fixed_ps == pytest.approx(300_000, rel=0.01)
    assert written["gap"].per_byte_fs == pytest.approx(400_000, rel=0.01)
    assert "latency.txt" in written.parameters["latency"].fitted
    (again,) = replays(tmp_path / "one.goal", str(card), {})
    assert again.time_ns == pytest.approx(300 + 1700 + 300 + 0.4 * 4999, rel=0.01)


@pytest.mark.parametrize(
    ("fabric", "text", "message"),
    [("dv202", "# OSU MPI Latency Test\n8 1.5\n", "no numbers that can be fitted"),
     ("fdr", "# OSU MPI Latency Test\n8 nan\n16 0\n", "has no line of a size and a latency above"),
     ("fdr", f"# OSU MPI Latency Test\n8 1.5\n{2**64} 2\n", "other:3: is too large: 18446744073"),
     ("fdr", f"# OSU MPI Bandwidth Test\n8 {'9' * 400}\n", "other:2: is too large: 8 999"),
     ("fdr", "num_ranks 1\nrank 0 {\ncalc 5\n}\n", "has no times of its own")],
)  # fmt: skip
def test_what_cannot_be_fitted_is_said(tmp_path, fabric, text, message):
    goal, other = tmp_path / "one.goal", tmp_path / "other"
    goal.write_text("num_ranks 1\nrank 0 {\ncalc 5\n}\n")
    Path(other).write_text(text)
    with pytest.raises(ScenarioError, match=message):
        replays(goal, fabric, {}, fit=[other])


LATENCY = "# OSU MPI Latency Test v5.6.2\n# Size          Latency (us)\n"
BANDWIDTH = "# OSU MPI Bandwidth Test v5.6.2\n# Size      Bandwidth (MB/s)\n"
CUDA = LATENCY.replace("MPI", "MPI-CUDA").replace("\n#", "\n# Send Buffer on DEVICE (D)\n#")
SEVEN = "# OSU MPI Latency Test v7.5\n# Size  Avg Latency(us)"


@pytest.mark.parametrize(
    ("text", "times"),
    [
        (LATENCY + "8  1.5\n16  2\n", {8: 12_000, 16: 16_000}),
        (LATENCY + "8  1.5\n\n" + BANDWIDTH + "1024  512\n", {8: 12_000, 1024: 128_000}),
        (BANDWIDTH + "1024  512\n\n" + LATENCY + "8  1.5\n", {1024: 128_000, 8: 12_000}),
        (LATENCY + "8  1.5\n" + LATENCY + "8  2.5\n64 4\n", {8: 20_000, 64: 32_000}),
        (CUDA + "# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n1  1.5\n", {1: 12_000}),
        (CUDA.replace("CUDA", "ROCM") + "# Size  Latency (us)\n1  1.5\n", {1: 12_000}),
        (BANDWIDTH.replace("MPI", "MPI-CUDA") + "1024 512\n", {1024: 128_000}),
        ("# OSU MPI Latency Test (Version 2.2)\n# Size\tLatency (us)\n8\t1.5\n", {8: 12_000}),
        (SEVEN + "  Min Latency(us)  Iterations\n8  1.5  1.2  1000\n", {8: 12_000}),
        (SEVEN + "  P50 Tail Lat(us)  P99 Tail Lat(us)\n8  1.5  1.4  7.25\n", {8: 12_000}),
        (BANDWIDTH.replace("\n#", "\n# Datatype: MPI_CHAR.\n#").replace("s)\n", "s)  Validation\n")
         + "1024  512  Pass\n", {1024: 128_000}),
        ("module loaded: 3\n" * 2000 + "n01 2 cores\n\n" + LATENCY + "8  1.5\n", {8: 12_000}),
        (LATENCY.replace("#", "[1,0]<stdout>:#") + "[1,0]<stdout>:8  1.5\n", {8: 12_000}),
        (LATENCY.replace("#", "0: #") + "0: 8  1.5\n", {8: 12_000}),
        ("\ufeff" + LATENCY.replace("\n", "\r\n") + "8  1.5\r\n", {8: 12_000}),
        (LATENCY + "8  1.5\n# Intel MPI Benchmarks\n#bytes repetitions t[usec]\n8 1000 3.5\n",
         {8: 12_000}),
    ],
)  # fmt: skip
def test_osu_tables_of_latency_and_bandwidth_are_read(text, times, tmp_path):
    (tmp_path / "osu.txt").write_bytes(text.encode())
    found = measurements(tmp_path / "osu.txt")
    assert {int(one.graph.size.max()): one.time_ns for one in found} == times


OTHERS = (
    """
MPI Allreduce Latency, MPI-CUDA Allreduce Latency, MPI Broadcast Latency, MPI Barrier Latency,
MPI Multiple Bandwidth / Message Rate, MPI Multi Latency, MPI Multi-threaded Latency, MPI Init,
MPI Bi-Directional Bandwidth, MPI_Put Latency, MPI_Put-CUDA Bandwidth, MPI_Get Bandwidth,
One Sided MPI_Put latency, MPI Non-Blocking Allreduce Latency, MPI Partitioned Latency,
MPI Hello World, OpenSHMEM Put, UPC MEMPUT, NCCL Latency, MPI Persistent Latency
""".replace("\n", " ")
    .strip()
    .split(", ")
)


@pytest.mark.parametrize("name", OTHERS)
def test_other_tables_of_osu_are_refused_by_name(name, tmp_path):
    other = f"# OSU {name} Test v7.3\n# Size       Avg Latency(us)\n8  2.5\n"
    for number, text in ((1, other), (5, LATENCY + "8  1.5\n\n" + other)):
        (tmp_path / "osu.txt").write_text(text)
        with pytest.raises(ScenarioError) as caught:
            measurements(tmp_path / "osu.txt")
        (fault,) = caught.value.faults
        assert (fault.file, fault.line) == (str(tmp_path / "osu.txt"), number)
        assert name in fault.message
        assert "osu_latency" in fault.message
        assert "osu_bw" in fault.message


def test_each_table_that_cannot_be_fitted_is_told(tmp_path):
    lines = [
        "# OSU MPI Allreduce Latency Test v7",
        "8 2",
        LATENCY + "8 nan",
        "# OSU MPI_Get Latency Test",
    ]
    (tmp_path / "osu.txt").write_text("\n".join(lines) + "\n")
    with pytest.raises(ScenarioError) as caught:
        measurements(tmp_path / "osu.txt")
    assert [fault.line for fault in caught.value.faults] == [1, 3, 6]


@pytest.mark.parametrize(
    "text", ["8 1.5\n16 2\n", "hello\n", "#bytes #repetitions t[usec]\n8 1000 3\n"]
)
def test_a_file_of_no_format_is_told_what_can_be_fitted(text, tmp_path):
    (tmp_path / "other.txt").write_text(text)
    with pytest.raises(ScenarioError, match=r"other\.txt: .*OTF2.*SimGrid.*osu_latency and osu_bw"):
        measurements(tmp_path / "other.txt")
