"""Are points that are saturated, or have not settled, told and drawn apart from the others?"""

import re

import pytest
from study_runs import load_latency

from dvsim.view.axes import Sweep
from dvsim.view.curves import curve_figure
from dvsim.view.result_page import study_answer as answer


@pytest.fixture(scope="module")
def latency():
    return load_latency()


def rows_of(figure, line, part="simulated"):
    """The rows of a line of a figure."""
    return figure.frame.query("line == @line and part == @part")


def test_the_answer_says_first_what_saturates_last(latency):
    found = answer(Sweep(latency))
    rows = latency.estimates().query("load == 0.6 and metric == 'throughput'")
    brc, xor = rows.set_index("crossing")["value"].loc[["brc", "xor"]]
    assert brc > xor
    told = rf"Saturates last: brc, {brc:.4f} ± [\d.]+; then xor, {xor:.4f} ± [\d.]+ packets per .*"
    assert re.fullmatch(told, found[0])


def test_points_that_are_saturated_are_open_and_stand_apart_from_their_line(latency):
    figure = curve_figure(Sweep(latency), "mean_latency", "f")
    line, beyond = (rows_of(figure, "crossing brc", part) for part in ("simulated", "saturated"))
    assert (line["x"].tolist(), beyond["x"].tolist()) == ([0.05, 0.15, 0.25], [0.6])
    assert line["open"].tolist() == [0] * 3
    assert beyond["open"].tolist() == [1]
    assert "(saturated)" in beyond["text"].iloc[0]


def test_points_that_have_not_settled_are_open(latency):
    """Of points that deliver what is offered, and yet have not settled."""
    sweep = Sweep(latency)
    sweep.offered = {}
    line = rows_of(curve_figure(sweep, "mean_latency", "f"), "crossing brc")
    assert line["x"].tolist() == [0.05, 0.15, 0.25, 0.6]
    assert line["open"].tolist() == [0, 0, 0, 1]
    assert "(not settled)" in line["text"].iloc[3]
