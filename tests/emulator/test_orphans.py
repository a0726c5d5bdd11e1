"""Does a program that only looks notice that its launcher was killed?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from emulator_build import PROGRAMS, SMALL, build
from harness.processes import until
from test_job_memory import ENOJOB

ENDED = "the card is closed, or the job has ended (VIC_ECLOSED)"
GONE = "the launcher of the job was killed, or has ended"
HOW = ("alone", "relaxed", "shortly", "fifo", "barrier", "gets", "polls", "slowly", "message")
FAST = HOW[:7]  # in model time all go as fast as the slowest


def orphans(emulator, tmp_path, mode, hows, env=None):
    """Kill the launcher while programs look; return what each says, and who opens a card then.

    A shell stands between, so that the programs are not killed with the launcher.
    """
    (tmp_path / "how").write_text("".join(f"{how}\n" for how in hows))
    looks = f"{emulator.program('looker')} $(sed -n $((VIC_CARD + 1))p {tmp_path}/how)"
    script = f"({looks}; {emulator.program('opens')}) >{tmp_path}/$VIC_CARD; true"
    command = [emulator.prefix / "bin" / "vicrun", "-n", str(len(hows)), *SMALL, "--mode", mode]
    said = [tmp_path / str(card) for card in range(len(hows))]
    with subprocess.Popen(
        [*command, "sh", "-c", script], env=env, start_new_session=True
    ) as launcher:
        try:
            until(
                lambda: all(one.exists() and one.read_text() == "looks\n" for one in said), "looks"
            )
            launcher.kill()
            until(lambda: all(one.read_text().count("\n") == 4 for one in said), "them to end")
        finally:
            os.killpg(launcher.pid, signal.SIGKILL)  # also programs that go on, if it fails
    return [one.read_text().splitlines()[1:] for one in said]


@pytest.mark.parametrize(
    ("mode", "hows"),
    [("functional", HOW), ("timed", FAST), ("timed", ("alone",)), ("functional", ("relaxed",))],
    ids=lambda value: value if isinstance(value, str) else str(len(value)),
)
def test_who_looks_is_told_that_the_launcher_was_killed(emulator, tmp_path, mode, hows):
    said = orphans(emulator, tmp_path, mode, hows)
    assert said == [[ENDED, ENDED, f"{ENOJOB} {GONE}"]] * len(hows)


def test_the_lock_tells_if_there_is_no_descriptor_for_the_launcher(emulator, tmp_path):
    """As in a program that has none left, or sees other processes."""
    shim = tmp_path / "refuse.so"
    flags = ["-std=c11", *build.WARNINGS, "-Werror", "-shared", "-fPIC"]
    build.compile_c([PROGRAMS / "no_pidfd.c"], shim, flags)
    env = {**os.environ, "LD_PRELOAD": str(shim)}
    assert (
        orphans(emulator, tmp_path, "functional", ("alone", "slowly"), env)
        == [[ENDED, ENDED, f"{ENOJOB} {GONE}"]] * 2
    )


CLOSES = """
import os, sys
from dvsim import vic
with vic.open() as card:
    os.closerange(3, 100)
    held = [os.pipe() for _ in range(40)]
    for read, write in held:
        os.write(write, b"x")  # all these can be read, as the descriptor of one who is gone
    card.counter_set(0, 1)
    for _ in range(2):
        try:
            card.counter_wait(0, timeout_ns=60_000_000)
        except vic.TimedOut:
            print("timed out")
"""


def test_a_program_may_close_what_it_does_not_know(emulator, installed):
    """The number of a descriptor that was closed is that of something else: the launcher lives."""
    vicrun = str(emulator.prefix / "bin" / "vicrun")
    done = subprocess.run(
        [vicrun, "-n", "1", *SMALL, sys.executable, "-c", CLOSES],
        capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "timed out\n" * 2, "")


MODE = 'import os; print(oct(os.fstat(int(os.environ["VIC_JOB"].split(":")[0])).st_mode & 0o111))'


@pytest.mark.parametrize("old", [False, True], ids=["this kernel", "an older one"])
def test_nobody_can_run_the_memory_of_a_job(emulator, tmp_path, old):
    """If the kernel can promise that; else there is a job all the same."""
    shim = tmp_path / "refuse.so"
    flags = ["-std=c11", *build.WARNINGS, "-Werror", "-shared", "-fPIC"]
    build.compile_c([PROGRAMS / "no_noexec.c"], shim, flags)
    try:
        os.close(os.memfd_create("test", 0x8))
        new = True
    except OSError:
        new = False
    vicrun = str(emulator.prefix / "bin" / "vicrun")
    done = subprocess.run(
        [vicrun, "-n", "1", *SMALL, sys.executable, "-c", MODE],
        env={**os.environ, **({"LD_PRELOAD": str(shim)} if old else {})},
        capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "0o0\n" if new and not old else "0o111\n")
