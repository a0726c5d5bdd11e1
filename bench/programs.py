"""C programs of the benches: compiled against the emulator, run, and what they print."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from dvsim.native import emulator_prefix

HERE = Path(__file__).resolve().parent


def prefix_asked() -> Path:
    """Return the emulator of this dvsim, or another build that the command line names."""
    return Path(sys.argv[1]) if len(sys.argv) > 1 else emulator_prefix()


def compiled(name: str, folder: Path, *libraries: str) -> Path:
    """Compile `name`.c of this folder into another and return the program."""
    made = folder / name
    cc = [os.environ.get("CC", "cc"), "-std=c11", "-D_GNU_SOURCE", "-O2"]
    subprocess.run([*cc, str(HERE / f"{name}.c"), "-o", str(made), *libraries], check=True)
    return made


def with_libvic(prefix: Path) -> list[str]:
    """Return what a program needs that uses libvic."""
    lib = prefix / "lib"
    return [f"-I{prefix / 'include'}", f"-L{lib}", f"-Wl,-rpath,{lib}", "-lvic"]


def output(command: Sequence[object], check: bool = True) -> str:
    """Return what a program prints.

    Raises:
        SystemExit: If it fails, and that is looked at.
    """
    words = [str(word) for word in command]
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=600)
    if check and done.returncode != 0:
        raise SystemExit(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout
