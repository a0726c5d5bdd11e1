"""Are points that are saturated, or have not settled, told and drawn apart from the others?"""

import re

import pytest
from study_runs import load_latency

from dvsim.report.axes import Sweep
from dvsim.report.curves import curve_drawing
from dvsim.report.study_sentences import answer


@pytest.fixture(scope="module")
def latency():
    return load_latency()


def traces_of(drawing):
    """The traces of a figure by name."""
    return {trace.get("name", "band"): trace for trace in drawing.spec["data"]}


def test_the_answer_says_first_what_saturates_last(latency):
    found = answer(Sweep(latency))
    rows = latency.estimates().query("load == 0.6 and metric == 'throughput'")
    brc, xor = rows.set_index("crossing")["value"].loc[["brc", "xor"]]
    assert brc > xor
    told = rf"Saturates last: brc, {brc:.4f} ± [\d.]+; then xor, {xor:.4f} ± [\d.]+ packets per .*"
    assert re.fullmatch(told, found[0])


def test_points_that_are_saturated_are_open_and_stand_apart_from_their_line(latency):
    drawing = curve_drawing(Sweep(latency), "mean_latency", "f")
    traces = traces_of(drawing)
    line, beyond = traces["crossing brc"], traces["crossing brc, saturated"]
    assert (line["x"], beyond["x"]) == ([0.05, 0.15, 0.25], [0.6])
    assert line["marker"]["symbol"] == ["circle"] * 3
    assert beyond["marker"]["symbol"] == ["circle-open"]
    assert (line["showlegend"], beyond["showlegend"]) == (True, False)
    assert "(saturated)" in beyond["text"][0]
    assert "Marks beyond the end of a line are saturated" in drawing.reading


def test_points_that_have_not_settled_are_open(latency):
    """Of points that deliver what is offered, and yet have not settled."""
    sweep = Sweep(latency)
    sweep.offered = {}
    drawing = curve_drawing(sweep, "mean_latency", "f")
    trace = traces_of(drawing)["crossing brc"]
    assert trace["x"] == [0.05, 0.15, 0.25, 0.6]
    assert trace["marker"]["symbol"] == ["circle"] * 3 + ["circle-open"]
    assert "(not settled)" in trace["text"][3]
    assert "Open marks have not settled" in drawing.reading
