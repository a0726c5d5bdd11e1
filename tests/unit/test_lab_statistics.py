"""Do bands and tolerances tell a true model from a slow one and from a wrong shape?

The three models are those of a check that was made before the code: a laboratory of 5,000 samples
beside a true model, one that is 3 % slow, and one with the right mean and spread in another shape.
"""

import numpy as np
import pytest
from lab_data import META, run_with, summary

from dvsim.evidence.lab.distances import band, ks_bound
from dvsim.evidence.lab.judge import judge
from dvsim.evidence.lab.read import read_lab
from dvsim.study.table import plain_lines
from dvsim.view.lab import lab_sections
from dvsim.view.terminal import lines

COUNT, MODEL = 5_000, 200_000
SIGMA = 0.25
SHARES = (0.25, 0.5, 0.75, 0.9, 0.95, 0.99)


def lognormal(rng, size, factor=1.0):
    return factor * 100_000 * np.exp(rng.normal(-(SIGMA**2) / 2, SIGMA, size))


def normal(rng, size):
    """The same mean and deviation as `lognormal`."""
    return 100_000 * (1 + np.sqrt(np.expm1(SIGMA**2)) * rng.normal(size=size)).clip(0.01)


@pytest.fixture(scope="module")
def laboratory():
    return lognormal(np.random.default_rng(11), COUNT)


def judged(tmp_path, laboratory, model):
    (tmp_path / "rates.csv").write_text(summary(laboratory))
    (tmp_path / "rates.toml").write_text(META)
    return judge([run_with(model)], read_lab(tmp_path / "rates.csv"))


def inner(case):
    return [row for row in case.rows.itertuples() if row.statistic.endswith("%")]


def test_a_true_model_passes_and_lies_within_the_bands(tmp_path, laboratory):
    result = judged(tmp_path, laboratory, lognormal(np.random.default_rng(2), MODEL))
    (case,) = result.cases
    assert result.passed
    assert sum(row.outside for row in inner(case)) <= 1
    assert case.distances["ks"] < case.distances["ks_limit"]


def test_a_slow_model_is_outside_the_bands_but_within_the_tolerance(tmp_path, laboratory):
    result = judged(tmp_path, laboratory, lognormal(np.random.default_rng(2), MODEL, 1 / 1.03))
    (case,) = result.cases
    assert result.passed
    assert sum(row.outside for row in inner(case)) >= 5
    assert case.distances["ks"] > case.distances["ks_limit"]
    assert case.row("mean").ratio == pytest.approx(0.97, abs=0.01)


def test_a_wrong_shape_with_the_right_mean_and_spread_is_caught(tmp_path, laboratory):
    result = judged(tmp_path, laboratory, normal(np.random.default_rng(2), MODEL))
    (case,) = result.cases
    for moment in ("mean", "std"):
        assert case.row(moment).ratio == pytest.approx(1, abs=0.03)
    assert sum(row.outside for row in inner(case)) >= 2


def test_a_model_that_is_far_off_fails(tmp_path, laboratory):
    result = judged(tmp_path, laboratory, lognormal(np.random.default_rng(2), MODEL, 0.5))
    assert not result.passed
    assert {one.kind for one in result.criteria.itertuples() if not one.passed} >= {
        "mean",
        "median",
        "tail",
    }


def test_bands_hold_as_many_laboratories_as_they_say():
    rng = np.random.default_rng(4)
    model = np.sort(rng.exponential(size=200_000))
    for share in (0.5, 0.95):
        low, high = band(model, share, 500)
        inside = [low <= np.quantile(rng.exponential(size=500), share) <= high for _ in range(600)]
        assert np.mean(inside) == pytest.approx(0.95, abs=0.025)


def test_too_few_simulated_samples_give_no_band_for_a_maximum():
    model = np.sort(np.random.default_rng(5).random(5_000))
    assert band(model, 1.0, 1_000) is None
    assert band(model, 0.5, 1_000) is not None


def test_the_bound_never_exceeds_the_distance_that_all_samples_give():
    rng = np.random.default_rng(6)
    model, lab = np.sort(rng.normal(10, 1, 4_000)), np.sort(rng.normal(10.4, 1.2, 4_000))
    shares = (0.0, *SHARES, 1.0)
    quantiles = dict(zip(shares, np.quantile(lab, shares).tolist(), strict=True))
    both = np.concatenate([model, lab])
    steps = [np.searchsorted(x, both, "right") / x.size for x in (model, lab)]
    assert 0.05 < ks_bound(model, quantiles) <= np.abs(steps[0] - steps[1]).max() + 1e-3


def test_zeros_are_judged_by_their_share(tmp_path):
    """A quantile of zero beside one above it is no error of 100 % if the shares are near."""
    from run_builder import bursty_vortex, vortex_scenario

    text = "statistic,value,message_bytes\ncount,1000,8\nmean,5,8\n50%,0,8\n95%,0,8\nmax,100,8\n"
    (tmp_path / "a.csv").write_text(text)
    (tmp_path / "a.toml").write_text('[lab]\nunit = "msg/s"\nsample = "interval 5.001 ms"\n')
    data = read_lab(tmp_path / "a.csv")
    kinds = {}
    for active in (6, 30):
        run = bursty_vortex(vortex_scenario(8), 100, active=active, empty=100 - active)
        (case,) = judge([run], data).cases
        kinds[active] = (case.row("95%").kind, case.row("95%").verdict)
    assert kinds == {6: ("empty", "pass"), 30: ("empty", "fail")}


def beside_bursts(folder, text, active):
    """The case of a file beside a run of which so many of a hundred intervals are not empty."""
    from run_builder import bursty_vortex, vortex_scenario

    (folder / "a.csv").write_text(text)
    meta = '[lab]\nunit = "msg/s"\nmessage_bytes = 8\nsample = "interval 5.001 ms"\n'
    (folder / "a.toml").write_text(meta)
    run = bursty_vortex(vortex_scenario(8), 30_000, active=active, empty=100 - active)
    result = judge([run], read_lab(folder / "a.csv"))
    return result, result.cases[0]


@pytest.mark.parametrize("raw", [True, False])
def test_a_quantile_of_zero_is_no_pass_because_its_rank_is_near_the_share_of_zeros(tmp_path, raw):
    """90 %: 30,089 against 0, where 95 % of the intervals of the run are empty and 5 % of these."""
    text = "rate\n" + "0\n" * 5 + "30089\n" * 95
    if not raw:
        text = "statistic,value\ncount,100\nmin,30089\n90%,30089\nmax,30089\n"
    result, case = beside_bursts(tmp_path, text, active=5)
    row = case.row("90%")
    assert (row.lab, row.simulated, row.kind, row.verdict) == (30_089, 0, "empty", "fail")
    (zeros,) = [one for one in result.criteria.itertuples() if one.kind == "empty"]
    assert not zeros.passed
    assert zeros.got == pytest.approx(0.9 if raw else 0.95)
    told = "\n".join(plain_lines(lines(lab_sections(result, read_lab(tmp_path / "a.csv")))))
    assert f"{'5.0%' if raw else '0.0%'} measured, 95.0% simulated" in told
    assert f"+{90 if raw else 95} points fail" in told


def test_data_in_bursts_beside_a_steady_run_have_more_zeros(tmp_path):
    text = "rate\n" + "0\n" * 70 + "30000\n" * 30
    _, case = beside_bursts(tmp_path, text, active=80)
    assert case.row("50%").verdict == "fail"
    assert (case.zeros.low, case.zeros.simulated) == pytest.approx((0.7, 0.2))


def test_shares_of_zeros_that_are_near_pass_whatever_the_rank_of_the_quantile(tmp_path):
    text = "rate\n" + "0\n" * 49 + "30000\n" * 51
    _, case = beside_bursts(tmp_path, text, active=48)  # 52 % and 49 % of zeros, at the median
    assert (case.row("50%").kind, case.row("50%").verdict) == ("empty", "pass")
    assert case.zeros.apart == pytest.approx(0.03)
