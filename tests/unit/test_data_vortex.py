"""Does the Data Vortex path behave as its parts say: windows, overruns, polls, the AMQP socket?"""

import numpy as np
import pytest

from dvsim.contract.load import load
from dvsim.kinds.rabbitmq.iteration import run_iteration

CALM = (
    "system.bridge.push_scatter=0",
    "system.bridge.run_spread=0",
    "system.bridge.stop_scatter=0",
    "system.card.vic_scatter=0",
    "system.broker.scatter=0",
    "system.broker.run_spread=0",
    "system.broker.stall=0 s",
)


def run(size, *overrides, messages=200_000, iteration=1):
    given = {option.partition("=")[0] for option in overrides}
    calm = [option for option in CALM if option.partition("=")[0] not in given]
    scenario = load(f"h3/dv-{size}", [*calm, f"workload.messages={messages}", *overrides])
    result = run_iteration(scenario, seed=1, replication=1, iteration=iteration)
    counters = {(c.component, c.metric): c.value for c in result.counters}
    return scenario, result, counters


@pytest.mark.parametrize("size", [8, 256, 2048, 8192, 131072])
def test_in_the_long_run_the_socket_sets_the_pace(size):
    scenario, _, counters = run(size)
    bridge = scenario.system.bridge
    push_s = (bridge["push"].ps(size) + (bridge["push_off_heap"] if size > 64 else 0)) / 1e12
    assert counters["run", "simulated_s"] == pytest.approx(100_000 * push_s, rel=0.01)
    assert counters["socket.1", "utilisation"] > 0.98


def test_more_sockets_make_it_faster_until_the_broker_is_the_limit():
    _, _, one = run(8)
    _, _, two = run(8, "system.bridge.sockets=2")
    assert two["run", "simulated_s"] == pytest.approx(one["run", "simulated_s"] / 2, rel=0.02)
    scenario, _, many = run(8, "system.bridge.sockets=5")
    card = scenario.system.broker
    packets = (8 + card["frame_overhead"]) / 65536
    broker_s = (card["service"].ps(8) + card["read_cost"] * packets) / 1e12
    assert many["run", "simulated_s"] == pytest.approx(100_000 * broker_s, rel=0.1)


def test_bursts_start_after_a_poll_within_the_senders_reaction():
    _, result, _ = run(131072, "probe.interval=0.1 ms", messages=4_000)
    record = result.records[1]
    active = record.pieces > 0
    starts = record.start_ps[active & ~np.roll(active, 1)]
    phase = starts % 5_001_000_000
    assert np.median(phase) < 1_960_000_000 + 200_000_000


def test_overruns_appear_as_messages_grow():
    share = []
    for size in (8, 2048, 8192):
        _, _, counters = run(size)
        share.append(counters["card.1", "overruns"] / counters["card.1", "windows"])
    assert share[0] == 0
    assert 0.3 < share[1] < share[2]


def test_a_larger_ring_overruns_less():
    _, _, small = run(8192)
    _, _, large = run(8192, "system.card.ring=8 MB")
    assert large["card.1", "overruns"] < 0.9 * small["card.1", "overruns"]


def test_a_small_sram_is_never_exceeded():
    _, _, counters = run(8192, "system.card.sram=64 KiB")
    assert counters["card.1", "sram_peak_bytes"] == 64 * 1024


def test_messages_are_shared_among_receivers_to_the_last_one():
    _, result, counters = run(8, "system.receivers=3", messages=100_001)
    got = [int(record.messages.sum()) for record in result.records.values()]
    assert got == [33334, 33334, 33333]
    assert counters["conservation", "queued"] == 100_001


def test_one_message_arrives():
    _, result, counters = run(131072, messages=1)
    assert sum(int(record.messages.sum()) for record in result.records.values()) == 1
    assert counters["conservation", "refused"] == 0


def test_an_empty_message_arrives():
    _, _, counters = run(8, "workload.message_bytes=0", messages=10)
    assert counters["conservation", "queued"] == 10


def test_changing_the_bridge_leaves_the_senders_draws_alone():
    # poll by poll, so that a sample is a burst; 256 B never fill this ring
    ring = ("system.card.ring=1 GB", "system.bridge.reaction=0 s", "probe.interval=5.001 ms")
    _, fast, _ = run(256, *ring)
    _, slow, _ = run(256, *ring, "system.bridge.push=100 us")
    bursts = [r.records[1].pieces[r.records[1].pieces > 0].tolist() for r in (fast, slow)]
    assert len(bursts[0]) > 20
    assert bursts[0] == bursts[1]


def test_receivers_draw_for_themselves():
    _, result, _ = run(256)
    assert result.records[1].pieces.tolist() != result.records[2].pieces.tolist()


@pytest.mark.parametrize("size", [8, 256])
def test_a_burst_is_worth_the_release_at_the_pace_of_the_software(size):
    scenario, _, counters = run(size, "system.bridge.release=2 ms")
    card = scenario.system.card
    one_ps = card["vic_to_dram"].ps(size) + card["dma_setup"] / card["dma_entries"]
    bursts = 100_000 * one_ps / 2e9
    assert counters["card.1", "windows"] == pytest.approx(bursts, abs=1)


def test_a_release_shorter_than_a_message_sends_one_at_a_time():
    _, _, counters = run(8, "system.bridge.release=0 s", messages=200)
    assert counters["card.1", "windows"] == 100


def test_the_pace_scatters_from_burst_to_burst_and_what_a_byte_costs_does_not():
    spread = {}
    for law in ("1 us", "0 us + 125 ns/B"):  # the same at 8 B
        more = ("system.card.vic_scatter=0.5", f"system.card.vic_to_dram={law}")
        _, result, _ = run(8, *more, "system.bridge.reaction=0 s", messages=2_000_000)
        pieces = result.records[1].pieces
        spread[law] = np.log(pieces[pieces > 100]).std()
    assert spread["1 us"] > 0.35
    assert spread["0 us + 125 ns/B"] < 0.1


def test_bodies_off_the_heap_cost_more():
    took = {}
    for size in (64, 65):
        more = ("system.bridge.push=40 us", "system.bridge.push_off_heap=10 us")
        _, _, counters = run(8, f"workload.message_bytes={size}", *more)
        took[size] = counters["run", "simulated_s"]
    assert took[65] / took[64] == pytest.approx(50 / 40, rel=0.01)


def test_a_bridge_as_fast_as_the_network_never_overruns():
    instant = ("system.bridge.push=0 s", "system.bridge.convert=0 s", "system.broker.service=0 s",
               "system.broker.read_cost=0 s")  # fmt: skip
    _, _, slow = run(8192)
    _, _, fast = run(8192, *instant)
    assert slow["card.1", "overruns"] > 0
    assert fast["card.1", "overruns"] == 0


def test_a_sender_is_held_back_only_after_an_overrun():
    _, _, none = run(8)
    _, _, always = run(131072, messages=2_000)
    assert none["sender.1", "held_back_s"] == 0
    assert 0.3 < always["sender.1", "held_back_s"] / always["run", "simulated_s"] <= 1


def test_a_full_sram_holds_the_sender():
    _, _, roomy = run(8192)
    _, _, small = run(8192, "system.card.sram=64 KiB")
    assert roomy["sender.1", "held_sram_s"] == 0
    assert small["sender.1", "held_sram_s"] > 0


def test_extra_polls_are_counted_by_the_poll_thread():
    _, _, often = run(8192, "system.bridge.poll_interval=1 ms")
    _, _, fine = run(8192, "probe.interval=1 ms")
    _, _, base = run(8192)
    assert often["receiver.1", "polls"] > 4 * base["receiver.1", "polls"]
    assert fine["receiver.1", "extra_polls"] == base["receiver.1", "extra_polls"]
    assert run(8)[2]["receiver.1", "extra_polls"] == 0  # a message of one piece is never in part


def test_an_open_loop_below_saturation_keeps_to_its_schedule():
    scenario, _, counters = run(8, "loop=open", "workload.messages_per_second=20_000")
    assert counters["run", "simulated_s"] == pytest.approx(200_000 / 20_000, rel=0.01)
    assert counters["run", "behind_schedule_s"] < 0.02
    push_s = scenario.system.bridge["push"].ps(8) / 1e12
    assert counters["socket.1", "utilisation"] == pytest.approx(10_000 * push_s, rel=0.01)


def test_an_open_loop_beyond_saturation_falls_behind():
    _, _, counters = run(8, "loop=open", "workload.messages_per_second=100_000")
    assert counters["run", "behind_schedule_s"] > 1.5  # 2 s of schedule, 4.5 s of pushing


def test_iterations_differ():
    _, one, _ = run(256, iteration=1)
    _, two, _ = run(256, iteration=2)
    assert one.records[1].pieces.tolist() != two.records[1].pieces.tolist()
