"""Is the law through measured times the best one by relative errors, and never negative?"""

import math

import numpy as np
import pytest

from dvsim.evidence.affine import fit_law, seconds
from dvsim.kinds.rabbitmq.calibration.cards import slowest_mean, slowest_sigma
from dvsim.scenario.units import Law

SIZES = [8, 2048, 131072]


def test_a_law_without_noise_is_found():
    law = Law(40_000_000, 3_300_000)
    fitted = fit_law(SIZES, [seconds(law, size) for size in SIZES])
    assert fitted.fixed_ps == pytest.approx(law.fixed_ps, rel=1e-3)
    assert fitted.per_byte_fs == pytest.approx(law.per_byte_fs, rel=1e-3)


def test_two_sizes_have_no_residual():
    fitted = fit_law([8, 8192], [50e-6, 80e-6])
    assert [seconds(fitted, size) for size in (8, 8192)] == pytest.approx([50e-6, 80e-6], rel=1e-3)


@pytest.mark.parametrize(
    ("times", "law"),
    [([80e-6, 50e-6], (math.sqrt(80 * 50), 0.0)), ([1e-6, 1.2e-3], (0.0, None))],
)
def test_no_part_is_negative(times, law):
    fitted = fit_law([8, 8192], times)
    fixed_us, slope = law
    assert fitted.fixed_ps == pytest.approx(fixed_us * 1e6, rel=1e-3)
    if slope is not None:
        assert fitted.per_byte_fs == slope


def test_no_other_law_has_smaller_log_errors():
    rng = np.random.default_rng(1)
    times = [seconds(Law(30_000_000, 2_000_000), n) * math.exp(0.3 * rng.normal()) for n in SIZES]

    def loss(fixed_ps, slope_fs):
        law = Law(round(fixed_ps), round(slope_fs))
        pairs = zip(SIZES, times, strict=True)
        return sum(math.log(seconds(law, n) / t) ** 2 for n, t in pairs)

    best = fit_law(SIZES, times)
    least = loss(best.fixed_ps, best.per_byte_fs)
    for fixed in np.geomspace(0.5, 2, 31):
        for slope in np.geomspace(0.5, 2, 31):
            assert least <= loss(fixed * best.fixed_ps, slope * best.per_byte_fs) + 1e-6


def test_one_size_gives_a_constant():
    assert fit_law([256, 256], [40e-6, 90e-6]) == Law(60_000_000, 0)


@pytest.mark.parametrize(("sizes", "times"), [([], []), ([8], [0.0]), ([0], [1.0]), ([8, 9], [1])])
def test_what_is_no_measurement_is_refused(sizes, times):
    with pytest.raises(ValueError, match="no law through"):
        fit_law(sizes, times)


@pytest.mark.parametrize("count", [1, 2, 8])
def test_the_slowest_of_several_is_as_drawn(count):
    draws = np.random.default_rng(2).normal(size=(100_000, count)).max(axis=1)
    assert slowest_sigma(count) == pytest.approx(draws.std(), rel=0.02)
    assert slowest_mean(count, 0.4) == pytest.approx(np.exp(0.4 * draws).mean(), rel=0.02)
