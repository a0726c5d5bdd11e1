"""Is an emulated run seen as it was, in its timeline?"""

from dataclasses import replace

import pytest
from trace_rules import check_trace, load_trace

from dvsim.contract.load import load
from dvsim.emulation.settings import Emulation, Traces
from dvsim.emulation.trace import write_trace
from dvsim.emulation.trace.runs import emulated_timeline
from dvsim.errors import RunFailed
from dvsim.kinds.rabbitmq.emu.left import BATCHES, CARDS
from dvsim.session import run_scenarios

LIMIT = 2_000_000


@pytest.fixture
def at(room):
    return Emulation(urls=(room.nodes[0].url,), credentials=room.credentials)


def ask(name, messages, emulation):
    sets = [f"workload.messages={messages}", "workload.iterations=2"]
    asked = {"backend": emulation, "out": None, "scale": 1}
    (run,) = run_scenarios([load(name, sets)], **asked)
    return run


def timeline(run, folder, path):
    found, facts = emulated_timeline(run.scenario, folder, 10**6)
    write_trace(path, found, facts, 10**8)
    return load_trace(path)


def test_cards_and_bridges_share_one_timeline(at, tmp_path):
    folder = tmp_path / "left"
    folder.mkdir()
    seen = replace(at, traces=Traces(folder, LIMIT))
    run = ask("h3/dv-8", 3_001, seen)
    assert run.manifest.emulated.question.traced is True
    assert (folder / CARDS).stat().st_size <= LIMIT
    trace = timeline(run, folder, tmp_path / "t.json")
    events = check_trace(trace)
    names = {
        event["pid"]: event["args"]["name"]
        for event in trace["traceEvents"]
        if event["name"] == "process_name"
    }
    assert [*names.values()][1:] == [
        "sender.1 (card 0)",
        "bridge.1 (card 2)",
        "sender.2 (card 1)",
        "bridge.2 (card 3)",
    ]
    calls = {event["name"] for event in events if event["ph"] == "X"}
    assert "vic_put" in calls or "vic_send" in calls
    assert trace["metadata"]["clock"] == "this machine's"
    # bridge and card have one clock: the bridge counts messages while its card's calls go on
    bridge = next(pid for pid, name in names.items() if name.startswith("bridge.1"))
    rate = [e for e in events if e["pid"] == bridge and e["name"] == "messages off the card per s"]
    called = [e["ts"] for e in events if e["pid"] == bridge and e["ph"] == "X"]
    moving = [event["ts"] for event in rate if event["args"]["value"] > 0]
    assert min(called) - 5_001 <= min(moving) <= max(moving) <= max(called)
    assert run.manifest.emulated.commands[0].count("--trace") == 1


def test_over_tcp_the_batches_are_shown(at, tmp_path):
    run = ask("h3/fdr-8", 5_000, replace(at, traces=Traces(tmp_path, LIMIT)))
    assert (tmp_path / BATCHES).exists()
    shown = check_trace(timeline(run, tmp_path, tmp_path / "t.json"))
    batches = [event for event in shown if event["ph"] == "b"]
    samples = run.sides["samples"][run.sides["samples"]["iteration"] == 1]
    assert [event["args"]["messages"] for event in batches] == samples["messages"].tolist()
    assert sum(event["args"]["messages"] for event in batches) == 5_000


def test_an_unseen_run_is_the_question_that_it_was(at, tmp_path):
    traced = replace(at, traces=Traces(tmp_path, LIMIT))
    assert "traced" not in at.question()
    assert traced.question() == {**at.question(), "traced": True}


def test_without_a_trace_of_the_cards_there_is_no_timeline(tmp_path):
    with pytest.raises(RunFailed, match="the cards have left no trace"):
        emulated_timeline(load("h3/dv-8"), tmp_path, 10)
