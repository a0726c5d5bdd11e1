"""Is a program's traffic a scenario like any other: checked, run, varied, searched, kept?"""

import pytest
from click.testing import CliRunner
from harness.replies import Told

import dvsim
from dvsim.cli.main import cli
from dvsim.kinds.workload.graph import Builder
from dvsim.kinds.workload.model import repeated

PAIR = """num_ranks 2
rank 0 {
a: calc 1000
b: send 1000b to 1
b requires a
}
rank 1 {
a: recv 1000b from 0
}
"""
FILE = """kind = "workload"
title = "A message"
question = "When is it there?"
source = "this test"

[program]
trace = "pair.goal"

[fabric]
network = "loggops"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pair.goal").write_text(PAIR)
    (tmp_path / "pair.toml").write_text(FILE)
    return tmp_path


def ask(*arguments):
    return CliRunner().invoke(cli, arguments, catch_exceptions=False)


def times(study):
    return study.wide["time"].tolist()


def test_a_run_gives_time_and_what_it_is_spent_on(folder):
    study = dvsim.run("pair.toml", replications=2)
    row = study.wide.iloc[0]
    assert times(study) == [1000 + 1500 + 2500 + 1500 + 999 * 6] * 2
    assert (row["compute_time"], row["latency_time"], row["wait_time"]) == (1000, 2500, 0)
    assert (row["overhead_time"], row["bandwidth_time"]) == (3000, 999 * 6)
    assert (row["messages"], row["bytes"]) == (1, 1000)
    assert row["message_rate"] == pytest.approx(1 / 2 / 12494e-9)


def test_settings_of_fabric_and_program_are_overrides(folder):
    base = times(dvsim.run("pair.toml", replications=1))[0]
    for change, more in (
        ({"compute_scale": 2.0}, 1000),
        ({"straggler": 0, "slowdown": 3.0}, 2000),
        ({"latency": "3.5 us"}, 1000),
        ({"gap_per_byte": "7 ns"}, 999),
        ({"fabric__overhead": "2 us"}, 1000),
    ):
        assert times(dvsim.run("pair.toml", replications=1, **change)) == [base + more], change


def test_a_kept_answer_is_of_what_the_trace_held(folder):
    first = Told(ask("run", "pair.toml", "--replications", "1", "--json").stdout)
    (folder / "pair.goal").write_text(PAIR.replace("calc 1000", "calc 2000"))
    second = Told(ask("run", "pair.toml", "--replications", "1", "--json").stdout)
    folders = [one.folders[0] for one in (first, second)]
    assert folders[0] != folders[1]
    told = ask("compare", *folders).stdout
    assert "program.digest" in told
    assert "1.08" in told


def test_sweep_and_limit_know_it(folder):
    swept = dvsim.sweep("pair.toml", {"compute_scale": [0, 1, 4]}, replications=1)
    assert swept.wide["time"].diff().tolist()[1:] == [1000, 3000]
    searched = ["--vary", "compute_scale", "--between", "0.1", "100", "--replications", "2"]
    done = ask("limit", "pair.toml", "--until", "time < 20000", *searched, "--json")
    assert Told(done.stdout).facts["limits"][0]["holds"] == pytest.approx(8.5, rel=0.05)


def test_a_limit_of_a_skeleton_is_searched_in_its_own_keys(folder):
    """The one message of two ranks takes 5,500 ns and 6 ns for each byte behind the first."""
    skeleton = '[skeleton]\nname = "incast"\nranks = 2\n'
    (folder / "one.toml").write_text(FILE.replace('[program]\ntrace = "pair.goal"\n', skeleton))
    searched = ["--vary", "bytes", "--between", "1", "10000", "--replications", "2"]
    done = ask("limit", "one.toml", "--until", "time < 20000", *searched, "--json")
    assert Told(done.stdout).facts["limits"][0]["holds"] == 2417


def test_placement_is_random_by_seed_and_replication(folder):
    setting = {"network": "dv207", "placement": "random"}
    found = [
        times(dvsim.run("pair.toml", seed=seed, replications=6, **setting)) for seed in (1, 1, 2)
    ]
    assert found[0] == found[1]
    assert len(set(found[0])) > 1
    near, far = (
        times(dvsim.run("pair.toml", replications=1, network="dv207", placement=[0, other]))
        for other in (1, 127)
    )
    assert near[0] < far[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("program.trace=pear.goal", "program.trace: there is no such file or folder"),
        ("program.digest=0a", "program.digest: the trace is another one"),
        ("fabric.network=fdt", "did you mean 'fdr'?"),
        ("fabric.latency=3 sec", "fabric.latency: 'sec' is not a unit of time"),
        ("fabric.rate=4 GB/s", "fabric.rate: is no setting of fabric 'loggops'"),
        ("program.straggler=2", "program.straggler: must be from 0 to 1, is 2"),
        ("program.placement=[0]", "program.placement: has 1 ports"),
        ("program.placement=near", "program.placement: must be 'linear', 'random'"),
        ("program.compute_scale=-1", "program.compute_scale: must be at least 0"),
    ],
)
def test_what_cannot_be_is_refused(folder, change, message):
    done = ask("run", "pair.toml", "--set", change)
    assert done.exit_code == 2
    assert message in done.output


def test_a_wrong_trace_is_told_by_its_own_line(folder):
    (folder / "pair.goal").write_text(PAIR.replace("send 1000b", "send -1b"))
    done = ask("check", "pair.toml")
    assert done.exit_code == 2
    assert "pair.goal:4: rank 0, operation 1: size must not be negative, is -1" in done.output


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('name = "halo3d2"', "2: skeleton.name: must be one of halo2d, halo3d, halo3d26, "),
        ('name = "halo3d2"', "not 'halo3d2'; did you mean 'halo3d26'?"),
        ('name = "gups", rank = 4', "2: skeleton.rank: unknown key; did you mean 'ranks'?"),
        ('name = "gups", ranks = -4', "2: skeleton.ranks: must be at least "),
        ('name = "gups", ranks = "four"', "2: skeleton.ranks: must be a whole number, not 'four'"),
    ],
)
def test_a_wrong_skeleton_is_told_at_its_key(folder, table, message):
    (folder / "mine.toml").write_text(f'extends = "workload/halo"\nskeleton = {{ {table} }}\n')
    done = ask("check", "mine.toml")
    assert done.exit_code == 2
    assert f"mine.toml:{message}" in done.output or message in done.output


def test_a_skeleton_needs_a_name(folder):
    text = FILE.replace('[program]\ntrace = "pair.goal"', "[skeleton]\nranks = 4")
    (folder / "mine.toml").write_text(text)
    assert (
        ask("check", "mine.toml").output == "mine.toml:6: skeleton.name: missing, and not varied\n"
    )


def test_a_program_is_repeated_when_a_rank_has_ended():
    builder = Builder(2)
    first = builder.calc(0, 5)
    builder.send(0, 1, 8, after_start=[first])
    builder.recv(1, 0, 8)
    graph = repeated(builder.build(), 3)
    assert (graph.messages, graph.operations) == (3, 15)
    lines = [graph.told(one) for one in graph.to[: int(graph.start[1])].tolist()]
    assert all("rank 0" in line for line in lines)


SKELETON = """kind = "workload"
title = "An exchange"
question = "How long?"
source = "this test"

[skeleton]
name = "allreduce"
ranks = 8
count = 1000

[collectives]
allreduce = [{ use = "recursive_doubling", below = "12 KiB" }, { use = "linear" }]

[fabric]
network = "loggops"
"""


def test_a_skeleton_and_its_algorithms_are_varied_and_kept(folder):
    (folder / "sum.toml").write_text(SKELETON)
    swept = dvsim.sweep("sum.toml", {"ranks": [4, 8], "count": [1000, 2000]}, replications=1)
    assert swept.wide["messages"].tolist() == [4 * 2, 4 * 2 - 2, 8 * 3, 8 * 2 - 2]
    found = Told(ask("run", "sum.toml", "--replications", "1", "--json").stdout)
    kept = folder / found.folders[0] / "scenario.toml"
    assert '{ use = "recursive_doubling", below = "12 KiB", ranks = 1' in kept.read_text()
    assert ask("check", str(kept)).exit_code == 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[skeleton]", '[program]\ntrace = "pair.goal"\n[skeleton]', "not beside program.trace"),
        ('name = "allreduce"', 'name = "allreduction"', "skeleton"),
        ('name = "allreduce"\nranks = 8\ncount = 1000', 'name = "halo2d"\nranks = 8\nsizex = 3',
         "skeleton: a decomposition of 3"),
    ],
)  # fmt: skip
def test_what_no_skeleton_can_be_is_refused(folder, old, new, message):
    (folder / "sum.toml").write_text(SKELETON.replace(old, new))
    done = ask("run", "sum.toml")
    assert done.exit_code == 2
    assert message in done.output


def test_a_program_is_there(folder):
    (folder / "none.toml").write_text(FILE.replace('trace = "pair.goal"', ""))
    assert (
        "program.trace: missing; or there is a table 'skeleton'" in ask("run", "none.toml").output
    )


@pytest.mark.parametrize(
    ("fabric", "fidelity", "said"),
    [
        (("dv",), "flow", "replications are equal"),
        (("dv207", "program.placement=random"), "flow", "no part of ±"),
        (("dv", "fabric.fidelity=cycle"), "cycle", ""),
        (("loggops",), "loggops", ""),
        (("fdr",), "loggops", ""),
    ],
)
def test_a_limit_says_at_which_fidelity_it_was_found(folder, fabric, fidelity, said):
    network, *more = fabric
    words = ["limit", "pair.toml", "--until", "time < 1 s", "--vary", "program.compute_scale"]
    for text in (f"fabric.network={network}", *more):
        words += ["--set", text]
    words += ["--replications", "8", "--workers", "1"]
    told = Told(ask(*words, "--json").stdout)
    assert {probe["fidelity"] for probe in told.points} == {fidelity}
    text = " ".join(ask(*words).stdout.split())
    assert said in text and ("flow fidelity" in text) == bool(said)
