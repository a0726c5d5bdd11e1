"""Are GOAL schedules read as LogGOPSim and editors write them, and bad ones refused?"""

import bz2
import gzip
import lzma

import pytest

import dvsim
from dvsim.errors import ScenarioError
from dvsim.kinds.workload.check import CALC
from dvsim.kinds.workload.fabrics import choose
from dvsim.kinds.workload.readers import read
from dvsim.kinds.workload.readers.goal import write_goal
from dvsim.kinds.workload.replay import replay_graph


def test_a_goal_schedule_is_a_trace_too(tmp_path):
    path = tmp_path / "a.goal"
    path.write_text("num_ranks 1\n\nrank 0 {\nl1: calc 100 cpu 0\n}\n")
    graph = read(path)
    assert (graph.kind[0], graph.size[0]) == (CALC, 100_000)
    with pytest.raises(ScenarioError, match="there is no such file or folder"):
        read(tmp_path / "b.goal")
    path.write_bytes(b"\0\1\2")
    with pytest.raises(ScenarioError, match=r"a\.goal: is of no format that can be read: OTF2"):
        read(path)


GOAL = "num_ranks 2\nrank 0 {\nl1: send 8b to 1\n}\nrank 1 {\nl1: recv 8b from 0\n}\n"


@pytest.mark.parametrize(("ending", "packed"), [("gz", gzip), ("bz2", bz2), ("xz", lzma)])
def test_one_file_may_be_compressed(ending, packed, tmp_path):
    path = tmp_path / f"one.goal.{ending}"
    path.write_bytes(packed.compress(GOAL.encode()))
    assert read(path).operations == 2
    path.write_bytes(packed.compress(GOAL.encode() * 100)[:-15])
    with pytest.raises(ScenarioError, match=f"one.goal.{ending}: cannot be unpacked"):
        read(path)


@pytest.mark.parametrize(
    "text",
    [
        GOAL.replace("\n", "\r\n"),
        "\ufeff" + GOAL,
        GOAL.replace(" {\n", " { ").replace("\n}", " }"),
        GOAL.replace(" {\n", "\n{\n"),
        GOAL.replace("\n", " # of two\n"),
    ],
    ids=["windows", "mark", "lines", "bracket", "remarks"],
)
def test_goal_as_other_editors_write_it(text, tmp_path):
    (tmp_path / "one.goal").write_bytes(text.encode())
    assert read(tmp_path / "one.goal").operations == 2


def test_a_goal_number_that_is_too_large_is_refused(tmp_path):
    (tmp_path / "one.goal").write_text(GOAL.replace("8b to", f"{10**20}b to"))
    said = r"one\.goal:3: rank 0, operation 0: has a number that is too large: 1000"
    with pytest.raises(ScenarioError, match=said):
        read(tmp_path / "one.goal")


TAGS = [0, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 120301230005, (1 << 63) + 3, (1 << 64) - 1]


def test_tags_have_up_to_64_bits(tmp_path):
    """As ATLAHS writes them. Each message meets the receive of its tag, whatever the order."""
    path, again = tmp_path / "one.goal", tmp_path / "again.goal"
    sends = "\n".join(f"s{n}: send {n + 1}b to 1 tag {tag}" for n, tag in enumerate(TAGS))
    takes = "\n".join(f"r{n}: recv {n + 1}b from 0 tag {tag}" for n, tag in enumerate(TAGS))
    path.write_text(f"num_ranks 2\nrank 0 {{\n{sends}\n}}\nrank 1 {{\n{takes}\n}}\n")
    graph = read(path)
    assert [int(told.rpartition("tag ")[2]) for told in map(graph.told, range(len(TAGS)))] == TAGS
    course = replay_graph(graph, choose("loggops", {})).course
    received = [number for number, tag in enumerate(TAGS) if tag != (1 << 32) - 1]
    assert [course.pair[len(TAGS) + number] for number in received] == received
    with again.open("w") as out:
        write_goal(graph, out)
    assert read(again).digest == graph.digest
    assert all(f"tag {tag}\n" in again.read_text() for tag in TAGS if tag != (1 << 32) - 1)


@pytest.mark.parametrize("any_one", ["-1", "4294967295"])
def test_any_source_and_any_tag_may_be_32_ones(any_one, tmp_path):
    path = tmp_path / "one.goal"
    sent = GOAL.replace("to 1\n", "to 1 tag 9\n")
    path.write_text(sent.replace("from 0", f"from {any_one} tag {any_one}"))
    assert read(path).told(1).endswith("recv 8 B from any, tag any")
    assert dvsim.replay(path, "loggops").skipped == {}
    path.write_text(GOAL.replace("to 1", f"to {any_one}"))
    with pytest.raises(ScenarioError, match=r":3: rank 0, operation 0: the ranks are 0 to 1; no"):
        read(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOAL.replace("1\n}", f"1 tag {1 << 64}\n}}"), r":3: .* too large: 18446744073709551616"),
        (
            "num_ranks 2000000000\nrank 0 {\n}\n",
            r":1: num_ranks is 2000000000, but there",
        ),
        (GOAL.replace("1\n}", f"1 tag {'9' * 5000}\n}}"), r":3: .* has a number that is too large"),
        (GOAL.replace("rank 0", f"rank {'9' * 5000}"), r":2: has a number that is too large: 99"),
        (GOAL.replace("1\n}", "1\nl2: calc"), r":4: rank 0, operation 1: is no statement of GOAL"),
        (GOAL[:-3], r":6: rank 1, operation 1: rank 1 has no closing bracket: is the file trunca"),
        (GOAL.replace("num_ranks 2", "num_ranks 3 // rank"), r": rank 2 is missing, of 3"),
    ],
)
def test_a_goal_schedule_that_is_not_whole_is_refused(text, said, tmp_path):
    (tmp_path / "one.goal").write_text(text)
    with pytest.raises(ScenarioError, match=said):
        read(tmp_path / "one.goal")
