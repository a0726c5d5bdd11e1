"""How far may chance have decided a claim: what is said of its value with replications left out?"""

import math
from dataclasses import replace

import pytest
from scipy.special import stdtrit
from scipy.stats import t as student

from dvsim.evidence.claims.figures import Missing
from dvsim.evidence.claims.jackknife import Spread, jackknife, spread
from dvsim.evidence.claims.source import Claim, Entry, Finding
from dvsim.table.estimate import half_width
from dvsim.table.estimate import student as quantile

AT_LEAST_5 = Claim("X-1", "", "1", "", "", "ge", 5.0, None, "msg/s")
TRUE = Claim("X-2", "", "1", "", "", "true", None, None, "")


class Values:
    """Evidence of one number for each replication."""

    def __init__(self, values):
        self.values = values

    def replications(self, scenarios):
        assert scenarios == ("one",)
        return sorted(self.values)

    def of(self, numbers):
        return Values({number: self.values[number] for number in numbers})


def mean(evidence):
    if None in evidence.values.values():
        return Finding(None, "nothing came")
    return Finding(math.fsum(evidence.values.values()) / len(evidence.values))


def said(claim, *values, evaluate=mean, emulated=False):
    """The interval of the mean of these replications."""
    evidence = Values(dict(enumerate(values, 1)))
    entry = Entry("text", ("one",), evaluate, emulated=emulated)
    value = mean(evidence).value
    return spread(claim, entry, evidence, 0.0 if value is None else value)


def test_the_interval_of_a_mean_is_that_of_student():
    found = said(AT_LEAST_5, 10.0, 11.0, 15.0)
    half = student.ppf(0.975, 2) * math.sqrt(7 / 3)  # 10, 11, 15: s^2 = 7
    assert (found.low, found.high) == (pytest.approx(12 - half), pytest.approx(12 + half))
    assert (found.interval, found.edge) == ("5.428 to 18.57 msg/s", False)


@pytest.mark.parametrize(
    ("values", "edge"),
    [
        ((10.0, 11.0, 15.0), False),
        ((4.0, 5.0, 9.0), True),  # 6 holds, its lower end does not
        ((3.0, 4.0, 7.0), True),  # 4.67 does not hold, its upper end does
        ((1.0, 1.1, 1.2), False),
    ],
)
def test_an_interval_over_an_edge_of_the_claimed_range_is_told(values, edge):
    assert said(AT_LEAST_5, *values).edge is edge


def test_an_interval_without_width_is_the_value():
    assert said(AT_LEAST_5, 7.0, 7.0, 7.0)[:4] == (7.0, 7.0, "same in all", False)
    narrow = said(AT_LEAST_5, 7.0, 7.0, 7.0 + 1e-9)
    assert narrow.low < narrow.high
    assert narrow.interval == "7 msg/s"


def test_of_what_is_true_or_false_it_is_said_how_often():
    assert said(TRUE, 1.0, 1.0, 1.0)[:4] == (None, None, "in 3 of 3", False)
    assert said(TRUE, 1.0, 0.0, 1.0)[:4] == (None, None, "in 2 of 3", True)
    assert said(TRUE, 0.0, 0.0)[:4] == (None, None, "in 0 of 2", False)


def test_where_no_replication_can_be_left_out_there_is_no_interval():
    assert said(AT_LEAST_5, 7.0) == Spread()
    assert said(AT_LEAST_5, 7.0, 8.0) != Spread()
    assert said(AT_LEAST_5, 7.0, 8.0, emulated=True) == Spread()


def test_where_some_of_the_rest_have_no_value_there_is_none():
    assert said(AT_LEAST_5, 7.0, None, 8.0) == Spread()

    def missing(evidence):
        raise Missing("of the first alone")

    assert said(AT_LEAST_5, 7.0, 8.0, evaluate=missing) == Spread()


def test_half_of_the_interval_by_hand():
    assert jackknife(3.0, [4.0, 3.5, 1.5]) == pytest.approx(
        student.ppf(0.975, 2) * math.sqrt(7 / 3)
    )
    found = half_width([1, 2, 9], [math.nan, 3.0, 3.0])
    want = [0.0, student.ppf(0.975, 1) * 3 / math.sqrt(2), student.ppf(0.975, 8)]
    assert found.tolist() == pytest.approx(want)
    assert half_width(4, 2.0, 0.5) == pytest.approx(student.ppf(0.75, 3))


@pytest.mark.parametrize("confidence", [0.95, 0.9])
def test_the_kept_quantiles_of_student_are_those_of_scipy_to_the_last_digit(confidence):
    freedom = [*range(1, 40), 0.5, 2.5]
    want = stdtrit(freedom, (1 + confidence) / 2)
    assert quantile(freedom, confidence).tolist() == want.tolist()
    alone = [float(quantile(each, confidence)) for each in freedom]
    assert alone == want.tolist()


def test_ranges_overlap_where_they_share_a_value():
    low_and_high = replace(AT_LEAST_5, op="about", high=8.0)
    cases = {(1.0, 4.9): False, (1.0, 5.0): True, (6.0, 7.0): True, (8.0, 9.0): True,
             (8.1, 9.0): False}  # fmt: skip
    assert {allowed: low_and_high.overlaps(allowed) for allowed in cases} == cases
    assert AT_LEAST_5.overlaps((1e9, 2e9))
    assert not AT_LEAST_5.overlaps((1.0, 4.0))
    below = replace(AT_LEAST_5, op="lt", low=None, high=8.0)
    assert below.overlaps((-1e9, -1e8))
    assert not below.overlaps((8.5, 9.0))
    assert replace(AT_LEAST_5, high=6.0).overlaps((7.0, 8.0))  # "at least" has no upper end
