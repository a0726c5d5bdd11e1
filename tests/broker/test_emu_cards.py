"""Does an emulated run over cards send all through the bridges, and record what they count?

README.md begins with such a run.
"""

import math
import os
import signal
from contextlib import suppress
from dataclasses import replace

import emulated
import nodes
import pytest
from emulated import ask

from dvsim.contract.load import load
from dvsim.emulation.settings import Emulation
from dvsim.emulation.stats import COLUMNS, Stats
from dvsim.errors import RunFailed
from dvsim.progress import Progress
from dvsim.study.emulated_text import costs_of
from dvsim.view import write_results

PIECE_BYTES = 131 * 8


@pytest.fixture
def at(room):
    return Emulation(urls=(room.nodes[0].url,), credentials=room.credentials)


def small(size=8, messages=3_001, iterations=1):
    sets = [f"workload.message_bytes={size}", f"workload.messages={messages}"]
    return load("h3/dv-8", [*sets, f"workload.iterations={iterations}"])


@pytest.mark.parametrize("size", [1, 8, 8192])
def test_what_each_bridge_counts_is_what_its_receiver_was_sent(at, size):
    run = ask(small(size), at)
    by = run.sides["samples"].groupby("receiver")
    assert by["messages"].sum().to_dict() == {1: 1_501, 2: 1_500}
    pieces = math.ceil(size / PIECE_BYTES)
    assert by["pieces"].sum().to_dict() == {1: 1_501 * pieces, 2: 1_500 * pieces}
    assert run.sides["samples"]["start_ps"].min() == 0
    assert (run.sides["samples"]["duration_ps"] > 0).all()
    for _, rows in by:
        assert rows["start_ps"].is_monotonic_increasing
        assert rows["messages"].iloc[0] > 0  # it begins with the first message
    count = run.values.set_index(["component", "instance", "metric"])["value"]
    assert [count["bridge", n, "published"] for n in (1, 2)] == [1_501, 1_500]
    assert [count["queue", n, "depth"] for n in (1, 2)] == [1_501, 1_500]
    assert [count["bridge", n, "confirmed"] for n in (1, 2)] == [0, 0]
    assert list(costs_of(run.values)) == ["sender", "bridge"]  # the broker is somebody else's
    assert emulated.jobs(at.urls[0]) == []


def test_confirms_are_counted_when_asked_for(at):
    run = ask(small(256, iterations=2), replace(at, at_least_once=True))
    count = run.values.groupby(["component", "instance", "metric"])["value"].sum()
    assert [count["bridge", n, "confirmed"] for n in (1, 2)] == [3_002, 3_000]
    assert [count["sender", n, "confirmed"] for n in (1, 2)] == [3_002, 3_000]
    assert run.sides["samples"]["iteration"].unique().tolist() == [1, 2]


def test_a_run_is_kept_with_the_command_of_its_job(at, broker, tmp_path):
    run = ask(small(), at, out=tmp_path)
    write_results(run.folder / "report.html", [run])
    (command,) = run.manifest.emulated.commands
    assert command[0] == "vicrun"
    assert command.count(":") == 3
    programs = [word for word in command if word in ("vicload", "vicbridge")]
    assert programs == ["vicload", "vicload", "vicbridge", "vicbridge"]
    assert "5.001ms" in command and "131" in command
    assert [word for word in command if word.startswith("/")] == []  # no home, no temporary folder
    for path in run.folder.iterdir():
        assert broker.password.encode() not in path.read_bytes(), path.name
    page = (run.folder / "report.html").read_text(encoding="utf-8")
    assert "Data Vortex, emulated" in page


def test_the_bridge_card_says_how_many_connections_there_are(at):
    scenario = load(
        "h3/dv-8", ["workload.messages=1000", "workload.iterations=1", "system.bridge.sockets=3"]
    )
    run = ask(scenario, at)
    (command,) = run.manifest.emulated.commands
    assert command[command.index("--connections") + 1] == "3"


def test_a_bridge_that_is_killed_while_messages_are_sent_ends_the_run_and_the_job(at, monkeypatch):
    def under_way(progress, what, share, rate):
        if rate:
            for pid in emulated.jobs(at.urls[0]):
                if "vicrun" not in nodes.arguments_of(pid).split()[0]:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)

    scenario = load("h3/dv-8", ["workload.messages_per_second=20_000", 'loop="open"'])
    monkeypatch.setattr(Progress, "under_way", under_way)
    with pytest.raises(RunFailed, match=r"^h3/dv-8, iteration 1: "):
        ask(scenario, at)
    assert emulated.jobs(at.urls[0]) == []


HEAD = ",".join(COLUMNS)


def stats_of(folder, *rows):
    path = folder / "bridge.csv"
    lines = ["# CLOCK_MONOTONIC of the first row: 5000 ns", HEAD, *rows]
    path.write_text("\n".join(lines) + "\n")
    return Stats(path)


def test_the_record_is_the_traffic_on_the_clock_of_the_iteration(tmp_path):
    stats = stats_of(
        tmp_path,
        "0,10,0,0,0,0,0,0,0,0,0,0,0,0,0",
        "10,10,6,3,24,1,0,0,0,0,0,0,2,0,1",
        "20,10,0,0,0,0,0,0,0,0,0,0,2,1,1",
        "30,11,0,0,0,2,0,0,0,0,0,0,0,0,1",
        "41,10,0,0,0,0,0,0,0,0,0,0,0,0,0",
    )
    assert stats.begin_ns() == 5010
    record = stats.record(zero_ns=5000)
    assert record.start_ps.tolist() == [10_000, 20_000, 30_000]
    assert record.duration_ps.tolist() == [10_000, 10_000, 11_000]
    assert record.pieces.tolist() == [6, 0, 0]
    assert record.messages.tolist() == [3, 0, 0]
    counted = {counter.metric: counter.value for counter in stats.counters("bridge.1")}
    assert (counted["published"], counted["in_flight_peak"], counted["blocked_s"]) == (3, 2, 1e-8)


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", f"# 5\n{HEAD}\n1,2,x\n"])
def test_statistics_of_another_form_are_refused(tmp_path, text):
    path = tmp_path / "bridge.csv"
    path.write_text(text)
    with pytest.raises(RunFailed, match="statistics of a bridge"):
        Stats(path)
