"""Does `dvsim replay` say when a program is done on each fabric, and what can never be done?"""

import json

import pytest
from click.testing import CliRunner
from harness.replies import Told

import dvsim
from dvsim.cli.main import cli
from dvsim.kinds.workload.fabrics import choose
from dvsim.kinds.workload.graph import Builder
from dvsim.kinds.workload.replay import places_of, prepared, replay_graph

TREE = "num_ranks 8\n" + "".join(
    f"rank {rank} {{\n"
    + "".join(
        f"r{child}: recv 1024b from {rank + child} tag 0\n"
        for child in (1, 2, 4)
        if child > rank and rank + child < 8
    )
    + (f"s: send 1024b to {rank - max(c for c in (1, 2, 4) if c <= rank)} tag 0\n" if rank else "")
    + "".join(
        f"s requires r{child}\n"
        for child in (1, 2, 4)
        if rank and child > rank and rank + child < 8
    )
    + "}\n"
    for rank in range(8)
)
"""The binomial reduce of which the documentation of LogGOPSim prints the times."""

DEFAULTS = ["L=2500ns", "o=1500ns", "g=1000ns", "G=6ns", "O=0ns", "S=65535"]
CIRCLE = """num_ranks 2
rank 0 {
a: recv 8b from 1 tag 3
b: send 8b to 1
b requires a
}
rank 1 {
a: recv 8b from 0
b: send 8b to 0 tag 3
b requires a
}
"""


@pytest.fixture
def tree(tmp_path):
    path = tmp_path / "tree.goal"
    path.write_text(TREE)
    return str(path)


def ask(*arguments):
    return CliRunner().invoke(cli, ["replay", *arguments], catch_exceptions=False)


def test_json_has_the_times_that_loggopsim_prints(tree):
    settings = [part for one in DEFAULTS for part in ("--set", one)]
    found = Told(ask(tree, "--fabric", "loggops", *settings, "--json").stdout)
    ends = [34914, 24776, 13138, 13138, 1500, 1500, 1500, 1500]
    assert [row["ns"] for row in found.facts["ranks"]] == ends
    parts = [row["value"] for row in found.rows if row["component"] == "parts"]
    assert found.one("time")["value"] == 34914 == sum(parts)
    assert [found.one(name)["value"] for name in ("ranks", "messages", "bytes")] == [8, 7, 7168]
    assert found.one("traced")["value"] is None
    assert not [row for row in found.rows if row["component"] == "skipped"]
    again = Told(ask(tree, "--fabric", "loggops", "--json").stdout)
    assert again.one("time")["value"] == 34914


def test_several_fabrics_are_a_list_and_a_table(tree):
    found = Told(ask(tree, "--fabric", "dv,fdr,aries", "--json").stdout)
    assert [one["fabric"] for one in found.points] == ["dv203", "fdr", "aries"]
    first, *others = found.of("time", component="")
    for row in others:
        assert row["ratio"] == row["value"] / first["value"] and row["against"] == 0
    lines = ask(tree, "--fabric", "dv,fdr").stdout.splitlines()
    assert "over dv203, spent on" in lines[0]
    assert lines[1].strip().startswith("fdr takes 0.")
    assert [line.split()[0] for line in lines[-2:]] == ["dv203", "fdr"]


def test_the_timeline_and_the_schedule_are_written(tree, tmp_path):
    page, again = tmp_path / "t.json", tmp_path / "again.goal"
    ask(tree, "--fabric", "loggops", "--trace", str(page), "--goal", str(again), "--matrix")
    events = json.loads(page.read_text())["traceEvents"]
    assert sum(one["name"] == "send to 0" and one["ph"] == "b" for one in events) == 3
    assert sum(one["ph"] == "f" for one in events) == 7  # an arrow for each message
    first, second = (dvsim.replay(path, "loggops") for path in (tree, again))
    assert first.graph.digest == second.graph.digest
    assert first.finish_ns == second.finish_ns


@pytest.mark.parametrize("option", ["--goal", "--card"])
def test_the_schedule_and_the_card_are_written_as_other_files(tree, tmp_path, option):
    times = tmp_path / "latency.txt"
    times.write_text("# OSU MPI Latency Test v7.3\n8 2.31\n1024 2.72\n16384 5.60\n")
    asked = (tree, "--fabric", "fdr", "--fit", str(times), option)
    file = tmp_path / "no" / "folder" / "yet"
    assert ask(*asked, str(file)).exit_code == 0
    assert file.stat().st_size > 100
    for place, code in (("/dev/full", 1), ("/proc/there", 2)):
        done = ask(*asked, place)
        assert done.exit_code == code
        assert f"cannot write {place}: No s" in done.output


def test_python_has_the_same(tree):
    found = dvsim.replay(tree, fabric="dv206", o="1 us", L="0 ns")
    assert found.time_ps == sum(found.parts.values())
    assert found.matrix().sum() == 7168
    assert found.matrix(messages=True)[4, 0] == 1
    assert found.path.overhead == 6_000_000


def test_who_waits_for_what_is_said(tmp_path):
    path = tmp_path / "circle.goal"
    path.write_text(CIRCLE)
    done = ask(str(path))
    assert done.exit_code == 1
    assert "4 of 4 operations, of 2 ranks, can never complete" in done.output
    assert "rank 0, operation 0 (line 3): recv 8 B from 1, tag 3: rank 1" in done.output
    path.write_text(CIRCLE.replace("send 8b to 0 tag 3", "calc 5"))
    assert "rank 1 has no such message" in ask(str(path)).output
    path.write_text(CIRCLE.replace("b requires a", "").replace("recv 8b from 0", "calc 7"))
    assert dvsim.replay(path, "loggops").skipped == {"messages that no receive takes": 1}


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        (("send 8b to 1", "send -8b to 1"), 4, "size must not be negative, is -8"),
        (("send 8b to 1", "send 8b to 2"), 4, "the ranks are 0 to 1; no rank 2"),
        (("num_ranks 2", "num_ranks 3"), 12, "rank 2 is missing, of 3"),
        (("b requires a", "a requires b\nb requires a"), 3, "waits for itself"),
        (("b requires a", "b requires c"), 5, "rank 0 has no operation 'c'"),
        (("rank 1 {", "rank 0 {"), 7, "rank 0 is there twice, first in line 2"),
        (("b requires a", "b needs a"), 5, "is no statement of GOAL: b needs a"),
        (("}\nrank 1", "rank 1"), 6, "rank 0 has no closing bracket"),
        (("rank 0 {", "rank 0"), 3, "rank 0 has no opening bracket"),
        (("rank 0 {", "rank 0 { {"), 2, "rank 0 is open already"),
    ],
)
def test_a_wrong_schedule_is_refused_with_its_line(tmp_path, change, line, message):
    path = tmp_path / "wrong.goal"
    path.write_text(CIRCLE.replace(*change, 1))
    done = ask(str(path), "--fabric", "loggops")
    assert done.exit_code == 2
    assert f"wrong.goal:{line}: " in done.output
    assert message in done.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fabric", "dv202"], "has 4 ports; "),
        (["--fabric", "dv2003"], "did you mean 'dv203'?"),
        (["--fabric", "fdr-ipoib"], "a fabric needs one of 'loggops'"),
        (["--fabric", "dv", "--set", "G=3ns"], "no setting of dv"),
        (["--set", "o=3"], "'3' has no unit of time"),
        (["--set", "o"], "--set wants KEY=VALUE, not 'o'"),
        (["--compute", "often"], "must be measured, zero or a factor"),
        (["--straggler", "9:2"], "rank must be from 0 to 7, is 9"),
        (["--placement", "0,1,2"], "has 3 ports; "),
        (
            ["--compute", "1e300"],
            "--compute: must be measured, zero or a factor from 0 to 1,000,000",
        ),
        (["--straggler", "0:nan"], "--straggler: must be RANK:FACTOR"),
        (["--straggler", "0:1:2"], "--straggler: must be RANK:FACTOR"),
        (["--placement", "0,1,2,3,4,5,6,6"], "has a port twice"),
        (["--placement", "0,1,2,3,4,5,6,99999999999999999999"], "the ports are 0 to 7"),
        (["--seed", "-1", "--placement", "random"], "--seed: -1 is negative"),
        (["--seed", f"{2**64}"], "--seed: 18446744073709551616 is more than"),
        (["--fabric", ","], "must name one of"),
    ],
)
def test_what_cannot_be_asked_is_refused(tree, arguments, message):
    done = ask(tree, *arguments)
    assert done.exit_code == 2
    assert message in done.output


def test_compute_is_scaled_and_one_rank_may_be_slow():
    builder = Builder(2)
    for rank in range(2):
        builder.calc(rank, 10_000)
    graph, fabric = builder.build(), choose("loggops", {})
    times = [
        replay_graph(prepared(graph, factor, slow), fabric).finish_ps.tolist()
        for factor, slow in ((0, None), (2, None), (1, (1, 2.5)))
    ]
    assert times == [[0, 0], [20_000, 20_000], [10_000, 25_000]]


def test_ports_of_a_data_vortex_are_shared_and_its_levels_cost():
    builder = Builder(3)
    for rank in (1, 2):
        builder.send(rank, 0, 8000)
        builder.recv(0, rank, 8000)
    fabric = choose("dv207", {"o": "0 ns", "L": "0 ns", "rate": "4 GB/s"})
    slot, word = fabric.network.slot_ps, 2000  # ps
    found = replay_graph(builder.build(), fabric)
    assert found.time_ps == pytest.approx(2 * 1000 * word, abs=25 * slot)  # one port takes both
    spread = replay_graph(builder.build(), fabric, [0, 40, 80])
    assert spread.path.contention == pytest.approx(1000 * word, abs=5 * slot)
    assert 14 * slot < spread.time_ps - found.time_ps < 40 * slot  # two switches more, and links
    random = places_of(found.graph, fabric, "random", seed=3)
    assert random.tolist() == places_of(found.graph, fabric, "random", seed=3).tolist()
    assert len(set(random.tolist())) == 3
