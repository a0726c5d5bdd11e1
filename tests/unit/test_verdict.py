"""Log errors, tolerances and the verdict on each published statistic."""

from dataclasses import replace
from math import isnan, log, nextafter
from types import SimpleNamespace

import pytest
from run_builder import (
    bursty_vortex,
    run_of,
    samples,
    steady_tcp,
    tcp_scenario,
    vortex_scenario,
)

from dvsim.evidence.published import columns_passed, judge_column, tallies
from dvsim.evidence.published import compare as beside_published
from dvsim.evidence.validation import validate
from dvsim.evidence.verdicts import Validation
from dvsim.scenario.reference import published
from dvsim.scenario.sampled import Tolerance
from dvsim.table.compare import agree, log_errors


def compare(run):
    return Validation((), *beside_published([run]))


def row_of(comparison, column, statistic, reading="as printed"):
    keys = (column, statistic, reading)
    rows = comparison.rows.itertuples()
    (found,) = [row for row in rows if (row.column, row.statistic, row.reading) == keys]
    return found


def test_log_error_is_symmetric():
    assert log_errors([200, 50], 100) == pytest.approx([log(2), -log(2)])


@pytest.mark.parametrize("pair", [(0, 100), (100, 0), (0, 0)])
def test_there_is_no_log_error_of_zero(pair):
    assert isnan(log_errors(*pair))


@pytest.mark.parametrize(
    ("simulated", "published_value", "verdict"),
    [
        (114, 100, "pass"),
        (116, 100, "fail"),
        (87, 100, "pass"),  # ln(100/87) = 0.1393 <= ln(1.15) = 0.1398
        (86, 100, "fail"),
        (0, 0, "pass"),
        (1, 0, "fail"),
        (0, 1, "fail"),
    ],
)
def test_a_number_passes_within_its_tolerance(simulated, published_value, verdict):
    assert bool(agree(simulated, published_value, 0.15)) is (verdict == "pass")


def test_every_published_statistic_has_a_row():
    comparison = compare(steady_tcp(tcp_scenario(8), 150_000))
    assert len(comparison.rows) == 20
    assert set(comparison.rows["reading"]) == {"as printed"} == set(comparison.columns["reading"])


def test_data_vortex_columns_are_compared_in_both_readings():
    comparison = compare(bursty_vortex(vortex_scenario(2048), 200_000, per_message=2))
    assert len(comparison.rows) == 44
    assert row_of(comparison, "r1", "max").simulated == 200_000
    assert row_of(comparison, "r1", "max", "as messages").simulated == 100_000
    assert comparison.columns["reading"].tolist() == 2 * ["as printed", "as messages"]


def test_a_row_holds_published_and_simulated_side_by_side():
    row = row_of(compare(steady_tcp(tcp_scenario(8), 150_000)), "r2", "mean")
    assert row.published == 142114.492697
    assert row.simulated == row.low == row.high == 150_000
    assert row.log_error == pytest.approx(log(150_000 / 142114.492697))
    assert (row.tolerance, row.verdict, row.split) == (0.15, "pass", "held out")
    assert (row.transport, row.published_column) == ("fdr-ipoib", "8B_r2")


@pytest.mark.parametrize(
    ("statistic", "tolerance"),
    [("mean", 0.1), ("std", 0.2), ("min", 0.3), ("max", 0.3), ("25%", 0.4), ("95%", 0.4)],
)
def test_each_statistic_has_its_own_tolerance(statistic, tolerance):
    declared = Tolerance(mean=0.1, std=0.2, extreme=0.3, quantile=0.4)
    scenario = replace(tcp_scenario(8), tolerance=declared)
    assert row_of(compare(steady_tcp(scenario, 1)), "r1", statistic).tolerance == tolerance


def test_the_number_of_samples_is_judged_for_the_published_workload_only():
    scenario = tcp_scenario(8)
    full = replace(scenario, workload=replace(scenario.workload, messages=20_000_000))
    assert row_of(compare(steady_tcp(scenario, 1)), "r1", "count").verdict == "info"
    assert row_of(compare(steady_tcp(full, 1)), "r1", "count").verdict == "fail"
    good = steady_tcp(full, 150_000, batches=2000)
    assert row_of(compare(good), "r1", "count").verdict == "pass"


def test_fitted_columns_are_marked():
    comparison = compare(bursty_vortex(vortex_scenario(8), 1))
    assert comparison.printed()["split"].tolist() == ["fitted", "held out"]
    assert row_of(comparison, "r1", "mean").split == "fitted"


def test_a_statistic_without_samples_fails_against_a_published_one():
    table = samples({(1, 1, 0): [150_000] * 3})  # nothing for r2, which is iteration 2
    comparison = compare(run_of(tcp_scenario(8), table))
    row = row_of(comparison, "r2", "mean")
    assert (row.simulated, row.verdict) == (0.0, "fail")
    assert isnan(row.log_error)
    assert not comparison.columns["passed"].iloc[1]


def test_a_scenario_without_reference_has_no_rows():
    scenario = replace(vortex_scenario(8), reference=None)
    assert compare(bursty_vortex(scenario, 1)).rows.empty


def test_a_size_that_was_not_published_has_no_rows():
    assert compare(bursty_vortex(vortex_scenario(16), 1)).columns.empty


def imitate(column="r1", **changes):
    """Judge 8 B rows that repeat the published statistics, but for the changes."""
    scenario = vortex_scenario(8)
    scenario = replace(scenario, tolerance=changes.pop("tolerance", scenario.tolerance))
    statistics = published(scenario, column) | changes.pop("statistics", {})
    rows = compare(bursty_vortex(scenario, 1)).rows
    rows = rows[(rows["column"] == column) & (rows["reading"] == "as printed")]
    simulated = rows["statistic"].map(statistics)
    words = ["pass" if one else "fail" for one in agree(simulated, rows["published"], 0.3)]
    rows = rows.assign(simulated=simulated, verdict=words)
    return SimpleNamespace(**judge_column(scenario, rows, changes.pop("empty", 0.97)))


def test_a_column_that_repeats_the_published_one_passes():
    verdict = imitate()
    assert (verdict.mean_ok, verdict.empty_ok, verdict.quantiles_ok) == (True, True, True)
    assert verdict.passed
    assert (verdict.empty_share, verdict.empty_low, verdict.empty_high) == (0.97, 0.95, 0.99)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"statistics": {"mean": 1.0}}, "mean_ok"),
        ({"statistics": {"99%": 1.0}}, "quantiles_ok"),
        ({"empty": 0.89}, "empty_ok"),
        ({"empty": None}, "empty_ok"),
    ],
)
def test_a_column_fails_by_each_part_alone(change, field):
    verdict = imitate(**change)
    parts = {"mean_ok", "empty_ok", "quantiles_ok"}
    assert getattr(verdict, field) is False
    assert all(getattr(verdict, part) for part in parts - {field})
    assert not verdict.passed


def test_the_empty_share_may_miss_the_published_range_by_its_tolerance():
    assert imitate(empty=0.91).empty_ok
    assert imitate(empty=1.0).empty_ok


def test_the_ends_of_the_published_range_belong_to_it():
    exact = Tolerance(empty_share=0.0)
    for end, outside in ((0.95, 0.0), (0.99, 1.0)):
        assert imitate(empty=end, tolerance=exact).empty_ok
        assert not imitate(empty=nextafter(end, outside), tolerance=exact).empty_ok


@pytest.mark.parametrize("statistic", ["std", "min", "max", "25%"])
def test_spread_and_extremes_do_not_decide_a_column(statistic):
    assert imitate(statistics={statistic: 1e9}).passed


def test_a_quantile_that_was_published_as_zero_does_not_decide_a_column():
    assert imitate(statistics={"95%": 100.0}).passed  # the empty share speaks of it


def test_tcp_has_no_empty_share():
    column = next(compare(steady_tcp(tcp_scenario(8), 170_000)).columns.itertuples())
    assert column.empty_ok is None
    assert column.mean_ok
    assert column.quantiles_ok
    assert column.passed


def test_tallies_count_rows_and_columns_by_reading_and_split():
    runs = [
        steady_tcp(tcp_scenario(8), 160_000),
        bursty_vortex(vortex_scenario(8), 1),
    ]
    found = {
        (t.what, t.transport, t.reading, t.split): t for t in tallies(validate(runs)).itertuples()
    }
    tcp = found["columns", "fdr-ipoib", "as printed", "held out"]
    assert (tcp.passed, tcp.total) == (2, 2)
    vortex = found["columns", "data-vortex", "as messages", "fitted"]
    assert (vortex.passed, vortex.total) == (0, 1)
    # 11 statistics; count is information; min, 25% to 95% are zero in both
    rows = found["statistics", "data-vortex", "as printed", "fitted"]
    assert (rows.passed, rows.total) == (6, 10)


def test_columns_passed_by_transport():
    runs = [steady_tcp(tcp_scenario(8), 160_000), bursty_vortex(vortex_scenario(8), 1)]
    assert columns_passed(validate(runs)) == {"data-vortex": (0, 2), "fdr-ipoib": (2, 2)}
