"""Does the interval probe count what a poll would see?"""

import numpy as np
import pytest

from dvsim.contract.load import load_card
from dvsim.core import VortexCard
from dvsim.core.probe import BatchProbe, IntervalProbe

CARD = load_card("data-vortex-8")


def probe(message_bytes, interval_ps):
    return IntervalProbe(VortexCard(CARD, message_bytes), interval_ps)


def test_a_burst_inside_one_interval_is_counted_there():
    p = probe(8, 100)
    p.record(110, 150, 7)
    assert p.read(300).pieces.tolist() == [0, 7, 0]
    assert p.extra_polls(100, 300) == 0


def test_a_burst_over_two_intervals_is_split_in_proportion():
    p = probe(8, 100)
    p.record(50, 150, 10)
    assert p.read(200).pieces.tolist() == [5, 5]


def test_a_burst_that_ends_on_a_tick_belongs_to_the_interval_before():
    p = probe(8, 100)
    p.record(0, 100, 3)
    assert p.read(200).pieces.tolist() == [3, 0]


def test_messages_are_whole_messages():
    p = probe(2048, 100)  # two pieces each
    p.record(0, 200, 3)  # 6 pieces: 3 at the first tick
    record = p.read(200)
    assert record.pieces.tolist() == [3, 3]
    assert record.messages.tolist() == [1, 2]
    assert p.extra_polls(100, 200) == 1  # the first poll finds half a message
    assert p.extra_polls(200, 200) == 0  # polling is not probing


def test_large_messages_are_counted_by_rounds_of_63():
    p = probe(131072, 100)
    p.record(0, 400, 1)  # 126 pieces over four polls
    record = p.read(400)
    assert record.pieces.tolist() == [0, 63, 0, 63]
    assert record.messages.tolist() == [0, 0, 0, 1]
    assert p.extra_polls(100, 400) == 2


@pytest.mark.parametrize("size", [8, 256, 2048, 8192, 65536, 131072])
def test_nothing_is_lost_between_intervals(size):
    rng = np.random.default_rng(1)
    p, now, total = probe(size, 5_001), 0, 0
    for _ in range(200):
        length, messages = int(rng.integers(1, 20_000)), int(rng.integers(1, 50))
        p.record(now, now + length, messages)
        now, total = now + length + int(rng.integers(0, 9_000)), total + messages
    record = p.read(now)
    assert record.messages.sum() == total
    assert record.pieces.sum() == total * VortexCard(CARD, size).pieces
    assert record.pieces.min() >= 0


def test_bursts_of_any_size_are_counted_exactly():
    p, second = probe(131072, 10**12), 10**12
    p.record(0, 3 * second, 3 * 10**9)  # 3.8e11 pieces in 3e12 ps: 64 bits do not hold the product
    assert p.read(3 * second).pieces.tolist() == [126 * 10**9] * 3


def test_pieces_with_times_of_their_own_are_counted_where_they_came():
    p = probe(2048, 100)  # two pieces each
    p.record_pieces(np.array([10, 100, 101, 199]))
    p.record_pieces(np.array([250, 350]))
    record = p.read(400)
    assert record.pieces.tolist() == [2, 2, 1, 1]
    assert record.messages.tolist() == [1, 1, 0, 1]
    assert p.extra_polls(100, 400) == 1
    assert p.read(400).pieces.tolist() == [2, 2, 1, 1]  # read as often as one likes


def test_rounds_of_63_are_counted_at_either_fidelity():
    p = probe(131072, 100)
    p.record_pieces(np.arange(126) * 3)  # 34 of them by the first tick
    assert p.read(400).pieces.tolist() == [0, 63, 0, 63]


def test_a_run_without_a_burst_has_empty_intervals():
    p = probe(8, 100)
    assert p.read(250).pieces.tolist() == [0, 0, 0]
    assert p.extra_polls(100, 250) == 0


def test_a_batch_probe_gives_durations():
    p = BatchProbe()
    p.record(0, 10, 100)
    p.record(10, 35, 50)
    record = p.read()
    assert record.duration_ps.tolist() == [10, 25]
    assert record.messages.tolist() == [100, 50]
