"""Nobody reads what vicrun writes: does the job go on, and is all of it there at last?"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import struct
import subprocess
import termios

import pytest
from emulator_build import SMALL
from harness.processes import until

SET_SIZE, PAGE = 1031, 4096  # F_SETPIPE_SZ


def there(pipe):
    """Return how many bytes are in a pipe."""
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0\0\0\0"))[0]


@contextlib.contextmanager
def started(emulator, *words, **streams):
    """A job with --prefix; its output is a short pipe."""
    command = [str(emulator.prefix / "bin" / "vicrun"), *SMALL, "--prefix", *map(str, words)]
    output, write = os.pipe()
    fcntl.fcntl(output, SET_SIZE, PAGE)
    pipes = {"stdout": write, "stderr": subprocess.PIPE} | streams
    with (
        subprocess.Popen(command, text=True, start_new_session=True, **pipes) as job,
        os.fdopen(output) as job.stdout,
    ):
        os.close(write)
        try:
            yield job
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(job.pid, signal.SIGKILL)


def stalled(job):
    until(lambda: there(job.stdout) > PAGE // 2, "output")


@pytest.mark.parametrize("together", [False, True], ids=["two streams", "one stream"])
def test_deaths_are_noticed_while_nobody_reads(emulator, tmp_path, together):
    """Each of them, though vicrun cannot even say so if its messages go there, too."""
    for card in (1, 2):
        os.mkfifo(tmp_path / f"die{card}")
    floods = ("-n", "1", "yes")
    dies = ("-n", "2", "sh", "-c", f"read line <{tmp_path}/die$VIC_CARD; kill -9 $$")
    read, write = os.pipe()
    options = ("--if-killed", "leave", "--stats-fd", write)
    streams = {"pass_fds": [write], **({"stderr": subprocess.STDOUT} if together else {})}
    with (
        started(emulator, *options, *floods, ":", *dies, **streams) as job,
        os.fdopen(read) as told,
    ):
        os.close(write)
        stalled(job)
        for dead in (1, 2):  # the second after what is said of the first
            (tmp_path / f"die{dead}").write_text("\n")
            until(lambda dead=dead: states(told).count("ended") == dead, f"death {dead}")


def states(told):
    """Return what vicrun says of the three cards next."""
    return [told.readline().split('"state":"')[1].split('"')[0] for _ in range(3)]


def test_all_that_was_written_comes_in_order(emulator):
    """More than what fits into all the pipes, of two programs whose lines take turns."""
    lines = 30000
    with started(emulator, "-n", "2", "seq", lines) as job:
        stalled(job)
        said, errors = job.communicate(timeout=200)
    assert (job.returncode, errors) == (0, "")
    for card in range(2):
        of_card = [line for line in said.splitlines() if line.startswith(f"[{card}] ")]
        assert of_card == [f"[{card}] {n}" for n in range(1, lines + 1)]
    assert len(said.splitlines()) == 2 * lines


def test_a_signal_ends_the_job_though_nobody_reads(emulator):
    """It passes on the signal, and does not wait for ever for a reader; what is lost is said."""
    with started(emulator, "-n", "1", "yes") as job:
        stalled(job)
        job.send_signal(signal.SIGTERM)
        assert job.wait(200) == 128 + 15
        assert job.stderr.read() == "vicrun: --prefix: output of card 0 was lost: nobody reads it\n"
