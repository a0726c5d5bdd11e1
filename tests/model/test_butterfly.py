"""Does the butterfly route as it says, and accept what theory says?"""

import math

import numpy as np
import pytest

from dvsim.fabric.switch.butterfly import IDLE, Butterfly, analytic_acceptance


@pytest.mark.parametrize("ports", [2, 8, 128, 256])
@pytest.mark.parametrize("load", [0.1, 0.5, 1.0])
def test_acceptance_is_that_of_patel(ports, load):
    run = Butterfly(ports).run(load, slots=400_000 // ports, seed=5)
    expected = analytic_acceptance(ports, load)
    # four standard errors of a proportion; slots are independent, packets of one slot nearly so
    assert run.acceptance == pytest.approx(expected, abs=4 * math.sqrt(0.25 / run.offered))


def test_two_ports_lose_a_quarter_at_full_load():
    assert analytic_acceptance(2, 1.0) == 3 / 4


def test_nothing_is_lost_as_the_load_goes_to_zero():
    assert analytic_acceptance(1024, 0.0) == 1


def test_throughput_is_acceptance_times_load():
    run = Butterfly(16).run(0.25, slots=20_000)
    assert run.throughput == run.delivered / 320_000
    assert run.throughput == pytest.approx(run.acceptance * 0.25, rel=0.02)


def test_a_packet_arrives_at_its_address_or_nowhere():
    rng = np.random.default_rng(3)
    out = Butterfly(64).route(rng.integers(-1, 64, size=(50, 64), dtype=np.int32), rng)
    assert np.all((out == IDLE) | (out == np.arange(64)))
    assert 0.3 < (out != IDLE).mean() < 0.9


def test_a_shifted_identity_passes_without_a_conflict():
    ports = np.arange(32, dtype=np.int32)
    out = Butterfly(32).route(np.stack([ports, (ports + 5) % 32]), np.random.default_rng(1))
    assert np.array_equal(out, np.stack([ports, ports]))


def test_both_inputs_win_equally_often():
    address = np.zeros((40_000, 2), dtype=np.int32)
    address[:, 1] = 0
    rng = np.random.default_rng(2)
    # tell the two packets apart by their higher bits, which a butterfly of 2 ports never looks at
    address[:, 1] |= 2
    winners = Butterfly(2).route(address, rng)[:, 0]
    assert (winners == 2).mean() == pytest.approx(0.5, abs=0.01)


def test_the_seed_decides():
    def run(seed):
        return Butterfly(32).run(0.5, slots=1000, seed=seed)

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_no_load_means_no_acceptance_to_speak_of():
    assert math.isnan(Butterfly(4).run(0.0, slots=10).acceptance)


@pytest.mark.parametrize("ports", [0, 1, 3, 100])
def test_ports_must_be_a_power_of_two(ports):
    with pytest.raises(
        ValueError, match=f"ports must be a power of two from 2 to 1048576, is {ports}"
    ):
        Butterfly(ports)


@pytest.mark.parametrize("load", [-0.1, 1.1, math.nan])
def test_load_must_be_a_probability(load):
    with pytest.raises(ValueError, match="load must be from 0 to 1, is"):
        Butterfly(4).run(load, slots=10)


def test_a_run_needs_a_slot():
    with pytest.raises(ValueError, match="slots must be at least 1, is 0"):
        Butterfly(4).run(0.5, slots=0)
