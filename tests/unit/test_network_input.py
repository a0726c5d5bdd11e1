"""Is bad input to a network refused, with a text that says what is allowed?"""

import pytest

from dvsim.errors import ScenarioError
from dvsim.fabric.network import Network
from dvsim.fabric.switch import Switch

LEAF = Switch(4, 3, injecting=[1], exit="any")
SMALL = Network(switch=LEAF, levels=2, planes=3, link=1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "a network needs a preset (dv202, "),
        ({"preset": "dv220"}, "is 'dv220'; did you mean 'dv2"),
        ({"preset": "dv206", "ports": 8}, "ports does not go with preset 'dv206', which has its"),
        ({"preset": "dv206", "switch": LEAF}, "switch does not go with preset 'dv206'"),
        ({"switch": LEAF, "levels": 4}, "levels must be from 1 to 3, is 4"),
        ({"switch": LEAF, "ports": 5}, "ports must be 4, the nearest that 1 level of switches"),
        (
            {"switch": LEAF, "levels": 2, "ports": 7},
            "ports must be 4 or 8, the nearest that 2 levels of switches with 4 ports can have; "
            "is 7",
        ),
        (
            {"switch": Switch(8, 2, 1, exit="any"), "levels": 3, "ports": 100},
            "ports must be 64 or 128, the nearest",
        ),
        (
            {"switch": Switch(2, 3, 1, exit="any"), "levels": 2},
            "levels must be 1 with switches of 2 ports, of which half cannot go up; is 2",
        ),
        (
            {"switch": Switch(4, 3, 2, exit="any")},
            "with exit 'any' one injecting angle, not 2 of 3",
        ),
        ({"switch": Switch(4, 3, 2)}, "with exit 'angle' all angles injecting, not 2 of 3"),
        (
            {"switch": Switch(4, 3, faults=[("node", 0, 0, 0)])},
            "the switch of a network has no faults, this one has 1",
        ),
        ({"preset": "dv203", "planes": 0}, "planes must be from 1 to 256, is 0"),
        ({"preset": "dv203", "link": -1}, "link must be from 0 to 65536, is -1"),
        ({"preset": "dv203", "link": 0.5}, "link must be a whole number, is 0.5"),
        ({"preset": "dv203", "card": "fdr-ipoib"}, "'fdr-ipoib' is of kind 'link'"),
        (
            {"switch": Switch(256, 6, 1, exit="any"), "levels": 3},
            "a level may have 10922 switches of 6 angles, these 4194304 ports need 32768",
        ),
        (
            {"switch": Switch(1024, 1, 1, exit="any"), "levels": 3},
            "ports must be at most 16777216, is 268435456",
        ),
        (
            {"switch": Switch(1 << 16, 64)},
            "the switches are too large for a network: 4194304 ports leave no room in a "
            "packet for the time",
        ),
    ],
)
def test_bad_networks(arguments, said):
    with pytest.raises(ValueError) as caught:
        Network(**arguments)
    assert said in str(caught.value)


def test_an_unknown_card_is_named():
    with pytest.raises(ScenarioError, match="data-vortex-9"):
        Network("dv203", card="data-vortex-9")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"load": 1.5}, "load must be from 0 to 1, is 1.5"),
        ({"slots": 0}, "slots must be at least 1, is 0"),
        ({"warmup": -1}, "warmup must be at least 0, is -1"),
        ({"threads": 65}, "threads must be from 1 to 64, is 65"),
        ({"fidelity": "cylce"}, "fidelity must be one of cycle, flow, auto, is 'cylce'; did you"),
        (
            {"injection": "given", "load": None},
            "injection 'given' needs Network.start: the bursts are yours to send",
        ),
        ({"pattern": "transpose"}, "pattern 'transpose' needs ports 4, 16, 64, …, is 8"),
        (
            {"pattern": "hot-spot", "hot": (0.5, [8])},
            "an output in hot must be from 0 to 7, is 8",
        ),
        (
            {"pattern": "permutation", "permutation": [0, 1]},
            "permutation must name each of the 8 ports once, has 2 entries, 2 different",
        ),
        (
            {"pattern": "shuffle", "fidelity": "flow"},
            "fidelity 'flow' knows pattern 'uniform' with injection 'drop' or 'queue', "
            "not pattern 'shuffle' with injection 'drop'; use fidelity='cycle'",
        ),
        (
            {"load": None, "injection": "saturate", "fidelity": "flow"},
            "not pattern 'uniform' with injection 'saturate'; use fidelity='cycle'",
        ),
        (
            {"load": None, "pattern": "trace", "trace": ([3] * 4, [1] * 4, [0] * 4)},
            "trace[3]: input 1 has more than 3 packets in slot 3",
        ),
        (
            {"load": None, "pattern": "trace", "trace": ([3], [8], [0])},
            "trace[0]: input 8 is not a port (0..7)",
        ),
    ],
)
def test_bad_runs(arguments, said):
    with pytest.raises(ValueError) as caught:
        SMALL.run(**({"load": 0.5, "slots": 10} | arguments))
    assert said in str(caught.value)


def test_bit_complement_needs_a_power_of_two_of_ports():
    network = Network(switch=Switch(4, 3), planes=1)
    with pytest.raises(ValueError, match=r"'bit-complement' needs a power of two of ports, is 12"):
        network.run(0.5, 10, pattern="bit-complement")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((8, 0, 1, 0), "source must be from 0 to 7, is 8"),
        ((0, -1, 1, 0), "to must be from 0 to 7, is -1"),
        ((0, 1, 0, 0), "words must be from 1 to"),
        ((0, 1, 1.5, 0), "words must be a whole number, is 1.5"),
        ((0, 1, 1, 1 << 64), "handle must be from"),
    ],
)
def test_bad_bursts(arguments, said):
    simulation = SMALL.start(injection="given")
    with pytest.raises(ValueError) as caught:
        simulation.send(*arguments)
    assert said in str(caught.value)


@pytest.mark.parametrize("call", ["completions", "run_until", "send"])
def test_bursts_are_only_for_injection_given(call):
    simulation = SMALL.start(0.5)
    arguments = {"completions": (), "run_until": (5,), "send": (0, 1, 1, 0)}[call]
    with pytest.raises(ValueError, match=f"{call} needs injection 'given', is 'drop'"):
        getattr(simulation, call)(*arguments)
