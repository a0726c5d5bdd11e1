"""Does the table of goals count what is held out, and hold it beside the floor of the two runs?"""

from dataclasses import replace
from math import log, nan

import pandas as pd
import pytest

from dvsim.contract.load import load
from dvsim.evidence.goals import free_parameters, goals
from dvsim.evidence.overview import goal_table, miss_table
from dvsim.evidence.verdicts import Validation
from dvsim.study.table import plain_lines


def row(column, statistic, published, simulated, **more):
    error = log(simulated / published) if published and simulated else nan
    told = {
        "scenario": "h3/dv-8", "column": column, "published_column": column,
        "transport": "data-vortex", "message_bytes": 8, "statistic": statistic,
        "reading": "as printed", "published": published, "simulated": simulated,
        "low": simulated, "high": simulated, "log_error": error, "tolerance": 0.3,
        "verdict": "pass", "split": "held out",
    }  # fmt: skip
    return told | more


def column(empty):
    return {
        "scenario": "h3/dv-8", "column": "r2", "reading": "as printed", "split": "held out",
        "empty_share": empty, "empty_low": 0.9, "empty_high": 0.95,
    }  # fmt: skip


def table(rows, columns=()):
    found = goals(Validation((), pd.DataFrame(rows), pd.DataFrame(columns)))
    return {goal.what: goal for goal in found.table.itertuples()}, found


def both(statistic, first, second, simulated):
    """A fitted statistic of run 1 and the held-out one of run 2."""
    return [
        row("r1", statistic, first, simulated, split="fitted"),
        row("r2", statistic, second, simulated),
    ]


def test_only_what_is_held_out_printed_and_not_zero_counts():
    rows = [
        *both("mean", 100, 110, 105),
        row("r2", "90%", 0, 0),
        row("r2", "mean", 100, 1, reading="as messages"),
        row("r2", "count", 100, 1, verdict="info"),
    ]
    by_name, found = table(rows)
    near = by_name["all: held-out statistics within 25%"]
    assert (near.got, near.floor, near.met) == ("100.0% (1 of 1)", "100.0%", True)
    assert found.misses.empty


def test_a_statistic_is_near_within_a_quarter_either_way():
    rows = [*both("mean", 100, 100, 124.9), *both("std", 100, 100, 80.1), *both("max", 9, 9, 12)]
    by_name, found = table([*rows, *both("min", 9, 9, 7)])
    near = by_name["Data Vortex: held-out statistics within 25%"]
    assert (near.got, near.met) == ("50.0% (2 of 4)", False)
    assert found.misses["statistic"].tolist() == ["max", "min"]  # the worst first


def test_the_floor_is_what_the_other_run_would_have_predicted():
    rows = [*both("mean", 100, 110, 110), *both("std", 100, 200, 200)]
    by_name, _ = table(rows)
    assert by_name["Data Vortex: held-out statistics within 25%"].floor == "50.0%"
    means = by_name["Data Vortex: held-out means within 10%"]
    assert (means.floor, means.met) == ("0.095 at 8 B", True)


def test_a_mean_that_is_too_far_is_named():
    by_name, found = table(both("mean", 100, 120, 100))
    means = by_name["Data Vortex: held-out means within 10%"]
    assert (means.got, means.met) == ("0 of 1, -0.182 at 8 B r2", False)
    assert found.misses.empty


@pytest.mark.parametrize(
    ("empty", "points", "met"),
    [(0.92, "0.0 in h3/dv-8 r2", True), (0.975, "2.5 in ", True), (0.5, "40.0 in ", False)],
)
def test_empty_intervals_are_held_against_what_the_quantiles_allow(empty, points, met):
    by_name, _ = table(both("mean", 1, 1, 1), [column(empty)])
    goal = by_name["share of empty intervals, points outside of the published range"]
    assert goal.got.startswith(points)
    assert goal.met is met


def test_a_statistic_that_became_zero_is_the_worst_miss_and_has_no_error():
    _, found = table([*both("95%", 50, 60, 0), *both("max", 9, 9, 90)])
    assert found.misses["statistic"].tolist() == ["95%", "max"]
    text = list(plain_lines([goal_table(found), *miss_table(found)]))
    assert text[0].split() == ["goal", "wanted", "got", "floor"]
    assert text[-2].split() == ["h3/dv-8", "r2", "95%", "60", "0", "-", "-0.1823"]
    assert text[-5] == ""
    assert text[-4].startswith("Held-out statistics that are not within 25%")


def test_without_held_out_columns_there_is_nothing_to_say():
    fitted = row("r1", "mean", 1, 1, split="fitted")
    assert goals(Validation(rows=pd.DataFrame([fitted]))).table.empty
    assert goals(Validation()).misses.empty


def test_the_packaged_cards_have_as_many_fitted_numbers_as_they_may():
    scenarios = [load(f"h3/{path}-{size}") for path in ("dv", "fdr") for size in (8, 2048)]
    found = free_parameters(scenarios)
    assert len(found["data-vortex"]) <= 8
    assert len(found["fdr-ipoib"]) <= 6
    assert "h3-bridge push, per byte" in found["data-vortex"]
    rows = Validation(rows=pd.DataFrame(both("mean", 1, 1, 1)))
    told = {goal.what: goal.got for goal in goals(rows, scenarios).table.itertuples()}
    assert told["Data Vortex: fitted parameters"] == str(len(found["data-vortex"]))
    assert free_parameters([replace(scenarios[0], reference=None)]) == {}
