"""Does the roofline say what binds, and count what a kernel takes?"""

from __future__ import annotations

import json
import sys

import pytest
from bench.test_instructions import ROOT, counted, load

sys.path.insert(0, str(ROOT / "bench"))
roofline = load("roofline")
MACHINE = roofline.Limits(instructions=10.0, branch=4.0, second=100.0, beyond=10.0)


@pytest.mark.parametrize(
    ("counts", "name", "share"),
    [
        ((100.0, 0.0, 0.0, 0.0), "instructions", 0.5),
        ((100.0, 1800.0, 0.0, 0.0), "second cache", 0.9),
        ((100.0, 190.0, 190.0, 1.0), "beyond it", 0.95),
        ((10.0, 0.0, 0.0, 4.0), "branches", 0.8),
    ],
)
def test_does_the_longest_time_bind(counts, name, share):
    loop = roofline.Loop("any", "word", 20.0, *counts)
    assert loop.binds(MACHINE) == (name, pytest.approx(share))
    text = roofline.as_markdown(MACHINE, [loop])
    assert f"| any | word | 20 | {counts[0]:,.3g} |" in text
    assert text.endswith(f"{name}, {share:.0%} of the time |\n")


def test_are_the_best_limits_kept():
    slower = roofline.Limits(instructions=8.0, branch=5.0, second=120.0, beyond=9.0)
    best = roofline.Limits(instructions=10.0, branch=4.0, second=120.0, beyond=10.0)
    assert roofline.better(MACHINE, slower) == best == roofline.better(slower, MACHINE)


def test_does_a_kernel_take_the_instructions_that_are_counted_without_caches():
    folder = counted("models")
    alone = json.loads((folder / "counts.json").read_text("utf-8"))
    loop = roofline.loop(folder / "models", "receive-8", *roofline.MODELS["receive-8"])
    assert loop.instructions * 2700 == pytest.approx(alone["models receive-8"], rel=0.001)
    assert loop.measured > 0 and loop.unit == "message"
    assert 0 < loop.beyond_bytes <= loop.second_bytes and loop.mispredicted > 0
