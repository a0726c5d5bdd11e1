"""Is each message to a real quorum queue confirmed and delivered once, and are syncs counted?"""

import pytest

from dvsim.emulation.quorum import Asked, measured
from dvsim.evidence.quorum import Point, fitted, lines, published, simulated
from dvsim.results.lines import plain_lines


@pytest.mark.parametrize(
    "asked",
    [
        Asked(100, 300, 20),
        Asked(2000, 200, 1000, prefetch=1),
        Asked(16, 200, 50, rate=1000, prefetch=0),
    ],
)
def test_each_message_is_confirmed_and_delivered_once(broker, asked):
    seen = measured(broker, asked)
    assert seen.published == seen.confirmed == seen.delivered == asked.messages
    assert (seen.refused, seen.queued, seen.again) == (0, 0, 0)
    assert len(seen.latencies) == asked.messages
    assert min(seen.latencies) > 0
    assert seen.entries[0] >= asked.messages
    assert 0 < seen.syncs[0] <= seen.entries[0]
    if asked.rate is not None:
        assert seen.seconds >= (asked.messages - 1) / asked.rate


def test_a_stream_confirms_and_delivers_each_message_and_has_no_log_that_counts(broker):
    seen = measured(broker, Asked(64, 100, 50, prefetch=100, queue="stream"))
    assert seen.confirmed == seen.delivered == 100
    assert seen.syncs == []


def test_a_fit_gives_its_own_runs_back():
    points = [Point(1024, 16, 960.0, 0.14), Point(1024, 1000, 2700.0, 0.02)]
    cards = fitted(points)
    for one in points:
        again = simulated(cards, one.size, one.window, 3)
        assert again.rate == pytest.approx(one.rate, rel=0.02)
        assert again.syncs == pytest.approx(one.syncs, rel=0.02)
    text = "\n".join(plain_lines(lines(points, 3)))
    assert text.count("emu, fitted") == 2
    assert text.count("published") == 3


def test_the_published_runs_are_those_of_the_claims():
    for own, one in published():
        assert own.rate == pytest.approx(one.rate, rel=0.1)
        assert own.syncs == pytest.approx(one.syncs, rel=0.1)
