"""How the emulator is built, and what its test programs are: also for scripts without pytest."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "programs"
CONFORMANCE = (
    "calls",
    "exchange",
    "surprise",
    "queries",
    "limits",
    "threads",
    "barriers",
    "spread",
    "peers",
    "any_of",
    "vectors",
)
"""Programs that run on any number of cards, as processes and as threads."""

# small cards: a job of 32 is made and gone in no time
SMALL = ("--set", f"sram={8 << 15}", "--set", "fifo_words=64", "--set", "dma_entries=32")


SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-O1", "-g1")


def load_build():
    """Return emulator/build.py as a module."""
    spec = importlib.util.spec_from_file_location("build_emulator", ROOT / "emulator" / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


build = load_build()


def in_place() -> list[str]:
    """Return the command that keeps addresses where older sanitizers expect them."""
    command = ["setarch", "-R"]
    try:
        usable = subprocess.run([*command, "true"], check=False).returncode == 0
    except OSError:
        usable = False
    return command if usable else []


FAULTS = ("fifo-depth=1", "dma-slow=3", "extra-polls=0.3", "stall card=1 at=2ms for=5ms")
"""What makes cards slow and shallow, and stops one for a while."""


def good(done):
    """Check that a job has ended well and has said nothing on stderr."""
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
