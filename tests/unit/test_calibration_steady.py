"""Is the pace of an iteration that of its steady part, of all receivers together?"""

import numpy as np
import pandas as pd
import pytest

from dvsim.kinds.rabbitmq.calibration.steady import paces
from dvsim.table.samples import SAMPLES

STEP_PS = 10**9  # a millisecond


def table(by_receiver, iteration=1):
    """Samples of one iteration: messages per millisecond of each receiver."""
    parts = [
        pd.DataFrame(
            {
                "replication": 1,
                "iteration": iteration,
                "receiver": receiver,
                "index": np.arange(len(counts)),
                "start_ps": np.arange(len(counts)) * STEP_PS,
                "duration_ps": STEP_PS,
                "pieces": counts,
                "messages": counts,
            }
        )
        for receiver, counts in by_receiver.items()
    ]
    return pd.concat(parts, ignore_index=True).astype(dict(SAMPLES))


def test_a_constant_rate_is_found_with_its_receivers():
    rows = pd.concat([table({1: [10] * 200, 2: [10] * 200}, n) for n in (1, 2)])
    found = paces(rows, 2, batches=False)
    assert [pace.time_s for pace in found] == pytest.approx([1e-4, 1e-4])
    assert [pace.drift for pace in found] == pytest.approx([1, 1], abs=0.03)
    assert all(abs(part) < 0.1 for part in found[0].scatter)


def test_what_fills_windows_at_first_does_not_count():
    flooded = [300] + [10] * 270 + [0] * 30
    (pace,) = paces(table({1: flooded, 2: flooded}), 2, batches=False)
    assert pace.time_s == pytest.approx(1e-4, rel=0.02)


def test_a_receiver_alone_at_the_end_does_not_count():
    # both at 10 a millisecond; then the second is done and the first has the machine: 40
    (pace,) = paces(table({1: [10] * 100 + [40] * 50, 2: [10] * 100}), 2, batches=False)
    assert pace.time_s == pytest.approx(1e-4, rel=0.03)


def test_both_receivers_together_count_not_the_one_that_is_ahead():
    (pace,) = paces(table({1: [15] * 100, 2: [5] * 300}), 2, batches=False)
    assert pace.time_s == pytest.approx(1e-4, rel=0.03)


def test_a_pace_that_drops_is_told():
    (pace,) = paces(table({1: [20] * 50 + [10] * 100}), 1, batches=False)
    assert pace.drift > 1.3


def test_batches_scatter_each_for_itself():
    rows = table({0: [1000] * 40})
    sigma = 0.3
    logs = np.random.default_rng(3).normal(size=40) * sigma
    rows["duration_ps"] = (STEP_PS * np.exp(logs)).astype("int64")
    rows["start_ps"] = np.concatenate([[0], np.cumsum(rows["duration_ps"])[:-1]])
    (pace,) = paces(rows, 2, batches=True)
    ends = np.concatenate([[0], np.cumsum(rows["duration_ps"])])
    inside = (ends[:-1] >= 0.1 * ends[-1]) & (ends[1:] <= 0.9 * ends[-1])
    kept = logs[inside]
    assert 25 < len(kept) < 36
    assert pace.scatter == pytest.approx(list(kept - kept.mean()), abs=1e-6)
    whole_s = ends[-1] / 1e12
    assert pace.time_s == pytest.approx(2 * whole_s / 40_000, rel=0.1)


def test_one_burst_is_taken_whole():
    (pace,) = paces(table({1: [0, 100, 0, 0]}), 1, batches=False)
    assert pace.time_s == pytest.approx(4e-3 / 100)


def test_bursts_are_told_apart_by_empty_intervals():
    (pace,) = paces(table({1: [30, 10, 0, 0] * 50, 2: [0, 40, 0, 0] * 50}), 2, batches=False)
    assert pace.burst == pytest.approx(40, rel=0.05)
    (pace,) = paces(table({1: [10] * 200}), 1, batches=False)
    assert pace.burst is None


def test_an_iteration_that_is_one_long_stall_is_taken_whole():
    (pace,) = paces(table({1: [10, 10, *[0] * 96, 10, 10]}), 1, batches=False)
    assert pace.time_s == pytest.approx(0.1 / 40)
