"""Which verdicts would another replication turn, and which are left alone?"""

import math
from dataclasses import replace

import pandas as pd
import pytest
from run_builder import steady_tcp, tcp_scenario

from dvsim.evidence.published import ROW
from dvsim.evidence.undecided import STEPS, open_verdicts, undecided
from dvsim.evidence.verdicts import ClaimVerdict, Validation

LARGE, SMALL = "h3/fdr-131072", "h3/fdr-8"


def runs():
    """Two runs, of which that of the long messages has more messages here."""
    long, short = (tcp_scenario(size, name) for size, name in ((131072, LARGE), (8, SMALL)))
    dear = replace(long, workload=replace(long.workload, messages=10**6))
    return [steady_tcp(dear, 1000), steady_tcp(short, 1000)]


def row(statistic, low, high, scenario=SMALL, published=100.0, tolerance=0.15):
    middle = (low + high) / 2
    values = (
        scenario, "r1", "R1", "fdr-ipoib", 8, statistic, "as printed", published, middle, low, high,
        math.log(middle / published) if middle > 0 < published else math.nan, tolerance, "held out",
        "pass",
    )  # fmt: skip
    return dict(zip(ROW, values, strict=True))


def judged(*rows):
    names = dict.fromkeys(one["scenario"] for one in rows)
    known = {"column": "r1", "reading": "as printed", "empty_share": None}
    columns = pd.DataFrame([{"scenario": name, **known} for name in names])
    return undecided(Validation((), pd.DataFrame(rows), columns), runs())


def many(inside, open_, outside, scenario=SMALL):
    """Statistics that make no column: 25% is judged by the goals alone."""
    return [
        *[row("25%", 99, 101, scenario)] * inside,
        *[row("25%", 70, 100, scenario)] * open_,
        *[row("25%", 10, 20, scenario)] * outside,
    ]


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([row("mean", 95, 105)], set()),
        ([row("mean", 80, 100)], {SMALL}),  # 87 would be within 15 %, 80 is not
        ([row("mean", 50, 200)], {SMALL}),  # neither end is, the middle may be
        ([row("mean", 10, 20)], set()),
        ([row("mean", 80, 100), row("99%", 10, 20)], set()),  # the column fails in any case
    ],
)
def test_a_column_is_open_while_a_statistic_of_it_may_turn_it(rows, found):
    outside = many(0, 0, 20)  # so that no goal can be met
    outside += [row("mean", 10, 20, LARGE)]
    assert judged(*rows, *outside) == found


@pytest.mark.parametrize(
    ("counts", "found"),
    [
        ((17, 1, 2), set()),  # of 20 are 17 wanted
        ((16, 1, 3), {SMALL}),
        ((15, 1, 4), set()),  # and the open one would not be enough
        ((20, 0, 0), set()),
    ],
)
def test_a_goal_is_open_while_its_statistics_may_turn_it(counts, found):
    assert judged(*many(*counts)) == found


def test_the_dearest_run_waits_for_the_cheaper_ones():
    assert judged(*many(9, 1, 0), *many(7, 1, 2, LARGE)) == {SMALL}
    assert judged(*many(9, 0, 1), *many(7, 1, 2, LARGE)) == {LARGE}


def test_a_claim_at_the_edge_asks_for_its_runs():
    claim = ClaimVerdict("X-1", "", "", "", "", "", "confirmed", "", "", scenarios=("a", "b"))
    both = (claim, replace(claim, id="X-2", scenarios=("c",), edge=True))
    assert undecided(Validation(both), []) == {"c"}


def test_each_result_is_told_whether_it_is_wanted():
    assert open_verdicts(runs()) == [False, False]


def test_the_last_look_is_the_full_run():
    assert STEPS[-1] == 10
