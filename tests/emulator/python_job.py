"""A job whose cards run Python code."""

import os
import subprocess
import sys


def run_python(emulator, cards, code, *options):
    """Run Python code on cards."""
    command = [str(emulator.prefix / "bin" / "vicrun"), "-n", str(cards), *options, "--"]
    return subprocess.run(
        [*command, sys.executable, "-c", code], env=os.environ,
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
