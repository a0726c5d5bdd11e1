"""Do the intervals of runs that a pilot ends cover the truth as often as they say?"""

import numpy as np
import pytest

from dvsim.study.precision import LEAST, MOST, PILOT, VERDICT_STEPS, deciding, needed
from dvsim.table.estimate import ends, estimate, half_width

RUNS = 6000


def by_pilots(random, spread, runs):
    """Return how many replications each of many pilots asks for."""
    pilots = random.normal(1, spread, (runs, PILOT))
    shares = half_width(PILOT, pilots.std(axis=1, ddof=1)) / pilots.mean(axis=1)
    return np.array([needed(share, 0.05) for share in shares])


@pytest.mark.parametrize("spread", [0.01, 0.02, 0.05, 0.08, 0.12, 0.2, 0.3])
def test_95_of_100_intervals_cover_the_truth_also_of_those_that_ended_early(spread):
    random = np.random.default_rng(3)
    times = by_pilots(random, spread, RUNS)
    covered = []
    for number in times:
        values = random.normal(1, spread, number)
        low, high = ends(values.mean(), number, values.std(ddof=1))
        covered.append(low <= 1 <= high)
    early = times < MOST
    assert np.mean(covered) >= 0.945
    assert early.sum() > RUNS / 25
    deviation = np.sqrt(0.95 * 0.05 / early.sum())  # of a few early ones
    assert np.array(covered)[early].mean() >= 0.945 - max(0, 2 * deviation - 0.005)
    assert min(times) >= LEAST and max(times) <= MOST


@pytest.mark.parametrize(("spread", "least", "most"), [(0.01, 3, 4), (0.05, 12, 18), (0.3, 28, 30)])
def test_it_takes_as_many_as_the_page_says(spread, least, most):
    times = by_pilots(np.random.default_rng(4), spread, 1000)
    assert least <= np.mean(times) <= most


@pytest.mark.parametrize("spread", [0.3, 1.0, 3.0])
def test_a_verdict_after_any_look_is_wrong_in_5_of_100_cases_at_most(spread):
    """The truth is on the bound: whatever is decided before the last look is wrong."""
    random = np.random.default_rng(5)
    wrong = 0
    for _ in range(1000):
        values = random.normal(0, spread, VERDICT_STEPS[-1])
        for times in VERDICT_STEPS:
            wide = deciding(estimate(values[:times]), times, VERDICT_STEPS)
            if not wide.low <= 0 <= wide.high:
                wrong += 1
                break
    assert 0 < wrong / 1000 <= 0.05


def test_the_interval_of_what_may_be_negative_is_not_cut():
    known = estimate([-1, 2, 0.5])
    assert known.low == pytest.approx(0.5 - 3.7262, abs=1e-3) and known.half > 3.7
    assert estimate([-1, -2, -3]).low < -3 and estimate([1, 3], signed=False).low == 0
