"""Does vicrun kill the process that it means? Numbers are used again, descriptors are not."""

from __future__ import annotations

import os
import subprocess

import pytest
from emulator_build import PROGRAMS, SMALL, build
from test_death import DIED


@pytest.mark.parametrize(
    ("mode", "policy"), [("functional", "end"), ("functional", "leave"), ("timed", "end")]
)
def test_who_is_killed_was_opened_before_it_was_asked_for(emulator, tmp_path, mode, policy):
    """The program runs behind a shell: vicrun finds it by the number that it has left."""
    shim, log = tmp_path / "order.so", tmp_path / "log"
    flags = ["-std=c11", *build.WARNINGS, "-Werror", "-shared", "-fPIC"]
    build.compile_c([PROGRAMS / "kill_order.c"], shim, flags)
    script = f"echo $VIC_CARD $$ >>{tmp_path}/shells; {emulator.program('opens')} wait; exit $?"
    for at in ("1us",) if mode == "timed" else ("100ms", "500ms", "3s", "10s"):
        options = [*SMALL, "--mode", mode, "--if-killed", policy, "--fault", f"kill card=1 at={at}"]
        log.unlink(missing_ok=True)
        done = subprocess.run(
            [emulator.prefix / "bin" / "vicrun", "-n", "2", *options, "sh", "-c", script],
            env={**os.environ, "LD_PRELOAD": str(shim), "KILL_ORDER": str(log)},
            capture_output=True, text=True, check=False, timeout=200,
        )  # fmt: skip
        lines = log.read_text().splitlines()
        asked = [line.split()[1] for line in lines if line.startswith("ask")]
        if asked and done.stdout.count("0 \n") == 2:  # it was slow to open its card
            break
    assert (done.returncode, DIED in done.stdout) == (137, policy == "end")
    assert "card 1 ended with exit code 137" in done.stderr
    shells = dict(map(str.split, (tmp_path / "shells").read_text().splitlines()))
    assert not [line for line in lines if line.startswith("kill")]
    first = asked[0]  # the program; then its parents
    assert first not in shells.values() and shells["1"] in asked
    assert lines.index(f"open {first}") < lines.index(f"ask {first}")
