"""Is a grid found where there is one, and its interval right; and a common factor of counts?"""

import re

import numpy as np
import pandas as pd
import pytest
from consistency_data import kinds, long, summary

from dvsim.consistency import examine
from dvsim.consistency.factors import find_factor, is_plain
from dvsim.consistency.grid import Grid, find_grid, sort_out
from dvsim.consistency.read import read_data

INTERVAL = 0.005001


def polls(rng, many=20_000, mean=300, busy=0.4):
    """Return messages in each interval, most of them none."""
    return rng.negative_binomial(2, 2 / (2 + mean), many) * (rng.random(many) < busy)


def interval_of(findings):
    """Return the interval in ms that the finding about the grid says."""
    (grid,) = [finding for finding in findings if finding.kind == "grid"]
    return float(re.search(r"intervals of ([\d.]+)", grid.evidence[-1])[1])


@pytest.mark.parametrize("form", ["%.4f", "%.2f", "%.9g"])
def test_the_interval_of_rates_is_found_as_they_are_printed(form):
    rng = np.random.default_rng(1)
    rows = [row for c in "abc" for row in summary(polls(rng) / INTERVAL, c, form=form)]
    assert interval_of(examine(pd.DataFrame(rows))) == pytest.approx(5.001, rel=1e-6)


def test_power():
    """One column of a dozen statistics is enough, nearly always."""
    found = 0
    for trial in range(20):
        rng = np.random.default_rng([2, trial])
        findings = examine(long({"c": polls(rng, busy=0.9) / INTERVAL}))
        found += "grid" in kinds(findings)
    assert found >= 18


def test_it_is_found_in_single_precision():
    rng = np.random.default_rng(3)
    rates = (polls(rng) / INTERVAL).astype(np.float32)
    found = examine(long({c: polls(rng).astype(np.float32) / np.float32(INTERVAL) for c in "ab"}))
    assert rates.dtype == np.float32
    assert interval_of(found) == pytest.approx(5.001, rel=1e-6)


def test_it_is_found_when_rates_are_rounded_to_whole_numbers():
    rng = np.random.default_rng(4)
    rows = [row for c in "abcdef" for row in summary(polls(rng) / INTERVAL, c, form="%.0f")]
    assert interval_of(examine(pd.DataFrame(rows))) == pytest.approx(5.001, rel=1e-4)


@pytest.mark.parametrize("jitter", [0, 1e-5, 1e-4])
def test_it_is_found_in_raw_samples_though_the_interval_jitters(jitter):
    rng = np.random.default_rng(5)
    took = INTERVAL * (1 + jitter * rng.uniform(-1, 1, 3000))
    raw = pd.DataFrame({"rate": polls(rng, 3000, mean=60) / took})
    assert interval_of(examine(raw)) == pytest.approx(5.001, rel=max(1e-6, jitter))


def test_a_jitter_of_half_an_event_leaves_no_grid():
    rng = np.random.default_rng(6)
    took = INTERVAL * (1 + 0.1 * rng.uniform(-1, 1, 3000))
    assert examine(pd.DataFrame({"rate": polls(rng, 3000) / took})) == []


def test_an_interval_of_5_ms_gives_whole_numbers_with_a_common_factor():
    rng = np.random.default_rng(7)
    (finding,) = examine(long({"c": polls(rng) * 200.0}))
    assert finding.kind == "factor"
    assert "multiples of 200" in finding.what
    assert "one in 5 ms" in finding.meaning


def test_columns_that_are_not_on_the_grid_are_not_said_to_be():
    rng = np.random.default_rng(8)
    columns = {f"on{at}": polls(rng) / INTERVAL for at in range(4)}
    columns["off"] = rng.lognormal(10, 1, 5000)
    (finding,) = examine(long(columns))
    assert finding.where == "g, 4 columns"


def test_what_is_off_the_grid_is_interpolated_just_where_it_is():
    rng = np.random.default_rng(9)
    (column,) = read_data([long({"c": polls(rng, 9_877, mean=5000, busy=1.0) / INTERVAL})]).columns
    exact = Grid(1 / INTERVAL, 1 / INTERVAL, 1 / INTERVAL, 1e-7, 99.0)
    on, between, off = sort_out(column, exact)
    assert len(on) >= 2  # the extremes are samples
    assert len(on) + len(between) >= 5  # neighbours in the tail may be further apart
    half_off = Grid(1.5 / INTERVAL, 1.5 / INTERVAL, 1.5 / INTERVAL, 1e-7, 99.0)
    assert len(sort_out(column, half_off)[2]) > len(off)


def test_the_search_is_exact():
    """All multiples of one rate, so printed: nothing is missed, the range holds the truth."""
    rate = 123.4567891
    values = np.round(np.array([7, 19, 101, 353, 1201, 2999]) * rate, 3)
    grid = find_grid(values, np.full(6, 1e-3))
    assert grid.low <= rate <= grid.high
    assert [grid.multiple(x, 1e-3) for x in values] == [7, 19, 101, 353, 1201, 2999]
    assert grid.multiple(values[3] + rate / 2, 1e-3) is None


@pytest.mark.parametrize(
    ("rate", "plain"),
    [(1.0, True), (100.0, True), (0.25, True), (199.96, False), (2.0, False), (0.3, False)],
)
def test_decimals_are_no_grid(rate, plain):
    assert is_plain(Grid(rate, rate, rate, 0.0, 99.0)) is plain


def test_a_factor_is_found_though_one_count_is_no_multiple():
    counts = [63 * n for n in (3, 5, 11, 20, 31)] + [1000]
    factor = find_factor(dict.fromkeys(counts, 1))
    assert (factor.factor, len(factor.counts), factor.of) == (63, 5, 6)
    assert factor.log10_odds > 4


def test_rounding_to_hundreds_is_no_factor():
    counts = [2_200, 7_400, 12_500, 13_900, 20_100, 39_800]
    assert find_factor(dict.fromkeys(counts, 100)).log10_odds < 0
    assert find_factor(dict.fromkeys(counts, 1)).log10_odds > 5


def test_a_factor_of_what_is_rounded_to_tens_is_told_with_the_ten():
    counts = dict.fromkeys([70 * n for n in (3, 5, 11, 23, 31, 41, 59)], 10)
    assert find_factor(counts).factor == 70
