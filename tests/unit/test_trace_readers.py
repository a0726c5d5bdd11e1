"""Are traces that are texts read as they say, in files, folders and tars, and bad ones refused?"""

import io
import tarfile

import pytest

import dvsim
from dvsim.core import arrays
from dvsim.errors import ScenarioError
from dvsim.kinds.workload.check import COLLECTIVE_TAG, SEND
from dvsim.kinds.workload.readers import read
from dvsim.kinds.workload.readers.formats import formats

PING = {
    "ti0.txt": "0 init\n0 compute 2e9\n0 isend 1 7 1000 1\n0 wait 0 1 7\n0 barrier\n0 finalize\n",
    "ti1.txt": "1 init\n1 recv 0 7 1000 1\n1 barrier\n1 finalize\n",
}
ALLPROF = {
    "pmpi-trace-rank-0.txt": (
        "# htor@somewhere\nMPI_Init:-:1:2:1000.00\n"
        "MPI_Comm_size:1001:91,0,2:4:1002\n"
        "MPI_Isend:1010:4096:100:11,8,8:1:5:91,0,2:640:1011\n"
        "MPI_Irecv:1011:4096:100:11,8,8:-1:5:91,0,2:648:1012\n"
        "MPI_Waitall:1020:2:640:0:1030\n"
        "MPI_Allreduce:1050:1:2:1:2,4,4:3:91,0,2:1060\n"
        "MPI_Finalize:1070:1080\n"
    ),
    "pmpi-trace-rank-1.txt": (
        "MPI_Init:-:1:2:500\n"
        "MPI_Sendrecv:510:4096:100:11,8,8:0:5:8192:100:11,8,8:0:5:91,1,2:0:520\n"
        "MPI_Allreduce:540:1:2:1:2,4,4:3:91,1,2:560\n"
        "MPI_Finalize:570:571\n"
    ),
}


def laid(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def told(graph, rank):
    here = range(graph.first[rank], graph.first[rank + 1])
    return [graph.told(one).partition(": ")[2] for one in here]


def own(graph):
    mine = (graph.kind == SEND) & (graph.tag < COLLECTIVE_TAG)
    return int(mine.sum()), int(graph.size[mine].sum())


def test_simgrid_files_of_a_folder(tmp_path):
    graph = read(laid(tmp_path, PING), flops=1e9)
    assert told(graph, 0)[:2] == ["calc 2e+09 ns", "send 4000 B to 1, tag 7"]
    assert told(graph, 1)[0] == "recv 4000 B from 0, tag 7"
    assert own(graph) == (1, 4000)
    assert graph.messages == 3
    assert graph.traced_ns is None
    assert read(tmp_path, flops=4e9).size[0] == 5e11


def test_one_simgrid_file_has_all_ranks_in_any_order(tmp_path):
    laid(tmp_path, PING)
    mixed = tmp_path / "all.trace"
    zero, one = (PING[name].splitlines() for name in PING)
    mixed.write_text("# both\n" + "\n".join([*one[:2], *zero, *one[2:]]) + "\n")
    assert read(mixed).digest == read(laid(tmp_path / "two", PING)).digest


def test_a_simgrid_file_may_list_the_others(tmp_path):
    laid(tmp_path, {f"replay/{name}": text for name, text in PING.items()})
    (tmp_path / "traces").write_text("replay/ti0.txt\nreplay/ti1.txt\n")
    assert read(tmp_path / "traces").digest == read(tmp_path / "replay").digest
    (tmp_path / "traces").write_text("replay/ti0.txt\n../../../etc/passwd\n")
    with pytest.raises(ScenarioError, match=r"traces:2: lists '\.\./\.\./\.\./etc/passwd', which"):
        read(tmp_path / "traces")


def packed(folder, files, mode="w:gz", name="trace.tgz"):
    path = folder / name
    with tarfile.open(path, mode) as archive:
        for place, text in files.items():
            member = tarfile.TarInfo(place)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz"])
def test_a_tar_is_read_as_its_folder(mode, tmp_path):
    tar = packed(tmp_path, {f"run/{name}": text for name, text in PING.items()}, mode)
    assert read(tar).digest == read(laid(tmp_path / "run", PING)).digest


def test_no_member_of_a_tar_leaves_it(tmp_path):
    with pytest.raises(ScenarioError, match=r"leads out of it: '\.\./out\.txt'"):
        read(packed(tmp_path, {"../out.txt": "0 init\n"}))
    assert not (tmp_path.parent / "out.txt").exists()
    linked = tmp_path / "linked.tar"
    with tarfile.open(linked, "w") as archive:
        member = tarfile.TarInfo("link")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(member)
    with pytest.raises(ScenarioError, match="has a member that is no file: 'link'"):
        read(linked)


def test_an_error_in_a_tar_names_it_and_the_member(tmp_path):
    tar = packed(tmp_path, {"a.txt": "0 init\n0 compute -1\n0 finalize\n"})
    with pytest.raises(ScenarioError, match=r"trace\.tgz/a\.txt:2: rank 0, call 1: an amount"):
        read(tar)
    tar.write_bytes(tar.read_bytes()[:40])
    with pytest.raises(ScenarioError, match=r"trace\.tgz: cannot be unpacked"):
        read(tar)


SIMGRID = {
    "bcast 5e4": [("bcast", 50_000)],
    "bcast 100 1 0": [("bcast", 800)],
    "reduce 100 5e6 0 1": [("reduce", 400)],
    "allreduce 100 5e6": [("allreduce", 100)],
    "alltoall 10 10 1": [("alltoall", 40)],
    "gather 8 8 1 6 6": [("gather", 8)],
    "scatter 8 9 1": [("scatter", 9)],
    "allgather 8 8": [("allgather", 8)],
    "gatherv 8 8 8 0": [("gatherv", 8)],
    "allgatherv 8 8 8": [("allgatherv", 8)],
    "scatterv 8 8 8 0": [("scatterv", 8)],
    "reducescatter 3 5 1e6 6": [("reduce_scatter", (3, 5))],
    "alltoallv 9 3 6 9 3 6": [("alltoallv", (3, 6))],
    "scan 8 0": [("scan", 8)],
    "sendrecv 8 1 8 1": [],
}


@pytest.mark.parametrize(("line", "said"), SIMGRID.items())
def test_every_simgrid_action_is_read(line, said, tmp_path, monkeypatch):
    entered = []
    from dvsim.kinds.workload.mpi import Program

    collective = Program.collective

    def noted(self, rank, kind, size=0, **options):
        entered.append((kind, size if isinstance(size, int) else tuple(size)))
        collective(self, rank, kind, size, **options)

    monkeypatch.setattr(Program, "collective", noted)
    other = line.replace("sendrecv 8 1 8 1", "sendrecv 8 0 8 0")
    path = tmp_path / "one"
    path.write_text(f"0 init\n1 init\n0 {line}\n1 {other}\n0 finalize\n1 finalize\n")
    graph = read(path)
    assert entered == said * 2
    assert graph.messages > 0


@pytest.mark.parametrize("how", ["send", "Ssend", "bsend", "rsend", "isend", "Issend", "ibsend"])
def test_every_way_to_send_is_a_message(how, tmp_path):
    (tmp_path / "all").write_text(f"0 init\n1 init\n0 {how} 1 7 1e2 6\n1 Irecv -1 -1 1e2 6\n")
    graph = read(tmp_path / "all")
    assert (graph.messages, graph.bytes, dict(graph.skipped)) == (1, 100, {})


def test_calls_of_mpi_that_no_simgrid_replay_knows_are_counted(tmp_path):
    calls = ["Put 1 10 6", "Win_fence", "Start 1 0 10 6", "Start 1 0 10 6", "alltoallw", "testany"]
    (tmp_path / "all").write_text("".join(f"0 {call}\n" for call in ["init", *calls]))
    counted = {"put": 1, "win_fence": 1, "start": 2, "alltoallw": 1, "testany": 1}
    assert read(tmp_path / "all").skipped == counted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0 init\n0 barrier\n0 compute 1\n0 jump 3\n", r":4: rank 0, call 3: knows no action 'ju"),
        ("0 init\n0 send 4 0 8\n", r":2: rank 0, call 1: the ranks are 0 to 0; no rank 4"),
        ("0 init\n0 send 0 0 -8\n", r":2: rank 0, call 1: size must not be negative, is '-8'"),
        ("0 init\n0 compute nan\n", r":2: rank 0, call 1: an amount of work must not be"),
        ("0 init\n0 compute 1e300\n", r":2: rank 0, call 1: computes for 1e\+291 s; at most"),
        ("0 init\n0 send 0 0 1 99\n", r":2: rank 0, call 1: knows no data type '99'"),
        ("0 init\n0 send 0\n", r":2: rank 0, call 1: needs at least 2 arguments"),
        ("0 init\n2 init\n", r"has no line of rank 1, but of rank 2"),
        ("0 init\n2 init\n5 init\n", r"has no line of ranks 1, 3, 4, but of rank 5"),
        ("0 init\n1 init\n0 finalize\n", r":2: is the last line of rank 1, which never calls fin"),
        ("0 init\n1 init\n0 barrier\n", r"rank 1: does not enter a barrier"),
        ("0 init\n1 init\n0 bcast 8 0\n1 bcast 8 1\n", r":4: rank 1: enters a bcast of root 1 whe"),
        ("0 init\nhello\n", r":2: must be RANK ACTION"),
    ],
)
def test_bad_simgrid_lines_are_refused(text, said, tmp_path):
    path = tmp_path / "trace"
    path.write_text(text)
    with pytest.raises(ScenarioError, match=said):
        read(path)


def entered(path, monkeypatch):
    """Read a trace; return the graph, and what each rank says of each collective."""
    from dvsim.kinds.workload.mpi import Program

    noted, collective = [], Program.collective

    def note(self, rank, kind, size=0, **options):
        said = size if isinstance(size, int) else tuple(size)
        noted.append((rank, kind, said, options["root"]))
        collective(self, rank, kind, size, **options)

    monkeypatch.setattr(Program, "collective", note)
    return read(path), noted


TRACED = {
    # of ranks 0, 1 and 2 of three: what SMPI's tracing writes, then size and root of each rank
    "gather": (
        ["5 5 1 6 6", "5 5 1 6 6", "5 1 6 6"], "gather", [5, 5, 5], 1,
    ),
    "igather": (["8 2 6 6", "8 2 6 6", "8 8 2 6 6"], "gather", [8, 8, 8], 2),
    "scatter": (["9 9 0 1 1", "0 9 0 1 1", "0 9 0 1 1"], "scatter", [36, 36, 36], 0),
    "gatherv": (
        ["3 1 1 6 6", "4 1 3 4 5 1 6 6", "5 1 1 6 6"], "gatherv", [3, 4, 5], 1,
    ),
    "scatterv": (
        ["1 3 4 5 3 0 6 6", "1 4 0 6 6", "1 5 0 6 6"], "scatterv", [3, 4, 5], 0,
    ),
    "allgatherv": (
        ["3 1 3 4 5 1 1", "4 1 3 4 5 1 1", "5 1 3 4 5 1 1"], "allgatherv", [12, 16, 20], 0,
    ),
    "reducescatter": (["1 0 3 4 5 6 "] * 3, "reduce_scatter", [(3, 4, 5)] * 3, 0),
    "ireducescatter": (["0 0 0 0 0 0 0 1 "] * 3, "reduce_scatter", [(20,) * 3] * 3, 0),
    "reduce_scatter_block": (["7 0 6"] * 3, "reduce_scatter", [7] * 3, 0),
    "scan": (["-1 0 9 6"] * 3, "scan", [9] * 3, 0),
    "iexscan": (["-1 0 9 1"] * 3, "exscan", [36] * 3, 0),
    "iallreduce": (["9 0 38 "] * 3, "allreduce", [36] * 3, 0),
    "ireduce": (["9 0 2 6 "] * 3, "reduce", [9] * 3, 2),
    "ialltoallv": (
        [f"60 {rank}1 {rank}2 {rank}3 60 1 1 1 6 6" for rank in (1, 2, 3)], "alltoallv",
        [(11, 12, 13), (21, 22, 23), (31, 32, 33)], 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("action", TRACED)
def test_collectives_are_read_as_smpi_traces_them(action, tmp_path, monkeypatch):
    lines, kind, sizes, root = TRACED[action]
    text = "".join(f"{rank} init\n{rank} {action} {words}\n{rank} waitall 1\n"
                   for rank, words in enumerate(lines))  # fmt: skip
    (tmp_path / "all").write_text(text)
    graph, noted = entered(tmp_path / "all", monkeypatch)
    assert noted == [(rank, kind, size, root) for rank, size in enumerate(sizes)]
    assert not graph.skipped


def test_a_gather_that_a_person_wrote_is_read_by_its_places(tmp_path, monkeypatch):
    (tmp_path / "all").write_text("".join(f"{rank} gather 5 5 1 1\n" for rank in range(3)))
    assert {entry[1:] for entry in entered(tmp_path / "all", monkeypatch)[1]} == {("gather", 20, 1)}


BYTES_OF_TYPES = {
    0: 8, 1: 4, 6: 1, 16: 1, 26: 16, 27: 32, 28: 8, 29: 8, 30: 8, 31: 16, 32: 16, 33: 8, 34: 8,
    35: 8, 36: 16, 37: 16, 38: 4, 39: 4, 40: 8, 41: 16, 42: 8, 43: 16, 46: 2, 47: 4, 48: 8, 49: 16,
    50: 32, 51: 1, 52: 8, 53: 16, 54: 32, 55: 0, 56: 0, 57: 1, 58: 8, 59: 8, -1: 1,
}  # fmt: skip


@pytest.mark.parametrize("kind", range(-1, 60))
def test_every_data_type_of_smpi_has_a_size(kind, tmp_path):
    (tmp_path / "all").write_text(f"0 send 1 7 12 {kind}\n1 recv 0 7 12 {kind}\n")
    graph = read(tmp_path / "all")
    assert graph.bytes == 12 * BYTES_OF_TYPES.get(kind, graph.bytes // 12)
    assert bool(graph.assumed) == (kind == -1)


@pytest.mark.parametrize(
    ("zero", "one", "messages", "received"),
    [
        # any source, and the wait with what was named or with whom it came from
        ("irecv -333 -444 100 6\nwait -333 0 -444", "send 0 3 100 6", 1, "from any, tag any"),
        ("irecv -333 5 100 6\nwait 1 0 5", "send 0 5 100 6", 1, "from any, tag 5"),
        ("recv -555 5 100 6", "send 0 5 100 6", 1, "from any, tag 5"),
        # no process, as at the border of a grid
        ("irecv -333 5 100 6\nisend -333 5 100 6\nwait 0 -333 5\nwait -333 0 5", "", 0, ""),
        ("recv -666 5 100 6\nsend -666 5 100 6", "", 0, ""),
        ("irecv 1 5 100 6\nirecv -333 5 100 6\nwaitall 2", "send 0 5 100 6", 1, "from 1, tag 5"),
        ("sendrecv 8 1 100 -333 6 6", "sendrecv 100 0 8 0 6 6", 2, "from any, tag 0"),
    ],
)
def test_ranks_that_are_any_or_none(zero, one, messages, received, tmp_path):
    ranks = [["init", *lines.split("\n"), "barrier", "finalize"] for lines in (zero, one)]
    text = "".join(f"{rank} {line}\n" for rank in range(2) for line in ranks[rank] if line)
    (tmp_path / "all").write_text(text)
    found = dvsim.replay(tmp_path / "all", "fdr")
    assert own(found.graph)[0] == messages
    mine = [line for line in told(found.graph, 0) if line.startswith("recv 100 B")]
    assert mine == ([f"recv 100 B {received}"] if received else [])
    assert not found.skipped


def test_what_a_replay_of_simgrid_does_without_a_network_is_counted(tmp_path):
    calls = ["IO - write_all 4096", "io-open 3", "migrate 100", "iteration_in", "iteration_out"]
    (tmp_path / "all").write_text("".join(f"0 {call}\n" for call in ["init", *calls, *calls[:1]]))
    assert read(tmp_path / "all").skipped == {
        "IO - write_all": 2, "io-open": 1, "migrate": 1, "iteration_in": 1, "iteration_out": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    "prefix", ["out/smpi.trace_files/", "/home/user/run/smpi.trace_files/", "", "elsewhere/"]
)
@pytest.mark.parametrize("where", ["out", "out/smpi.trace"])
def test_a_list_names_files_from_where_smpirun_ran(prefix, where, tmp_path):
    files = {"0_rank-0.txt": PING["ti0.txt"], "1_rank-1.txt": PING["ti1.txt"]}
    laid(tmp_path, {f"out/smpi.trace_files/{name}": text for name, text in files.items()})
    for name in ("smpi.trace", "moved.trace"):
        (tmp_path / "out" / name).write_text("".join(f"{prefix}{name}\n" for name in files))
    assert read(tmp_path / where).digest == read(laid(tmp_path / "plain", PING)).digest


def test_a_list_may_name_files_from_the_current_folder(tmp_path, monkeypatch):
    laid(tmp_path, {f"traces/{name}": text for name, text in PING.items()})
    laid(tmp_path, {"lists/all.trace": "".join(f"traces/{name}\n" for name in PING)})
    monkeypatch.chdir(tmp_path)
    assert read("lists/all.trace").digest == read("traces").digest


@pytest.mark.parametrize(
    ("missing", "line"), [([0], [1]), ([1, 2], [2, 3]), ([0, 1, 2], [1, 2, 3])]
)
def test_each_file_that_a_list_names_and_is_missing_is_told(missing, line, tmp_path):
    names = [f"ti_trace{rank}.txt" for rank in range(3)]
    laid(tmp_path, {"all.trace": "".join(f"run/{name}\n" for name in names)})
    laid(tmp_path, {name: "0 init\n" for rank, name in enumerate(names) if rank not in missing})
    with pytest.raises(ScenarioError) as caught:
        read(tmp_path / "all.trace")
    assert [(fault.line, names[fault.line - 1] in fault.message) for fault in caught.value.faults
            ] == [(number, True) for number in line]  # fmt: skip


def test_liballprof_files_of_a_folder(tmp_path):
    graph = read(laid(tmp_path, ALLPROF))
    tag = COLLECTIVE_TAG
    assert told(graph, 0) == [
        "calc 10000 ns", "send 800 B to 1, tag 5", "recv 800 B from any, tag 5", "calc 8000 ns",
        "calc 20000 ns", f"recv 4 B from 1, tag {tag}", f"send 4 B to 1, tag {tag}",
        "calc 10000 ns",
    ]  # fmt: skip
    assert told(graph, 1)[:3] == [
        "calc 10000 ns", "recv 800 B from 0, tag 5", "send 800 B to 0, tag 5",
    ]  # fmt: skip
    assert own(graph) == (2, 1600)
    assert graph.traced_ns == 80_000


def test_the_last_call_of_liballprof_has_no_end(tmp_path):
    files = {
        name: text.replace(":1080", ":-").replace(":571", ":-") for name, text in ALLPROF.items()
    }
    graph = read(laid(tmp_path, files))
    assert graph.traced_ns == 70 * 1000
    assert told(graph, 1)[-1] == "calc 10000 ns"


@pytest.mark.parametrize(
    "head", ["# clockdiff: {} s (relative to rank 0)\n", "# Init clockdiff: {}\n"]
)
def test_ranks_of_liballprof_whose_clocks_were_compared_begin_when_they_began(head, tmp_path):
    """Rank 1 ends MPI_Init at 500 of its own clock, at 1,003 of that of rank 0."""
    offsets = zip(ALLPROF.items(), ("0.0", "503.25"), strict=True)
    graph = read(laid(tmp_path, {name: head.format(at) + text for (name, text), at in offsets}))
    assert told(graph, 0)[0] == "calc 10000 ns"
    assert told(graph, 1)[:2] == ["idle 3250 ns", "calc 10000 ns"]
    assert graph.traced_ns == 80 * 1000


def test_clocks_of_liballprof_of_which_one_was_not_compared_are_their_own(tmp_path):
    name, text = next(iter(ALLPROF.items()))
    files = ALLPROF | {name: "# clockdiff: 7.5 s (relative to rank 0)\n" + text}
    assert read(laid(tmp_path, files)).digest == read(laid(tmp_path / "own", ALLPROF)).digest


MPICH, OPEN_MPI = "1140850688,{},2", "91,{},2"
INT_OF = {MPICH: "1275069445,4,4", OPEN_MPI: "11,4,4"}


def of_liballprof(calls, comm):
    """Return the files of ranks, given (name, peer) of their calls."""
    files = {}
    for rank, own_calls in enumerate(calls):
        lines, time = ["MPI_Init:0:0:0:10"], 20
        for name, *peers in own_calls:
            group, part = comm.format(rank), f"4096:64:{INT_OF[comm]}"
            fields = {
                "Send": f"{part}:{{}}:5:{group}", "Recv": f"{part}:{{}}:5:{group}:0",
                "Isend": f"{part}:{{}}:5:{group}:{64 * time}",
                "Irecv": f"{part}:{{}}:5:{group}:{64 * time}",
                "Sendrecv": f"{part}:{{}}:5:{part}:{{}}:5:{group}:0",
            }[name].format(*peers)  # fmt: skip
            lines.append(f"MPI_{name}:{time}:{fields}:{time + 1}")
            time += 10
        files[f"pmpi-trace-rank-{rank}.txt"] = "\n".join([*lines, f"MPI_Finalize:{time}:-", ""])
    return files


ANY_OF = [
    # a send to nobody tells
    ([[("Send", -1), ("Recv", -2)], [("Send", 0)]], OPEN_MPI, -2),
    ([[("Send", -2), ("Recv", -1)], [("Send", 0)]], MPICH, -1),
    ([[("Sendrecv", -1, -2)], [("Isend", 0)]], OPEN_MPI, -2),
    # else handles
    ([[("Recv", -2)], [("Send", 0)]], MPICH, -2),
    ([[("Irecv", -1), ("Recv", -2)], [("Send", 0)]], MPICH, -2),
    # else how many messages no other receive is for
    ([[("Recv", -2)], [("Send", 0)]], OPEN_MPI, -2),
    ([[("Irecv", -2), ("Irecv", 1)], [("Send", 0), ("Isend", 0)]], OPEN_MPI, -2),
    ([[("Irecv", -2), ("Recv", 1)], [("Send", 0)]], OPEN_MPI, -1),
    ([[("Recv", -1)], [("Send", 0)]], OPEN_MPI, -1),
    ([[("Irecv", -1), ("Recv", -2)], [("Send", 0)]], OPEN_MPI, -2),
]


@pytest.mark.parametrize(("calls", "comm", "any_one"), ANY_OF)
def test_any_source_of_liballprof_is_that_of_its_mpi(calls, comm, any_one, tmp_path):
    found = dvsim.replay(laid(tmp_path, of_liballprof(calls, comm)), "fdr")
    sent = [call for rank in calls for call in rank if "nd" in call[0] and call[1] >= 0]
    assert own(found.graph)[0] == len(sent)
    assert not found.skipped  # each is received
    assert told(found.graph, 0).count("recv 256 B from any, tag 5") == sum(
        call[0].endswith("ecv") and call[-1] == any_one for call in calls[0]
    )
    (said,) = found.graph.assumed
    assert f"rank {any_one} is any source" in said


def test_what_liballprof_does_not_record_is_counted(tmp_path):
    lines = {
        name: text.replace(
            "MPI_Finalize",
            "MPI_Waitany:1061:2:640:0:0:1062\nMPI_Barrier:1062:95,0,1:1063\n"
            "MPI_Reduce_scatter:1063:1:2:3:2,4,4:3:91,0,2:1064\nMPI_Finalize",
        )
        for name, text in ALLPROF.items()
        if name.endswith("0.txt")
    }
    graph = read(laid(tmp_path, ALLPROF | lines))
    assert graph.skipped == {"MPI_Waitany": 1, "MPI_Reduce_scatter without counts": 1}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("MPI_Isend:1010", "MPI_Isend:1000", r"0\.txt:4: rank 0, call 2: MPI_Isend: the time go"),
        ("91,0,2:640", "91,0,8:640", r"0\.txt:4: rank 0, call 2: has 8 ranks, but there"),
        (":1:5:91,0,2:640", ":3:5:91,0,2:640", r"0\.txt:4: rank 0, call 2: the ranks are 0 to 1,"),
        ("4096:100:11,8,8:1", "4096:-1:11,8,8:1", r"0\.txt:4: rank 0, call 2: a count must not"),
        ("MPI_Waitall:", "Waitall ", r"0\.txt:6: rank 0, call 4: must be MPI_NAME:START:…:END"),
        (":640:1011", ":1011", r"0\.txt:4: rank 0, call 2: has 6 arguments, which is too few"),
    ],
)
def test_bad_liballprof_lines_are_refused(old, new, said, tmp_path):
    name = "pmpi-trace-rank-0.txt"
    laid(tmp_path, ALLPROF | {name: ALLPROF[name].replace(old, new, 1)})
    with pytest.raises(ScenarioError, match=said):
        read(tmp_path)


def test_a_missing_rank_is_refused(tmp_path):
    laid(tmp_path, {"pmpi-trace-rank-1.txt": ALLPROF["pmpi-trace-rank-1.txt"]})
    with pytest.raises(ScenarioError, match="has no file of rank 0, but of rank 1"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "has no trace of a format that can be read: OTF2, GOAL"),
        ({"a.txt": "hello\n"}, "has no trace of a format that can be read"),
        (PING | ALLPROF, "has traces of several formats: liballprof and SimGrid, time-independent"),
        (PING | {"again.txt": PING["ti0.txt"]}, "is of rank 0, as again.txt is: name one"),
        ({"a/0": PING["ti0.txt"], "b/1": PING["ti1.txt"]}, "has traces in several folders"),
        ({"a.goal": "num_ranks 1\nrank 0 {\n}\n", **PING}, "has more than one trace: a.goal, ti0"),
    ],
)
def test_a_folder_has_one_trace(files, said, tmp_path):
    with pytest.raises(ScenarioError, match=said):
        read(laid(tmp_path, files))


def test_simgrid_collectives_that_do_not_block_are_joined_by_their_wait(tmp_path):
    def length(first_wait):
        lines = [
            "init",
            "iallreduce 1000 0 6",
            "compute 5e6",
            first_wait,
            "compute 1e6",
            "finalize",
        ]
        text = "".join(f"{rank} {line}\n" for rank in range(2) for line in lines)
        (tmp_path / "all.txt").write_text(text)
        graph = read(tmp_path / "all.txt")
        assert not graph.skipped
        after = [graph.to[graph.start[one] : graph.start[one + 1]] for one in range(2)]
        return graph.operations, sum(map(len, after))

    waited = length("wait 0 0 0")
    assert waited == length("waitall 1")
    assert waited[0] == length("compute 0")[0]
    assert waited[1] > length("compute 0")[1]  # messages, then the wait joins them


def test_old_simgrid_waits_for_the_last_request(tmp_path):
    calls = "p0 init\np0 Isend p1 8\np0 wait\np0 waitany\np1 init\np1 Irecv p0 8\np1 wait\n"
    (tmp_path / "old.txt").write_text(calls)
    graph = read(tmp_path / "old.txt")
    assert (graph.messages, graph.bytes, dict(graph.skipped)) == (1, 8, {"waitany": 1})


def test_a_collective_beyond_memory_is_refused_before_it_is_laid_out(tmp_path, monkeypatch):
    monkeypatch.setattr(arrays, "available_bytes", lambda: 10**6)
    path, ranks = tmp_path / "all.txt", 100
    path.write_text("".join(f"{rank} init\n{rank} alltoall 99999 99999\n" for rank in range(ranks)))
    with pytest.raises(
        ScenarioError, match=r"rank 0: .*by pairwise of 100 ranks needs 12,000,000 B"
    ):
        read(path)


def test_an_archive_without_its_anchor_is_told(tmp_path):
    laid(tmp_path, {"traces/0.evt": "x"})
    with pytest.raises(ScenarioError, match=r"has traces/0\.evt, but no anchor file of an OTF2"):
        read(tmp_path)


PLUG_IN = """
from dvsim.kinds.workload.mpi import Program
from dvsim.kinds.workload.readers.formats import Format

def read(files, options, name):
    program = Program(2, name, map(str, files), options.table)
    for line in files[0].read_text().splitlines()[1:]:
        program.send(0, 1, int(line))
        program.recv(1, 0, int(line))
    return program.graph()

LENGTHS = Format("lengths", lambda path, head: head.startswith(b"lengths"), read)
"""


def test_a_format_of_somebody_else_is_found_by_its_entry_point(tmp_path, monkeypatch):
    about = tmp_path / "lengths-1.dist-info"
    entry = "[dvsim.traces]\nlengths = trace_of_lengths:{}\n"
    laid(tmp_path, {"trace_of_lengths.py": PLUG_IN, "trace/a.len": "lengths\n5\n70\n"})
    laid(about, {"METADATA": "Name: lengths\nVersion: 1\n"})
    with pytest.raises(ScenarioError, match="is of no format"):
        read(tmp_path / "trace" / "a.len")
    with monkeypatch.context() as patch:
        patch.syspath_prepend(str(tmp_path))
        for attribute in ("LENGTHS", "NONE"):
            laid(about, {"entry_points.txt": entry.format(attribute)})
            formats.cache_clear()
            if attribute == "LENGTHS":
                assert own(read(tmp_path / "trace" / "a.len")) == (2, 75)
                assert own(read(tmp_path / "trace")) == (2, 75)
            else:
                with pytest.raises(ScenarioError, match=r"lengths.*trace_of_lengths:NONE"):
                    read(tmp_path / "trace" / "a.len")
    formats.cache_clear()
    assert "lengths" not in formats()
