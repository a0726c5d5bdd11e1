"""Do two events happen in one run, does a lone node die and come back, and is the course kept?"""

from functools import cache

import pytest

from dvsim.contract.find import kind_of
from dvsim.contract.load import load, load_card
from dvsim.core.cluster.costs import FRAME, work_of
from dvsim.core.cluster.disk import Chunks
from dvsim.core.cluster.placement import Placement
from dvsim.emulation.trace.runs import check_traceable
from dvsim.emulation.trace.timeline import Timeline
from dvsim.errors import ScenarioError
from dvsim.kinds.cluster.run import run_point

SECONDS = 60
LONE = ("system.nodes=1", "system.replicas=1", "workload.rate=5000", "event.what=kill")


def scenario(*given):
    return load("rabbit/one", (f"workload.seconds={SECONDS}", *given)).at(0)


@cache
def measured(*given):
    one = scenario(*given)
    return kind_of(one).replicate(one, 1, 1).metrics


def published(found):
    return found["rate_out"] * SECONDS + sum(found[one] for one in ("held", "waiting", "stranded"))


def test_a_peak_while_a_node_is_dead_is_worse_than_either():
    kill, peak = ("event.what=kill",), ("then.what=peak", "then.factor=1.3")
    late = [measured(*given)["p99"] for given in (kill, peak, (*kill, *peak))]
    assert late[2] > max(late[:2])
    both = published(measured(*kill, *peak))
    assert both == pytest.approx(25_000 * (SECONDS + 0.3 * 18), rel=1e-6)


def test_an_event_does_the_same_in_either_place():
    one = measured("event.what=slow", "event.factor=3")
    assert measured("then.what=slow", "then.factor=3") == one


def test_two_peaks_at_once_multiply():
    found = measured("event.what=peak", "event.factor=2", "then.what=peak", "then.factor=3",
                     "workload.rate=1000")  # fmt: skip
    assert published(found) == pytest.approx(1000 * (SECONDS + 5 * 18), rel=1e-6)


def test_a_second_death_takes_other_nodes():
    two = measured("event.what=kill", "then.what=kill", "then.lasts=0.7", "event.lasts=0.7")
    assert two["stranded"] == 0  # two of three copies of a few queues are gone, and of none all
    assert two["held"] > measured("event.what=kill", "event.lasts=0.7")["held"]
    with pytest.raises(ScenarioError, match="8 nodes die, but there are 7 nodes"):
        scenario("event.what=kill", "event.victims=4", "then.what=kill", "then.victims=4")


def test_the_only_node_dies_and_comes_back():
    back, gone = measured(*LONE), measured(*LONE, "event.lasts=1")
    assert back["held"] == back["stranded"] == 0
    assert back["unstable"] == 0
    assert back["max"] == pytest.approx(18_000, rel=0.02)  # the seconds in which it was dead
    assert gone["unstable"] == 1
    assert published(gone) == pytest.approx(5000 * SECONDS, rel=1e-6)


def test_a_consumer_without_a_prefetch_may_hold_all_that_waits():
    slow = ("event.what=kill", "then.what=slow", "then.begin=0", "then.lasts=1", "then.factor=2")
    some, any_number = (measured(*slow, f"workload.prefetch={n}") for n in (1, 0))
    assert any_number["redelivered"] > 10 * some["redelivered"] > 0


def test_chunks_grow_with_the_load_and_nothing_syncs_them():
    chunks = Chunks.of(load_card("gp2-1000"), 1024)
    few, many = (chunks.used(rate, 10) for rate in (1_000, 100_000))
    assert few.syncs == many.syncs == 0
    assert many.bytes / many.operations > 5 * few.bytes / few.operations
    assert many.operations <= load_card("gp2-1000")["iops"]
    assert chunks.used(0, 10).operations == 0
    assert chunks.cycle(100_000, 10) > chunks.cycle(1_000, 10) > 0


def test_streams_write_a_message_once_and_sync_none():
    stream = measured("system.queue=stream")
    assert stream["fsyncs"] == 0
    per_node = 25_000 * 3 / 7
    assert stream["block"] * stream["iops"] == pytest.approx(per_node * 1.028, rel=0.02)


def test_the_timeline_has_each_node_and_changes_nothing():
    one = scenario("event.what=kill", "workload.rate=30000")
    timeline = Timeline(10**5)
    watched = run_point(one, 1, 1, timeline)
    assert watched.metrics == run_point(one, 1, 1).metrics
    rows = {(row.component, row.name): row.events for row in timeline.rows}
    assert {component for component, _ in rows} == {"clients", *(f"node {n}" for n in range(1, 8))}
    busy = [event.facts["value"] for event in rows["node 1", "busy"]]
    assert len(busy) == SECONDS
    assert set(busy[18:36]) == {0.0}
    assert min(busy[:18]) > 0.1
    with pytest.raises(ScenarioError, match=r"without workload\.rate there is no course"):
        check_traceable(load("rabbit/here"))


@pytest.mark.parametrize("what", ["alarm", "fill"])
def test_the_course_of_a_run_has_each_second_in_which_publishers_are_stopped(what):
    timeline = Timeline(10**5)
    found = run_point(scenario(f"event.what={what}"), 1, 1, timeline).metrics
    (alarms,) = [row.events for row in timeline.rows if row.name == "alarm"]
    assert len(alarms) == round(found["blocked"] * SECONDS) == 18


def test_a_ring_of_mirrors_sends_a_message_back_to_the_master():
    card = load_card("rabbitmq-3-8")
    alone, mirrored = (
        work_of("mirrored", Placement.even("mirrored", 30, 3, copies).shares(), card, 1.0, 944).sent
        for copies in (1, 2)
    )
    assert (mirrored - alone).sum() == pytest.approx(3 * (944 + FRAME))  # channel, there and back
