"""Does a replay in the C core give the times of LogGOPS, to the picosecond, and explain them?"""

import random
from dataclasses import replace

import numpy as np
import pytest
from reference_loggops import LogGOPS

from dvsim.core.replay import DONE, Costs, ReplayCore
from dvsim.errors import RunFailed
from dvsim.kinds.workload.check import COLLECTIVE_TAG
from dvsim.kinds.workload.fabrics import choose
from dvsim.kinds.workload.graph import ANY, RECV, SEND, Builder
from dvsim.kinds.workload.replay import prepared, replay_graph

USUAL = {"L": 2500, "o": 1500, "g": 1000, "G": 6, "O": 0, "S": 65535}


def replayed(graph, **parameters):
    one = USUAL | parameters
    fixed = (one[name] * 1000 for name in "Log")
    core = ReplayCore(graph, Costs(*fixed, one["G"] * 10**6, one["O"] * 10**6, one["S"]))
    core.run()
    return core


def program(draw, ranks, messages, cpus, wild, dense):
    """Return a random program; some of its receives may never get a message."""
    builder, by_rank = Builder(ranks), [[] for _ in range(ranks)]
    for _ in range(messages):
        source, target = draw.randrange(ranks), draw.randrange(ranks)
        size, tag = draw.choice([0, 1, 8, 100, 1000, 5000]), draw.randrange(3)
        mine, other = ({"cpu": draw.randrange(cpus), "nic": draw.randrange(cpus)} for _ in range(2))
        by_rank[source].append(builder.send(source, target, size, tag, **mine))
        peer = ANY if draw.random() < wild else source
        label = ANY if draw.random() < wild else tag
        by_rank[target].append(builder.recv(target, peer, size, label, **other))
        if draw.random() < 0.3:
            by_rank[source].append(builder.calc(source, draw.randrange(3000) * 1000))
    for operations in by_rank:
        for place in range(1, len(operations)):
            if draw.random() < dense:
                started = draw.random() >= 0.6
                before = operations[draw.randrange(place)]
                builder.require(operations[place], before, started=started)
    return builder.build()


@pytest.mark.parametrize("seed", range(40))
def test_equals_the_plain_reference(seed):
    draw = random.Random(seed)
    messages = 200 if seed % 4 == 0 else draw.randrange(1, 60)
    cpus, wild, dense = draw.choice([1, 1, 2]), draw.choice([0, 0.3]), draw.choice([0.05, 0.5, 0.9])
    graph = program(draw, draw.randrange(1, 7), messages, cpus, wild, dense)
    slopes = {"G": draw.choice([0, 2, 6]), "O": draw.choice([0, 3]), "S": draw.choice([50, 65535])}
    parameters = {"L": 500, "o": 100, "g": 200} | slopes
    reference = LogGOPS(graph, parameters)
    expected = reference.times()
    core = replayed(graph, **parameters)
    assert (core.course.finish // 1000).tolist() == expected
    assert core.done == reference.done
    if cpus == 1:
        for last in np.flatnonzero(core.course.state == DONE).tolist():
            path, _ = core.path(last)
            assert min(path) >= 0
            assert sum(path[:-1]) == core.course.end[last]


def test_more_than_sixteen_that_are_free_at_once_start_as_in_loggopsim():
    builder = Builder(2)
    for number in range(40):
        builder.send(0, 1, 10 * number)
        builder.recv(1, 0, 10 * number)
    core = replayed(builder.build())
    assert core.course.begin[0] > 0  # a stable order would start with it
    assert core.course.begin[:40].min() == 0


def test_a_message_costs_what_loggops_says():
    builder = Builder(2)
    builder.recv(1, 0, 1001)
    builder.send(0, 1, 1001)
    core = replayed(builder.build(), O=1)
    assert (core.course.finish // 1000).tolist() == [1500 + 1000, 1500 + 2500 + 1500 + 6000]
    path, way = core.path(1, 5)
    assert path == (0, 3_000_000, 2_500_000, 6_000_000, 0, 0, 2)
    assert way.tolist() == [1, 0]


def test_the_sender_of_a_large_message_waits_for_its_receive():
    builder = Builder(2)
    sent = builder.send(0, 1, 100)
    builder.calc(0, 7000, after=[sent])
    busy = builder.calc(1, 50_000_000)
    builder.recv(1, 0, 100, after=[busy])
    core = replayed(builder.build(), S=99)
    assert (core.course.finish // 1000).tolist() == [50_000 + 7, 50_000 + 1500 + 594]
    assert core.path(1)[0].compute == 50_007_000


def test_the_receivers_work_is_on_the_path_and_not_contention():
    builder = Builder(2)
    builder.send(0, 1, 1)
    builder.calc(1, 9_000_000)
    builder.recv(1, 0, 1)
    path, _ = replayed(builder.build()).path(2)
    assert (path.compute, path.overhead, path.contention) == (9_000_000, 1_500_000, 0)


def test_messages_that_come_while_the_receiver_computes_wait_for_that_and_for_each_other():
    builder = Builder(3)
    builder.send(0, 2, 1)
    builder.send(1, 2, 1, after=[builder.calc(1, 1000)])
    builder.recv(2, 0, 1)
    builder.recv(2, 1, 1)
    builder.calc(2, 9_000_000)
    graph = builder.build()
    core = replayed(graph)
    last = 4  # the message of rank 1 is handled behind that of rank 0
    assert graph.told(last).endswith("recv 1 B from 1, tag 0")
    assert core.course.end[last] == 9_000_000 + 2 * 1_500_000
    path, way = core.path(last, 5)
    assert (path.compute, path.overhead, path.contention) == (9_000_000, 1_500_000, 1_500_000)
    assert way.tolist() == [last, 5]


def test_many_operations_at_once_are_those_of_single_calls():
    builder = Builder(3)
    kinds, ranks = [SEND, RECV, SEND, RECV], [0, 1, 1, 2]
    made = builder.extend(ranks, kinds, [1, 0, 2, 1], 64, 3)
    builder.require_many(made[2:3], made[1:2])
    single = Builder(3)
    single.send(0, 1, 64, 3)
    received = single.recv(1, 0, 64, 3)
    single.send(1, 2, 64, 3, after=[received])
    single.recv(2, 1, 64, 3)
    assert builder.build().digest == single.build().digest


def test_a_receive_of_any_tag_leaves_messages_of_collectives_alone():
    builder = Builder(2)
    collective = builder.send(0, 1, 8, COLLECTIVE_TAG)
    own = builder.send(0, 1, 8, 5, after=[collective])
    any_tag = builder.recv(1, 0, 8, ANY)
    of_collective = builder.recv(1, 0, 8, COLLECTIVE_TAG)
    graph = builder.build()
    assert replayed(graph).course.pair[any_tag] == collective
    pairs = replayed(replace(graph, expanded=True)).course.pair
    assert (pairs[any_tag], pairs[of_collective]) == (own, collective)


def test_the_same_where_the_messages_are_there_first():
    builder = Builder(2)
    collective = builder.send(0, 1, 8, COLLECTIVE_TAG)
    own = builder.send(0, 1, 8, 5, after=[collective])
    later = builder.calc(1, 10**9)
    any_tag = builder.recv(1, ANY, 8, ANY, after=[later])
    builder.recv(1, 0, 8, COLLECTIVE_TAG, after=[any_tag])
    graph = replace(builder.build(), expanded=True)
    assert replayed(graph).course.pair[any_tag] == own


@pytest.mark.parametrize(
    ("fabric", "settings", "faults"),
    [
        ("loggops", {}, ()),
        ("loggops", {"O": "9000 s"}, ()),
        ("loggops", {"G": "9000 s"}, ()),
        ("loggops", {"L": "900000 s"}, ()),
        ("dv202", {"O": "9000 s"}, ()),
        ("dv202", {"rate": "1 B/s", "L": "300000 s"}, ()),
        ("dv202", {"L": "9000000 s"}, ()),
        ("dv202", {}, ["lossy port=0 chance=0.5 again=900000s"]),
        ("dv202", {"fidelity": "cycle", "o": "900000 s"}, ()),
    ],
)
def test_times_beyond_what_can_be_counted_are_refused(fabric, settings, faults):
    builder, last = Builder(2), [[], []]
    for number in range(8):
        own, other = number % 2, 1 - number % 2
        computed = builder.calc(own, 1 if settings or faults else 10**18, after=last[own])
        builder.send(own, other, 4096, after=[computed])
        last[other] = [builder.recv(other, own, 4096)]
    graph = builder.build()
    with pytest.raises(RunFailed, match="takes more than 26 days, the longest time of a replay"):
        replay_graph(graph, choose(fabric, settings, 2, faults))


@pytest.mark.parametrize(("compute", "slower"), [(1e6, None), (1.0, (0, 1e6)), (1e6, (0, 1e6))])
def test_scaled_computing_is_never_less(compute, slower):
    builder = Builder(2)
    builder.calc(0, 10**15)
    graph = prepared(builder.build(), compute, slower)
    assert graph.size.tolist() == [2**62]  # of 10^21 or 10^27
    with pytest.raises(RunFailed, match="takes more than 26 days"):
        replay_graph(graph, choose("loggops", {}))
