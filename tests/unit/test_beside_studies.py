"""Are the right points of studies put beside each other, and what is left out?"""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from harness.replies import Told
from switch_desk import small

from dvsim.contract.load import load
from dvsim.session import run_scenarios
from dvsim.study.table import Table
from dvsim.table.compare import side_by_side
from dvsim.table.match import MOST, PointKeys, match, matching_keys
from dvsim.table.reply import Reply
from dvsim.view import render_comparison
from dvsim.view.comparison import comparison_sections, overlaid_curves
from dvsim.view.terminal import lines

ROLES = ("publisher", "broker")
VARY = "[[vary]]\nheight = [4, 16]\nslots = [400, 200]\n[[vary]]\nload = [0.1, 0.2, 0.3]\n"


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    """All points, those of one load, and all with packets that cross otherwise."""
    path = small(tmp_path_factory.mktemp("studies"), VARY)
    asked = [[], ["traffic.load=0.2"], ["switch.crossing=xor"]]
    scenarios = [load(path, overrides) for overrides in asked]
    return run_scenarios(scenarios, replications=3, workers=1, out=None)


def test_points_are_matched_by_their_keys_varied_or_fixed(studies):
    every, one_load, _ = studies
    keys = [PointKeys.of(study) for study in (every, one_load)]
    assert matching_keys(keys) == ["height", "load"]  # slots is how long it ran
    found = side_by_side([every, one_load])
    assert found.points == [{"height": 4, "load": 0.2}, {"height": 16, "load": 0.2}]
    assert [point["load"] for point in found.unmatched[0]] == [0.1, 0.3, 0.1, 0.3]
    assert found.unmatched[1] == []
    changed = found.rows[found.rows["kind"] != ""]  # the same arrivals: the same run
    assert set(changed["verdict"]) == {"equal"}
    assert changed["change"].tolist() == (changed["kind"] == "ratio").astype(float).tolist()


def test_one_point_that_all_have_is_one_point(studies):
    every, one_load, _ = studies
    one_height = load(Path(every.scenario.path), ["switch.height=4", "traffic.slots=400"])
    (low,) = run_scenarios([one_height], replications=3, workers=1, out=None)
    text = "\n".join(map(str, lines(comparison_sections(side_by_side([one_load, low])))))
    assert "1 point is in all of them." in text


def test_what_differs_is_told_by_its_key(studies):
    every, _, otherwise = studies
    found = side_by_side([every, otherwise])
    assert found.differences == (("switch.crossing", ("brc", "xor")),)
    assert len(found.points) == 6 and not any(found.unmatched)


def test_ratios_are_paired_and_shares_subtracted(studies):
    every, _, otherwise = studies
    rows = side_by_side([every, otherwise]).rows.query("result == 2").set_index("metric")
    assert set(rows.loc["mean_latency", "by"]) == {"paired"}
    assert set(rows.loc["acceptance", "kind"]) == {"difference"}
    rows = side_by_side([every, replace(otherwise, seed=2)]).rows.query("result == 2")
    assert set(rows.set_index("metric").loc["mean_latency", "by"]) == {"Welch"}


def test_equal_replications_at_flow_fidelity_have_no_interval(studies):
    every, _, otherwise = studies
    runs = otherwise.sides["runs"].assign(fidelity="flow", latency_error=0.1, throughput_error=0.1)
    found = side_by_side([every, replace(otherwise, sides={**otherwise.sides, "runs": runs})])
    assert len(found.rows) and set(found.rows["by"]) == {""}
    same = side_by_side([every, otherwise]).rows  # what was simulated keeps its mean and interval
    pd.testing.assert_frame_equal(*(one[one["result"] == 1] for one in (same, found.rows)))


def test_text_and_json_have_a_row_for_each_metric_and_point(studies):
    every, one_load, _ = studies
    found = side_by_side([every, one_load])
    shown = list(lines(comparison_sections(found)))
    _, table = [line for line in shown if isinstance(line, Table)]  # the first has what differs
    assert table.head == ["height", "load", "metric", "1", "±", "2", "±", "2/1"]
    assert len(table.rows) == 2 * len(every.SHOWN)
    assert any(
        "left out of 1: height 4, load 0.1; height 4, load 0.3" in str(line) for line in shown
    )
    made = Reply.of()
    made.hold(found, [made.result(one) for one in (every, one_load)])
    told = Told(made.text())
    rows = told.of("throughput", result=1)
    assert [(row["height"], told.points[row["against"]]["load"]) for row in rows] == [
        (4, 0.2), (16, 0.2)
    ]  # fmt: skip
    assert all("against" in row and row["against"] is None for row in told.of("p99", result=0))


def test_the_page_has_curves_of_all_and_ratios(studies):
    every, _, otherwise = studies
    text = render_comparison(side_by_side([every, otherwise]))
    assert "2 studies side by side" in text
    assert 'id="curve-throughput"' in text and 'id="forest-throughput"' in text
    assert text == render_comparison(side_by_side([every, otherwise]))


def test_there_is_no_curve_without_a_common_axis(studies):
    every, one_load, _ = studies
    assert overlaid_curves(side_by_side([every, one_load]), ["1", "2"], ["throughput"]) == []


def test_one_point_stands_beside_the_point_with_its_values(studies):
    every, _, _ = studies
    path = Path(every.scenario.path)
    asked = ["traffic.load=0.2", "switch.height=4", "traffic.slots=400"]
    (alone,) = run_scenarios([load(path, asked)], replications=3, workers=1, out=None)
    found = side_by_side([alone, every])
    assert len(alone.scenario.points) == 1 and found.points == [{"height": 4, "load": 0.2}]
    assert not found.single and len(found.unmatched[1]) == 5
    assert set(found.rows["verdict"]) - {""} == {"equal"}  # the same run
    asked = ["traffic.load=0.25", "switch.height=4", "traffic.slots=400"]
    (other,) = run_scenarios([load(path, asked)], replications=3, workers=1, out=None)
    with pytest.raises(ValueError, match=r"no point in common: .* is at height 4, load 0.25; .*"):
        side_by_side([other, every])


def test_points_that_share_no_key_are_refused_before_they_fill_the_memory(studies):
    setting = studies[0].scenario.at(0)
    sides = [
        PointKeys([{key: value} for value in range(count)], [setting] * count)
        for key, count in (("one", 1000), ("other", 1000))
    ]
    with pytest.raises(ValueError, match="share too few keys: 1,000,000 combinations of points"):
        match(sides)
    many = PointKeys([{"one": value} for value in range(MOST + 1)], [setting] * (MOST + 1))
    assert len(match([many, many]).points) == MOST + 1  # these belong together one by one


@pytest.fixture(scope="module")
def latency():
    """A study of messaging over hosts."""
    asked = ["workload.messages=20", "workload.message_bytes=8"]
    scenarios = [load("zeromq/latency", asked)]
    return run_scenarios(scenarios, replications=2, workers=1, out=None)[0]


def test_studies_of_two_kinds_are_compared_by_what_both_measure(latency):
    cluster = load("rabbit/one", ["workload.seconds=2"])
    (study,) = run_scenarios([cluster], replications=2, workers=1, out=None)
    found = side_by_side([latency, study])
    assert "p50" in found.metrics and found.metrics["p50"].unit == "us"
    first = study.estimates().set_index("metric")["value"]
    row = next(found.rows.query("metric == 'p50' and result == 2").itertuples())
    assert row.value == pytest.approx(1000 * first["p50"])  # ms there
    assert row.by == "Welch"  # kinds share no random numbers, whatever the seed
    assert "fsyncs" in found.own_metrics[1] and "latency" in found.own_metrics[0]
    kinds = [values for what, values in found.differences if what == "kind"]
    assert kinds == [("of messaging over hosts", "of a RabbitMQ cluster")]
    text = "\n".join(map(str, lines(comparison_sections(found))))
    assert "Metrics that not all have: 1 has " in text


def test_a_name_alone_is_no_common_metric(studies, latency):
    with pytest.raises(ValueError, match="needs two runs, not 1"):
        side_by_side([studies[0]])
    with pytest.raises(ValueError, match=r"share no metrics: .* p50, p99 and max differ in unit"):
        side_by_side([studies[0], latency])
    cluster = load("rabbit/one", ["workload.seconds=2"])
    (study,) = run_scenarios([cluster], replications=1, workers=1, out=None)
    with pytest.raises(ValueError, match="blocked and waiting differ in unit or meaning"):
        side_by_side([studies[0], study])  # "blocked" is a share in both, of descents and of time


def test_parameters_of_two_cards_that_are_called_alike_are_two_keys():
    """Sweeps name a key by its last part, and one may have typed more of it than another."""
    scenario = load("h3/fdr-8")
    spread = {role: scenario.cards[role].parameters["run_spread"].value for role in ROLES}

    def swept(role, name):
        path = f"system.{role}.run_spread"
        points = [{name: spread[role]}, {name: 0.25}]
        return PointKeys(points, [scenario] * 2, {name: path})

    publisher, broker = (swept(role, "run_spread") for role in ROLES)
    found = match([publisher, broker, swept("broker", "broker.run_spread")])
    publishers, brokers = (f"system.{role}.run_spread" for role in ROLES)
    assert list(found.keys) == [publishers, brokers]
    at_rest = {publishers: spread["publisher"], brokers: spread["broker"]}
    assert found.points == [(at_rest, (0, 0, 0))]
    assert found.unmatched[0] == [at_rest | {publishers: 0.25}]
    assert found.unmatched[1] == found.unmatched[2] == [at_rest | {brokers: 0.25}]
