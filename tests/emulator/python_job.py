"""A job whose cards run Python code."""

import os
import subprocess
import sys


def run_python(emulator, cards, code, *options):
    """Run Python code on cards.

    Each card's output is one write, at its end: what several write to one pipe is mixed between
    writes, and an interpreter that is told not to buffer makes two of each line.
    """
    command = [str(emulator.prefix / "bin" / "vicrun"), "-n", str(cards), *options, "--"]
    return subprocess.run(
        [*command, sys.executable, "-c", code], env={**os.environ, "PYTHONUNBUFFERED": ""},
        capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip
