"""Do the laws of messaging over hosts hold, where there is a closed form?"""

import pytest
from messaging_runs import brokered, card, measure, setting, stages

from dvsim.core.stage import Clock
from dvsim.errors import RunFailed
from dvsim.kinds.hosts import run as messaging_run
from dvsim.kinds.hosts.course import Course, latencies_us, merged
from dvsim.kinds.hosts.delivery import Queue
from dvsim.kinds.hosts.hop import Batch, Cost, Hop
from dvsim.kinds.hosts.port import carry_cost, packet_ps
from dvsim.kinds.hosts.run import run_point
from dvsim.scenario.units import Law

FLOW = {"mode": "flow", "messages": 4000}
QUEUE = {"exchange": "queue", "prefetch": 100, "acknowledge": 80}


def test_one_message_takes_the_sum_of_its_stages():
    # publish 1, wake 5, call 1 + encode 2 + 0.1, wire 0.1, latency 10, wake 5,
    # call 1 + decode 3 + 0.2, wake 5, consume 1
    assert measure()["latency"] == pytest.approx(34.4)


def test_a_thread_that_does_its_own_sending_saves_the_handing_over():
    one = measure(client={"threads": 1})["latency"]
    assert one == pytest.approx(34.4 - 5 - 5)


def test_a_long_message_overlaps_with_itself_packet_by_packet():
    # 8,000 B in a call: the wire works on 8 packets, of which the receiver waits for the first;
    # then its 2 ns/B and a call for each piece decide
    size = 8000
    alone = measure({"message_bytes": size}, client={"decode": "0 s", "wake": "0 s"})["latency"]
    assert alone == pytest.approx(1 + (1 + 2 + 8) + 8 + 10 + 1 + 1, abs=0.2)


def test_two_links_and_a_broker_lie_between_publisher_and_consumer():
    # client as above, link twice; accept and deliver with a call each, a wake-up for both
    found = brokered()
    client = 1 + 5 + 3.1 + 5 + 4.2 + 5 + 1
    broker = (5 + 1 + 10) + (5 + 1 + 8)
    assert found["latency"] == pytest.approx(client + 2 * 10.1 + broker)
    assert found["links"] == 2


def test_connections_cost_their_set_up_and_say_so():
    found = measure({"messages": 10, "connection": 5})
    assert found["latency"] == pytest.approx(34.4 + 2 * 1000 / 10)
    assert found["setup"] == pytest.approx(200 / 234.4)


@pytest.mark.parametrize(
    ("slow", "per_us"),
    [
        ({"publish": "20 us"}, 20),
        ({"encode": "20 us"}, 20),
        ({"decode": "20 us"}, 20),
        ({"consume": "20 us"}, 20),
    ],
)
def test_the_slowest_thread_sets_the_rate(slow, per_us):
    found = measure(FLOW, client=slow)
    # messages come in batches, of which the first or the last may count in part
    assert found["rate_out"] == pytest.approx(1e6 / per_us, rel=0.03)
    assert found["density"] == pytest.approx(1000 * per_us, rel=0.03)
    busiest = max(stages(FLOW, client=slow).values())
    assert busiest == pytest.approx(1, abs=0.02)


def test_the_wire_sets_the_rate_of_large_messages():
    big = FLOW | {"message_bytes": 10_000, "messages": 400}
    slow = {"rate": "100 MB/s", "packet_overhead": "250 B"}
    found = measure(big, link=slow)
    assert found["megabytes"] == pytest.approx(100 / 1.25, rel=0.01)
    assert max(stages(big, link=slow), key=stages(big, link=slow).get)[0] == "link"


def test_wire_and_slot_overlap_and_the_slower_one_counts():
    link = card("link", rate="1 GB/s", slot_rate="0.5 GB/s", packet_cost="100 ns")
    assert packet_ps(link, 1000) == 2_100_000
    assert carry_cost(link)(Batch(2500, 0)) == 2 * 2_100_000 + 1_100_000


def test_streams_that_share_a_port_share_its_rate():
    big = FLOW | {"message_bytes": 10_000, "messages": 800, "streams": 4}
    slow = {"rate": "100 MB/s"}
    assert measure(big, link=slow)["megabytes"] == pytest.approx(100, rel=0.02)


def test_streams_hinder_each_other_by_the_contention():
    slow = {"consume": "20 us"}
    host = {"message_contention": 0.5}
    one, two = (
        measure(FLOW | {"streams": count}, client=slow, host=host)["rate_out"] for count in (1, 2)
    )
    assert two / one == pytest.approx(2 / 1.5, rel=0.02)


def test_more_threads_than_cores_take_turns():
    slow = {"consume": "20 us"}
    few = measure(FLOW | {"streams": 4}, client=slow, host={"cores": 4})["rate_out"]
    many = measure(FLOW | {"streams": 4}, client=slow, host={"cores": 8})["rate_out"]
    assert many / few == pytest.approx(2, rel=0.01)


def test_a_batch_is_what_is_there_and_pays_one_call():
    # each call 50 us: with 1 message in a call 53.1 us, with 80 the call hardly counts
    slow = {"send": "50 us"}
    small = measure(FLOW, {"buffer": 100}, link=slow)["rate_out"]
    large = measure(FLOW, {"buffer": 8000}, link=slow)["rate_out"]
    assert small == pytest.approx(1e6 / 52.1, rel=0.02)
    assert large > 10 * small


def test_throttled_interrupts_do_not_come_closer_and_lose_nothing():
    free = measure(FLOW)["rate_out"]
    held = measure(FLOW | {"window": 400}, link={"moderation": "1 ms"})
    assert held["rate_out"] < free  # the window is used up between two interrupts
    # latency of one message is untouched, if the last interrupt is long past
    assert measure({"messages": 1}, link={"moderation": "1 ms"})["latency"] == pytest.approx(34.4)


def test_a_window_over_the_round_trip_is_the_rate_of_a_small_window():
    found = measure(FLOW | {"window": 1, "messages": 200})
    # the credit comes back after the latency of the link
    assert found["rate_out"] == pytest.approx(1e6 / (34.4 + 10), rel=0.01)


def test_a_constant_rate_is_the_rate_that_comes_out():
    found = measure(FLOW | {"rate": 5_000, "messages": 500})
    assert found["rate_out"] == pytest.approx(5_000, rel=0.01)
    assert found["latency"] == pytest.approx(34.4, rel=0.01)


def test_a_log_that_is_written_first_sets_the_rate_by_its_bandwidth():
    found = brokered(
        FLOW | {"message_bytes": 1000, "window": 2000},
        QUEUE | {"durability": "log-first"},
        broker={"log_overhead": "250 B", "accept": "1 us", "deliver": "1 us"},
        client={"publish": "0 s", "encode": "0 s", "decode": "0 s"},
        storage={"bandwidth": "50 MB/s"},
    )
    assert found["rate_in"] == pytest.approx(50e6 / 1250, rel=0.03)
    assert found["rate_out"] == pytest.approx(50e6 / 1250, rel=0.03)


def test_a_synced_log_leaves_the_rate_alone_and_delays_the_acknowledgement():
    flow = FLOW | {"rate": 5_000, "messages": 5_000}
    found = brokered(flow, QUEUE | {"durability": "batched"})
    free = brokered(flow, QUEUE)
    assert found["rate_out"] == pytest.approx(free["rate_out"], rel=0.01)
    assert found["latency"] == pytest.approx(free["latency"], rel=0.01)
    # half of interval and sync on the average, and the sync itself with what it writes
    sync = 1_000 + 5_000 * 0.1 * 100 / 100  # us: sync, and 50 kB at 100 MB/s
    assert found["ack_mean"] == pytest.approx((100_000 + sync) / 2 + sync, rel=0.06)
    assert found["ack_p99"] < 100_000 + 2 * sync + 2_000


@pytest.mark.parametrize(("steps", "per_us"), [(1, 12), (3, 6)])
def test_one_thread_does_one_thing_at_a_time_and_a_pipeline_three(steps, per_us):
    fast = {"publish": "0 s", "encode": "0 s", "decode": "0 s", "consume": "0 s"}
    calls = {"send": "0 s", "receive": "0 s"}
    broker = {"accept": "6 us", "deliver": "6 us", "steps": steps}
    found = brokered(FLOW | {"window": 500}, QUEUE, client=fast, link=calls, broker=broker)
    assert found["rate_out"] == pytest.approx(1e6 / per_us, rel=0.03)


def test_a_consumer_cannot_hold_more_than_its_prefetch():
    # 10 messages are held, acknowledged together: a round trip for each ten
    held = {"exchange": "queue", "prefetch": 10, "acknowledge": 10}
    found = brokered(FLOW | {"messages": 400}, held, link={"latency": "1 ms"})
    assert found["rate_out"] == pytest.approx(10 / 2e-3, rel=0.1)


@pytest.mark.parametrize("exchange", ["direct", "topic", "fanout"])
def test_every_consumer_gets_its_share(exchange):
    found = brokered(
        FLOW | {"publishers": 2, "consumers": 4, "messages": 800}, {"exchange": exchange}
    )
    assert found["fairness"] == pytest.approx(1)


def test_a_fanout_delivers_a_copy_to_each():
    flow = FLOW | {"consumers": 4, "messages": 400, "window": 50}
    found = brokered(flow, {"exchange": "fanout"}, broker={"deliver": "1 us"})
    assert found["rate_out"] == pytest.approx(4 * found["rate_in"], rel=0.05)


def test_a_topic_pays_for_every_binding():
    one, many = (
        brokered({"messages": 2, "consumers": 1}, {"exchange": "topic"}, broker={"match": match})
        for match in ("0 s", "7 us")
    )
    assert many["latency"] - one["latency"] == pytest.approx(7)


def test_federated_nodes_add_a_link_for_their_consumers():
    flow = FLOW | {"consumers": 4, "messages": 400, "rate": 1_000}
    alone = brokered(flow)
    pair = brokered(flow, {"brokers": 2})
    assert (alone["links"], pair["links"]) == (2, 2.5)
    # half of the messages cross another link, with its broker
    further = 10.1 + (5 + 1 + 10) + (5 + 1 + 8)
    assert pair["latency"] - alone["latency"] == pytest.approx(further / 2, rel=0.02)


def test_federated_nodes_share_the_copies_of_a_fanout():
    flow = FLOW | {"consumers": 8, "messages": 800, "window": 100}
    few, more = (
        brokered(flow, {"exchange": "fanout", "brokers": nodes})["rate_out"] for nodes in (1, 2)
    )
    assert more > 1.3 * few


class TestQueue:
    """The three delivery models, by what each consumer holds."""

    def queue(self, model, held, following=0):
        queue = Queue(Clock(), model, 100, 1, lambda _: 0.0, [lambda _: None] * len(held), None)
        queue.held, queue._next = held, following
        return queue

    def test_fast_takes_the_first_with_room(self):
        assert self.queue("fast", [100, 99, 0]).choose() == 1

    def test_round_robin_takes_the_next_with_room(self):
        assert self.queue("round-robin", [0, 0, 100, 0], following=2).choose() == 3

    def test_proportional_takes_who_holds_least(self):
        assert self.queue("proportional", [60, 80, 20, 90]).choose() == 2

    def test_nobody_with_room_gets_nothing(self):
        assert self.queue("proportional", [100, 100]).choose() is None


def test_slow_consumers_get_less_from_who_looks_at_their_backlog():
    flow = FLOW | {"consumers": 2, "messages": 2_000, "window": 500}
    slow = {"consume": "100 us"}
    system = QUEUE | {"slowdown": 3.0}
    found = brokered(flow, system | {"delivery": "proportional"}, client=slow)
    # 3/4 and 1/4 of the messages: Jain's index is 1 / (2 * (9/16 + 1/16))
    assert found["fairness"] == pytest.approx(0.8, abs=0.03)
    assert found["rate_out"] == pytest.approx(1e4 * (1 + 1 / 3), rel=0.1)


def test_a_batch_costs_call_messages_and_bytes():
    cost = Cost(7.0, Law(100, 0), Law(10, 2000), message_factor=2.0, byte_factor=3.0)
    assert cost.ps(Batch(50, 4)) == 2 * (7 + 4 * 110) + 50 * 2 * 3


def test_a_hop_takes_no_more_than_its_limit_and_only_whole_messages_go_on():
    clock, passed = Clock(), []
    hop = Hop(clock, "hop", 30, 40, lambda _: 5.0, passed.append, whole=True)
    hop.arrive(70)
    clock.run()
    assert passed == [30, 30]  # 40 B have one message, the next 30 B end the second
    assert (hop.messages, hop.busy_ps, hop.waiting, clock.ps) == (2, 10, 0, 10)


def test_courses_merge_in_the_order_of_time():
    clock = Clock()
    first, second = Course(clock), Course(clock)

    def passing():
        for course, wait in ((first, 1), (second, 1), (first, 2)):
            yield clock.timeout(wait * 10**6)
            course.add(2)

    clock.run(clock.process(passing()))
    both = merged([first, second])
    assert both.messages == 6
    assert both.when([1, 2, 3, 6]).tolist() == [1e6, 1e6, 2e6, 4e6]
    assert latencies_us(first, both, 0.0).tolist() == [0, 0, -2, -2]


def test_equal_questions_give_equal_figures_and_other_seeds_others():
    asked = setting(FLOW, host={"scatter": 0.1, "run_spread": 0.1})
    first = run_point(asked, 1, 1).metrics["rate_out"]
    assert first == run_point(asked, 1, 1).metrics["rate_out"]
    assert first != run_point(asked, 1, 2).metrics["rate_out"]
    assert first != run_point(asked, 2, 1).metrics["rate_out"]


def test_a_lost_message_is_seen(monkeypatch):
    real = messaging_run.Peers

    class Losing(real):
        def expected(self, messages):
            return messages - 1  # the run ends before the last message

    monkeypatch.setattr(messaging_run, "Peers", Losing)
    asked = setting(FLOW | {"messages": 10, "rate": 100})
    with pytest.raises(RunFailed, match="conservation: 10 asked for, 9 begun"):
        run_point(asked, 1, 1)
