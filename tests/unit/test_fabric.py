"""Does the fabric of a run come from the cycle-accurate network, at both fidelities alike?"""

import pytest

from dvsim.contract.load import load
from dvsim.core import words_of
from dvsim.core.stage import Clock
from dvsim.errors import ScenarioError
from dvsim.fabric.network import Network, bursts
from dvsim.fabric.network.bursts import BurstTable, Flow
from dvsim.kinds.rabbitmq.fabric import MOST_UPDATES, fabric_of, network_of
from dvsim.kinds.rabbitmq.iteration import run_iteration
from dvsim.scenario.card import load_card

CARD = load_card("data-vortex-8")
SLOT_PS = 29_091


def send(fidelity, bursts):
    """Send bursts (time, flow, words) over the fabric of `CARD`; return their arrivals."""
    clock = Clock()
    fabric = fabric_of(clock, CARD, 2, 1, fidelity)
    arrivals = {}

    def sender(number, when, flow, words):
        yield clock.timeout(when)
        arrival = yield fabric.send(flow, words)
        arrivals[number] = arrival.flow if fidelity == "cycle" else arrival

    senders = [clock.process(sender(number, *burst)) for number, burst in enumerate(bursts)]
    clock.run(clock.all_of(senders))
    return [arrivals[number] for number in range(len(bursts))], clock.ps


def test_a_word_takes_the_hops_of_the_switch_and_two_links():
    (arrival,), _ = send("cycle", [(0, 0, 1)])
    slots = arrival.first_ps / SLOT_PS
    # 8 heights: 4 cylinders, at most 3 wanted crossings; a link of 20 ns is one slot
    assert arrival.first_ps == arrival.last_ps
    assert 4 + 2 <= slots <= 7 + 2 + 1


def test_a_long_burst_comes_at_the_port_rate():
    words = 160_000
    (arrival,), _ = send("cycle", [(0, 0, words)])
    rate = 8 * words / (arrival.last_ps - arrival.first_ps) * 1e12
    assert rate == pytest.approx(4.4e9, rel=0.01)


@pytest.mark.parametrize("words", [1, 16, 999, 5_000, 50_000])
@pytest.mark.parametrize("flows", [1, 2])
def test_a_flow_ends_when_its_words_would(words, flows):
    bursts = [(1_000_000, flow, words) for flow in range(flows)]
    cycle, _ = send("cycle", bursts)
    flow, _ = send("flow", bursts)
    for exact, line in zip(cycle, flow, strict=True):
        assert line.sent_ps == exact.sent_ps == 1_000_000
        # within a slot for the clock's phase, two for the word's way, one per cent for the rate
        assert line.first_ps == pytest.approx(exact.first_ps, abs=4 * SLOT_PS)
        assert line.last_ps == pytest.approx(exact.last_ps, rel=0.01, abs=4 * SLOT_PS)


def test_bursts_of_several_senders_meet_in_the_middle_of_one_another():
    alone, _ = send("cycle", [(0, 0, 3_000)])
    both, _ = send("cycle", [(0, 0, 3_000), (1_500_000, 1, 100)])
    assert both[0].last_ps >= alone[0].last_ps
    assert both[1].first_ps > 1_500_000
    assert both[1].last_ps < both[0].last_ps


def test_bursts_of_one_sender_come_one_after_the_other():
    arrivals, end_ps = send("cycle", [(0, 0, 1_000), (10, 0, 1_000), (2_000_000_000, 0, 8)])
    assert arrivals[1].last_ps > arrivals[0].last_ps
    assert arrivals[2].first_ps > 2_000_000_000
    assert end_ps == arrivals[2].last_ps


def test_the_clock_never_goes_back_and_events_between_are_not_late():
    clock = Clock()
    fabric = fabric_of(clock, CARD, 1, 1, "cycle")
    seen = []

    def ticks():
        for _ in range(1_000):
            yield clock.timeout(12_345)
            seen.append(clock.ps)

    def sender():
        for _ in range(10):
            yield fabric.send(0, 100)

    clock.run(clock.all_of([clock.process(ticks()), clock.process(sender())]))
    assert seen == [12_345 * tick for tick in range(1, 1_001)]


def test_the_card_sets_slot_planes_and_geometry():
    network = network_of(CARD)
    assert (network.ports, network.planes, network.slot_ps, network.link) == (8, 16, SLOT_PS, 1)
    assert network_of(load("h3/dv-8", ["system.card.nodes=9"]).system.card).ports == 16
    assert network_of(load("h3/dv-8", ["system.card.planes=8"]).system.card).planes == 8


def counters_of(scenario):
    counters = run_iteration(scenario, 1, 1, 1).counters
    return {item.metric: item.value for item in counters if item.component == "fabric"}


@pytest.mark.parametrize(
    ("asked", "messages", "cycle"),
    [("flow", 100, 0), ("cycle", 100, 1), ("auto", 100, 1), ("auto", MOST_UPDATES // 192 + 2, 0)],
)
def test_the_run_says_which_fidelity_ran_and_how_good_the_other_would_be(asked, messages, cycle):
    overrides = [f"system.fidelity={asked}", f"workload.messages={messages}"]
    fabric = counters_of(load("h3/dv-8", overrides))
    assert fabric["cycle_fidelity"] == cycle
    assert fabric["flow_error"] < 0.02
    assert fabric["rate_alone"] == pytest.approx(4.4e9, rel=0.01)
    assert 150e-9 < fabric["latency_s"] < 400e-9


def test_both_fidelities_give_the_same_columns_but_for_some_slots():
    asked = ["workload.messages=20000", "workload.message_bytes=2048"]
    records = [
        run_iteration(load("h3/dv-2048", [*asked, f"system.fidelity={fidelity}"]), 1, 1, 1).records
        for fidelity in ("cycle", "flow")
    ]
    for receiver in (1, 2):
        cycle, flow = (record[receiver] for record in records)
        assert cycle.messages.sum() == flow.messages.sum() == 10_000
        assert abs(len(cycle.messages) - len(flow.messages)) <= 1


def test_one_plane_stands_for_a_network_that_is_too_large_to_run_whole(monkeypatch):
    flows = (Flow(0, 70), Flow(1, 71))  # over two levels
    whole = BurstTable(Network("dv207"), flows)
    monkeypatch.setattr(bursts, "MOST_NODES", 1)
    plane = BurstTable(Network("dv207"), flows)
    assert plane.rate(2) == pytest.approx(whole.rate(2), rel=0.02)
    assert plane.latency_ps == pytest.approx(whole.latency_ps, rel=0.5)  # another random way up
    assert plane.error(2) < 0.1


def test_auto_takes_flow_where_the_network_is_large():
    card = load("h3/dv-8", ["system.card.nodes=2048"]).system.card
    assert fabric_of(Clock(), card, 1, 100_000, "auto").fidelity == "flow"
    assert fabric_of(Clock(), CARD, 1, 100_000, "auto").fidelity == "cycle"


def test_words_of_a_message():
    assert [words_of(size) for size in (0, 1, 8, 9, 2048)] == [1, 1, 1, 2, 256]


@pytest.mark.parametrize(
    ("name", "override", "message"),
    [
        ("h3/fdr-8", "system.fidelity=cycle", "not used by transport 'tcp'"),
        ("h3/dv-8", "system.fidelity=cycles", "did you mean 'cycle'?"),
        ("h3/dv-8", "system.card.planes=0", "must be at least 1, is 0"),
        ("h3/dv-8", "system.card.planes=65", "must be at most 64, is 65"),
        ("h3/dv-8", "system.card.nodes=70_000", "must be at most 65536, is 70000"),
        ("h3/dv-8", "system.card.link=30 us", "must be at most 1000 slots"),
    ],
)
def test_a_wrong_fabric_is_told(name, override, message):
    with pytest.raises(ScenarioError, match="system") as caught:
        load(name, [override])
    assert message in str(caught.value)
