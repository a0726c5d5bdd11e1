"""Is each message to real queues confirmed and delivered once, and are syncs counted?

Alarms of nodes are those of docs/rabbitmq-model.md.
"""

import json
import math
from pathlib import Path

import pytest

from dvsim.contract.load import load
from dvsim.emulation.alarms import Alarm, script
from dvsim.emulation.messages import Asked
from dvsim.emulation.queues import Place, arguments_of, measured
from dvsim.emulation.settings import Emulation
from dvsim.errors import ScenarioError
from dvsim.kinds.cluster.emu import asked_of, metrics_of
from dvsim.session import run_scenarios
from dvsim.study.points_text import question_lines
from dvsim.study.store import load_result


@pytest.mark.parametrize(
    "asked",
    [
        Asked(100, 300, 20),
        Asked(2000, 200, 1000, prefetch=1),
        Asked(64, 200, 50, prefetch=20, acknowledge=1),
        Asked(64, 200, 50, prefetch=20, acknowledge=20),
        Asked(16, 200, 50, due=[number / 1000 for number in range(200)], prefetch=0),
        Asked(64, 200, 5, queue="classic", publishers=3, queues=2, consumers=4),
    ],
)
def test_each_message_is_confirmed_and_delivered_once(broker, asked):
    seen = measured(Place.of(broker), asked)
    assert seen.published == seen.confirmed == seen.delivered
    assert asked.messages - asked.publishers < seen.published <= asked.messages
    assert (seen.refused, seen.queued, seen.again) == (0, 0, 0)
    assert len(seen.latencies) == seen.published
    assert min(seen.latencies) > 0
    if asked.queue == "quorum":
        assert seen.entries[0] >= asked.messages
        assert 0 < seen.syncs[0] <= seen.entries[0]
    if asked.due is not None:
        assert seen.seconds >= asked.due[-1]


def test_a_stream_confirms_and_delivers_each_message_and_has_no_log_that_counts(broker):
    seen = measured(Place.of(broker), Asked(64, 100, 50, prefetch=100, queue="stream"))
    assert seen.confirmed == seen.delivered == 100
    assert seen.syncs == []


@pytest.mark.parametrize(
    ("queue", "copies"),
    [("quorum", "x-quorum-initial-group-size"), ("stream", "x-initial-cluster-size"),
     ("classic", None), ("mirrored", None)],
)  # fmt: skip
def test_a_queue_says_how_many_copies_it_has_where_no_policy_does(queue, copies):
    found = arguments_of(Asked(64, 1, 1, queue=queue, copies=2))
    assert found.get("x-queue-type", "classic") == (queue if copies else "classic")
    assert [key for key, value in found.items() if value == 2] == [copies] * bool(copies)


def test_a_receiver_takes_as_long_as_it_is_slow(broker):
    asked = Asked(64, 20, 50, processing=lambda now: 0.01 if now < 0.1 else 0.002)
    seen = measured(Place.of(broker), asked)
    assert seen.delivered == 20
    assert seen.queued == 0


@pytest.mark.parametrize("what", ["memory", "disk"])
def test_an_alarm_stops_publishers_until_it_is_over(broker, what):
    ends = 2.0
    dues = [number / 20 for number in range(int(20 * ends))]
    alarms = [Alarm(what, 0.5, ends, range(1))]
    seen = measured(Place.of(broker), Asked(64, len(dues), 50, due=dues, alarms=alarms))
    assert seen.published == seen.confirmed == seen.delivered == len(dues)
    assert seen.blocked_s > 0
    assert max(seen.latencies) > seen.blocked_s / 2
    assert broker.control.status("a1")["alarms"] == []


def test_a_node_is_told_when_its_alarm_begins_and_ends():
    told = script(Alarm("disk", 1.5, 3.0, range(1)), Path("/a b"))
    assert "file:read_file(<<47,97,32,98,47,98,101,103,117,110>>)" in told
    assert told.index("Until(At + 1500)") < told.index("(1 bsl 60)") < told.index("At + 3000")
    assert told.endswith("rabbit_disk_monitor:set_disk_free_limit(Was) end), ok.")


def test_events_of_a_scenario_are_alarms_of_nodes():
    given = ("seconds=10", "event.what=fill", "event.victims=2", "then.what=alarm",
             "then.begin=0.5", "then.lasts=0.2", "rate=100")  # fmt: skip
    found = asked_of(load("rabbit/one", given).at(0)).alarms
    assert found == [Alarm("disk", 3, 6, range(2)), Alarm("memory", 5, 7, range(1))]


def test_a_closed_loop_ends_by_time(broker):
    scenario = load("rabbit/here", ("nodes=1", "replicas=1", "seconds=1")).at(1)
    seen = measured(Place.of(broker), asked_of(scenario))
    assert seen.seconds >= 1
    found = metrics_of(scenario, seen)
    assert found["rate_in"] == pytest.approx(seen.confirmed / seen.seconds)
    assert found["fsyncs"] == pytest.approx(seen.syncs[0] / seen.seconds)
    assert found["p50"] > 0
    assert math.isnan(found["cost"])
    assert 0 < found["cpu"] <= 1


def test_a_study_of_brokers_of_the_user_is_kept_and_says_so(broker, tmp_path):
    path = tmp_path / "credentials"
    path.write_text(f"{broker.user}:{broker.password}")
    path.chmod(0o600)
    how = Emulation(urls=(broker.nodes[0].url,), credentials=path)
    given = ("rate=200", "seconds=1", "nodes=1", "replicas=1", "queue=classic", "publishers=2")
    scenario = load("rabbit/one", (*given, "queues=2", "consumers=2", "processing=1 ms"))
    (study,) = run_scenarios([scenario], backend=how, out=tmp_path / "runs", replications=2)
    again = load_result(study.folder)
    assert again.scenario.KIND == "cluster"
    assert not again.simulated
    assert ", emulated" in next(question_lines(again))
    assert again.wide["rate_out"].between(100, 200).all()
    manifest = json.loads((study.folder / "manifest.json").read_text())
    assert manifest["backend"] == "emu"
    assert manifest["emulated"]["question"]["promise"] == "at least once"


@pytest.mark.parametrize(
    ("given", "how", "message"),
    [
        (
            ["event.what=kill"],
            Emulation(urls=("amqp://h",) * 7),
            "ends private nodes, and not these",
        ),
        (
            ["event.what=fill", "rate=100"],
            Emulation(urls=("amqp://h",) * 7),
            "sets a limit of private nodes, and not these",
        ),
        (["event.what=fill", "event.factor=0.5"], Emulation(), "which is 1, not 0.5"),
        (["event.what=alarm", "then.what=alarm"], Emulation(), "one of a sort at once"),
        (["queue=mirrored", "mirrors=away"], Emulation(), "'away' is simulated alone"),
        (["message_bytes=8"], Emulation(), "must be at least 16 with backend emu, is 8"),
        (["rate=50000"], Emulation(), "at most 300 publishers and consumers"),
        ([], Emulation(nodes=5), "nodes: of a cluster are system.nodes"),
        ([], Emulation(clusters=1), "a scenario of kind cluster is one cluster"),
        (["nodes=3"], Emulation(urls=("amqp://h",)), "are 1 nodes, and system.nodes is 3"),
    ],
)
def test_what_real_nodes_cannot_do_is_refused(given, how, message):
    with pytest.raises(ScenarioError, match=message):
        run_scenarios([load("rabbit/one", given)], backend=how, out=None)
