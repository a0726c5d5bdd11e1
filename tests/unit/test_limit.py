"""Does a bisection find limits that are known, with the confidence that it claims?"""

import math

import numpy as np
import pytest
from switch_desk import edited, small

from dvsim.contract.find import kind_named
from dvsim.contract.load import load
from dvsim.errors import ScenarioError
from dvsim.kinds.switch.model import measure
from dvsim.study.limit import search
from dvsim.study.limit.criterion import Term, deciding, parse_criterion, prospect
from dvsim.study.limit.search import (
    LAST,
    MOST,
    TELLING,
    Continuous,
    Whole,
    axis_of,
    find_limits,
    steps_of,
)
from dvsim.study.precision import confidence_of, needed
from dvsim.table.estimate import Estimate, estimate

SWITCH = kind_named("switch")
METRICS = SWITCH.metrics(None)
TINY = "height = 4\nangles = 3"


def limits(scenario, key, axis, until, **options):
    return list(find_limits(scenario, key, axis, parse_criterion(until, METRICS), **options))


@pytest.fixture
def measured(monkeypatch):
    """A simulation whose throughput is the load, plus a given noise by replication."""
    seen = []

    def given(noise):
        def run(task):
            setting, seed, replication = task
            seen.append((setting.traffic.load, seed, replication))
            row = measure(scenario.at(0), 1, 1)
            value = setting.traffic.load + noise(replication)
            return row._replace(metrics=row.metrics | {"throughput": value}, notes="")

        monkeypatch.setattr(search, "_run", run)
        return seen

    scenario = load("switch/zero-load", ["traffic.slots=10", "traffic.warmup=0"])
    return scenario, given


def test_two_heights_and_one_angle_saturate_at_two_thirds(tmp_path):
    path = edited(tmp_path, TINY, "height = 2\nangles = 1")
    scenario = load(path, ["traffic.injection=queue", "traffic.slots=4000", "traffic.warmup=500"])
    (found,) = limits(scenario, "load", Continuous(0, 1, 0.002), "acceptance > 0.99")
    assert found.outcome == "found"
    # a queue accepts 99 % as long as the load is at most 1/0.99 of what the switch carries
    assert found.holds == pytest.approx(2 / 3 / 0.99, abs=0.01)
    assert found.holds < found.fails <= found.holds + 0.02


def test_the_load_whose_throughput_is_known_exactly(measured):
    scenario, noise = measured
    seen = noise(lambda replication: 1e-6 * (-1) ** replication)
    (found,) = limits(scenario, "load", Continuous(0, 1, 1 / 64), "throughput < 0.3", seed=5)
    assert (found.holds, found.fails) == (19 / 64, 20 / 64)
    assert {seed for _, seed, _ in seen} == {5}
    values = [probe.value for probe in found.probes]
    assert values == sorted(values)
    assert [probe.verdict for probe in found.probes] == [
        "holds" if value < 0.3 else "fails" for value in values
    ]


def test_replications_are_added_until_one_side_is_certain(measured):
    scenario, noise = measured
    seen = noise(lambda replication: 0.1 * (-1) ** replication)
    (found,) = limits(scenario, "load", Continuous(0, 1, 1 / 4), "throughput < 0.553")
    counts = {probe.value: probe.replications for probe in found.probes}
    assert counts[0] == counts[1] == 4  # of two runs an interval of 99 % reaches 6 far
    assert counts[0.5] == 32 == LAST  # 0.1 / sqrt(32) * t is 0.05
    assert [r for load, _, r in seen if load == 0.5] == list(range(1, LAST + 1))
    asked = ("load", Continuous(0, 1, 1 / 16), "throughput < 0.532")
    (found,) = limits(scenario, *asked, replications=10)
    counts = {probe.value: probe.replications for probe in found.probes}
    assert counts[0] == counts[1] == 10
    assert counts[0.5] == MOST  # 0.1 / sqrt(80) * t is 0.03
    assert found.holds < 0.532 < found.fails


def test_a_probe_that_more_replications_would_not_decide_has_no_more(measured):
    scenario, noise = measured
    noise(lambda replication: 0.1 * (-1) ** replication)
    asked = ("load", Continuous(0, 1, 1 / 16), "throughput < 0.52")
    for replications, told in ((None, TELLING), (10, 10), (2, TELLING)):
        (found,) = limits(scenario, *asked, replications=replications)
        between = [p for p in found.probes if found.holds < p.value < found.fails]
        assert found.holds < 0.52 < found.fails < found.holds + 0.25
        assert {p.verdict for p in between} == {"undecided"}
        assert {p.replications for p in between} == {told}


def test_what_more_runs_would_say():
    runs = [1.0, 3.0, 1.0, 3.0]
    then = prospect(runs, 16, 0.95)
    assert then.value == 2
    assert then.half == pytest.approx(
        2.1314 * (4 / 3) ** 0.5 / 4, rel=1e-4
    )  # t of 15, s / sqrt(16)
    assert prospect([*runs, *[math.nan] * 4], 32, 0.95) == then  # half of them have a value
    assert prospect([1.0, math.nan], 80).half == 0  # could be anything: go on
    assert math.isnan(prospect([math.nan], 80).value)


@pytest.mark.parametrize(
    ("until", "outcome", "holds", "fails"),
    [
        ("throughput < 2", "everywhere", 1, None),
        ("throughput > 2", "nowhere", None, 0),
        ("throughput > 0.5", "reversed", 1, 0),
    ],
)
def test_a_criterion_that_does_not_change_is_told(measured, until, outcome, holds, fails):
    scenario, noise = measured
    noise(lambda replication: 0)
    (found,) = limits(scenario, "load", Continuous(0, 1, 0.1), until)
    assert (found.outcome, found.holds, found.fails) == (outcome, holds, fails)
    assert len(found.probes) == 2


def test_the_smallest_value_is_searched_from_above(measured):
    scenario, noise = measured
    noise(lambda replication: 0)
    (found,) = limits(scenario, "load", Continuous(0, 1, 1 / 64), "throughput > 0.3", smallest=True)
    assert (found.holds, found.fails) == (20 / 64, 19 / 64)


def test_five_idle_angles_are_needed():
    scenario = load("switch/angles", ["switch.crossing=brc", "switch.height=16"])
    (found,) = limits(
        scenario.fixed("slots", 500), "angles", Whole(1, 16), "acceptance > 0.99", smallest=True
    )
    assert (found.holds, found.fails) == (6, 5)


def test_heights_are_powers_of_two(tmp_path):
    scenario = load(small(tmp_path), ["traffic.load=0.01", "traffic.slots=3000"])
    (found,) = limits(scenario, "height", Whole(2, 1024, powers=True), "mean_hops < 9")
    assert (found.holds, found.fails) == (16, 32)  # 3/2 log2 H + 2


def test_each_point_of_the_other_keys_has_its_limit(tmp_path):
    scenario = load(small(tmp_path, "[[vary]]\nheight = [4, 16]\n[[vary]]\nload = [0.1, 0.2]\n"))
    found = limits(scenario, "load", Continuous(0.05, 1, 0.1), "acceptance > 0.8")
    assert [one.point for one in found] == [{"height": 4}, {"height": 16}]


def test_the_same_question_has_the_same_answer_for_any_number_of_workers(tmp_path, monkeypatch):
    monkeypatch.setattr(search, "QUICK_S", 0)
    scenario = load(small(tmp_path))
    found = [
        limits(scenario, "load", Continuous(0.05, 1, 0.1), "acceptance > 0.8", workers=workers)
        for workers in (1, 2)
    ]
    assert found[0] == found[1]


def test_bounds_are_checked_at_every_point_before_anything_is_run(measured, tmp_path):
    _, noise = measured
    seen = noise(lambda replication: 0)
    scenario = load(small(tmp_path, "[[vary]]\nangles = [8, 2]\n"))
    with pytest.raises(ScenarioError, match="injecting: must be from 1 to 2, is 3"):
        limits(scenario, "injecting", Whole(1, 3), "acceptance > 0.9")
    assert seen == []


def test_a_verdict_is_certain_over_all_looks_at_it():
    for first, looks in ((None, 5), (10, 4), (20, 3), (80, 1), (79, 2)):
        assert confidence_of(steps_of(first)) == pytest.approx(1 - 0.05 / looks)
    random = np.random.default_rng(1)
    for steps in (steps_of(), steps_of(10)):
        wrong = 0
        for _ in range(300):  # the mean is the number itself: every verdict is wrong
            runs = random.normal(size=MOST)
            looks = (deciding(runs[:count], confidence_of(steps)) for count in steps)
            wrong += any(Term("throughput", ">", 0.0).verdict(one) != "undecided" for one in looks)
        assert 0 < wrong <= 300 * 0.05  # with 95 % at each look it is 11 % of four


def test_with_a_precision_a_probe_ends_where_its_metric_is_known_so_well(measured):
    scenario, noise = measured
    noise(lambda replication: 0.02 * (-1) ** replication)
    asked = ("load", Continuous(0.2, 0.8, 0.1), "throughput < 0.5")
    (found,) = limits(scenario, *asked, precision=0.1)
    assert confidence_of(steps_of(10, 0.1)) == 0.95
    for probe in found.probes:
        known = probe.estimates["throughput"]
        assert known.half <= 0.1 * known.value
        values = [probe.value + 0.02 * (-1) ** number for number in range(1, 4)]
        pilot = estimate(values)
        assert probe.replications == needed(pilot.half / pilot.value, 0.1)
    assert found.probes[0].replications > found.probes[-1].replications >= 3
    (wide,) = limits(scenario, *asked, precision=0.001)
    assert {probe.replications for probe in wide.probes} == {30}


def test_the_error_of_the_flow_level_counts(measured, monkeypatch):
    scenario, noise = measured
    noise(lambda replication: 0)
    exact = search._run

    def flowing(task):
        return exact(task)._replace(fidelity="flow", latency_error=0.0, throughput_error=0.1)

    monkeypatch.setattr(search, "_run", flowing)
    (found,) = limits(scenario, "load", Continuous(0, 1, 1 / 256), "throughput < 0.5")
    assert 0.5 / 1.1 - 1 / 256 <= found.holds < 0.5 / 1.1  # the value and a tenth of it
    assert 0.5 / 0.9 < found.fails <= 0.5 / 0.9 + 1 / 256
    assert {probe.fidelity for probe in found.probes} == {"flow"}


def test_a_value_that_the_switch_refuses_is_told(tmp_path):
    scenario = load(small(tmp_path), ["traffic.pattern=transpose"])
    with pytest.raises(ScenarioError, match="needs height 4, 16, 64"):
        limits(scenario, "height", Whole(4, 8, powers=True), "mean_hops < 9")
    with pytest.raises(ScenarioError, match="key: 'planes' is no key of small"):
        limits(scenario, "planes", Whole(1, 2), "mean_hops < 9")


@pytest.mark.parametrize(
    ("sign", "value", "half", "verdict"),
    [
        (">", 1.2, 0.1, "holds"),
        (">", 1.05, 0.1, "undecided"),
        (">", 0.8, 0.1, "fails"),
        (">", 1.0, 0.0, "fails"),
        (">=", 1.0, 0.0, "holds"),
        ("<", 0.8, 0.1, "holds"),
        ("<", 1.2, 0.1, "fails"),
        ("<", 1.0, 0.0, "fails"),
        ("<=", 1.0, 0.0, "holds"),
        ("<=", 1.0, 0.1, "undecided"),
        (">", math.nan, 0.0, "holds"),
    ],
)
def test_an_interval_must_lie_on_one_side(sign, value, half, verdict):
    assert Term("throughput", sign, 1.0).verdict(Estimate.around(value, half)) == verdict


def test_all_comparisons_must_hold():
    criterion = parse_criterion("throughput > 1 and p99 < 9", METRICS)
    certain, open_ = Estimate.around(2, 0.1), Estimate.around(9, 1)
    assert criterion.verdict({"throughput": certain, "p99": Estimate.around(5, 1)}) == "holds"
    assert criterion.verdict({"throughput": certain, "p99": open_}) == "undecided"
    assert criterion.verdict({"throughput": Estimate.around(0, 0.1), "p99": open_}) == "fails"


def test_an_estimate_leaves_out_what_is_no_number():
    found = deciding([1.0, math.nan, 3.0])
    assert found.value == 2
    assert found.half == pytest.approx(12.706205 * 2**0.5 / 2**0.5)
    assert math.isnan(deciding([math.nan]).value)


def test_one_run_that_has_a_value_decides_nothing():
    found = deciding([2.0, math.nan])
    assert (found.value, found.half) == (2, math.inf)
    assert Term("p99", "<", 1.0).verdict(found) == "undecided"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("acceptence > 0.9", "no metric 'acceptence' in offered, .*; did you mean 'acceptance'?"),
        ("acceptance = 0.9", "'acceptance = 0.9' is no comparison; write for example"),
        ("acceptance > much", "'much' is no number"),
        ("acceptance > inf", "'inf' is no number"),
        ("acceptance > 0.9 and", "'' is no comparison"),
        ("__import__('os')", ".* is no comparison"),
    ],
)
def test_a_wrong_criterion_is_told(text, said):
    with pytest.raises(ScenarioError, match=f"until: {said}"):
        parse_criterion(text, METRICS)


def test_everything_that_is_wrong_with_a_criterion_is_told():
    with pytest.raises(ScenarioError) as caught:
        parse_criterion("hops > x and p98 < 3", METRICS)
    assert len(caught.value.faults) == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("laod", None, 0.1), "key: 'laod' has no order .*; did you mean 'load'?"),
        (("crossing", None, 0.1), "key: 'crossing' has no order to search in"),
        (("burst", None, 0.1), "between: missing; 'burst' needs a range"),
        (("load", (0.5, 0.5), 0.1), "between: 0.5 is not below 0.5"),
        (("load", (0, 2), 0.1), "between: a load is from 0 to 1, not from 0 to 2"),
        (("load", (math.nan, 1), 0.1), "between: nan is not below 1"),
        (("load", None, 0), "tolerance: 0 is not from 1e-09 on and below 1"),
        (("load", None, math.nan), "tolerance: nan is not from 1e-09 on"),
        (("load", None, 1e-300), "tolerance: 1e-300 is not from 1e-09 on"),
        (
            ("angles", (1, 1e300), 0.1),
            r"between: 'angles' must be at most 1073741824, not 1e\+300",
        ),
        (("angles", (1, 2.5), 0.1), "between: 'angles' is a whole number, not 2.5"),
        (("angles", (1, math.inf), 0.1), "between: 'angles' is a whole number, not inf"),
        (("height", (4, 12), 0.1), "between: a height is a power of two from 2 on, not 12"),
    ],
)
def test_a_wrong_axis_is_told(arguments, said):
    with pytest.raises(ScenarioError, match=said):
        axis_of(*arguments, SWITCH.orders)


def test_middles_come_to_an_end():
    for axis in (Whole(1, 17), Whole(2, 2**20, powers=True), Continuous(0, 1, 0.01)):
        low, high = axis.low, axis.high
        while (middle := axis.middle(low, high)) is not None:
            assert low < middle < high
            low = middle
    assert Whole(4, 8, powers=True).middle(4, 8) is None
    assert Whole(4, 16, powers=True).middle(4, 16) == 8
