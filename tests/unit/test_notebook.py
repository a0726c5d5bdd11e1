"""Are results readable in a notebook, complete, and harmless?"""

import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

import dvsim
from dvsim.study.notebook import histogram
from dvsim.study.number_text import estimate_text


def parsed(html):
    """Return HTML as a tree: what a notebook gets is well-formed."""
    return ET.fromstring(html.replace("&nbsp;", " "))


@pytest.fixture(scope="module")
def run():
    return dvsim.run("h3/fdr-8", replications=2, messages=200_000)


def test_a_run_shows_each_statistic_of_each_record(run):
    tree = parsed(run._repr_html_())
    heads = [cell.text for cell in tree.iter("th")]
    assert {"r1, messages", "mean", "99%"} <= set(heads)
    rows = run.estimates()
    mean = rows[(rows["column"] == "r1") & (rows["statistic"] == "mean")].iloc[0]
    text = estimate_text(mean["value"], mean["high"] - mean["value"])
    assert " ± " in text and text in run._repr_html_()


def test_a_study_shows_its_points():
    study = dvsim.run("switch/zero-load", replications=2, scale=0.01)
    rows = [row for row in parsed(study._repr_html_()).iter("tr") if row.findall("td")]
    assert len(rows) == len(study.scenario.points)


def test_a_switch_shows_its_latencies():
    run = dvsim.Switch(height=16, angles=3).run(load=0.3, slots=500)
    tree = parsed(run._repr_html_())
    assert len(list(tree.iter("rect"))) > 5
    assert "throughput" in tree.find("strong").text


def test_a_network_does_so_too():
    run = dvsim.Network("dv203").run(load=0.3, slots=200)
    assert len(list(parsed(run._repr_html_()).iter("rect"))) > 2


def test_names_from_files_are_text(run):
    bad = replace(run.scenario, title="<script>alert(1)</script>", question="<b>?</b>")
    html = replace(run, scenario=bad)._repr_html_()
    assert "<script" not in html
    assert "<b>" not in html


def test_bars_have_the_heights_of_their_shares():
    tree = parsed(histogram(np.array([0, 0, 3, 0, 1]), "x"))
    bars = list(tree.iter("rect"))
    assert [float(bar.get("height")) for bar in bars] == [90.0, 0.0, 30.0]
    assert [bar.find("title").text for bar in bars] == ["2: 75.000%", "3: 0.000%", "4: 25.000%"]


def test_many_values_share_bars():
    bars = list(parsed(histogram(np.ones(601, dtype=np.int64), "x")).iter("rect"))
    assert len(bars) == 55  # 601 values, 11 of them in a bar
    assert bars[0].find("title").text.startswith("0 to 10:")


def test_nothing_is_no_picture():
    assert histogram(np.zeros(4, dtype=np.int64), "x") == ""


def test_a_run_draws_the_rate_of_each_column_titled_with_its_answer(run):
    figure = run.plot()
    names = {str(trace.name).rpartition(" ")[2] for trace in figure.data}
    assert set(run.scenario.probe.columns) <= names
    assert str(run.rate) in figure.layout.title.text
