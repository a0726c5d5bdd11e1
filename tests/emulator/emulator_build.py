"""One build of the emulator, and programs to run on it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
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
)
"""Programs that run on any number of cards, as processes and as threads."""

# small cards: a job of 32 is made and gone in no time
SMALL = ("--set", f"sram={8 << 15}", "--set", "fifo_words=64", "--set", "dma_entries=32")


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


@dataclass
class Emulator:
    """One build: vicrun, and programs compiled against it when they are first asked for."""

    prefix: Path
    flags: Sequence[str]
    before: list[str] = field(default_factory=list)
    made: dict[str, Path] = field(default_factory=dict)

    def program(self, name: str) -> Path:
        """Return a program of programs/, linked with the shared library."""
        if name not in self.made:
            sources = [PROGRAMS / f"{name}.c"]
            if "void run(const struct self" in sources[0].read_text("utf-8"):
                sources.append(PROGRAMS / "harness.c")
            target = self.prefix / name
            lib = self.prefix / "lib"
            flags = ["-std=c11", *build.WARNINGS, "-Werror", f"-I{self.prefix / 'include'}"]
            flags += ["-pthread", f"-L{lib}", f"-Wl,-rpath,{lib}", "-lvic", *self.flags]
            build.compile_c(sources, target, flags)
            self.made[name] = target
        return self.made[name]

    def run(self, cards: int, name: str, *arguments: str, options=SMALL, env=None, timeout=100):
        """Run a program under vicrun."""
        vicrun = str(self.prefix / "bin" / "vicrun")
        command = [*self.before, vicrun, "-n", str(cards), *options, "--"]
        return subprocess.run(
            [*command, str(self.program(name)), *arguments],
            capture_output=True, text=True, check=False, timeout=timeout,
            env={**os.environ, **(env or {})},
        )  # fmt: skip
