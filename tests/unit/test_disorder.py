"""What do order in the fabric, one sender for many and a large network do to a run?"""

import numpy as np
import pytest

from dvsim.contract.load import load
from dvsim.core.stage import Clock
from dvsim.errors import ScenarioError
from dvsim.fabric.network import Network
from dvsim.fabric.network.bursts import EXACT, BurstTable, Flow
from dvsim.fabric.network.disorder import disorder, disorder_of
from dvsim.kinds.rabbitmq.fabric import fabric_of
from dvsim.kinds.rabbitmq.iteration import run_iteration
from dvsim.scenario.card import load_card

CARD = load_card("data-vortex-8")


def sent(fidelity, bursts, **how):
    """Send bursts (flow, words) at once, flows of one sender; return when each has come."""
    clock = Clock()
    fabric = fabric_of(clock, CARD, 3, 1, fidelity, **how)
    ends = {}

    def sender(flow, words):
        ends[flow] = yield fabric.send(flow, words)

    clock.run(clock.all_of([clock.process(sender(*burst)) for burst in bursts]))
    return [ends[flow] for flow, _ in bursts]


def run(name, *overrides, messages=2_000):
    given = (f"workload.messages={messages}", "workload.iterations=1", *overrides)
    return run_iteration(load(name, given), 1, 1, 1)


def value(found, component, metric):
    return next(
        one.value for one in found.counters if (one.component, one.metric) == (component, metric)
    )


def by_hand(slots):
    """Deliver words in order, one slot after the other, and count what waits."""
    waiting, delivered, most, longest = set(), 0, 0, 0
    for now in range(max(slots) + 1):
        waiting |= {word for word, slot in enumerate(slots) if slot == now}
        while delivered in waiting:
            waiting.remove(delivered)
            longest = max(longest, now - slots[delivered])
            delivered += 1
        most = max(most, len(waiting))
    late = sum(any(later < slot for later in slots[k + 1 :]) for k, slot in enumerate(slots))
    return late / len(slots), most, longest


@pytest.mark.parametrize("seed", range(20))
def test_what_a_port_holds_back_is_what_waits_for_earlier_words(seed):
    slots = np.random.default_rng(seed).integers(0, 30, 25)
    assert disorder(slots) == pytest.approx(by_hand(slots.tolist()))


def test_flows_that_do_not_meet_stay_in_order():
    assert disorder_of(Network("dv203"), (Flow(0, 2), Flow(1, 3))) == (0.0, 0, 0)


def test_links_that_are_drawn_bring_words_out_of_order():
    found = disorder_of(Network("dv208"), tuple(Flow(n, 128 + n) for n in range(64)))
    assert found.late > 0.5
    assert found.held > 100
    assert found.wait > 10


def test_order_in_the_fabric_changes_when_words_come_but_not_when_the_last_does():
    burst = [(flow, 5_000) for flow in range(3)]
    plain = sent("cycle", burst, senders=3)
    ordered = sent("cycle", burst, senders=3, ordered=True)
    for one, other in zip(plain, ordered, strict=True):
        assert np.all(np.diff(other.slots) >= 0)
        assert np.all(other.slots >= one.slots)
        assert other.slots.max() == one.slots.max()


def test_order_in_the_fabric_is_counted_and_costs_a_run_nothing():
    plain, ordered = run("h3/dv-8192"), run("h3/dv-8192", "system.order=fabric")
    assert value(ordered, "fabric", "order_words") == 0  # two flows, which do not meet
    assert value(ordered, "run", "simulated_s") == value(plain, "run", "simulated_s")
    assert not any(one.metric == "order_words" for one in plain.counters)


@pytest.mark.parametrize("words", [160, 5_000])
def test_bursts_of_one_port_follow_each_other_at_both_fidelities(words):
    bursts = [(flow, words) for flow in range(3)]
    cycle = [one.flow for one in sent("cycle", bursts, senders=1)]
    flow = sent("flow", bursts, senders=1)
    for exact, line in zip(cycle, flow, strict=True):
        assert line.first_ps == pytest.approx(exact.first_ps, rel=0.02, abs=120_000)
        assert line.last_ps == pytest.approx(exact.last_ps, rel=0.02, abs=120_000)
    assert flow[2].last_ps > 2.5 * (flow[0].last_ps - flow[0].first_ps)


def test_one_port_sends_no_faster_than_it_can():
    cards = [
        "system.bridge.push=0 us",
        "system.broker.service=0 us",
        "system.broker.read_cost=0 us",
        "system.card.vic_to_dram=1 ns",
        "system.senders=1",
        "system.receivers=6",
        "system.card.ring=64 MB",
        "probe.columns.r1.iterations=[1]",
        "probe.columns.r2.iterations=[1]",
    ]
    found = run("h3/dv-131072", *cards, messages=6_000)
    sent_bytes = 6_000 * 131_072
    took = value(found, "run", "simulated_s")
    assert sent_bytes / took <= CARD["port_rate"] * 1.001
    assert 0.5 < value(found, "source.1", "utilisation") <= 1.001


def test_senders_and_receivers_must_have_a_port_each():
    with pytest.raises(ScenarioError, match="with their senders they need 9 nodes"):
        load("h3/dv-8", ["system.receivers=8", "system.senders=1"])
    assert load("h3/dv-8", ["system.receivers=7", "system.senders=1"]).system.senders == 1


@pytest.mark.parametrize("option", ["system.senders=1", "system.order=fabric"])
def test_what_is_of_the_data_vortex_is_refused_over_tcp(option):
    with pytest.raises(ScenarioError, match="not used by transport 'tcp'"):
        load("h3/fdr-8", [option])


def test_many_flows_at_work_are_measured_by_powers_of_two_and_never_too_fast():
    table = BurstTable(Network("dv208"), tuple(Flow(n, 128 + n) for n in range(100)))
    assert table.line(EXACT + 1) is table.line(2 * EXACT)
    assert table.line(90) is table.line(100)  # no more than there are
    assert table.line(EXACT - 1) is not table.line(EXACT)
