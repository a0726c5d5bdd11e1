"""Does vicbridge end when it is told to, and touch only what is its own? Without a broker."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from compiled import ROOMS, WARNINGS

from dvsim.native import emulator_prefix


def test_the_end_of_the_bridge(tmp_path):
    program, prefix = tmp_path / "bridge_end", emulator_prefix()
    sources = [path for room in ROOMS for path in room.glob("*.c") if path.name != "main.c"]
    sources.append(Path(__file__).parent / "programs" / "bridge_end.c")
    command = [os.environ.get("CC", "cc"), "-std=c11", "-g", "-pthread", *WARNINGS]
    command += [*map(str, sources), "-o", str(program), *(f"-I{room}" for room in ROOMS)]
    command += [f"-I{prefix / 'include'}", "-Wl,--wrap=shutdown", f"-L{prefix / 'lib'}"]
    command += [f"-Wl,-rpath,{prefix / 'lib'}", "-lvic", "-lrabbitmq"]
    subprocess.run(command, check=True)
    done = subprocess.run(
        [program, tmp_path], capture_output=True, text=True, check=False, timeout=200
    )
    assert (done.returncode, done.stdout) == (0, "checks passed\n"), done.stderr
