"""Is bad input refused, with a text that says what is allowed?"""

import pytest
from switch_runs import SMALL

from dvsim.fabric.switch import Switch

HOT = "hot must be such as {'fraction': 0.1, 'outputs': [0]} or (0.1, [0]), "


HEIGHT = "height must be a power of two from 2 to 1048576"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"height": 12}, "height must be a power of two from 2 to 1048576, is 12; nearest 8 or 16"),
        ({"height": 10**30}, f"{HEIGHT}, is {10**30}; nearest 1048576"),
        ({"height": -(10**30)}, f"{HEIGHT}, is -{10**30}; nearest 2"),
        ({"height": 1}, "height must be a power of two from 2 to 1048576, is 1; nearest 2"),
        (
            {"height": 3_000_000},
            "height must be a power of two from 2 to 1048576, is 3000000; nearest 1048576",
        ),
        ({"height": 8.0}, "height must be a whole number, is 8.0"),
        ({"angles": 0}, "angles must be from 1 to 4096, is 0"),
        ({"injecting": 0}, "injecting must be from 1 to 3, is 0"),
        ({"injecting": []}, "injecting names no angle; at least one of 0..2 must inject"),
        ({"injecting": [3]}, "an angle in injecting must be from 0 to 2, is 3"),
        (
            {"crossing": "xro"},
            "crossing must be one of brc, xor, random, is 'xro'; did you mean 'xor'?",
        ),
        ({"exit": None}, "exit must be one of angle, any, is None"),
        ({"faults": [("node", 4, 0, 0)]}, "the cylinder of a fault must be from 0 to 3, is 4"),
        ({"faults": [("node", 0, 3, 0)]}, "the angle of a fault must be from 0 to 2, is 3"),
        ({"faults": [("node", 0, 0, 8)]}, "the height of a fault must be from 0 to 7, is 8"),
        (
            {"faults": [("dead", 0, 0, 0)]},
            "the kind of a fault must be one of node, down, stay, block, free, is 'dead'",
        ),
        (
            {"faults": [("free", 3, 0, 0)]},
            "fault 'free' is of the way down, which cylinder 3, the innermost, lacks",
        ),
        (
            {"faults": ["dead node"]},
            "a fault is (kind, cylinder, angle, height), is 'dead node'",
        ),
    ],
)
def test_bad_switches(arguments, said):
    with pytest.raises(ValueError) as caught:
        Switch(**({"height": 8, "angles": 3} | arguments))
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"load": 1.5}, "load must be from 0 to 1, is 1.5"),
        ({"load": float("nan")}, "load must be from 0 to 1, is nan"),
        ({"load": None}, "load must be a number from 0 to 1, is None"),
        (
            {"injection": "saturate"},
            "load must be 1 or None with injection 'saturate', which always has a packet to offer; "
            "is 0.5",
        ),
        ({"slots": 0}, "slots must be at least 1, is 0"),
        ({"slots": 1e6}, "slots must be a whole number, is 1000000.0"),
        ({"warmup": -1}, "warmup must be at least 0, is -1"),
        ({"seed": -1}, "seed must be from 0 to 18446744073709551615, is -1"),
        ({"threads": 0}, "threads must be from 1 to 64, is 0"),
        ({"replications": 0}, "replications must be from 1 to 21845, is 0"),
        ({"watch": 1, "replications": 2}, "replications must be 1 with watch, is 2"),
        (
            {"injection": "given"},
            "injection 'given' needs Switch.start: the packets are yours to give",
        ),
        ({"injection": "wait"}, "injection must be one of drop, queue, saturate, given, is 'wait'"),
        ({"hot": (0.5, [1])}, "hot is only for pattern 'hot-spot', pattern is 'uniform'"),
        ({"pattern": "hot-spot"}, "pattern 'hot-spot' needs hot"),
        ({"pattern": "hot-spot", "hot": (0.5, [])}, "hot names no output"),
        ({"pattern": "hot-spot", "hot": 0.5}, HOT + "is 0.5"),
        ({"pattern": "hot-spot", "hot": {"fraction": 0.5}}, "hot needs outputs"),
        (
            {"pattern": "hot-spot", "hot": {"fraction": 0.5, "output": [1]}},
            "a key in hot must be one of fraction, outputs, is 'output'; did you mean 'outputs'?",
        ),
        (
            {"pattern": "hot-spot", "hot": (0.5, [24])},
            "an output in hot must be from 0 to 23, is 24",
        ),
        (
            {"pattern": "hot-spot", "hot": (2, [0])},
            "the fraction in hot must be from 0 to 1, is 2",
        ),
        (
            {"pattern": "bursty", "burst": 5, "duty": 0.3},
            "duty must be above 0 and at least the load of 0.5, is 0.3",
        ),
        (
            {"pattern": "bursty", "burst": 0, "duty": 0.5},
            "burst must be from 1 to 1099511627776, is 0",
        ),
        ({"pattern": "bursty", "duty": 0.5}, "pattern 'bursty' needs burst"),
        ({"pattern": "transpose"}, "pattern 'transpose' needs height 4, 16, 64, …, is 8"),
        (
            {"pattern": "permutation", "permutation": [0, 1, 2, 3, 4, 5, 6, 6]},
            "permutation must name each of the 8 heights once, has 8 entries, 7 different",
        ),
        (
            {"pattern": "trace", "trace": "trace.csv"},
            "load must be None with pattern 'trace', which says what arrives; is 0.5",
        ),
    ],
)
def test_bad_runs(arguments, said):
    with pytest.raises(ValueError) as caught:
        SMALL.run(**({"load": 0.5, "slots": 10} | arguments))
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["0,5,7", "1,99,2"], "trace.csv:3: input 99 is not a port (0..23)"),
        (["0,5,7", "1,-1,2"], "trace.csv:3: input -1 is not a port (0..23)"),
        (["0,5,24"], "trace.csv:2: output 24 is not a port (0..23)"),
        (["9,5,7", "5,5,7"], "trace.csv:3: slot 5 comes after slot 9"),
        (["-1,5,7"], "trace.csv:2: slot -1 is before slot 0"),
        (["3,5,7", "3,4,7", "3,5,8"], "trace.csv:4: input 5 has two packets in slot 3"),
        (["0,5,7", "1,5"], "trace.csv:3: expected three whole numbers, found '1,5'"),
        (["0,5,7.5"], "trace.csv:2: expected three whole numbers, found '0,5,7.5'"),
        ([f"0,5,{2**70}"], f"trace.csv:2: expected three whole numbers, found '0,5,{2**70}'"),
        (["0,5,7", ""], "trace.csv:3: expected three whole numbers, found ''"),
        (["0,16,7"], "trace.csv:2: input 16 is at an angle that does not inject"),
    ],
)
def test_bad_traces(tmp_path, monkeypatch, lines, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trace.csv").write_text("\n".join(["slot,input,output", *lines, ""]))
    switch = Switch(8, 3, injecting=2)
    with pytest.raises(ValueError) as caught:
        switch.run(None, 10, pattern="trace", trace="trace.csv")
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (None, "trace: cannot read trace.csv: No such file or directory"),
        (b"\xff\xfe\x00", "trace: trace.csv is not a text file"),
        (b"", "trace.csv:1: the header must be slot,input,output"),
        (b"0,1,2\n", "trace.csv:1: the header must be slot,input,output"),
    ],
)
def test_bad_trace_files(tmp_path, monkeypatch, data, said):
    monkeypatch.chdir(tmp_path)
    if data is not None:
        (tmp_path / "trace.csv").write_bytes(data)
    with pytest.raises(ValueError) as caught:
        SMALL.run(None, 10, pattern="trace", trace="trace.csv")
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("trace", "said"),
    [
        (7, "trace must be a path or three arrays (slots, inputs, outputs)"),
        (([0], [1]), "trace must be a path or three arrays (slots, inputs, outputs)"),
        (([0], [1, 2], [3]), "trace: the input array must be one-dimensional and as long as slot"),
        (([0.0], [1], [3]), "trace: the slot array must hold whole numbers"),
        (([9, 5], [1, 1], [3, 3]), "trace[1]: slot 5 comes after slot 9"),
    ],
)
def test_bad_trace_arrays(trace, said):
    with pytest.raises(ValueError) as caught:
        SMALL.run(None, 10, pattern="trace", trace=trace)
    assert str(caught.value) == said


def test_an_empty_trace_offers_nothing(tmp_path):
    (tmp_path / "trace.csv").write_text("slot,input,output\n")
    assert SMALL.run(None, 10, pattern="trace", trace=tmp_path / "trace.csv").offered == 0
