"""Do intervals of ratios and differences cover, does pairing help, and is none given in doubt?"""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from manifests import changed

from dvsim.contract.load import load
from dvsim.session import run_scenarios
from dvsim.table import estimate
from dvsim.table.compare import compare, in_common, interval_notes, side_by_side
from dvsim.table.estimate import change

EXPERIMENTS, REPLICATIONS, RATIO = 1000, 8, 1.1


def numbered(values):
    return dict(enumerate(map(float, values), start=1))


def experiments(*, shared, kind="ratio"):
    """Two runs whose ratio is known; what they share scatters much more than what they do not."""
    random = np.random.default_rng(1)
    for _ in range(EXPERIMENTS):
        own = random.normal(scale=(0.02, 0.05), size=(REPLICATIONS, 2))
        both = random.normal(scale=0.1, size=(REPLICATIONS, 1)) if shared else 0.0
        values = own + both + [0.0, math.log(RATIO)]
        values = np.exp(values) if kind == "ratio" else values
        yield numbered(values[:, 0]), numbered(values[:, 1])


def coverage(pairs, kind, *, common):
    truth = RATIO if kind == "ratio" else math.log(RATIO)
    found = [change(first, other, kind, common=common) for first, other in pairs]
    return np.mean([one.low <= truth <= one.high for one in found])


@pytest.mark.parametrize("kind", ["ratio", "difference"])
@pytest.mark.parametrize("shared", [True, False])
def test_an_interval_of_pairs_covers_whether_they_share_draws_or_not(kind, shared):
    pairs = experiments(shared=shared, kind=kind)
    assert 0.93 <= coverage(pairs, kind, common=True) <= 0.97


@pytest.mark.parametrize("kind", ["ratio", "difference"])
def test_an_interval_of_independent_runs_covers(kind):
    assert 0.93 <= coverage(experiments(shared=False, kind=kind), kind, common=False) <= 0.97


def test_pairing_narrows_the_interval_of_what_is_shared():
    narrower = 0
    for first, other in experiments(shared=True):
        pairs, apart = (change(first, other, "ratio", common=one) for one in (True, False))
        assert pairs.value == pytest.approx(apart.value)
        narrower += pairs.high / pairs.low < apart.high / apart.low
    assert narrower > 0.99 * EXPERIMENTS


def test_rare_pairs_that_differ_do_not_make_it_too_narrow(monkeypatch):
    """A stage that is always busy pins the ratio, but for one pair in twelve."""
    random = np.random.default_rng(3)
    pairs = []
    for _ in range(EXPERIMENTS):
        both = random.normal(scale=0.04, size=5)
        rare = np.where(random.random(5) < 1 / 12, -0.03, 0.0025)  # 0 in the mean
        rare += math.log(RATIO) + random.normal(scale=0.0005, size=5)
        pairs.append((numbered(np.exp(both)), numbered(np.exp(both + rare))))
    truth = RATIO * math.exp(-0.03 / 12 + 0.0025 * 11 / 12)
    assert truth == pytest.approx(RATIO, rel=3e-4)
    assert coverage(pairs, "ratio", common=True) >= 0.95
    monkeypatch.setattr(estimate, "NARROWEST", 0.0)
    assert coverage(pairs, "ratio", common=True) < 0.7


def test_welch_is_that_of_scipy():
    from scipy import stats

    random = np.random.default_rng(2)
    a, b = random.normal(5, 1, 7), random.normal(6, 3, 7)
    found = change(numbered(a), numbered(b), "difference", common=False)
    expected = stats.ttest_ind(b, a, equal_var=False).confidence_interval()
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.by == "Welch"


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ({1: 5.0}, {1: 6.0}),
        ({1: 5.0, 2: 5.1}, {1: 6.0}),
        ({1: 5.0, 2: 5.1}, {1: 6.0, 2: 0.0}),
        ({1: 5.0, 2: 5.1}, {1: 6.0, 2: -1.0}),
    ],
    ids=["one replication", "one of the other", "a zero", "a negative value"],
)
@pytest.mark.parametrize("common", [True, False])
def test_where_there_is_no_interval_none_is_given(first, other, common):
    found = change(first, other, "ratio", common=common)
    assert (found.low, found.high, found.by) == (None, None, "")
    mean = np.mean(list(other.values())) / np.mean(list(first.values()))
    assert found.value == pytest.approx(mean)
    assert "±" not in found.text() and float(found.text()) == pytest.approx(mean, rel=5e-3)


@pytest.mark.parametrize(
    ("first", "other", "paired"),
    [
        ((5.0, 5.1, 5.4), (6.0, 6.3, 6.2, 6.8, 6.1), True),
        ((6.0, 6.3, 6.2, 6.8, 6.1), (5.0, 5.1), True),
        ((5.0, 5.1, 5.4), (6.0, 6.3, 6.2, 6.8, 6.1), False),
    ],
)
def test_of_unequal_numbers_the_common_pairs_count_or_all_by_welch(first, other, paired):
    from scipy import stats

    found = change(numbered(first), numbered(other), "difference", common=paired)
    if paired:
        size = min(len(first), len(other))
        test = stats.ttest_rel(other[:size], first[:size])
        difference = np.mean(other[:size]) - np.mean(first[:size])
    else:
        test = stats.ttest_ind(other, first, equal_var=False)
        difference = np.mean(other) - np.mean(first)
    expected = test.confidence_interval()
    assert found.by == ("paired" if paired else "Welch") and found.value == pytest.approx(
        difference
    )
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_without_two_common_pairs_it_is_welch():
    found = change({1: 5.0, 2: 5.1}, {2: 6.0, 3: 6.1}, "ratio", common=True)
    assert found.by == "Welch" and found.low < found.value < found.high


def test_nothing_is_divided_by_nothing():
    assert change({1: 0.0, 2: 0.0}, {1: 1.0, 2: 1.0}, "ratio", common=True) is None
    assert change({}, {1: 1.0}, "ratio", common=True) is None
    assert change({1: 1.0}, {}, "difference", common=True) is None


def test_shares_and_zeros_are_subtracted():
    ones, none = {1: 1.0, 2: 1.0}, {1: 0.0, 2: 0.0}
    assert joined(ones, none)[1:] == ("difference", -1, -1, -1, "paired", "falls")
    assert joined(none, none)[1:] == ("difference", 0, 0, 0, "paired", "equal")
    assert joined(ones, ones, unit="1")[1:] == ("difference", 0, 0, 0, "paired", "equal")
    assert joined(ones, ones)[1:] == ("ratio", 1, 1, 1, "paired", "equal")
    value, kind, *_, verdict = joined(ones, {})
    assert math.isnan(value) and kind == verdict == ""


def test_it_is_one_join_of_long_tables():
    few, many = long({1: 10.0, 2: 12.0, 3: 11.0}), long({1: 21.0, 2: 23.0, 3: 22.0, 4: 90.0})
    only = long({1: 1.0}).assign(metric="other")
    (row,) = compare(few, many, common=True).itertuples()
    assert (row.kind, row.by, row.verdict, row.n) == ("ratio", "paired", "rises", 4)
    assert row.change == pytest.approx((21 / 10 * 23 / 12 * 22 / 11) ** (1 / 3))
    (apart,) = compare(few, many, common=False).itertuples()
    assert (apart.by, apart.verdict) == ("Welch", "open") and apart.change_low < 1
    both = compare(few, pd.concat([many, only]), common=True)
    assert both["metric"].tolist() == ["rate", "other"] and both["kind"].tolist() == ["ratio", ""]
    below = compare(long({1: -1.0, 2: -1.1}), long({1: -2.0, 2: -2.2}), common=True)
    assert below["change"].tolist() == [pytest.approx(2)] and below["by"].tolist() == [""]
    fewer = few.drop(columns="component")
    assert len(compare(fewer, fewer, on=["metric"], common=True)) == 1


def long(each, unit="1/s"):
    """Return one value of each replication as a long table."""
    rows = [(0, "system", "rate", unit, True, number, value) for number, value in each.items()]
    columns = ["point", "component", "metric", "unit", "signed", "replication", "value"]
    return pd.DataFrame(rows, columns=columns)


def joined(first, other, unit="1/s"):
    (row,) = compare(long(first, unit), long(other, unit), common=True).itertuples()
    changes = row.kind, row.change, row.change_low, row.change_high, row.by, row.verdict
    return row.value, *changes


@pytest.fixture(scope="module")
def sockets():
    """One question with one socket and with two, the same seed."""
    asked = ["workload.messages=60_000", "probe.interval=5 ms"]
    pair = [load("h3/dv-2048", [*asked, f"system.bridge.sockets={n}"]) for n in (1, 2)]
    return run_scenarios(pair, replications=5, workers=1, out=None)


def test_real_runs_with_one_seed_are_paired_and_nearer(sockets):
    one, two = sockets
    found = side_by_side([one, two])
    assert in_common([one, two]) == [True, True]
    assert list(interval_notes(found)) == [
        "2/1: paired over replications: seed 1 drew the same numbers for both"
    ]
    apart = side_by_side([one, replace(two, seed=3)])  # as if nothing were known of the draws
    pairs, welch = (mean_of_pieces(one) for one in (found, apart))
    assert (pairs.by, welch.by) == ("paired", "Welch")
    assert pairs.change == pytest.approx(welch.change)
    assert 1.5 < pairs.change_low < pairs.change_high < 2.5
    widths = [one.change_high / one.change_low - 1 for one in (pairs, welch)]
    assert widths[0] < 0.5 * widths[1]


def mean_of_pieces(found):
    rows = found.rows.query("component == 'r1' and metric == 'pieces.mean' and result == 2")
    (row,) = rows.itertuples()
    return row


def test_pairing_does_not_lie():
    """Groups of replications of a real pair, whose ratio a busy stage pins."""
    pair = [
        load("h3/dv-2048", ["workload.messages=20_000", f"system.bridge.sockets={sockets}"])
        for sockets in (1, 2)
    ]
    runs = run_scenarios(pair, replications=60, workers=1, out=None, seed=7)
    first, other = (run.headline().values for run in runs)
    truth = change(first, other, "ratio", common=True).value
    covered = narrower = 0
    for begin in range(1, 60, 5):
        both = [{n: each[n] for n in range(begin, begin + 5)} for each in (first, other)]
        pairs, apart = (change(*both, "ratio", common=common) for common in (True, False))
        covered += pairs.low <= truth <= pairs.high
        narrower += pairs.high / pairs.low < apart.high / apart.low
    assert (covered, narrower) >= (11, 11)


def test_an_emulated_run_shares_nothing(sockets):
    one, two = sockets
    emulated = replace(two, manifest=changed(two.manifest, backend="emu"))
    assert in_common([one, emulated]) == [True, False]
    assert list(interval_notes(side_by_side([one, emulated]))) == [
        "2/1: of independent runs, by Welch"
    ]
