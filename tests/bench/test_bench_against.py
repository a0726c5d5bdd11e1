"""Is a card held against a revision's in turns, and the ratio that of the best figures?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "bench"
CODE = """\
import against

class Fake:
    def __init__(self, *figures):
        self.left = list(figures)
    def figure(self, one):
        turns.append(self)
        return self.left.pop(0)

turns = []
now, before = Fake(50, 40, 60, 50, 50), Fake(80, 100, 90, 80, 80)
against.compare_card(now, before, "card-put", "before")
assert turns == [now, before] * 5
now, before = Fake(50, 40, 60, 50, 50), Fake(80, 100, 90, 80, 80)
against.compare_card(now, before, "card-ring", "before")
now, before = Fake(*range(1, 16)), Fake(*range(2, 32, 2))
against.compare_card(now, before, "card-storm", "before")
"""


def test_a_card_is_timed_in_turns(tmp_path):
    rows = tmp_path / "rows"
    env = {"PYTHONPATH": str(BENCH), "DVSIM_BENCH_ROWS": str(rows), "PATH": "/usr/bin:/bin"}
    subprocess.run([sys.executable, "-c", CODE], env=env, check=True)
    less, more, *storms = map(json.loads, rows.read_text("utf-8").splitlines())
    assert (less["ratio"], less["better"], less["low"], less["high"]) == (0.5, "less", 0.4, 2 / 3)
    assert (more["ratio"], more["better"]) == (0.6, "more")
    cards = [f"card: timed, {n} cards, M packets/s of wall time" for n in (16, 32, 128)]
    assert [(storm["subject"], storm["ratio"]) for storm in storms] == [(one, 0.5) for one in cards]


def test_what_is_no_kernel_is_named():
    command = [sys.executable, str(BENCH / "against.py"), "HEAD", "card-putt"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "no kernel 'card-putt'; there are switch-16x4," in done.stderr
    assert "card-put, " in done.stderr
