"""Does a run of a switch say what it counted, and give the same bytes again?"""

import numpy as np
import pytest
from switch_runs import KINDS, SMALL, content

from dvsim.fabric.network import Network
from dvsim.fabric.switch import Fault, Switch, Traffic, replication_seed


def test_shape_of_the_published_prototype():
    switch = Switch(4, 3)
    assert (switch.cylinders, switch.nodes, switch.inputs, switch.outputs) == (3, 36, 12, 12)


def test_exit_any_has_one_output_per_height_and_few_angles_may_inject():
    switch = Switch(8, 6, injecting=[2], exit="any")
    assert (switch.inputs, switch.outputs, switch.injecting) == (8, 8, (2,))
    assert Switch(8, 6, injecting=2).injecting == (0, 1)
    assert Switch(8, 6).injecting == tuple(range(6))


def test_packets_are_conserved():
    run = SMALL.run(0.7, 500, seed=3)
    assert run.offered == run.accepted + run.refused
    assert run.accepted == run.delivered + run.in_flight
    assert (run.lost, run.waiting) == (0, 0)


def test_traffic_as_a_value_is_the_same_as_its_keywords():
    hot = Traffic(0.7, "hot-spot", "queue", hot=(0.5, [0]))
    plain = SMALL.run(0.7, 500, seed=3, pattern="hot-spot", injection="queue", hot=(0.5, [0]))
    assert content(SMALL.run(hot, 500, seed=3)) == content(plain)
    network = Network("dv203")
    keywords = network.run(0.7, 50, pattern="hot-spot", injection="queue", hot=(0.5, [0]))
    assert network.run(hot, 50).latency.tolist() == keywords.latency.tolist()


@pytest.mark.parametrize("more", [{"pattern": "bursty"}, {"injection": "queue"}, {"burst": 4}])
def test_nothing_of_the_traffic_goes_beside_it(more):
    with pytest.raises(ValueError, match=f"{next(iter(more))} is part of the traffic"):
        SMALL.run(Traffic(0.7), 500, **more)


def test_packets_are_conserved_with_queues():
    run = SMALL.run(0.7, 500, injection="queue")
    assert run.offered == run.accepted + run.waiting
    assert run.refused == 0


def test_packets_are_conserved_with_faults():
    switch = Switch(8, 3, faults=[Fault("stay", 0, 1, 2), ("free", 1, 0, 0), ("node", 3, 0, 5)])
    run = switch.run(0.7, 500)
    assert run.lost > 0
    assert run.accepted == run.delivered + run.lost + run.in_flight
    assert run.lost_at.sum() == run.lost


def test_figures_are_ratios_of_the_counts():
    run = SMALL.run(0.4, 300, warmup=50)
    assert (run.slots, run.warmup) == (300, 50)
    assert run.throughput == run.delivered / (300 * 24)
    assert run.acceptance == run.accepted / run.offered
    assert run.hops.sum() == run.latency.sum() == run.delivered
    assert run.mean_hops == pytest.approx(np.repeat(np.arange(run.hops.size), run.hops).mean())
    assert run.blocked == pytest.approx(run.deflections / run.wanted)
    assert run.occupancy.shape == (4,)
    assert run.blocked.shape == run.deflections.shape == (3,)


def test_latency_without_queues_is_hops():
    run = SMALL.run(0.4, 300)
    assert np.array_equal(run.hops, run.latency)


def test_quantile_is_that_of_the_packets():
    run = SMALL.run(0.3, 400, injection="queue")
    latencies = np.repeat(np.arange(run.latency.size), run.latency)
    for q in (0, 0.25, 0.5, 0.99, 1):
        assert run.quantile(q) == np.quantile(latencies, q, method="inverted_cdf")


def test_ports_have_the_shape_of_the_switch():
    assert SMALL.run(0.4, 50).offered_at.shape == (3, 8)
    assert SMALL.run(0.4, 50, replications=2).delivered_at.shape == (2, 3, 8)
    few = Switch(8, 3, injecting=[1]).run(1, 50)
    assert few.offered_at[1].tolist() == [50] * 8
    assert few.offered_at[[0, 2]].sum() == 0


def test_histograms_as_a_table():
    run = SMALL.run(0.4, 300)
    frame = run.to_frame()
    assert frame["hops"].sum() == frame["latency"].sum() == run.delivered
    assert frame.index.name == "value"


def test_nothing_offered_is_no_number():
    run = SMALL.run(0, 100)
    assert np.isnan([run.acceptance, run.mean_hops, run.mean_latency]).all()
    with pytest.raises(ValueError, match="no packet was delivered"):
        run.quantile(0.5)


@pytest.mark.parametrize(
    ("traffic", "to"),
    [
        ("bit-complement", lambda h: 15 - h),
        ("shuffle", lambda h: (h << 1 | h >> 3) & 15),
        ("transpose", lambda h: (h << 2 | h >> 2) & 15),
    ],
)
def test_permutations_go_where_they_say(traffic, to):
    run = Switch(16, 2, injecting=1).run(0.1, 400, pattern=traffic, watch=50)
    assert {(path.source, path.destination) for path in run.paths} == {
        (h, to(h)) for h in range(16)
    }


def test_permutation_of_the_caller():
    heights = [3, 0, 2, 1]
    run = Switch(4, 2).run(0.1, 400, pattern="permutation", permutation=heights, watch=80)
    ways = {(path.source, path.destination) for path in run.paths}
    assert ways == {(4 * a + h, 4 * a + heights[h]) for a in range(2) for h in range(4)}


def test_a_hot_spot_may_be_written_as_in_a_file():
    how = {"slots": 2000, "pattern": "hot-spot"}
    table = SMALL.run(0.1, hot={"outputs": [13], "fraction": 0.25}, **how)
    assert table.delivered == SMALL.run(0.1, hot=(0.25, [13]), **how).delivered


def test_hot_spot_takes_its_share():
    run = SMALL.run(0.1, 20_000, pattern="hot-spot", hot=(0.25, [13]))
    share = run.delivered_at[1, 5] / run.delivered
    assert share == pytest.approx(0.25 + 0.75 / 24, abs=0.01)


def test_bursts_keep_the_load_and_the_output():
    run = SMALL.run(0.1, 20_000, pattern="bursty", burst=8, duty=0.4, watch=500)
    assert run.offered / (20_000 * 24) == pytest.approx(0.1, rel=0.1)
    targets = {}
    for path in run.paths:
        targets.setdefault((path.source, path.steps[0].slot // 8), set()).add(path.destination)
    assert all(len(outputs) == 1 for outputs in targets.values())
    assert len(run.paths) > 2 * len(targets)


def test_trace_from_a_file_and_from_arrays_is_the_same(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text("slot,input,output\n0,3,9\n0,4,23\n7,3,0\n")
    read = SMALL.run(None, 50, pattern="trace", trace=path, watch=9)
    arrays = ([0, 0, 7], [3, 4, 3], [9, 23, 0])
    given = SMALL.run(None, 50, pattern="trace", trace=arrays, watch=9)
    assert read.paths == given.paths
    found = [(way.steps[0].slot, way.source, way.destination) for way in read.paths]
    assert sorted(found) == [(0, 3, 9), (0, 4, 23), (7, 3, 0)]
    assert read.delivered == 3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("crossing", ["brc", "xor", "random"])
def test_threads_do_not_change_a_byte(kind, crossing):
    switch = Switch(16, 5, crossing=crossing)
    one = content(switch.run(slots=300, warmup=30, threads=1, **kind))
    assert content(switch.run(slots=300, warmup=30, threads=2, **kind)) == one
    assert content(switch.run(slots=300, warmup=30, threads=5, **kind)) == one


def test_the_seed_decides():
    assert content(SMALL.run(0.5, 200, seed=7)) == content(SMALL.run(0.5, 200, seed=7))
    assert content(SMALL.run(0.5, 200, seed=7)) != content(SMALL.run(0.5, 200, seed=8))


def test_the_seed_draws_the_wiring_of_crossing_random():
    switch = Switch(16, 2, crossing="random")
    assert set(switch.graph(seed=1).edges) == set(switch.graph(seed=1).edges)
    assert set(switch.graph(seed=1).edges) != set(switch.graph(seed=2).edges)


def test_steps_do_not_change_a_byte():
    simulation = SMALL.start(0.5, seed=4)
    for slots in (20, 1, 0, 279, 400):
        simulation.run(slots)
    assert content(simulation.result()) == content(SMALL.run(0.5, 700, seed=4))


@pytest.mark.parametrize("kind", KINDS)
def test_replications_are_runs_with_the_documented_seeds(kind):
    kind = kind | {"replications": 3}
    together = SMALL.run(slots=200, warmup=20, seed=9, **kind)
    alone = [
        SMALL.run(
            slots=200, warmup=20, **(kind | {"seed": replication_seed(9, r), "replications": 1})
        )
        for r in range(3)
    ]
    for name in ("offered_at", "accepted_at", "delivered_at"):
        assert np.array_equal(getattr(together, name), [getattr(run, name) for run in alone])
    assert together.throughputs.tolist() == [run.throughput for run in alone]
    assert together.throughput == pytest.approx(together.throughputs.mean())
    assert together.deflections.tolist() == sum(run.deflections for run in alone).tolist()


def test_what_does_not_fit_is_refused_before_it_is_allocated():
    with pytest.raises(MemoryError, match=r"the switch needs [\d,]{15,} B of memory, [\d,]+ B are"):
        Switch(1 << 20, 4096).run(0.5, 1)


def test_memory_needed_and_available_are_said(monkeypatch):
    monkeypatch.setattr("dvsim.core.arrays.available_bytes", lambda: 4_096)
    with pytest.raises(MemoryError, match=r"needs \d\d,\d{3} B of memory, 4,096 B are available"):
        SMALL.run(0.5, 1)


def test_every_name_of_the_room_is_there():
    import dvsim.fabric.switch as room

    assert all(hasattr(room, name) for name in room.__all__)
