"""C programs of these tests, each compiled once for a run, with all warnings and with sanitizers.

They are vicbridge, the programs of `programs/`, and the examples of docs/asynchronous.md.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

from harness.once import once

from dvsim.broker import compile_bridge
from dvsim.native import emulator_prefix

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "programs"
EXAMPLES = ROOT / "emulator" / "examples" / "messaging"
ROOMS = [ROOT / "emulator" / room for room in ("bridge", "base")]
CHECKED = ["-O1", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
LIBRARIES = {"mqtt_bridge": ["-lmosquitto"], "mqtt_taker": ["-lmosquitto"]}


def cc(*words: object, folder: Path | None = None) -> None:
    """Call the compiler, with the flags that all have."""
    include = [emulator_prefix() / "include", *ROOMS, PROGRAMS]
    command = [*shlex.split(os.environ.get("CC", "cc")), "-std=c11", "-pthread", *WARNINGS]
    command += [*CHECKED, *(f"-I{path}" for path in include), *map(str, words)]
    subprocess.run(command, check=True, cwd=folder)


def linked() -> list[str]:
    """Return what every program is linked with."""
    lib = emulator_prefix() / "lib"
    return [f"-L{lib}", f"-Wl,-rpath,{lib}", "-lvic", "-lrabbitmq"]


def parts() -> Path:
    """Return a folder with vicbridge in parts: main.o, and bridge.a with all others."""

    def make(folder: Path) -> None:
        cc("-c", *(path for room in ROOMS for path in sorted(room.glob("*.c"))), folder=folder)
        others = sorted(path.name for path in folder.glob("*.o") if path.name != "main.o")
        subprocess.run(["ar", "rcs", "bridge.a", *others], check=True, cwd=folder)

    return once("vicbridge in parts, with sanitizers", make)


def compiled(name: str) -> Path:
    """Return vicbridge, a program of this folder, or an example."""

    def make(folder: Path) -> None:
        if name == "vicbridge":
            source = [parts() / "main.o", parts() / "bridge.a"]
        else:
            found = [folder / f"{name}.c" for folder in (EXAMPLES, PROGRAMS)]
            source = [path for path in found if path.exists()]
        cc(*source, "-o", folder / name, *linked(), *LIBRARIES.get(name, []))

    return once(f"{name}, with sanitizers", make) / name


def plain() -> Path:
    """Return vicbridge as users have it: optimised, without sanitizers."""
    return compile_bridge.vicbridge()
