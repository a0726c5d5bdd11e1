"""Are contradictions of moments, averages, relations and copies found, and rates above a limit?"""

import math

import numpy as np
import pandas as pd
import pytest
from consistency_data import kinds, long, summary

from dvsim.consistency import examine


def changed(statistic, value):
    """Return a true summary of 5,000 log-normal samples with one number changed."""
    rows = pd.DataFrame(summary(np.random.default_rng(1).lognormal(10, 1, 5000), "c"))
    rows.loc[rows["statistic"] == statistic, "value"] = value
    return rows


@pytest.mark.parametrize(
    ("statistic", "value", "kind", "text"),
    [
        ("50%", "60000.0", "order", "75% is below 50%"),
        ("mean", "80000.0", "mean", "the quantiles permit"),
        ("mean", "15000.0", "mean", "the quantiles permit"),
        ("mean", "-1.0", "mean", "the quantiles permit"),
        ("max", "9000000.0", "max", "mean + std (n - 1) / sqrt(n)"),
        ("std", "20000.0", "std", "these permit"),
        ("std", "900000.0", "std", "these permit"),
    ],
)
def test_one_wrong_number_is_found(statistic, value, kind, text):
    (finding,) = examine(changed(statistic, value))
    assert finding.kind == kind
    assert finding.strength == "certain"
    assert text in f"{finding.what} {finding.evidence[0]}"


def test_a_mean_outside_its_extremes_is_found_without_a_count():
    rows = changed("mean", "1.0")
    rows = rows[~rows["statistic"].isin(["count", "25%", "50%", "75%"])]
    assert kinds(examine(rows)) == ["mean"]


def test_more_zeros_than_mean_and_spread_allow_are_told():
    samples = np.zeros(1000)
    samples[-60:] = 100.0
    rows = pd.DataFrame(summary(samples, "c"))
    rows.loc[rows["statistic"] == "std", "value"] = "18.0"  # it is 23.8
    (finding,) = examine(rows)
    assert finding.kind == "std"
    assert "at least 90% by the quantiles, at most 90.0% by mean and std" in finding.evidence[1]


def test_moments_at_the_edge_of_what_is_possible_are_none():
    samples = np.repeat([0.0, 100.0], 500)  # the greatest spread for its range
    assert examine(long({"c": samples})) == []


TABLE = pd.DataFrame(
    {
        "size": [8, 64, 512, 4096],
        "tcp": [1204.7, 1180.3, 911.8, 240.5],
        "verbs": [3310.2, 3288.9, 2405.1, 733.6],
        "ratio": [2.75, 2.79, 2.64, 3.05],
        "gain percent": [174.8, 178.6, 163.8, 205.0],
        "difference": [2105.5, 2108.6, 1493.3, 493.1],
    }
)


def test_a_table_that_adds_up_is_no_finding():
    assert examine(TABLE) == []


@pytest.mark.parametrize(
    ("heading", "value", "rule"),
    [
        ("ratio", 2.94, "verbs / tcp"),
        ("gain percent", 263.8, "100 (verbs - tcp) / tcp"),
        ("difference", 1393.3, "verbs - tcp"),
    ],
)
def test_a_number_that_does_not_follow_from_those_beside_it_is_found(heading, value, rule):
    table = TABLE.copy()
    table.loc[2, heading] = value
    (finding,) = examine(table)
    assert (finding.kind, finding.where) == ("relation", f"table, {heading}")
    assert rule in finding.what
    assert f"{value:,.10g}" in finding.evidence[0]


AVERAGES = pd.DataFrame(
    {
        "size": [8, 8, 64, 64],
        "statistic": ["mean", "std", "mean", "std"],
        "a_r1": [812.31, 91.12, 640.11, 66.01],
        "a_r2": [799.87, 95.48, 633.93, 68.77],
        "a_avg": [806.09, 93.30, 637.02, 67.39],
    }
)


def test_averages_that_are_averages_are_no_finding():
    assert examine(AVERAGES) == []


def test_an_average_that_is_none_is_found():
    table = AVERAGES.copy()
    table.loc[2, "a_avg"] = 637.52
    (finding,) = examine(table)
    assert finding.kind == "average"
    assert "64 mean: 637.52 is printed" in finding.evidence[0]
    assert "lie between" not in finding.evidence[0]


def test_a_mean_beside_quantiles_is_no_average_of_them():
    table = pd.DataFrame(
        {
            "latency_p50": [10.1, 20.2, 30.7],
            "latency_p99": [99.1, 180.3, 240.2],
            "latency_mean": [14.4, 31.2, 41.9],
        }
    )
    assert examine(table) == []


def test_a_number_that_is_mean_and_spread_is_found():
    table = AVERAGES.copy()
    table["b"] = [51277.31, 51277.31, 41022.3, 3390.97]
    assert kinds(examine(table)) == ["repeated"]


def test_a_column_under_another_heading_is_found():
    rng = np.random.default_rng(2)
    rates = long({"x1": rng.lognormal(10, 1, 900), "x2": rng.lognormal(10, 1, 900)})
    number = rates.set_index(["column", "statistic"])["value"].astype(float)
    table = pd.DataFrame(
        {
            "size": [8, 8],
            "statistic": ["mean", "std"],
            "broker": [round(number["x1", s], 2) for s in ("mean", "std")],
            "card": [31234.56, 40987.65],
        }
    )
    (finding,) = examine(rates, table)
    assert finding.kind == "copied"
    assert finding.where.endswith(", broker")
    assert len(finding.evidence) == 2
    own = table.rename(columns={"broker": "g_r1"})  # the same group, which may well have it
    assert examine(rates, own) == []


def test_rates_above_the_limit_of_a_port_are_found():
    samples = np.random.default_rng(3).lognormal(13, 0.5, 1000)
    rows = pd.DataFrame(summary(samples, "c", size=131072))
    (finding,) = examine(rows, limits=4.4e9)
    assert finding.kind == "limit"
    assert math.isfinite(finding.log10_odds)
    assert examine(rows, limits=1e12) == []
    assert examine(rows, limits={"another": 4.4e9}) == []


def test_a_rate_a_little_above_a_limit_that_is_badly_known_is_no_finding():
    rows = pd.DataFrame(summary(np.random.default_rng(4).uniform(1e5, 2e5, 999), "c", size=1000))
    assert examine(rows, limits=1.8e8) == []
