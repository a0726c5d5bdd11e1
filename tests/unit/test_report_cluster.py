"""Is there a page about a modelled cluster, with what it found first?"""

import pytest

from dvsim.kinds.load import load
from dvsim.report import render_study_report
from dvsim.report.answers import answer
from dvsim.report.studies import part_of
from dvsim.report.sweep import Sweep
from dvsim.session import run_scenarios


@pytest.fixture(scope="module")
def study():
    scenario = load("rabbit/load-2020", ("seconds=60",))
    return run_scenarios([scenario], replications=2, out=None, workers=1)[0]


def test_the_page_has_each_metric_that_a_table_has(study):
    page = render_study_report([study], command="dvsim run rabbit/load-2020")
    part = part_of(study, "one")
    assert part.title in page
    assert [drawing.name for drawing in part.curves] == [
        f"one-{name}" for name in ("rate_out", "p50", "p99", "cpu", "unstable", "cost")
    ]
    assert part.points.head[-1] == "settled?"
    assert "99 % of the latencies in ms" in part.points.caption
    assert len(part.points.rows) == len(study.scenario.points)


def test_the_answer_says_how_much_is_delivered_and_what_grows(study):
    said = " ".join(answer(Sweep(study)))
    assert "rate out 5,000 msg/s at rate 5,000 and" in said
    assert "p50" in said
    grows = len(study.notes())
    assert 0 < grows < len(study.scenario.points)
    assert "what waits grows" in said
