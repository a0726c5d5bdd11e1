"""Does a message over the cycle-accurate fabric take what card, slots and network say?"""

from __future__ import annotations

import numpy as np
import pytest
from fabric_driver import alone_ps, arrivals, counts_of, send

from dvsim.core.cycle import CycleCore
from dvsim.core.network import NetworkParams
from dvsim.errors import ScenarioError
from dvsim.fabric.network import Network
from dvsim.kinds.workload.fabrics import choose, cycle_of
from dvsim.kinds.workload.graph import Builder
from dvsim.kinds.workload.replay import replay_graph
from dvsim.scenario.card import load_card

CARD = load_card("data-vortex-8")
CROSSING, LOOK, POP = CARD["pio_write"], CARD["poll_mirror"], CARD["fifo_pop"]
STORE = round(8e12 / CARD["pio_rate"])  # ps of a word by PIO
ENGINE_FS = round(1e15 / CARD["pcie_rate"])


def network(preset="dv205"):
    return Network(preset, card="data-vortex-8")


def fabric(preset="dv205", slower=1.0):
    return cycle_of(network(preset), CARD, slower)


def way(preset, source, to):
    """Return the slots of a word alone, from the Python network."""
    simulation = network(preset).start(injection="given")
    simulation.send(source, to, 1, 0)
    simulation.run_until(1000)
    return int(simulation.completions().last_slot[0])


@pytest.mark.parametrize("preset", ["dv203", "dv205", "dv207"])
@pytest.mark.parametrize(("source", "to"), [(0, 7), (5, 2), (3, 3)])
def test_a_word_alone_takes_its_stores_its_slots_and_its_look(preset, source, to):
    cycle, slot = fabric(preset), network(preset).slot_ps
    send(cycle, 0, source, to, 8, 12_345)
    (word,) = arrivals(cycle)
    in_card = 12_345 + 2 * STORE + CROSSING
    leaves = -(-in_card // slot)
    out = (leaves + way(preset, source, to) + 1) * slot
    assert word.time_ps == out + CROSSING + LOOK + POP
    assert (word.latency_ps, word.serial_ps) == (word.time_ps - 12_345, 0)
    alone = alone_ps(cycle, 1, way(preset, source, to))
    assert word.time_ps - 12_345 == alone + leaves * slot - in_card


def test_the_hops_of_a_word_are_those_of_the_switch():
    # 1.5 log2 H + 1 nodes on average, and a link on either side, docs/switch.md
    ways = [way("dv205", source, to) for source in range(0, 32, 3) for to in range(0, 32, 5)]
    links = 2 * network().link
    assert min(ways) >= 6 + links
    assert np.mean(ways) == pytest.approx(1.5 * 5 + 1 + links, abs=0.2)


def test_a_long_message_comes_at_the_rate_of_the_port():
    cycle, length = fabric(), 1 << 24
    send(cycle, 0, 1, 30, length, 0)
    (message,) = arrivals(cycle)
    assert length / message.time_ps * 1e12 == pytest.approx(CARD["port_rate"], rel=1e-3)
    assert message.latency_ps + message.serial_ps == pytest.approx(message.time_ps, rel=1e-6)


def test_slower_engines_make_a_long_message_as_slow_as_they_are():
    cycle, length = fabric(slower=4.0), 1 << 22
    send(cycle, 0, 1, 30, length, 0)
    (message,) = arrivals(cycle)
    rate = CARD["pcie_rate"] / 4
    assert length / message.time_ps * 1e12 == pytest.approx(rate, rel=3e-3)


def test_what_many_ports_send_to_few_comes_in_the_slots_of_the_network():
    slot, draws = network().slot_ps, np.random.default_rng(7)
    sent = [(source, int(draws.integers(3)), k) for k in range(30) for source in range(32)]
    cycle, by_slot = fabric(), {}
    for number, (source, to, k) in enumerate(sent):
        send(cycle, number, source, to, 8, 0)
        begin = -(-((k + 1) * 2 * STORE + CROSSING) // slot)
        by_slot.setdefault(begin, []).append((number, source, to))
    expected, first = {}, min(by_slot)
    simulation = network().start(injection="given")

    def collect():
        done = simulation.completions()
        for number, last in zip(done.handle, done.last_slot, strict=True):
            expected[int(number)] = (int(last) + first + 1) * slot + CROSSING + LOOK + POP

    for begin in sorted(by_slot):
        simulation.run(begin - first - simulation.now)
        collect()
        for number, source, to in by_slot[begin]:
            simulation.send(source, to, 1, number)
    simulation.run(2000)
    collect()
    found = {one.id: one for one in arrivals(cycle)}
    assert {number: one.time_ps for number, one in found.items()} == expected
    waits = [one.time_ps - one.latency_ps for one in found.values()]
    assert max(waits) > 100 * min(waits)  # there was something to wait for


def test_all_messages_come_once_in_the_order_of_their_times():
    def run():
        cycle, draws = fabric("dv204"), np.random.default_rng(3)
        times = np.sort(draws.integers(0, 10**8, 300))
        lengths = (10 ** draws.uniform(0, 5, 300)).astype(int)
        found = []
        for number, (time, length) in enumerate(zip(times, lengths, strict=True)):
            found += arrivals(cycle, int(time))
            source, to = draws.integers(16, size=2)
            send(cycle, number, int(source), int(to), int(length), int(time))
        return [*found, *arrivals(cycle)], counts_of(cycle)

    found, counts = run()
    assert sorted(one.id for one in found) == list(range(300))
    assert [one.time_ps for one in found] == sorted(one.time_ps for one in found)
    assert all(one.latency_ps > 0 and one.serial_ps >= 0 for one in found)
    assert (found, counts) == run()
    assert counts.messages == 300


def test_slots_in_which_nothing_is_under_way_are_not_run():
    cycle = fabric()
    for number in range(3):
        send(cycle, number, 0, 1, 8, number * 10**15)
        arrivals(cycle)
    assert counts_of(cycle).slots < 200
    assert counts_of(cycle).skipped > 6 * 10**10


def test_what_is_no_port_is_refused():
    with pytest.raises(ValueError, match="refuses a message of 8 B from 0 to 32"):
        send(fabric(), 0, 0, 32, 8, 0)
    with pytest.raises(ValueError, match="refuses its parameters"):
        CycleCore(
            NetworkParams(height=3, angles=1, levels=1, ports=3, planes=1, link_slots=0), 1, CARD
        )


def halo(cycles, side=3, length=20_000):
    """Return a graph in which each rank of a cube computes and exchanges with its 26 neighbours."""
    builder, last = Builder(side**3), [[] for _ in range(side**3)]
    places = list(np.ndindex(side, side, side))
    for _ in range(cycles):
        for rank, here in enumerate(places):
            apart = [max(abs(a - b) for a, b in zip(here, there, strict=True)) for there in places]
            near = [other for other, far in enumerate(apart) if far == 1]
            done = builder.calc(rank, 10**6, after=last[rank])
            last[rank] = [builder.recv(rank, other, 0, after=[done]) for other in near]
            last[rank] += [builder.send(rank, other, length, after=[done]) for other in near]
    return builder.build()


def test_a_replay_over_every_word_is_near_the_one_over_flows():
    graph = halo(4)
    flow, cycle, again = (
        replay_graph(graph, choose("dv205", {"fidelity": fidelity}, 27))
        for fidelity in ("flow", "cycle", "cycle")
    )
    assert (cycle.finish_ps == again.finish_ps).all()
    assert cycle.path == again.path
    assert cycle.time_ps == pytest.approx(flow.time_ps, rel=0.1)
    assert cycle.parts["contention"] > 0
    assert sum(cycle.parts.values()) == cycle.time_ps


def test_slow_engines_slow_a_replay():
    graph = halo(1)
    usual, slow = (
        replay_graph(graph, choose("dv205", {"fidelity": "cycle", "dma_slow": factor}, 27))
        for factor in (1, 8)
    )
    assert slow.time_ps > 2 * usual.time_ps


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"fidelity": "cycle", "L": "1us"}, "L: is of fidelity 'flow'; this is 'cycle'"),
        ({"fidelity": "cycle", "rate": "1 GB/s"}, "rate: is of fidelity 'flow'; this is 'cycle'"),
        ({"fidelity": "cycle", "landing": "srm"}, "must be memory or sram, not 'srm'"),
        ({"fidelity": "cycle", "dma_slow": "0.5"}, "must be a number from 1 to 1000, is 0.5"),
        ({"fidelity": "cycel"}, "did you mean 'cycle'"),
    ],
)
def test_settings_of_the_other_fidelity_are_refused(settings, message):
    with pytest.raises(ScenarioError, match=message):
        choose("dv205", settings, 27)
