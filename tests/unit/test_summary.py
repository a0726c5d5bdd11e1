"""Are summary statistics those of a hand-computed example and of pandas?"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from run_builder import (
    SECOND,
    counters,
    empty_counters,
    empty_samples,
    run_of,
    samples,
    tcp_scenario,
    vortex_scenario,
)

from dvsim.errors import RunFailed
from dvsim.results.samples import check_counters, check_samples
from dvsim.results.summary import (
    STATISTICS,
    counters_of,
    estimates,
    moving_average,
    summarise,
)
from dvsim.scenario.types import Column


def value(summary, column, reading, statistic, replication=1):
    rows = summary[
        (summary["column"] == column)
        & (summary["reading"] == reading)
        & (summary["statistic"] == statistic)
        & (summary["replication"] == replication)
    ]
    assert len(rows) == 1
    return rows["value"].iloc[0]


def vortex_summary(pieces, **options):
    table = samples({(1, 1, 1): pieces, (1, 1, 2): [0]}, **options)
    return summarise(table, empty_counters(), vortex_scenario())


def test_statistics_are_those_of_a_hand_computed_example():
    summary = vortex_summary([0, 0, 0, 10])
    expected = {
        "count": 4,
        "mean": 2.5,
        "std": 5.0,  # sqrt((3 * 2.5^2 + 7.5^2) / 3)
        "min": 0,
        "25%": 0,
        "50%": 0,
        "75%": 2.5,  # a quarter of the way from the third to the fourth
        "90%": 7.0,
        "95%": 8.5,
        "99%": 9.7,
        "max": 10,
        "empty": 0.75,
    }
    for statistic, number in expected.items():
        assert value(summary, "r1", "pieces", statistic) == pytest.approx(number), statistic


def test_statistics_are_those_of_pandas_describe():
    pieces = np.random.default_rng(1).poisson(3, 1001)
    summary = vortex_summary(pieces.tolist())
    described = pd.Series(pieces * 1.0).describe(percentiles=[0.25, 0.5, 0.75, 0.9, 0.95, 0.99])
    for statistic, number in described.items():
        assert value(summary, "r1", "pieces", statistic) == pytest.approx(number), statistic


def test_statistics_come_in_the_printed_order():
    summary = vortex_summary([1, 2, 3])
    rows = summary[(summary["column"] == "r1") & (summary["reading"] == "pieces")]
    assert tuple(rows["statistic"]) == STATISTICS


def test_rates_are_per_second():
    summary = vortex_summary([7, 7], duration_ps=SECOND // 1000)
    assert value(summary, "r1", "pieces", "mean") == pytest.approx(7000)


def test_pieces_and_messages_are_counted_apart():
    summary = vortex_summary([0, 8, 16, 3], per_message=8)
    assert value(summary, "r1", "pieces", "max") == 16
    assert value(summary, "r1", "messages", "max") == 2
    assert value(summary, "r1", "pieces", "empty") == 0.25
    assert value(summary, "r1", "messages", "empty") == 0.5


def test_tcp_is_read_in_messages_only():
    table = samples({(1, 1, 0): [1, 2], (1, 2, 0): [3, 4]})
    summary = summarise(table, empty_counters(), tcp_scenario())
    assert set(summary["reading"]) == {"messages"}


def test_a_column_has_only_its_own_receiver_and_iterations():
    table = samples({(1, 1, 0): [1, 1], (1, 2, 0): [5, 5]})
    summary = summarise(table, empty_counters(), tcp_scenario())
    assert value(summary, "r1", "messages", "max") == 1
    assert value(summary, "r2", "messages", "min") == 5


def test_iterations_of_one_column_are_put_end_to_end():
    scenario = tcp_scenario()
    probe = replace(scenario.probe, columns={"r1": Column("r1", 0, (1, 2))})
    table = samples({(1, 1, 0): [1, 1], (1, 2, 0): [5, 5]})
    summary = summarise(table, empty_counters(), replace(scenario, probe=probe))
    assert value(summary, "r1", "messages", "count") == 4
    assert value(summary, "r1", "messages", "mean") == 3


def test_replications_are_never_pooled():
    table = samples({(1, 1, 1): [1], (2, 1, 1): [3]})
    summary = summarise(table, empty_counters(), vortex_scenario())
    assert value(summary, "r1", "pieces", "mean", replication=1) == 1
    assert value(summary, "r1", "pieces", "mean", replication=2) == 3


def test_the_order_of_rows_does_not_matter():
    table = samples({(1, 1, 1): [1, 2, 3], (2, 1, 1): [4, 5], (1, 1, 2): [0]})
    shuffled = table.sample(frac=1, random_state=4)
    scenario = vortex_scenario()
    pd.testing.assert_frame_equal(
        summarise(table, empty_counters(), scenario),
        summarise(shuffled, empty_counters(), scenario),
    )


def test_one_sample_has_no_spread():
    summary = vortex_summary([4])
    rows = summary[(summary["column"] == "r1") & (summary["reading"] == "pieces")]
    assert "std" not in set(rows["statistic"])
    assert not summary["value"].isna().any()


def test_a_column_without_samples_has_no_statistics():
    summary = summarise(samples({(1, 1, 2): [1]}), empty_counters(), vortex_scenario())
    assert set(summary["column"]) == {"r2"}


def test_counters_come_back_from_the_summary():
    counted = counters({("card.1", "overruns"): 3, ("run", "events"): 1e6})
    summary = summarise(samples({(1, 1, 1): [1, 2]}), counted, vortex_scenario())
    pd.testing.assert_frame_equal(counters_of(summary), counted)


def test_an_estimate_is_the_mean_with_a_student_interval():
    table = samples({(1, 1, 1): [1, 1], (2, 1, 1): [2, 2], (3, 1, 1): [3, 3]})
    found = estimates(summarise(table, empty_counters(), vortex_scenario()))
    row = found[(found["statistic"] == "mean") & (found["reading"] == "pieces")].iloc[0]
    assert row["value"] == pytest.approx(2)
    assert row["high"] - row["value"] == pytest.approx(
        4.302653 / np.sqrt(3)
    )  # t(0.975, 2) s/sqrt n
    assert row["value"] - row["low"] == pytest.approx(4.302653 / np.sqrt(3))


def test_one_replication_has_no_width():
    found = estimates(vortex_summary([1, 5]))
    assert (found["low"] == found["value"]).all()
    assert (found["high"] == found["value"]).all()


def test_counters_are_averaged_over_iterations_before_replications():
    counted = counters({("card.1", "overruns"): 2})
    counted = pd.concat(
        [counted, counted.assign(iteration=np.int16(2), value=4.0)], ignore_index=True
    )
    found = estimates(summarise(samples({(1, 1, 1): [1, 2]}), counted, vortex_scenario()))
    row = found[found["reading"] == "counter"].iloc[0]
    assert (row["column"], row["statistic"], row["value"]) == ("card.1", "overruns", 3.0)


def test_a_run_hands_out_copies_of_its_summary():
    run = run_of(vortex_scenario(), samples({(1, 1, 1): [1, 2]}))
    handed_out = run.summary()
    handed_out.loc[:, "value"] = -1.0
    assert (run.summary()["value"] >= 0).all()


def test_moving_average_of_three():
    assert moving_average(np.array([1.0, 2.0, 3.0, 10.0]), 3).tolist() == [2.0, 5.0]


def test_moving_average_of_fewer_values_than_the_window_is_their_mean():
    assert moving_average(np.array([1.0, 3.0]), 50).tolist() == [2.0]
    assert moving_average(np.array([]), 50).size == 0


def test_empty_tables_are_valid_tables():
    assert len(check_samples(empty_samples())) == 0
    assert len(check_counters(empty_counters())) == 0


def test_samples_of_another_type_are_refused():
    table = samples({(1, 1, 1): [1]}).astype({"pieces": "int32"})
    with pytest.raises(RunFailed, match="samples: column pieces has type int32; expected int64"):
        check_samples(table)


def test_samples_without_a_column_are_refused():
    table = samples({(1, 1, 1): [1]}).drop(columns="messages")
    with pytest.raises(
        RunFailed, match=r"samples: columns are .*; expected replication, iteration"
    ):
        check_samples(table)


def test_a_sample_that_lasts_no_time_is_refused():
    table = samples({(1, 1, 1): [1, 1]})
    table.loc[1, "duration_ps"] = 0
    with pytest.raises(RunFailed, match="row 1: duration_ps is 0; it must be at least 1"):
        check_samples(table)


def test_a_counter_that_is_not_a_number_is_refused():
    with pytest.raises(RunFailed, match=r"counters: card\.1 overruns is nan, not a number"):
        check_counters(counters({("card.1", "overruns"): float("nan")}))
