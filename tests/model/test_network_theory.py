"""Is a network what its definition says: its shape, its paths, its hops, its bursts?"""

from collections import Counter

import numpy as np
import pytest
from reference_network import ReferenceNetwork
from scipy import stats

from dvsim import Network, Switch
from dvsim.fabric.network import PRESETS
from dvsim.fabric.network.tree import sizes
from dvsim.fabric.switch.wiring import crossing_of

SMALL = Switch(4, 3, injecting=[0], exit="any")


def reference_of(network, **more):
    switch = network.switch
    geometry = {
        "height": switch.height,
        "angles": switch.angles,
        "crossing": switch.crossing,
        "exit_rule": switch.exit,
        "injecting": switch.injecting,
    }
    shape = {"levels": network.levels, "ports": network.ports, "planes": network.planes}
    return ReferenceNetwork(geometry, link=network.link, **shape, **more)


# --- shape


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_have_the_published_levels_and_all_their_links(preset):
    network = Network(preset)
    ports, bits = network.ports, int(preset[3:])
    assert ports == 2**bits
    assert network.levels == (1 if ports <= 64 else 2 if ports <= 2048 else 3)
    assert network.planes == 16
    half = network.radix // 2
    lower, top = network.switches[:-1], network.switches[-1]
    assert all(count * half == ports for count in lower)
    assert top * network.radix == ports
    assert network.nodes == 16 * sum(network.switches) * network.switch.nodes


def test_the_largest_preset_has_5120_switches_on_each_plane():
    assert sum(Network("dv216").switches) == 5120


@pytest.mark.parametrize(
    ("radix", "levels"), [(4, 1), (4, 2), (4, 3), (8, 2), (8, 3), (12, 2), (12, 3), (6, 3)]
)
def test_every_size_that_is_allowed_is_wired_as_the_reference_says(radix, levels):
    height = radix & -radix
    switch = Switch(height, radix // height)
    for ports in sizes(radix, levels):
        network = Network(switch=switch, levels=levels, ports=ports, planes=1)
        graph, reference = network.graph(), reference_of(network)
        wanted = Counter()
        for level, count in enumerate(network.switches):
            for box in range(count):
                for port in range(radix):
                    there, *place = reference.end(level, box, port)
                    end = ("port", place[1]) if there < 0 else ("switch", there, place[0])
                    wanted[("switch", level, box), end] += 1
        switches = [edge for edge in graph.edges if edge[0][0] == "switch"]
        assert {edge: graph.edges[edge]["links"] for edge in switches} == wanted
        assert all(reverse in graph.edges for reverse in ((b, a) for a, b in graph.edges))


def test_two_ends_of_a_link_agree():
    for levels in (2, 3):
        for ports in sizes(8, levels):
            network = Network(
                switch=Switch(8, 2, injecting=1, exit="any"), levels=levels, ports=ports, planes=1
            )
            reference = reference_of(network)
            for level, count in enumerate(network.switches):
                for box in range(count):
                    for port in range(8):
                        there = reference.end(level, box, port)
                        assert there[0] < 0 or reference.end(*there) == (level, box, port)


# --- one level is a switch


@pytest.mark.parametrize("crossing", ["brc", "xor"])
@pytest.mark.parametrize("injection", ["drop", "queue"])
def test_one_level_and_one_plane_is_the_switch(crossing, injection):
    """The same trace, and links without length: every count is that of the switch."""
    switch = Switch(8, 3, crossing=crossing)
    random = np.random.default_rng(3)
    slot, source = np.nonzero(random.random((300, 24)) < 0.25)
    trace = (slot, source, random.integers(0, 24, slot.size))
    arguments = {"slots": 300, "warmup": 40, "pattern": "trace", "trace": trace}
    one = switch.run(None, injection=injection, **arguments)
    network = Network(switch=switch, levels=1, planes=1, link=0)
    run = network.run(None, injection=injection, **arguments)
    assert run.hops.tolist() == one.hops.tolist()
    assert run.latency.tolist() == one.latency.tolist()
    for name in ("offered_at", "accepted_at", "delivered_at"):
        assert np.array_equal(getattr(run, name)[0], getattr(one, name).ravel()), name
    assert np.array_equal(run.deflections[0], one.deflections)
    assert np.allclose(run.occupancy[0], one.occupancy)
    assert (run.in_flight, run.waiting, run.refused) == (one.in_flight, one.waiting, one.refused)


def test_a_link_only_delays_a_switch():
    """Exit `angle` delivers one packet per slot and output, so nothing waits behind it."""
    near, far = (Network(switch=Switch(8, 3), planes=2, link=link) for link in (0, 5))
    run, late = (network.run(0.2, 3000, 100) for network in (near, far))
    assert late.hops.tolist() == pytest.approx(run.hops.tolist(), abs=200)
    assert late.mean_latency - run.mean_latency == pytest.approx(10, abs=0.05)


# --- paths


class Traced(ReferenceNetwork):
    """Notes the output of every packet."""

    def leave(self, plane, level, box, packet):
        _, a, h = packet.path[-1][2]
        port = h if self.any else a * self.height + h
        self.seen[level, box][port] += 1
        self.ways.setdefault(id(packet), (packet, []))[1].append((level, box, port))
        super().leave(plane, level, box, packet)

    def deliver(self, plane, port, packet):
        self.arrived.append(self.ways.pop(id(packet)))
        super().deliver(plane, port, packet)


def traced(network, load=0.4, slots=800, **more):
    plain = reference_of(network, threshold=round(load * 2**32), **more)
    names = ("geometry", "levels", "ports", "planes", "link", "threshold", "permutation")
    made = Traced(**{name: getattr(plain, name) for name in names})
    made.seen = {place: Counter() for place in made.switches[0]}
    made.ways, made.arrived = {}, []
    for _ in range(slots):
        made.step()
    return made


def test_up_links_are_used_alike():
    network = Network(switch=SMALL, levels=3, planes=1, link=1)
    made = traced(network)
    for (level, box), ports in made.seen.items():
        if level < 2:
            up = [ports[2], ports[3]]
            assert min(up) > 100
            assert stats.chisquare(up).pvalue > 1e-5, (level, box)


def test_parallel_links_are_used_alike_and_groups_too():
    switch = Switch(8, 2, injecting=1, exit="any")
    network = Network(switch=switch, levels=2, ports=8, planes=1)  # 2 groups, 4 links to each
    made = traced(network)
    for (level, _), ports in made.seen.items():
        if level == 1:
            assert stats.chisquare([ports[port] for port in range(8)]).pvalue > 1e-5


def test_packets_go_no_higher_than_they_must_and_arrive_where_they_are_addressed():
    network = Network(switch=SMALL, levels=3, ports=16, planes=1)
    made = traced(network, slots=200)
    highest = Counter()
    for packet, way in made.arrived:
        levels = [level for level, _, _ in way]
        top = max(levels)
        assert levels == [*range(top + 1), *reversed(range(top))]
        highest[top] += 1
        (_, source, _), (_, leaf, port) = way[0], way[-1]
        assert leaf * 2 + port == packet.to
        assert (top == 0) == (source == leaf)
        assert (top <= 1) == (source // 2 == leaf // 2)
    assert min(highest.values()) > 50


# --- hops


def lonely_hops(switch):
    """Nodes that a packet alone visits in a switch with exit `any`, [input, output]."""
    n, height = switch.cylinders - 1, switch.height
    crossings = [crossing_of(switch.crossing, height, c, None) for c in range(n)]
    hops = np.full((height, height), n + 1)
    for source in range(height):
        for to in range(height):
            at = source
            for c in range(n):
                if (at ^ to) >> (n - 1 - c) & 1:
                    at = crossings[c][at]
                    hops[source, to] += 1
    return hops


def expected_hops(network):
    """Mean over all ways of all packets that meet nobody."""
    hops, shape = lonely_hops(network.switch), network.tree
    half, ports = network.radix // 2, network.ports
    if shape.levels == 1:
        return hops.mean()
    up, down = hops[:half, half:].mean(), hops[half:, :half].mean()
    turn = hops[:half, :half].mean()
    links = shape.parallel
    groups = network.radix // links
    between = np.mean(
        [
            hops[a * links : (a + 1) * links, b * links : (b + 1) * links].mean()
            for a in range(groups)
            for b in range(groups)
            if a != b
        ]
    )
    # at level 1 and above below the top a packet that turns goes to another child
    other = (hops[:half, :half].sum() - np.trace(hops[:half, :half])) / (half * (half - 1))
    mean, before = 0.0, 0
    for level in range(shape.levels):
        share = (shape.reach(level) - before) / ports
        before = shape.reach(level)
        last = between if level == shape.levels - 1 else turn if level == 0 else other
        mean += share * (level * (up + down) + last)
    return mean


@pytest.mark.parametrize("preset", ["dv203", "dv206", "dv207", "dv209"])
def test_mean_hops_at_low_load_are_those_of_packets_alone(preset):
    network = Network(preset, planes=4)
    run = network.run(0.01, 600_000 // network.ports, warmup=100)
    values = np.arange(run.hops.size)
    spread = (run.hops @ values**2 / run.delivered - run.mean_hops**2) ** 0.5
    error = 4 * spread / run.delivered**0.5
    met = 0.002 * run.mean_hops  # a few do meet
    assert error < 0.3
    assert run.mean_hops == pytest.approx(expected_hops(network), abs=error + met)


def test_mean_hops_of_one_level_are_the_published_law():
    assert lonely_hops(Network("dv206").switch).mean() == 1.5 * 6 + 1


def test_three_levels_of_small_switches_have_the_hops_of_packets_alone():
    network = Network(switch=SMALL, levels=3, planes=16)
    run = network.run(0.002, 40_000)
    assert run.mean_hops == pytest.approx(expected_hops(network), rel=0.01)


def test_latency_at_low_load_is_hops_and_links():
    network = Network("dv207", planes=4, link=3)
    run = network.run(0.002, 4000, warmup=200)
    far = 1 - 32 / 128
    assert run.mean_latency - run.mean_hops == pytest.approx(3 * (2 + 2 * far), abs=0.15)


# --- what is sent


def test_words_are_spread_over_the_planes_by_the_rule():
    network = Network("dv203", planes=5)
    simulation = network.start(injection="given")
    simulation.send(3, 6, 7, 0)  # planes 3 4 0 1 2 3 4
    simulation.send(3, 1, 2, 1)  # planes 0 1
    simulation.run(100)
    run = simulation.result()
    assert run.accepted_at[:, 3].tolist() == [2, 2, 1, 2, 2]
    assert run.delivered_at[:, 6].tolist() == [1, 1, 1, 2, 2]
    assert run.delivered_at[:, 1].tolist() == [1, 1, 0, 0, 0]
    trace = ([0, 0, 0, 9], [3, 3, 2, 3], [1, 1, 1, 1])
    run = network.run(None, 50, pattern="trace", trace=trace)
    assert run.offered_at[:, 3].tolist() == [1, 0, 0, 1, 1]
    assert run.offered_at[:, 2].tolist() == [0, 0, 1, 0, 0]


def test_bursts_of_a_port_arrive_whole_and_in_order():
    network = Network("dv207")
    simulation = network.start(injection="given", threads=2)
    sizes_of = {handle: 1 + 37 * handle % 500 for handle in range(40)}
    for handle, words in sizes_of.items():
        simulation.send(5, 100, words, handle)
    simulation.run(2000)
    done = simulation.completions()
    # a plane keeps the order; two bursts that share no plane may change places by some slots
    assert sorted(done.handle.tolist()) == list(sizes_of)
    assert np.abs(done.handle - np.arange(40)).max() <= 3
    assert (np.diff(done.last_slot) >= 0).all()
    assert (done.first_slot <= done.last_slot).all()
    run = simulation.result()
    assert run.offered == run.delivered == sum(sizes_of.values())
    assert run.waiting == run.in_flight == 0


def test_a_burst_alone_takes_a_word_per_plane_and_slot():
    network = Network("dv203", link=4)
    simulation = network.start(injection="given")
    simulation.send(0, 7, 1, 5)
    simulation.run(100)
    first = simulation.completions()
    assert first.first_slot.tolist() == first.last_slot.tolist()
    fewest, most = 4 + 4 + 4, 4 + 7 + 4  # hops from 4 to 7, a link on both sides
    assert fewest <= first.first_slot[0] <= most
    begin = simulation.now
    simulation.send(0, 7, 16 * 1000, 6)
    ran = simulation.run_until(5000)
    done = simulation.completions()
    assert done.handle.tolist() == [6]
    assert done.last_slot[0] == begin + ran - 1 == simulation.now - 1
    assert 1000 + fewest <= ran <= 1000 + most + 20


def test_two_who_send_to_one_share_its_links():
    network = Network("dv203")
    simulation = network.start(injection="given")
    for source in (1, 2):
        simulation.send(source, 5, 16 * 500, source)
    simulation.run(2000)
    assert 1000 <= simulation.completions().last_slot[-1] <= 1080


# --- flow


@pytest.mark.parametrize(
    ("network", "loads"),
    [
        (Network("dv204", planes=1), (0.2, 0.8)),
        (Network(switch=Switch(4, 2), levels=2, planes=1, link=1), (0.05, 0.25)),
        (Network(switch=SMALL, levels=3, planes=1, link=2), (0.2, 0.6)),
    ],
)
@pytest.mark.parametrize("injection", ["drop", "queue"])
def test_flow_is_as_near_to_the_cycle_level_as_it_says(
    network, loads, injection, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for load in loads:
        flow = network.run(load, 4000, 300, injection=injection, fidelity="flow")
        exact = network.run(load, 4000, 300, seed=2, injection=injection)
        assert flow.error.latency < 0.04
        assert flow.error.throughput < 0.04
        assert flow.mean_latency == pytest.approx(exact.mean_latency, rel=0.05)
        assert flow.mean_hops == pytest.approx(exact.mean_hops, rel=0.02)
        assert flow.throughput == pytest.approx(exact.throughput, rel=0.03)
        assert flow.acceptance == pytest.approx(exact.acceptance, abs=0.02)
        assert flow.quantile(0.99) == pytest.approx(exact.quantile(0.99), rel=0.12)
        assert flow.in_flight == pytest.approx(exact.in_flight, rel=0.25)
        assert flow.blocked == pytest.approx(exact.blocked, abs=0.03)
        assert flow.occupancy == pytest.approx(exact.occupancy, abs=0.02)


def test_flow_says_what_is_beyond_saturation(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    network = Network(switch=Switch(4, 3), levels=2, planes=1, link=1)
    run = network.run(0.6, 1000, injection="queue", fidelity="flow")
    assert not run.settled
    assert "beyond saturation: switches of level 0" in run.notes[0]
    assert run.throughput < 0.35
