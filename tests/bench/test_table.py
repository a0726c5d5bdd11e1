"""Does the table of the benches have what each measured, also where one of them fails?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from harness.once import once

BENCH = Path(__file__).resolve().parents[2] / "bench"
GOOD = """\
from rows import faster, row
row("cards, packets/s", "bare memory", 2, "more", [1.5, 2.5])
faster("switch", "NumPy", [0.5, 1.0], [10.0])
"""
HALF = """\
from rows import row
row("bridge, messages/s", "a bare loop", 0.5, "more")
raise SystemExit("the broker is gone")
"""


@pytest.fixture
def asked(tmp_path):
    """A folder with two benches, the second of which fails; what makes a table of it."""
    (tmp_path / "half.py").write_text(HALF, "utf-8")
    (tmp_path / "good.py").write_text(GOOD, "utf-8")
    code = f"""\
import os, sys
from pathlib import Path
sys.path.insert(0, {str(BENCH)!r})
os.environ["PYTHONPATH"] = {str(BENCH)!r}
import table
here = Path({str(tmp_path)!r})
failed = table.run(dict.fromkeys(sys.argv[1:], ()), here, here / "out")
sys.exit(f"failed: {{failed}}" if failed else 0)
"""
    return tmp_path, [sys.executable, "-c", code]


def test_are_rows_kept_with_their_spread(asked):
    folder, command = asked
    done = subprocess.run([*command, "good"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (
        "* cards, packets/s: 2 x bare memory (1.5 .. 2.5 in 2 runs), more is better" in done.stdout
    )
    (bench,) = json.loads((folder / "out" / "table.json").read_text("utf-8"))["benches"]
    first, second = bench["rows"]
    assert (first["ratio"], first["low"], first["high"], first["runs"]) == (2, 1.5, 2.5, 2)
    assert (second["ratio"], second["low"], second["high"]) == (20, 10, 20)
    text = (folder / "out" / "table.md").read_text("utf-8")
    assert "| switch | 20 | 10 .. 20, 2 runs | NumPy | more |\n" in text


def test_does_a_bench_that_fails_lose_no_rows(asked):
    folder, command = asked
    done = subprocess.run([*command, "half", "good"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "the broker is gone" in done.stderr
    first, second = json.loads((folder / "out" / "table.json").read_text("utf-8"))["benches"]
    assert first["failed"] == "exit code 1" and [row["ratio"] for row in first["rows"]] == [0.5]
    assert not second["failed"] and len(second["rows"]) == 2
    text = (folder / "out" / "table.md").read_text("utf-8")
    assert "| bridge, messages/s | 0.5 | one run | a bare loop | more |\n" in text
    assert "**failed: exit code 1**" in text
    assert not list((folder / "out").glob(".rows*"))


def test_is_a_bench_without_rows_a_failure(asked):
    folder, command = asked
    (folder / "silent.py").write_text("print('nothing')\n", "utf-8")
    done = subprocess.run([*command, "silent"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "**failed: no rows**" in (folder / "out" / "table.md").read_text("utf-8")


def test_is_an_unknown_bench_refused():
    command = [sys.executable, str(BENCH / "table.py"), "swich"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "no bench 'swich'; there are table1," in done.stderr


FORKER = """\
import json, os, sys, traceback
LIBRARIES = ("rows", "programs", "numpy_switch", "simpy_replay", "simgrid_replay")
import dvsim.session  # what most of them import takes long: once for all
sys.path.insert(0, sys.argv[1])
for name in sys.argv[3:]:
    child = os.fork()
    if child == 0:
        sys.stderr = open(f"{sys.argv[2]}/{name}", "w")
        code = 1
        try:
            bench = __import__(name)
            bench.main if name not in LIBRARIES else None
            code = 0
        except BaseException:
            traceback.print_exc()
        sys.stderr.flush()
        os._exit(code)
    _, status = os.waitpid(child, 0)
    if status != 0:
        print("status", status, file=open(f"{sys.argv[2]}/{name}", "a"))
"""


@pytest.fixture(scope="module")
def imported():
    """A folder with a file for each bench: what an import of it in a process of its own said."""

    def make(folder):
        names = [path.stem for path in BENCH.glob("*.py")]
        subprocess.run([sys.executable, "-c", FORKER, BENCH, folder, *names], check=True)

    return once("imports of the benches", make)


@pytest.mark.parametrize("path", sorted(BENCH.glob("*.py")), ids=lambda path: path.stem)
def test_does_a_bench_still_find_what_it_imports(imported, path):
    assert (imported / path.stem).read_text("utf-8") == ""
