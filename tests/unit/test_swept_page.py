"""Does the page of a sweep have the figures of a study, and say what was looked for?"""

import csv
from dataclasses import replace
from functools import cache

import pytest
from manifests import changed

from dvsim.study.sweep import prepare, run
from dvsim.study.sweeps.grid import plan
from dvsim.study.swept import by_point
from dvsim.view.explore import explorer
from dvsim.view.html import html
from dvsim.view.saturation import Offered, saturated, sentence
from dvsim.view.sweep_page import answer_sentences, curves, points_blocks, swept_page


@cache
def swept(scenario, *vary, settings=(), sample=None):
    points = plan(list(vary), sample=sample)
    asked = prepare(scenario, points, overrides=settings, replications=2)
    return run(asked, workers=1, out=None, sweeps=None)


@pytest.fixture
def loads():
    """A switch whose crossings carry different loads; half of the points are saturated."""
    return swept(
        "switch/load-latency",
        "switch.crossing=brc,xor",
        "traffic.load=0.05,0.1,0.15,0.2,0.22,0.5,0.51",
        settings=(
            "switch.height=16",
            "switch.angles=2",
            "traffic.slots=1500",
            "traffic.warmup=300",
        ),
    )


@pytest.fixture
def sizes():
    return swept(
        "h3/fdr-8",
        "system.publisher.processes=1,2",
        "workload.message_bytes=8..131072*2",
        settings=("workload.messages=200", "probe.batch=10"),
    )


def figure(found, metric):
    """The frame of one figure of a sweep, and its axis."""
    (drawn,) = [one for one in curves(found) if one.name == f"swept-{metric}"]
    return drawn.frame, drawn.described["layer"][0]["encoding"]["x"]


def test_a_sweep_of_a_switch_has_a_line_for_each_series_over_a_linear_load(loads):
    frame, axis = figure(loads, "mean_latency")
    assert axis["title"].startswith("offered load")
    assert "type" not in axis["scale"]
    for crossing in ("brc", "xor"):
        own = frame[frame["line"] == f"crossing {crossing}"]
        line, beyond = (
            own.loc[own["part"] == part, "x"].tolist() for part in ("simulated", "saturated")
        )
        assert line == sorted(line)
        assert max(line) < min(beyond)
        assert beyond[-2:] == [0.5, 0.51]


def test_points_of_a_sweep_that_have_not_settled_are_open_and_told(loads):
    table = by_point(loads)
    assert table["note"][table["traffic.load"] == 0.51].str.startswith("queues grew by").all()
    assert (table["note"][table["traffic.load"] == 0.05] == "").all()
    frame, _ = figure(loads, "throughput")
    own = frame[frame["line"] == "crossing xor"].groupby("part")["open"]
    assert own.min()["saturated"] == 1
    assert own.first()["simulated"] == 0


def test_a_reader_chooses_among_all_points_metrics_and_keys(loads):
    data, table = explorer(loads).data, by_point(loads)
    assert set(data["keys"]) == {"crossing", "load"}
    load, throughput = data["keys"]["load"], data["metrics"]["throughput"]
    assert [load["values"][at] for at in load["at"]] == table["traffic.load"].tolist()
    assert throughput["value"] == pytest.approx(table["throughput"].tolist(), rel=1e-6)
    assert throughput["low"] == pytest.approx(table["throughput_low"].tolist(), rel=1e-6)
    assert data["open"] == (table["note"] != "").astype(int).tolist()
    assert set(data["apart"]) == {0, 1}
    assert len(data["metrics"]) == len(loads.METRICS)


def test_of_many_points_some_are_drawn_which_is_said(loads, monkeypatch):
    monkeypatch.setattr("dvsim.view.explore.MOST_POINTS", 5)
    drawn = explorer(loads)
    assert len(drawn.data["open"]) == 5
    assert "5 of 14 points" in drawn.reading


def test_a_sweep_of_a_switch_says_what_saturates_last(loads):
    most = by_point(loads).groupby("switch.crossing")["throughput"].max()
    first, last = most.sort_values().index
    said = answer_sentences(loads)[0]
    assert f"{most[last]:.3f}"[:-1] in said and f"{most[first]:.3f}"[:-1] in said
    assert said.startswith(f"Saturates last: {last}")  # its pairs with the other say so
    page = html(swept_page(loads))
    assert page.index(said.partition(";")[0]) < page.index("Throughput against load")


def test_the_first_result_that_was_asked_for_is_the_answer(sizes):
    said = answer_sentences(sizes, ["r1_p99", "delivered_rate"])[0]
    assert said.startswith("Largest r1 p99: ")


def test_a_latency_has_the_unit_of_its_kind():
    clusters = swept("rabbit/one", "workload.rate=1000,2000", settings=("seconds=10",))
    assert " ms at " in answer_sentences(clusters, ["p99"])[0]


def test_a_result_that_is_equal_everywhere_has_no_largest(sizes):
    values = sizes.values.copy()
    values.loc[values["metric"] == "delivered_rate", "value"] = 1000.0
    equal = replace(sizes, values=values)
    table, said = by_point(equal), answer_sentences(equal)[0]
    assert said.startswith("Equal at all points: delivered rate 1,000")
    named = said.partition("Other results differ: ")[2].removesuffix(".").partition(" and ")[0]
    for name in named.split(", "):
        assert table[name].nunique() > 1
    assert "differ" not in answer_sentences(replace(sizes, values=values.assign(value=1.0)))[0]


def test_a_sweep_of_a_system_says_where_it_is_fastest_and_names_no_size_twice(sizes):
    said = answer_sentences(sizes)[0]
    best = by_point(sizes).loc[by_point(sizes)["delivered_rate"].idxmax()]
    assert said.startswith("Largest delivered rate: ")
    assert f"processes {best['system.publisher.processes']:g}" in said.partition("smallest")[0]
    frame, axis = figure(sizes, "delivered_rate")
    assert {"processes 1", "processes 2"} == set(frame["line"])
    assert (axis["scale"]["type"], axis["scale"]["base"]) == ("log", 2)


def test_a_sweep_without_any_result_has_a_page_that_says_what_failed(sizes):
    rows = sizes.sides["points"].assign(error="it is gone", bottleneck="", note="")
    manifest = changed(sizes.manifest, swept=sizes.asked.model_dump() | {"results": []})
    failed = replace(sizes, values=sizes.values[:0], sides={"points": rows}, manifest=manifest)
    page = html(swept_page(failed))
    assert "30 of 30 points failed." in page and "it is gone" in page


def test_the_download_has_full_keys_units_and_empty_cells():
    settings = ("workload.messages=200", "probe.batch=10")
    keys = ("publisher.run_spread=0.0,0.1", "broker.run_spread=0.1", "broker.stall=100ms")
    found = swept("h3/fdr-8", *keys, settings=settings)
    gone = (found.values["point"] == 1) & (found.values["metric"] == "delivered_rate")
    found = replace(found, values=found.values[~gone])
    table = by_point(found)
    shown = points_blocks(found, ["delivered_rate"], 10)[0]
    assert shown.head[:3] == ["publisher.run_spread", "broker.run_spread", "stall"]
    assert shown.rows[0][:3] == ["0", "0.1", "100 ms"]
    first, second = csv.DictReader(shown.csv.splitlines())
    assert (first["publisher.run_spread"], first["broker.run_spread"]) == ("0", "0.1")
    assert first["broker.stall [s]"] == second["broker.stall [s]"] == "0.1"
    assert float(first["delivered_rate [1/s]"]) == table["delivered_rate"][0]
    assert second["delivered_rate [1/s]"] == second["delivered_rate_high [1/s]"] == ""
    assert (
        "nan" not in shown.csv and "nan" not in html(swept_page(found)).lower().split("<script")[0]
    )


def test_points_of_a_sample_stand_alone_over_each_key():
    found = swept(
        "h3/fdr-8",
        "workload.message_bytes=8..2048",
        "system.publisher.processes=1..8",
        settings=("workload.messages=200", "probe.batch=10"),
        sample="sobol:16",
    )
    drawings = curves(found)
    keys = list(found.points)
    assert {one.name.split("-")[1] for one in drawings} == set(keys)
    assert len(drawings[0].frame) == 16
    assert "line" not in [layer["mark"]["type"] for layer in drawings[0].described["layer"]]


def test_what_keeps_up_is_named_before_what_saturates():
    points = [Offered("a", 0.2, 0.2, 0.01, 0), Offered("b", 0.2, 0.1, 0.01, 0)]
    assert sentence(points) == (
        "Not saturated up to load 0.2: a. The others: b, 0.100 ± 0.010 packets per slot and input."
    )
    assert sentence(points[:1]) == ""
    assert sentence(points[1:]).startswith("Saturates at 0.100 ± 0.010")


def test_what_is_refused_or_within_chance_is_not_saturated():
    assert not saturated([Offered("a", 0.2, 0.1, 0.01, 5)])
    assert not saturated([Offered("a", 0.2, 0.19, 0.02, 0)])
    assert saturated([Offered("a", 0.2, 0.19, 0.001, 0)])
    few = Offered("a", 0.01, 0.0078, 0.001, 0)
    carries = Offered("a", 0.05, 0.046, 0.008, 0)
    assert not saturated([few, carries])
    assert saturated([few, carries._replace(line="b")]) == [few]
    assert sentence([few, carries]) == ""
