"""Does `dvsim.Network` do what its documentation says?"""

import time
from dataclasses import replace

import numpy as np
import pytest

import dvsim
from dvsim.fabric.network import Network, flow, network, units
from dvsim.fabric.switch import Switch
from dvsim.scenario.card import load_card
from dvsim.scenario.types import slot_of

LEAF = Switch(4, 3, injecting=[1], exit="any")
SMALL = Network(switch=LEAF, levels=2, planes=3, link=1)
KINDS = [
    {"load": 0.6},
    {"load": 0.6, "injection": "queue"},
    {"load": None, "injection": "saturate"},
    {"load": 0.2, "pattern": "bursty", "burst": 5, "duty": 0.5, "injection": "queue"},
    {"load": 0.4, "pattern": "hot-spot", "hot": (0.2, [1, 2])},
    {"load": 0.4, "pattern": "shuffle"},
    {"load": 0.4, "pattern": "permutation", "permutation": [3, 2, 1, 0, 7, 6, 5, 4]},
]


def content(run):
    """Everything a run says, as bytes."""
    arrays = [array.tobytes() for array in run.counts if isinstance(array, np.ndarray)]
    numbers = [number for number in run.counts if not isinstance(number, np.ndarray)]
    return arrays, numbers, run.notes, repr(run)


def test_it_is_exported():
    assert dvsim.Network is Network


def test_slot_and_link_come_from_the_card():
    card = load_card("data-vortex-8")
    found = Network("dv203")
    assert found.planes == card["planes"]
    assert found.slot_ps == slot_of(card)
    assert found.link == -(-card["link"] // found.slot_ps)
    assert Network("dv203", planes=4).slot_ps == pytest.approx(found.slot_ps / 4, abs=1)
    parameters = dict(card.parameters)
    parameters["switch_angles"] = replace(parameters["switch_angles"], value=4)
    assert Network("dv203", card=replace(card, parameters=parameters)).switch.angles == 4


def test_equal_networks_are_equal():
    assert Network("dv206") == Network("dv206")
    assert hash(Network("dv206")) == hash(Network("dv206"))
    assert Network("dv206") != Network("dv206", planes=4)
    assert Network("dv206") != "dv206"
    own = Switch(64, 6, injecting=[0], exit="any")
    assert Network("dv206") == Network(switch=own)


def test_properties_say_what_there_is():
    assert (SMALL.ports, SMALL.levels, SMALL.switches, SMALL.radix) == (8, 2, (4, 2), 4)
    assert (SMALL.planes, SMALL.inputs, SMALL.link) == (3, 8, 1)
    assert SMALL.nodes == 3 * 6 * LEAF.nodes
    assert repr(SMALL) == ("<Network 8 ports, 3 planes of 4 + 2 switches 4 x 3, link 1 slots>")
    assert "dv203, 8 ports" in repr(Network("dv203"))


@pytest.mark.parametrize("kind", KINDS)
def test_threads_do_not_change_a_byte(kind):
    one = content(SMALL.run(slots=200, warmup=30, threads=1, **kind))
    assert content(SMALL.run(slots=200, warmup=30, threads=2, **kind)) == one
    assert content(SMALL.run(slots=200, warmup=30, threads=3, **kind)) == one


def test_steps_do_not_change_a_byte():
    simulation = SMALL.start(0.5, seed=4)
    for slots in (20, 1, 0, 279, 400):
        simulation.run(slots)
    assert content(simulation.result()) == content(SMALL.run(0.5, 700, seed=4))


def test_the_seed_decides_and_planes_are_apart():
    assert content(SMALL.run(0.5, 200, seed=7)) == content(SMALL.run(0.5, 200, seed=7))
    assert content(SMALL.run(0.5, 200, seed=7)) != content(SMALL.run(0.5, 200, seed=8))
    offered = SMALL.run(0.5, 200).offered_at
    assert not np.array_equal(offered[0], offered[1])


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_accepted_is_delivered_or_in_flight(kind):
    run = SMALL.run(slots=300, **kind)
    assert run.accepted == run.delivered + run.in_flight
    assert run.hops.sum() == run.latency.sum() == run.delivered
    assert run.delivered_at.sum() == run.delivered
    assert run.throughput == run.delivered / (300 * 8 * 3)
    if kind.get("injection", "drop") == "queue":
        assert run.offered == run.accepted + run.waiting
    if kind.get("injection", "drop") == "drop":
        assert run.refused == run.offered - run.accepted


def test_figures_have_their_shapes():
    run = SMALL.run(0.5, 400, warmup=50)
    assert run.offered_at.shape == run.accepted_at.shape == run.delivered_at.shape == (3, 8)
    assert run.blocked.shape == (2, 2)
    assert run.occupancy.shape == (2, 3)
    assert run.queues.peak.shape == run.queues.mean.shape == (2, 2)
    # in each slot a link passes the throughput that goes its way, and what waits is more
    assert run.queues.mean[0, 1] >= run.throughput * 0.99
    assert run.queues.mean[1, 0] == 0  # nothing goes up from the top
    assert run.queues.peak[0, 1] >= 2
    frame = run.to_frame()
    assert list(frame.columns) == ["hops", "latency"]
    assert frame["hops"].sum() == run.delivered
    assert run.quantile(0.5) <= run.quantile(0.99)
    assert run.fidelity == "cycle"
    assert run.error is None
    assert repr(run).startswith("<NetworkRun 8 ports x 3, uniform at load 0.5, drop, 400 slots")


def test_a_run_that_has_not_settled_says_so():
    run = Network(switch=Switch(4, 3), levels=2, planes=1).run(0.7, 2000, injection="queue")
    assert not run.settled
    assert "queues grew" in run.notes[0]
    assert "NOT SETTLED" in repr(run)


def test_permutation_goes_where_it_says():
    order = [3, 2, 1, 0, 7, 6, 5, 4]
    run = SMALL.run(0.3, 500, pattern="permutation", permutation=order)
    assert run.delivered_at[:, order] == pytest.approx(run.accepted_at, abs=8)


def test_random_crossing_is_drawn_from_the_seed():
    found = Network(switch=Switch(8, 2, 1, "random", "any"), levels=2, planes=1)
    assert content(found.run(0.5, 200, seed=3)) == content(found.run(0.5, 200, seed=3))


def test_memory_is_stated_before_it_is_taken(monkeypatch):
    assert Network("dv216", planes=1).memory > 5120 * 64 * 6 * 7 * 8
    assert 1 < Network("dv216").memory / Network("dv216", planes=1).memory < 17
    monkeypatch.setattr("dvsim.core.arrays.available_bytes", lambda: 4_096)
    with pytest.raises(MemoryError, match=r"the network needs [\d,]+ B of memory, 4,096 B are"):
        SMALL.run(0.5, 1)


def test_completions_are_those_of_the_last_call():
    simulation = SMALL.start(injection="given")
    simulation.send(0, 7, 5, 11)
    assert simulation.run_until(1000) < 60
    assert simulation.completions().handle.tolist() == [11]
    simulation.run(10)
    assert simulation.completions().handle.tolist() == []
    assert simulation.run_until(500) == 500
    simulation.send(0, 7, 2, 12)
    simulation.send(1, 6, 2, 13)
    simulation.run(200)
    assert sorted(simulation.completions().handle.tolist()) == [12, 13]


def test_an_idle_network_lets_slots_pass():
    simulation = Network("dv216", planes=1).start(injection="given")
    begin = time.perf_counter()
    simulation.run(10**12)
    assert simulation.now == 10**12
    assert time.perf_counter() - begin < 30  # and not for ever


# --- fidelity


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("dvsim.fabric.network.units._MEMORY", {})
    monkeypatch.setattr("dvsim.fabric.network.units.INPUT_SLOTS", 20_000)
    return tmp_path / "dvsim"


def test_auto_takes_the_cycle_level_where_it_can(cache, monkeypatch):
    assert SMALL.run(0.3, 100, fidelity="auto").fidelity == "cycle"
    monkeypatch.setattr(network, "MOST_UPDATES", 1000)
    assert SMALL.run(0.3, 100, fidelity="auto").fidelity == "flow"
    assert SMALL.run(0.3, 100, pattern="shuffle", fidelity="auto").fidelity == "cycle"
    assert SMALL.run(None, 100, injection="saturate", fidelity="auto").fidelity == "cycle"


def test_flow_has_the_figures_of_any_run_and_its_error(cache):
    run = SMALL.run(0.3, 1000, fidelity="flow", injection="queue")
    assert run.fidelity == "flow"
    assert run.error.ports == 8
    assert "flow: latency within" in repr(run)
    assert run.offered == pytest.approx(0.3 * 1000 * 8 * 3, abs=1)
    assert run.hops.sum() == run.latency.sum() == run.delivered
    assert run.offered_at.shape == (3, 8)
    assert run.blocked.shape == (2, 2)
    assert run.settled
    assert run.in_flight > 0


def test_the_error_is_how_far_the_estimate_is_from_the_cycle_level(cache, monkeypatch):
    exact = flow.estimate

    def wrong(*how):
        found = exact(*how)
        later = np.concatenate([np.zeros(5), found.latency])
        return found._replace(delivered=1.2 * found.delivered, latency=later)

    good = SMALL.run(0.3, 1000, fidelity="flow", injection="queue")
    monkeypatch.setattr(flow, "estimate", wrong)
    monkeypatch.setattr(flow, "kept", lambda what, measure, **how: measure())
    bad = SMALL.run(0.3, 1000, fidelity="flow", injection="queue")
    assert bad.error.throughput == pytest.approx(0.2, abs=1.2 * good.error.throughput + 1e-9)
    assert bad.error.latency == pytest.approx(5 / good.mean_latency, rel=0.1)


def test_between_two_tables_it_is_interpolated(cache):
    part = flow.parts_of(SMALL.tree)[0]
    low, high, between = (
        units.unit_of(LEAF, part, step / units.STEPS, "queue") for step in (40, 41, 40.25)
    )
    assert low.wait < high.wait
    for name in ("latency", "hops"):
        means = [units.mean_of(getattr(unit, name)) for unit in (low, high, between)]
        assert means[0] != means[1]
        assert means[2] == pytest.approx(0.75 * means[0] + 0.25 * means[1])


def test_flow_of_no_load_is_empty(cache):
    run = SMALL.run(0.0, 1000, fidelity="flow")
    assert run.delivered == 0
    assert np.isnan(run.mean_latency)


def test_tables_are_kept_and_make_no_difference(cache):
    first = content(SMALL.run(0.3, 1000, fidelity="flow"))
    files = sorted(cache.iterdir())
    assert files
    assert content(SMALL.run(0.3, 1000, fidelity="flow")) == first
    flow.kept.__globals__["_MEMORY"].clear()
    before = [path.stat().st_mtime_ns for path in files]
    assert content(SMALL.run(0.3, 1000, fidelity="flow")) == first
    assert [path.stat().st_mtime_ns for path in files] == before


def test_a_table_of_other_code_is_not_used(cache, monkeypatch):
    SMALL.run(0.3, 1000, fidelity="flow")
    files = set(cache.iterdir())
    flow.kept.__globals__["_MEMORY"].clear()
    monkeypatch.setattr("dvsim.fabric.network.units._room", lambda: "another")
    SMALL.run(0.3, 1000, fidelity="flow")
    assert len(set(cache.iterdir()) - files) == len(files)


@pytest.mark.parametrize("damage", [b"", b"nonsense", b"a\nb\n", b"\xff\xfe\n"])
def test_a_damaged_table_is_made_again(cache, damage):
    first = content(SMALL.run(0.3, 1000, fidelity="flow"))
    for path in cache.iterdir():
        path.write_bytes(damage)
    flow.kept.__globals__["_MEMORY"].clear()
    assert content(SMALL.run(0.3, 1000, fidelity="flow")) == first
    assert damage not in [path.read_bytes() for path in cache.iterdir()]


def test_a_cache_that_cannot_be_written_is_no_error(cache):
    cache.write_text("not a folder")
    assert SMALL.run(0.3, 1000, fidelity="flow").delivered > 0


def test_the_error_of_a_large_network_is_that_of_a_smaller_one(cache, monkeypatch):
    large = Network(switch=LEAF, levels=3, planes=1, link=1)
    monkeypatch.setattr(flow, "MOST_UPDATES", 500_000)
    monkeypatch.setattr(flow, "FEWEST_SLOTS", 1000)
    run = large.run(0.3, 1000, fidelity="flow")
    assert run.error.ports == 8 < large.ports == 16
    assert f"at {run.error.ports} ports" in repr(run)
