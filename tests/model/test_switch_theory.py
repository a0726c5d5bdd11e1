"""Does the switch do what theory and the published figures say of it?

Published are the size and the hops of the 12 x 12 prototype, the limit 2/9 and its trends, the six
angles of one injecting angle, and twice the acceptance of a butterfly. The rest was derived by this
project or, where a docstring says so, only measured. docs/switch.md shows the same figures.
"""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from dvsim.fabric.switch import Switch
from dvsim.fabric.switch.butterfly import Butterfly, analytic_acceptance
from dvsim.fabric.switch.meanfield import (
    blocking,
    carried,
    limit,
    mean_hops,
    saturation,
    zero_load_hops,
)

CROSSINGS = ["brc", "xor", "random"]
LIMIT = 2 / 9

# Mean-field saturation, angle by angle, for these heights: computed apart from dvsim.
HEIGHTS = (2, 4, 8, 16, 32, 64, 256, 1024, 2**14, 2**20)
MEAN_FIELD = {
    1: (0.6667, 0.4721, 0.3777, 0.3282, 0.2994, 0.2812, 0.2601, 0.2487, 0.2374, 0.2304),
    2: (0.4721, 0.3777, 0.3282, 0.2994, 0.2812, 0.2688, 0.2536, 0.2449, 0.2357, 0.2298),
    3: (0.3723, 0.3170, 0.2886, 0.2719, 0.2611, 0.2537, 0.2443, 0.2387, 0.2326, 0.2283),
    4: (0.3094, 0.2738, 0.2564, 0.2466, 0.2405, 0.2365, 0.2316, 0.2289, 0.2261, 0.2243),
    5: (0.2656, 0.2411, 0.2300, 0.2241, 0.2208, 0.2187, 0.2165, 0.2154, 0.2146, 0.2143),
    8: (0.1877, 0.1777, 0.1741, 0.1726, 0.1720, 0.1717, 0.1715, 0.1714, 0.1714, 0.1714),
}

# Simulated saturation by crossing, from a program written apart from dvsim.
REGRESSION = [
    (4, 3, "xor", 0.297),
    (4, 3, "brc", 0.299),
    (16, 2, "xor", 0.266),
    (16, 2, "brc", 0.278),
    (16, 5, "xor", 0.174),
    (16, 5, "brc", 0.189),
    (256, 2, "xor", 0.197),
    (256, 2, "brc", 0.234),
    (256, 5, "xor", 0.145),
    (256, 5, "brc", 0.176),
    (1024, 2, "xor", 0.181),
    (1024, 2, "brc", 0.226),
    (1024, 2, "random", 0.235),
    (4096, 2, "xor", 0.169),
    (4096, 2, "brc", 0.221),
    (4096, 2, "random", 0.2315),
]


@cache
def saturated(height, angles, crossing="brc", exit="angle"):
    """Return the simulated saturation throughput, over some hundred thousand arrivals."""
    slots = max(200, 700_000 // (height * angles))
    switch = Switch(height, angles, crossing=crossing, exit=exit)
    return switch.run(None, slots, warmup=600, injection="saturate").throughput


def accepted(height, angles, load, crossing="brc"):
    """Return the acceptance with one injecting angle and exit at any angle."""
    switch = Switch(height, angles, injecting=1, crossing=crossing, exit="any")
    return switch.run(load, max(300, 100_000 // height), warmup=300).acceptance


# --- structure and light load -----------------------------------------------------------


def test_the_prototype_has_36_nodes_and_12_ports():
    """Published: 36 nodes, 12 x 12."""
    switch = Switch(4, 3)
    assert (switch.nodes, switch.inputs, switch.outputs, switch.cylinders) == (36, 12, 12, 3)
    assert saturated(4, 3) == pytest.approx(saturation(4, 3), rel=0.06)


@pytest.mark.parametrize("exit", ["angle", "any"])
@pytest.mark.parametrize("crossing", CROSSINGS)
@pytest.mark.parametrize(("height", "angles"), [(2, 1), (4, 3), (8, 1), (8, 4), (16, 2)])
def test_lone_packets_follow_the_zero_load_law_exactly(height, angles, crossing, exit):
    """Every input sends to every output, one packet in the switch at a time: counts, not chance."""
    switch = Switch(height, angles, crossing=crossing, exit=exit)
    inputs, outputs = np.divmod(np.arange(switch.inputs * switch.outputs), switch.outputs)
    alone = 2 * switch.cylinders + angles  # slots after which any packet has left
    slots = np.arange(inputs.size) * alone
    run = switch.run(None, inputs.size * alone, pattern="trace", trace=(slots, inputs, outputs))
    expected = zero_load_hops(height, angles, exit) * inputs.size
    assert np.array_equal(run.hops[: expected.size], expected)
    assert run.hops.sum() == run.delivered == inputs.size


def test_uniform_traffic_at_light_load_follows_the_zero_load_law():
    run = Switch(256, 4).run(0.001, 60_000, seed=3)
    expected = zero_load_hops(256, 4)
    measured = run.hops[: expected.size] / run.hops.sum()
    # 0.002 is the standard error of 60,000 packets; deflections move about 1 % of them
    assert run.hops.sum() > 55_000
    assert np.abs(measured - expected).max() < 0.006


def test_the_prototype_takes_five_hops_at_light_load():
    """Published: median and mean latency of 110 ns, 5 hops of 22 ns."""
    run = Switch(4, 3).run(0.01, 100_000)
    assert run.mean_hops == pytest.approx(5, abs=0.05)
    assert np.searchsorted(run.hops.cumsum(), run.hops.sum() / 2) == 5
    assert zero_load_hops(4, 3)[3:] * 12 == pytest.approx([1, 3, 4, 3, 1])


# --- the mean field by itself -----------------------------------------------------------


@pytest.mark.parametrize("angles", MEAN_FIELD)
def test_the_mean_field_table_is_reproduced(angles):
    values = [saturation(height, angles) for height in HEIGHTS]
    assert values == pytest.approx(MEAN_FIELD[angles], abs=0.5e-4 + 1e-9)


@pytest.mark.parametrize("exit", ["angle", "any"])
@pytest.mark.parametrize("angles", [1, 2, 3, 4, 5, 6, 8, 16])
def test_the_mean_field_tends_to_its_limit(angles, exit):
    """The published 2/9 for few angles. The last percent comes slowly: H is beyond any switch."""
    above = saturation(2**4000, angles, exit) - limit(angles, exit)
    assert -2e-9 < above < 1e-5


def test_the_limit_is_two_ninths_up_to_four_angles():
    assert [limit(angles) for angles in (1, 2, 3, 4)] == [LIMIT] * 4
    assert limit(5) == pytest.approx(3 / 14)


def test_hops_without_load_are_the_mean_of_the_zero_load_law():
    for height, angles, exit in [(2, 1, "angle"), (64, 5, "angle"), (64, 5, "any")]:
        law = zero_load_hops(height, angles, exit)
        assert law.sum() == pytest.approx(1)
        assert mean_hops(height, angles, 0, exit) == pytest.approx(law @ np.arange(law.size))


def test_what_is_not_blocked_is_carried():
    """At load p with drops T = p (1 - y_0), with y_0 by the recursion from the blocking below."""
    throughput = carried(64, 3, 0.3)
    below = blocking(64, 3, 0.3)[0]
    y_0 = throughput * (0.5 + 2 * below / (1 - below))
    assert throughput == pytest.approx(0.3 * (1 - y_0), abs=1e-8)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: saturation(3, 1), "height must be a power of two, is 3"),
        (lambda: saturation(1, 1), "height must be at least 2, is 1"),
        (lambda: limit(0), "angles must be at least 1, is 0"),
        (lambda: blocking(4, 3, 1.5), "load must be from 0 to 1, is 1.5"),
        (lambda: zero_load_hops(4, 3, "all"), "exit must be one of angle, any, is 'all'"),
        (lambda: mean_hops(4, 3, 0.4), "throughput must be from 0 to 0.316996, saturation, is 0.4"),
    ],
)
def test_theory_refuses_a_switch_that_cannot_be(call, text):
    with pytest.raises(ValueError, match=text):
        call()


# --- saturation -------------------------------------------------------------------------


@pytest.mark.parametrize("crossing", CROSSINGS)
def test_two_heights_and_one_angle_saturate_at_two_thirds(crossing):
    """Nothing can block a descent, so the mean field is exact here."""
    run = Switch(2, 1, crossing=crossing).run(None, 300_000, warmup=100, injection="saturate")
    assert run.throughput == pytest.approx(2 / 3, abs=0.002)


@pytest.mark.parametrize(("height", "angles", "crossing", "expected"), REGRESSION)
def test_saturation_is_that_of_an_independent_program(height, angles, crossing, expected):
    assert saturated(height, angles, crossing) == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("crossing", ["brc", "random"])
@pytest.mark.parametrize("angles", [1, 2, 3, 4, 5, 6, 8])
def test_simulation_lies_one_to_thirty_percent_below_the_mean_field(angles, crossing):
    for height in (8, 32, 128, 512):
        ratio = saturated(height, angles, crossing) / saturation(height, angles)
        assert 0.70 < ratio < 0.99


def test_the_mean_field_is_good_below_saturation():
    for load in (0.05, 0.1, 0.2):
        run = Switch(256, 2).run(load, 4000, warmup=500)
        assert run.throughput == pytest.approx(carried(256, 2, load), rel=0.01)
        assert run.mean_hops == pytest.approx(mean_hops(256, 2, run.throughput), rel=0.02)
        assert run.blocked == pytest.approx(blocking(256, 2, load), rel=0.15)


@pytest.mark.parametrize("crossing", CROSSINGS)
@pytest.mark.parametrize("angles", [1, 2, 3])
def test_saturation_falls_with_height(angles, crossing):
    """Published as a trend: it decreases and approaches 2/9."""
    heights = (2, 4, 16, 64, 256, 1024, 4096)
    values = [saturated(height, angles, crossing) for height in heights]
    assert values == sorted(set(values), reverse=True)


@pytest.mark.parametrize("crossing", ["brc", "random"])
@pytest.mark.parametrize("angles", [1, 2, 3])
def test_tall_switches_come_near_two_ninths(angles, crossing):
    """Published: 2/9 for small A and large H. The 6 % are this project's."""
    assert saturated(16384, angles, crossing) == pytest.approx(LIMIT, rel=0.06)


@pytest.mark.parametrize("angles", [1, 2, 3])
def test_with_xor_tall_switches_do_not(angles):
    """A deflected packet meets the same blocker again, so `xor` is not what was published."""
    assert saturated(16384, angles, "xor") < 0.8 * LIMIT


@pytest.mark.parametrize("crossing", ["brc", "random"])
@pytest.mark.parametrize("ports", [64, 1024, 4096])
def test_of_equal_switches_the_one_with_fewest_angles_saturates_last(ports, crossing):
    """Published: at fixed A H the saturation throughput is largest where A is smallest."""
    values = [saturated(ports // angles, angles, crossing) for angles in (1, 2, 4, 8)]
    assert values == sorted(values, reverse=True)
    assert values[0] > values[1] + 0.001


def test_in_the_mean_field_one_and_two_angles_tie():
    """The ring of two angles is as busy as the last cylinder of a switch twice as tall with one."""
    assert saturation(512, 2) == pytest.approx(saturation(1024, 1), abs=2e-9)
    assert saturation(256, 4) < saturation(512, 2) - 0.01


def test_with_exit_at_any_angle_the_number_of_angles_does_not_matter():
    assert saturation(64, 1, "any") == saturation(64, 8, "any")
    for height in (8, 64, 512):
        alike = saturated(height, 8, exit="any")
        assert alike == pytest.approx(saturated(height, 1), rel=0.01)
        assert 0.93 < alike / saturation(height, 8, "any") < 1


# --- one injecting angle, and the butterfly ---------------------------------------------


@pytest.mark.parametrize("crossing", ["brc", "random"])
@pytest.mark.parametrize("height", [16, 64, 256, 1024])
def test_six_angles_are_the_first_to_accept_99_percent_of_a_full_load(height, crossing):
    """Published: six angles, one injecting, for more than 99 %. Which exit is not: here, any."""
    enough = [angles for angles in range(1, 9) if accepted(height, angles, 1.0, crossing) > 0.99]
    assert enough[0] == 6


def test_with_xor_six_angles_are_not_enough_in_a_tall_switch():
    """Measured, not published: up to 32 heights `xor` needs six angles too, then seven."""
    assert accepted(32, 6, 1.0, "xor") > 0.99
    assert accepted(256, 6, 1.0, "xor") < 0.985
    assert accepted(256, 7, 1.0, "xor") > 0.99


@pytest.mark.parametrize("ports", [128, 256])
def test_one_angle_of_six_accepts_twice_what_a_butterfly_does(ports):
    """Published: twice at 50 % load, in "optimal" configurations that the abstract does not give.

    It comes out for the optimum of the test above, one injecting angle of six with exit at any
    angle: 1.96 at 128 ports, 2.10 at 256. The switch accepts everything there, so the ratio is one
    over the acceptance of the butterfly, and three angles (1.88 and 2.00) would show it as well.
    """
    ratio = accepted(ports, 6, 0.5) / Butterfly(ports).run(0.5, 200_000 // ports).acceptance
    assert 1.8 < ratio < 2.2


@pytest.mark.parametrize("ports", [128, 256])
def test_so_it_does_when_packets_must_leave_at_the_angle_that_injects(ports):
    """Our other reading of the published text: inputs and outputs at one angle of six.

    At 50 % load it accepts as much as with exit at any angle, at full load only two thirds.
    """
    switch = Switch(ports, 6, injecting=1)
    outputs = (1.0, range(ports))  # every packet is for angle 0

    def share(load):
        return switch.run(load, 2000, 300, pattern="hot-spot", hot=outputs).acceptance

    assert share(0.5) > 0.99
    assert share(0.5) / analytic_acceptance(ports, 0.5) == pytest.approx(2, abs=0.2)
    assert share(1.0) == pytest.approx(0.66, abs=0.02)


@pytest.mark.parametrize(("angles", "expected"), [(1, 0.96), (4, 0.79), (8, 0.53)])
def test_with_all_angles_injecting_the_switch_accepts_less_than_a_butterfly(angles, expected):
    """Measured at 128 ports, addressed angles: twice the butterfly takes angles that do not inject.

    The comparison is per port: the butterfly has 448 elements, these switches 512 to 1024 nodes.
    """
    run = Switch(128 // angles, angles).run(0.5, 4000, warmup=500)
    ratio = run.acceptance / Butterfly(128).run(0.5, 2000).acceptance
    assert ratio == pytest.approx(expected, abs=0.02)


# --- rules and conservation -----------------------------------------------------------------------


@pytest.mark.parametrize("exit", ["angle", "any"])
@pytest.mark.parametrize("crossing", CROSSINGS)
def test_every_packet_keeps_the_rules(crossing, exit):
    """One packet per node and slot, one angle per slot, settled bits settled, the right output."""
    run = Switch(16, 3, crossing=crossing, exit=exit).run(1.0, 150, watch=2000)
    taken = set()
    for path in run.paths:
        angle, height = divmod(path.destination, 16)
        for before, step in pairwise(path.steps):
            if step.event == "leave":
                assert step.height == height
                assert exit == "any" or step.angle == angle
                continue
            assert step.angle == (before.angle + 1) % 3
            assert step.slot == before.slot + 1
        for step in path.steps:
            unsettled = 4 - step.cylinder
            assert step.height >> unsettled == height >> unsettled
            if step.event != "leave":
                node = (step.slot, step.cylinder, step.angle, step.height)
                assert node not in taken
                taken.add(node)
    assert len(taken) > 5000


@pytest.mark.parametrize("exit", ["angle", "any"])
@pytest.mark.parametrize("crossing", CROSSINGS)
def test_no_packet_is_made_or_lost(crossing, exit):
    switch = Switch(32, 3, crossing=crossing, exit=exit)
    run = switch.run(0.6, 500, injection="drop")
    assert run.offered == run.accepted + run.refused > 0
    assert run.accepted == run.delivered + run.in_flight
    assert run.lost == 0
    assert run.delivered == run.hops.sum() == run.latency.sum()


def test_a_queue_keeps_what_the_switch_does_not_take():
    run = Switch(32, 3).run(0.6, 500, injection="queue")
    assert run.offered == run.accepted + run.waiting
    assert run.accepted == run.delivered + run.in_flight
    assert run.waiting > 0
