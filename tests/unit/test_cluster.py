"""Does a modelled RabbitMQ cluster do what its mechanisms say, and account for each message?"""

import math
from functools import cache

import numpy as np
import pytest

from dvsim.contract.find import kind_of
from dvsim.contract.load import load, load_card
from dvsim.core.cluster.costs import schedulers, work_of
from dvsim.core.cluster.disk import Log, flushes, written_in
from dvsim.core.cluster.placement import NOBODY, Placement
from dvsim.errors import ScenarioError
from dvsim.kinds.cluster.metrics import METRICS
from dvsim.kinds.cluster.nodes import passed, waits
from dvsim.session import run_scenarios
from dvsim.study.points_text import lines_of

SHORT = "workload.seconds=60"
LEFT = ("waiting", "held", "stranded")


@cache
def measured(name, *overrides):
    """The metrics of the first point of a packaged scenario."""
    scenario = load(f"rabbit/{name}", (SHORT, *overrides)).at(0)
    return kind_of(scenario).replicate(scenario, 1, 1).metrics


def refusal(*overrides):
    with pytest.raises(ScenarioError) as caught:
        load("rabbit/one", overrides)
    return str(caught.value)


def test_a_queue_is_what_comes_less_what_is_served_and_never_less_than_nothing():
    came = np.array([[5.0], [0.0], [0.0], [1.0]])
    waiting = waits(np.array([1.0]), came, np.full((4, 1), 2.0))
    assert waiting.ravel().tolist() == [4, 2, 0, 0]
    assert passed(np.array([1.0]), came, waiting).ravel().tolist() == [2, 2, 2, 1]


@pytest.mark.parametrize("kind", ["classic", "mirrored", "quorum", "stream"])
def test_queues_are_led_evenly_and_copied_as_often_as_asked(kind):
    copies = {"classic": 1, "mirrored": 2}.get(kind, 3)
    shares = Placement.even(kind, 100, 5, copies).shares()
    assert shares.led.tolist() == [0.2] * 5
    assert shares.followed.tolist() == pytest.approx([0.2 * (copies - 1)] * 5)


def test_the_majority_of_a_quorum_queue_elects_and_a_minority_does_not():
    place = Placement.even("quorum", 30, 3, 3)
    place.kill(range(1))
    assert (place.leaders == NOBODY).sum() == 10
    place.elect()
    assert place.shares().led.tolist() == [0, 2 / 3, 1 / 3]
    place.kill(range(2))
    place.elect()
    assert place.shares().led.sum() == pytest.approx(1 / 3)


def test_a_mirror_that_died_is_made_anew_on_another_node():
    place = Placement.even("mirrored", 30, 3, 2)
    place.kill(range(1))
    place.elect()
    assert sorted(map(tuple, np.sort(place.members))) == [(1, 2)] * 30


def test_schedulers_beyond_a_few_help_little():
    found = [schedulers(load_card(name)) for name in ("c5-2xlarge", "c5-4xlarge", "c5-9xlarge")]
    assert found == sorted(found)
    assert found[2] < 1.5 * found[0]


def test_a_message_costs_more_where_clients_are_rarely_at_the_leader():
    card = load_card("rabbitmq-3-8")

    def total(nodes, kind):
        shares = Placement.even(kind, 90, nodes, {"mirrored": 2, "quorum": 3}[kind]).shares()
        work = work_of(kind, shares, card, 1.0, 1024)
        return (work.taking + work.giving).sum()

    for kind in ("mirrored", "quorum"):
        costs = [total(nodes, kind) for nodes in (3, 5, 9)]
        assert costs == sorted(costs)
        assert costs[0] < costs[2]
    # three nodes: each has a copy that its consumers read from
    local, far = total(3, "quorum"), total(9, "quorum")
    hop = card["hop"].ps(1024) * 1e-12
    assert far - local == pytest.approx(hop * (8 / 9 - 2 / 3 + 6 / 9))


def test_batches_of_the_log_grow_with_the_load_and_syncs_become_fewer():
    log = Log.of(load_card("rabbitmq-3-8"), load_card("io1-200"), 3.0, 1024, 60)
    uses = [log.used(rate, 0.0) for rate in (5_000, 15_000, 30_000)]
    operations = [one.operations for one in uses]
    assert operations == sorted(operations, reverse=True)
    sizes = [one.bytes / one.operations for one in uses]
    assert sizes == sorted(sizes)


def test_what_exceeds_the_operations_of_a_volume_is_written_in_larger_blocks():
    card = load_card("rabbitmq-3-8")
    fast, slow = (
        flushes(card, load_card(name), 1024, 15_000, 0.0, 60) for name in ("io1-200", "gp2-1000")
    )
    assert slow.operations == 3000 < fast.operations
    assert slow.bytes == fast.bytes


def test_a_volume_spends_credit_above_its_baseline():
    volume = load_card("st1-7000")
    done, left = written_in(1e9, volume, 400e6, 1.0)
    assert (done, left) == (400e6, 1e9 - 120e6)
    assert written_in(0.0, volume, 400e6, 1.0) == (280e6, 0.0)


@pytest.mark.parametrize("queue", ["mirrored", "quorum", "stream"])
def test_credit_of_bursts_decides_how_much_is_taken_until_it_is_spent(queue):
    slow = (f"system.queue={queue}", "system.storage=st1-7000", "system.storage.bandwidth=5 MB/s")
    rates = [
        measured("one", *slow, f"system.storage.credit={credit}")["rate_out"]
        for credit in ("0 B", "150 MB", "1 TB")
    ]
    assert rates[0] < 0.8 * rates[1] < 0.8 * rates[2]
    assert rates[2] == pytest.approx(25_000, rel=0.01)


def test_a_volume_that_something_else_fills_stops_publishers_until_there_is_room_again():
    found = measured("one", "event.what=fill", "workload.consumers=500")
    assert found["full"] == found["blocked"] == pytest.approx(18 / 60)
    assert found["unstable"] == found["held"] == 0
    assert found["max"] == pytest.approx(18_000, rel=0.1)
    some = measured("one", "event.what=fill", "event.factor=0.5")
    assert some["full"] == some["blocked"] == 0  # the other half has room for what waits


def test_the_latency_of_slow_consumers_is_that_of_a_queue_served_in_order():
    """They serve 5,500 msg/s for 18 s, then 27,500: who comes first at the slow pace waits least,
    who comes when they are fast again waits as long as what is there then takes."""
    found = measured("one", "event.what=slow", "event.factor=5", "workload.consumers=275")
    slow, fast, rate, lasts = 5_500, 27_500, 25_000, 18
    longest = max(  # of those who come after so many tenths of a second of the slow time
        queue / slow if (queue := t / 10 * (rate - slow)) < slow * (lasts - t / 10)
        else lasts - t / 10 + (queue - slow * (lasts - t / 10)) / fast
        for t in range(10 * lasts + 1)
    )  # fmt: skip
    assert found["max"] == pytest.approx(longest * 1e3, rel=0.02)
    assert found["waiting"] == pytest.approx(lasts * (rate - slow) - 24 * (fast - rate), rel=0.03)


def test_messages_behind_slow_consumers_wait_until_these_are_fast_again_and_no_longer():
    found = measured("one", "event.what=slow", "event.factor=5", "workload.consumers=275")
    slow, fast, rate, lasts = 5_500, 27_500, 25_000, 18
    # who is the first that is served at the fast pace has waited longest
    came = slow * lasts / rate
    assert found["max"] == pytest.approx((lasts - came) * 1e3, rel=0.01)
    assert found["waiting"] == pytest.approx(lasts * (rate - slow) - 24 * (fast - rate), rel=0.01)


def test_an_alarm_stops_publishers_and_not_consumers():
    found = measured("one", "event.what=alarm", "event.lasts=0.2", "workload.consumers=500")
    assert (found["blocked"], found["full"]) == (pytest.approx(12 / 60), 0)
    assert found["rate_out"] == pytest.approx(25_000)  # all of it comes, later
    assert found["max"] == pytest.approx(12_000, rel=0.1)
    waits = ("event.what=slow", "event.begin=0", "event.lasts=0.3", "then.what=alarm",
             "then.begin=0.3", "then.lasts=0.7", "workload.consumers=260")  # fmt: skip
    found = measured("one", *waits)
    assert found["waiting"] == 0  # consumers go on
    assert found["held"] == pytest.approx(42 * 25_000, rel=0.05)


def test_windows_of_confirms_limit_an_open_loop():
    few = ("workload.publishers=10", "workload.window=4")
    free, windowed = measured("one"), measured("one", *few)
    assert (free["unstable"], free["rate_out"]) == (0, 25_000)
    assert (windowed["unstable"], windowed["rate_out"] < 20_000) == (1, True)
    assert windowed["held"] == pytest.approx((25_000 - windowed["rate_in"]) * 60, rel=0.01)
    assert windowed["max"] > 1000 > free["max"], "latencies count from the intended times"
    twice = measured("one", "workload.publishers=20", "workload.window=4")
    assert windowed["rate_out"] < twice["rate_out"]
    assert twice["rate_out"] == pytest.approx(2 * windowed["rate_out"], rel=0.2)


def test_links_between_nodes_lengthen_the_way_and_the_confirm():
    def p50(*more):
        return measured("one", *more)["p50"]

    far = "system.host.link_latency=5 ms"
    # 7 nodes: to the leader 6 of 7, to a copy and back 2, to a consumer without a copy 4 of 7
    assert p50(far) - p50() == pytest.approx(5 * (6 / 7 + 2 + 4 / 7), abs=0.01)
    alone = ("system.nodes=1", "system.queue=classic", "workload.rate=1000")
    assert p50(*alone, far) == p50(*alone)
    few = ("workload.publishers=10", "workload.window=40")
    near, late = measured("one", *few), measured("one", *few, far)
    assert late["rate_out"] < 10 * 40 / (5e-3 * (2 + 12 / 7)) < near["rate_out"]


def test_leaders_on_one_node_make_it_the_busiest():
    even, local = (measured("one", f"system.leaders={one}") for one in ("balanced", "client-local"))
    assert local["cpu"] > 1.5 * even["cpu"]
    shares = Placement.even("quorum", 30, 4, 3, balanced=False).shares()
    assert shares.led.tolist() == [1, 0, 0, 0]
    assert shares.followed.tolist() == pytest.approx([0, 2 / 3, 2 / 3, 2 / 3])
    with_one = Placement.even("classic", 5, 1, 1, balanced=False).shares()
    assert (with_one.led.tolist(), with_one.followed.tolist()) == ([1], [0])


def test_an_event_that_begins_when_the_run_is_over_is_refused():
    said = refusal("event.what=kill", "event.begin=1")
    assert said.endswith("event.begin: must be less than 1.0, is 1")
    assert "then.begin: must be less than 1" in refusal("then.what=peak", "then.begin=1")


def test_an_event_near_the_end_is_in_short_runs_too():
    late = load("rabbit/one", ("event.what=kill", "event.begin=0.98")).event
    assert [late.during(seconds).start for seconds in (1800, 18, 1)] == [1764, 17, 0]


def test_a_mirror_that_is_not_made_anew_leaves_queues_without_any_copy_at_a_second_death():
    deaths = ("event.what=kill", "event.lasts=0.7", "then.what=kill", "then.begin=0.6",
              "then.lasts=0.4", "system.queue=mirrored")  # fmt: skip
    anew, away = (measured("one", *deaths, f"system.mirrors={one}") for one in ("anew", "away"))
    assert anew["unstable"] == 0
    assert away["unstable"] == 1
    assert away["held"] > 0
    once = [
        measured("one", "event.what=kill", "system.queue=mirrored", f"system.mirrors={one}")
        for one in ("anew", "away")
    ]
    assert once[0]["cpu"] > once[1]["cpu"]  # copies that are not kept cost nothing


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (("event.what=fill", "event.lasts=0.7"), "a disk is full for 70 % of the time"),
        (("event.what=alarm", "event.lasts=0.7"), "publishers are stopped for 70 % of the time"),
        (("workload.rate=200_000",), "what waits grows"),
    ],
)
def test_a_run_that_does_not_settle_says_why(more, reason):
    scenario = load("rabbit/one", (SHORT, *more)).at(0)
    found = kind_of(scenario).replicate(scenario, 1, 1)
    assert reason in found.notes
    assert found.metrics["unstable"] == 1
    study = run_scenarios(
        [load("rabbit/one", (SHORT, *more))], replications=1, out=None, workers=1
    )[0]
    assert study.notes() == {0: found.notes}
    assert f"  * {found.notes}" in list(lines_of(study))


def test_a_note_that_is_true_of_several_points_stands_once():
    several = load("rabbit/loss", ("workload.seconds=20", "workload.rate=90_000"))
    (study,) = run_scenarios([several], replications=1, out=None, workers=1)
    notes = [line for line in lines_of(study) if str(line).startswith("  * ")]
    assert notes == ["  * at all points: what waits grows"]
    mixed = load("rabbit/loss", ("workload.seconds=20", "event.lasts=1"))
    (study,) = run_scenarios([mixed], replications=1, out=None, workers=1)
    (note,) = [line for line in lines_of(study) if str(line).startswith("  * ")]
    assert note.startswith("  * classic 3 c5-4xlarge, classic 5 c5-4xlarge, classic 7 c5-4xlarge")
    assert note.endswith(" more: what waits grows")


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("one", ()),
        ("loss", ()),
        ("loss", ("event.lasts=1",)),
        ("slow-consumers", ()),
        ("peak", ()),
        ("sizing-2020", ()),
        ("one", ("workload.queues=1",)),
        ("one", ("workload.queues=1000", "system.queue=stream")),
        ("slow-consumers", ("event.lasts=1", "system.storage.size=60 MB")),
        ("loss", ("system.queue=quorum", "event.victims=2", "event.lasts=1")),
        ("loss", ("workload.queues=1", "system.queue=mirrored")),
    ],
)
def test_each_message_is_somewhere(name, more):
    found = measured(name, *more)
    assert found.keys() == METRICS.keys()
    scenario = load(f"rabbit/{name}", (SHORT, *more)).at(0)
    work, event = scenario.workload, scenario.event
    peak = event.factor - 1 if event.what == "peak" else 0
    published = work.rate * (60 + peak * round(event.lasts * 60))
    there = found["rate_out"] * 60 + sum(found[name] for name in LEFT)
    assert there == pytest.approx(published, rel=1e-6)


def test_queues_of_a_dead_node_that_have_no_copy_keep_what_is_in_them():
    stays, back = (measured("loss", f"event.lasts={share}") for share in (1, 0.3))
    assert stays["unstable"] == 1
    assert stays["held"] > 0
    assert back["held"] == 0


def test_slow_consumers_leave_a_backlog_that_is_gone_later():
    during = measured("slow-consumers", "event.begin=0.8")
    after = measured("slow-consumers")
    assert during["unstable"] == 1
    assert during["waiting"] == pytest.approx(12 * 10_000, rel=0.01)
    assert after["unstable"] == 0
    assert after["p99"] > 1000 > after["p50"]


def test_a_node_sends_no_more_than_its_port_lets_it():
    free, narrow = (measured("one", *more) for more in ((), ("system.host.port_rate=5 MB/s",)))
    assert free["network"] > 1.2 * narrow["network"]
    assert narrow["network"] == pytest.approx(5e6 * 8e-6, rel=0.01)  # Mb/s
    assert narrow["rate_out"] < 0.9 * free["rate_out"]
    assert narrow["unstable"] == 1


def test_a_full_disk_stops_publishers():
    found = measured(
        "slow-consumers", "event.begin=0", "event.lasts=1", "system.storage.size=60 MB"
    )
    assert found["blocked"] > 0.2
    assert found["held"] > 0


def test_memory_above_its_watermark_stops_publishers():
    rest = ("event.begin=0", "event.lasts=1", "system.host.memory=10 MB")
    found = measured("slow-consumers", *rest)
    assert found["blocked"] > 0.2
    assert found["unstable"] == 1


def test_the_same_seed_gives_the_same_numbers_and_another_does_not():
    scenario = load("rabbit/one", (SHORT,)).at(0)
    one, again, other = (kind_of(scenario).replicate(scenario, seed, 1) for seed in (1, 1, 2))
    assert one.metrics == again.metrics
    assert one.metrics["p99"] != other.metrics["p99"]


def test_credit_decides_how_many_messages_share_a_sync():
    scenario = load("rabbit/single-node-2024")
    names = [(point["queue"], point["credit"]) for point in scenario.points]
    found = [kind_of(scenario).replicate(scenario.at(n), 1, 1).metrics for n in range(4)]
    raised, default = (found[names.index(("quorum", credit))] for credit in (3000, 170))
    assert raised["rate_out"] > 8 * default["rate_out"]
    assert default["fsyncs"] > 12 * raised["fsyncs"]
    assert math.isnan(found[0]["fsyncs"])  # a classic queue waits for none


def test_an_acknowledgement_costs_processor_time_and_several_messages_share_it():
    card = load_card("rabbitmq-3-8")
    shares = Placement.even("classic", 30, 3, 1).shares()
    giving = {
        each: work_of("classic", shares, card, 1.0, 1024, acknowledge=each).giving.sum()
        for each in (1, 10, 100)
    }
    assert giving[1] - giving[10] == pytest.approx(0.9 * card["ack"] * 1e-12)
    assert giving[10] - giving[100] == pytest.approx(0.09 * card["ack"] * 1e-12)
    alone, ten, default = (
        measured("one", *more)["cpu"]
        for more in (("workload.acknowledge=1",), ("workload.acknowledge=10",), ())
    )
    assert alone > ten == default


def test_a_consumer_that_may_have_few_messages_waits_for_the_next():
    def late(consumers, *more):
        given = (f"workload.consumers={consumers}", *more)
        return 25_000 - measured("one", *given)["rate_out"]

    one, all_of_ten = "workload.prefetch=1", ("workload.prefetch=10", "workload.acknowledge=10")
    assert late(251) == pytest.approx(0, abs=1)
    assert late(251, "workload.prefetch=4", "workload.acknowledge=2") == pytest.approx(0, abs=1)
    assert 100 < late(251, one) < 500  # about 0.1 ms for each of 10 ms
    assert late(251, one, "workload.processing=9 ms") == pytest.approx(0, abs=1)
    assert 10 < late(250, *all_of_ten) < late(250, one) / 5  # once for ten messages


def test_what_cannot_be_is_refused_with_what_could():
    few = refusal("system.nodes=2")
    assert "system.nodes: 3 copies of a queue, but there are 2 nodes" in few
    assert "set nodes=3 or replicas=2" in few
    assert "system.replicas: 9 copies of a queue" in refusal("system.replicas=9")
    assert "need 250" in refusal("workload.consumers=200")
    assert "did you mean 'gp2-1000'?" in refusal("system.storage=gp2-100")
    assert "8 nodes die, but there are 7" in refusal("event.what=kill", "event.victims=8")
    assert "a classic queue has one copy" in refusal("system.queue=classic", "system.replicas=2")
    assert "a quorum queue has none; 'mirrored' has" in refusal("system.mirrors=away")
    assert "8 volumes are filled, but there are 7" in refusal("event.what=fill", "event.victims=8")
    few = refusal("workload.prefetch=5", "workload.acknowledge=6")
    assert "6 messages at once, of which a consumer has 5 at most (prefetch)" in few
    full = refusal("system.storage.size=50 MB")
    assert "system.storage.size: no room for messages: publishers are stopped where 50 MB" in full
