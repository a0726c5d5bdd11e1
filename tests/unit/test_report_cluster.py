"""Is there a page about a modelled cluster, with what it found first?"""

import pytest

from dvsim.contract.load import load
from dvsim.session import run_scenarios
from dvsim.study.table import Table
from dvsim.view import render_report
from dvsim.view.axes import Sweep
from dvsim.view.result_page import report_page
from dvsim.view.result_page import study_answer as answer


@pytest.fixture(scope="module")
def study():
    scenario = load("rabbit/load-2020", ("seconds=60",))
    return run_scenarios([scenario], replications=2, out=None, workers=1)[0]


def test_the_page_has_each_metric_that_a_table_has(study):
    page = render_report([study], command="dvsim run rabbit/load-2020")
    made = report_page([study])
    assert study.scenario.title in page
    assert [figure.name for figure in made.figures] == [
        f"study-0-{name}" for name in ("rate_out", "p50", "p99", "cpu", "unstable", "cost")
    ]
    (points,) = [one for one in made.blocks if isinstance(one, Table) and "points" in one.name]
    assert points.head[-1] == "settled?"
    assert "99 % of the latencies in ms" in points.caption
    assert len(points.rows) == len(study.scenario.points)


def test_the_answer_says_how_much_is_delivered_and_what_grows(study):
    said = " ".join(answer(Sweep(study)))
    assert said.startswith("Largest rate out: 25,000 msg/s at ")
    grows = len(study.notes())
    assert 0 < grows < len(study.scenario.points)
    assert "what waits grows" in said
