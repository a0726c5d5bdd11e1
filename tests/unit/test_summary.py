"""Are summary statistics those of a hand-computed example and of pandas?"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from harness.built import built, counted, values_of
from manifests import manifest_of
from run_builder import (
    SECOND,
    counters,
    run_of,
    samples,
    tcp_scenario,
    vortex_scenario,
)

from dvsim.core.probe import Counter, Iteration
from dvsim.errors import RunFailed
from dvsim.kinds.rabbitmq.rows import replicate
from dvsim.scenario.sampled import Column
from dvsim.table.samples import STATISTICS, moving_average


def summarise(table, counters, scenario):
    return values_of(scenario, table, counters)


def value(summary, column, reading, statistic, replication=1):
    rows = summary[
        (summary["component"] == column)
        & (summary["metric"] == f"{reading}.{statistic}")
        & (summary["replication"] == replication)
    ]
    assert len(rows) == 1
    return rows["value"].iloc[0]


def rate_of(summary):
    rows = summary[summary["metric"] == "rate"]
    return dict(zip(rows["replication"], rows["value"], strict=True))


def vortex_summary(pieces, **options):
    table = samples({(1, 1, 1): pieces, (1, 1, 2): [0]}, **options)
    return summarise(table, counters({}), vortex_scenario())


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
    rows = summary[(summary["component"] == "r1") & summary["metric"].str.startswith("pieces.")]
    assert tuple(rows["metric"]) == tuple(f"pieces.{name}" for name in STATISTICS)


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
    summary = summarise(table, counters({}), tcp_scenario())
    assert set(summary["metric"].str.partition(".")[0]) == {"messages", "rate", "payload_rate"}


def test_a_column_has_only_its_own_receiver_and_iterations():
    table = samples({(1, 1, 0): [1, 1], (1, 2, 0): [5, 5]})
    summary = summarise(table, counters({}), tcp_scenario())
    assert value(summary, "r1", "messages", "max") == 1
    assert value(summary, "r2", "messages", "min") == 5


def test_iterations_of_one_column_are_put_end_to_end():
    scenario = tcp_scenario()
    probe = replace(scenario.probe, columns={"r1": Column(0, (1, 2))})
    table = samples({(1, 1, 0): [1, 1], (1, 2, 0): [5, 5]})
    summary = summarise(table, counters({}), replace(scenario, probe=probe))
    assert value(summary, "r1", "messages", "count") == 4
    assert value(summary, "r1", "messages", "mean") == 3


def test_replications_are_never_pooled():
    table = samples({(1, 1, 1): [1], (2, 1, 1): [3]})
    summary = summarise(table, counters({}), vortex_scenario())
    assert value(summary, "r1", "pieces", "mean", replication=1) == 1
    assert value(summary, "r1", "pieces", "mean", replication=2) == 3


def test_the_order_of_rows_does_not_matter():
    table = samples({(1, 1, 1): [1, 2, 3], (2, 1, 1): [4, 5], (1, 1, 2): [0]})
    shuffled = table.sample(frac=1, random_state=4)
    scenario = vortex_scenario()
    pd.testing.assert_frame_equal(
        summarise(table, counters({}), scenario),
        summarise(shuffled, counters({}), scenario),
    )


def test_one_sample_has_no_spread():
    summary = vortex_summary([4])
    assert "pieces.std" not in set(summary["metric"])
    assert not summary["value"].isna().any()


def test_a_column_without_samples_has_no_statistics():
    summary = summarise(samples({(1, 1, 2): [1]}), counters({}), vortex_scenario())
    assert set(summary["component"]) == {"r2", "system"}  # the rate is of all receivers


def test_an_estimate_is_the_mean_with_a_student_interval():
    row = estimated_mean(11, 12, 13)
    assert row["value"] == pytest.approx(12)
    assert row["high"] - row["value"] == pytest.approx(
        4.302653 / np.sqrt(3)
    )  # t(0.975, 2) s/sqrt n
    assert row["value"] - row["low"] == pytest.approx(4.302653 / np.sqrt(3))


def test_the_interval_of_a_rate_does_not_go_below_0():
    row = estimated_mean(1, 2, 3)
    assert row["low"] == 0
    assert row["high"] - row["value"] == pytest.approx(4.302653 / np.sqrt(3))


def estimated_mean(*rates):
    table = samples({(n, 1, 1): [rate, rate] for n, rate in enumerate(rates, start=1)})
    found = run_of(vortex_scenario(), table).estimates()
    return found[found["metric"] == "pieces.mean"].iloc[0]


def test_one_replication_has_no_width():
    found = run_of(vortex_scenario(), samples({(1, 1, 1): [1, 5]})).estimates()
    assert (found["low"] == found["value"]).all()
    assert (found["high"] == found["value"]).all()


def test_counters_are_averaged_over_iterations_before_replications():
    counts = counted([(1, 1, "card.1", "overruns", 2), (1, 2, "card.1", "overruns", 4)])
    run = built(vortex_scenario(), samples({(1, 1, 1): [1, 2]}), counts, manifest_of())
    assert run.by_metric["card", 1, "overruns"].value == 3.0


def test_a_run_hands_out_copies_of_its_estimates():
    run = run_of(vortex_scenario(), samples({(1, 1, 1): [1, 2]}))
    estimated = run.estimates()
    estimated.loc[:, "value"] = -1.0
    assert (run.estimates()["value"] >= 0).all()


def test_moving_average_of_three():
    assert moving_average(np.array([1.0, 2.0, 3.0, 10.0]), 3).tolist() == [2.0, 5.0]


def test_moving_average_of_fewer_values_than_the_window_is_their_mean():
    assert moving_average(np.array([1.0, 3.0]), 50).tolist() == [2.0]
    assert moving_average(np.array([]), 50).size == 0


def test_a_sample_that_lasts_no_time_is_refused():
    table = samples({(1, 1, 1): [1, 1]})
    table.loc[1, "duration_ps"] = 0
    with pytest.raises(RunFailed, match="row 1: duration_ps is 0"):
        summarise(table, counters({}), vortex_scenario())


def test_a_counter_that_is_not_a_number_is_refused():
    wrong = Iteration({}, [Counter("card.1", "overruns", float("nan"), "1")])
    with pytest.raises(RunFailed, match=r"card\.1 overruns is nan, not a number"):
        replicate(vortex_scenario(), 1, [wrong])


def test_the_rate_is_messages_over_time_not_the_mean_of_the_samples_rates():
    """A batch of 10 messages takes 1 s, another one 5 s: 20 messages in 6 s."""
    table = samples({(1, 1, 0): [10, 10], (2, 1, 0): [10, 10], (2, 2, 0): [30, 30]})
    slow = table["index"] == 1
    table.loc[slow, "duration_ps"] *= 5
    found = summarise(table, counters({}), tcp_scenario())
    unit_s = table["duration_ps"].min() / 1e12
    first, second = 20 / (6 * unit_s), 60 / (6 * unit_s)
    assert rate_of(found) == pytest.approx({1: first, 2: (first + second) / 2})
    assert value(found, "r1", "messages", "mean") == pytest.approx(1.8 * first)


def test_batches_that_overlap_share_their_time():
    table = samples({(1, 1, 0): [10, 10]})
    second = table["index"] == 1
    table.loc[second, "start_ps"] = table.loc[~second, "start_ps"].iloc[0]
    found = summarise(table, counters({}), tcp_scenario())
    assert rate_of(found) == {1: 20 / (table["duration_ps"].max() / 1e12)}


def test_receivers_add_up_and_iterations_are_averaged():
    table = samples({(1, 1, 1): [10, 0], (1, 1, 2): [2, 4], (1, 2, 1): [20, 0], (1, 2, 2): [2, 4]})
    found = summarise(table, counters({}), vortex_scenario())
    unit_s = table["duration_ps"].min() / 1e12
    messages = table.groupby("iteration")["messages"].sum()
    assert rate_of(found) == pytest.approx({1: messages.mean() / (2 * unit_s)})


def test_every_verb_that_prints_the_rate_of_a_run_prints_the_same_number():
    """Of batches that differ, where the mean of the samples' rates is 9 % above it."""
    import dvsim
    from dvsim.table.compare import side_by_side
    from dvsim.table.estimate import estimate
    from dvsim.view.groups import grouped
    from dvsim.view.run_tables import rates_of

    run = dvsim.run("h3/fdr-131072", scale=0.05, replications=3)
    rate = estimate(run.headline().values.values())
    compared = side_by_side([run, run]).rows.iloc[0]
    reported = rates_of(grouped([run])[0].entries[0]).messages
    assert compared.value == pytest.approx(rate.value)
    assert compared.high - compared.value == pytest.approx(rate.half)
    delivered = run.amount("delivered_rate")
    assert (delivered.value, delivered.low, delivered.high) == pytest.approx(
        (compared.value, compared.low, compared.high)
    )
    assert reported == pytest.approx(rate.value)
    assert (run.rate.value, run.rate.half) == pytest.approx((rate.value, rate.half))
    printed = [value(run.values, name, "messages", "mean", 1) for name in ("r1", "r2")]
    assert np.mean(printed) > 1.05 * rate.value


def test_every_verb_takes_the_same_one_of_several_components_alike(tmp_path):
    """Which of two is busier changes from one replication to the next; on average it is one."""
    from dvsim.contract.find import kind_of
    from dvsim.contract.load import load
    from dvsim.session import run_scenarios
    from dvsim.study.sweep import prepare
    from dvsim.study.sweep import run as run_sweep
    from dvsim.study.sweeps.grid import plan
    from dvsim.study.swept import by_point
    from dvsim.table.compare import side_by_side
    from dvsim.table.stages import stages_of

    replications = 4
    scenario = load("h3/dv-2048", ["workload.messages=4000"])
    (alone,) = run_scenarios([scenario], replications=replications, workers=1, out=None)
    asked = prepare("h3/dv-2048", plan(("workload.messages=4000",)), replications=replications)
    folders = {"out": tmp_path / "runs", "sweeps": tmp_path / "sweeps"}
    swept = run_sweep(asked, workers=1, **folders)
    kind = kind_of(scenario)
    readings = [kind.replicate(scenario, 1, number + 1) for number in range(replications)]

    busy = alone.values[alone.values["metric"] == "utilisation"]
    keys = ["component", "instance", "replication"]
    each = busy.groupby(keys)["value"].mean().unstack()
    per_instance = each.mean(axis=1).groupby("component").max()
    per_replication = each.groupby("component").max().mean(axis=1)
    assert (per_replication > 1.001 * per_instance).sum() >= 3  # or nothing is tested

    rows = side_by_side([swept, swept]).rows
    compared = rows.set_index(["metric", "result"])[["value", "low", "high"]]
    for stage, expected in per_instance.items():
        name = f"busy_{stage}"
        in_sweep = tuple(by_point(swept)[[name, f"{name}_low", f"{name}_high"]].iloc[0])
        assert in_sweep[0] == pytest.approx(expected)
        assert tuple(compared.loc[name, 1]) == pytest.approx(in_sweep)
        assert tuple(compared.loc[name, 2]) == pytest.approx(in_sweep)
        assert np.mean(kind.values(name, readings)) == pytest.approx(expected)  # of `limit`
        assert in_sweep in [
            pytest.approx(tuple(found)) for key, found in alone.by_metric.items() if key[0] == stage
        ]
    shares = {stage.name: stage.utilisation for stage in stages_of(alone.values)}
    assert shares == pytest.approx(per_instance.to_dict())
    assert alone.limit.busy == pytest.approx(per_instance.max())  # of `what-if`, too
