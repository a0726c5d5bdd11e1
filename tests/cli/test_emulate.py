"""`dvsim emulate`: does it hand everything to the launcher, and refuse what it should?"""

import os
import signal
import subprocess
import sys

import pytest
from harness.in_process import dvsim

DVSIM = [sys.executable, "-m", "dvsim", "emulate"]


def emulate(*arguments):
    return dvsim("emulate", *arguments)


def process(*arguments):
    """Run it as users do: the launcher takes the process over."""
    return subprocess.run(
        [*DVSIM, *arguments], capture_output=True, text=True, check=False, timeout=200
    )


def test_runs_a_program_once_per_card():
    done = process("-n", "3", "--prefix", "--", "sh", "-c", "echo $VIC_CARD of $VIC_CARDS")
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [f"[{i}] {i} of 3" for i in range(3)]


def test_returns_the_exit_code_of_the_program():
    assert emulate("-n", "2", "sh", "-c", "exit 5").returncode == 5
    assert process("-n", "2", "sh", "-c", "kill -9 $$").returncode == 128 + 9
    assert emulate("-n", "2", "no-such-program").returncode == 127


def test_a_compressed_trace_is_refused():
    done = emulate("-n", "1", "--trace", "t.json.gz", "--", "true")
    assert done.returncode == 2
    assert "vicrun does not compress" in done.stderr


def test_options_behind_the_program_are_its_own():
    done = emulate("-n", "1", "echo", "--stats", "-n")
    assert done.stdout == "--stats -n\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-n", "2"], "say what to run"),
        (["true"], "-n: say how many cards"),
        (["-n", "x", "true"], "-n: 'x' is not a number of cards"),
        (["-n", "2", "--fault", "kil card=1 at=1s", "true"], "did you mean 'kill'?"),
        (["-n", "2", "--card", "data-vortx-8", "true"], "did you mean 'data-vortex-8'?"),
        (["-n", "2", "--card", "fdr-ipoib", "true"], "is a link card; an emulated card needs"),
        (["-n", "2", "--mode", "time", "true"], "did you mean 'timed'?"),
        (["-n", "60000", "true"], "bytes of memory"),
        (["-n", "", "true"], "-n: '' is not a number of cards"),  # of a variable that is not set
        (["-n", "2", "--seed", "", "true"], "--seed: '' is not a whole number"),
        (["-n", "2", "--mode", "", "true"], "--mode: '' is not functional or timed"),
    ],
)
def test_what_is_wrong_is_said(arguments, said):
    done = emulate(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_socket_without_a_name_is_not_joined():
    done = emulate("-n", "1", "--join", "", "true")
    assert done.returncode != 0
    assert "--join" in done.stderr


def test_sizes_come_from_the_card(desk, monkeypatch):
    monkeypatch.chdir(desk.path)
    done = emulate("-n", "1", "--card", "cards/small-vortex.toml", "--trace", "t.json", "true")
    assert done.returncode == 0, done.stderr
    assert (desk / "t.json").exists()
    desk.edit("cards/small-vortex.toml", '"1 MiB"', '"64 MiB"')
    done = emulate("-n", "1", "--card", "cards/small-vortex.toml", "true")
    assert (done.returncode, "sram must be 8 B .. 32 MiB" in done.stderr) == (2, True)


def test_flags_for_a_compiler():
    flags = emulate("--cflags", "--libs").stdout.split()
    assert [flag[:2] for flag in flags] == ["-I", "-L", "-W", "-l"]
    prefix = emulate("--prefix-dir").stdout.strip()
    assert flags[0] == f"-I{prefix}/include"


STUBBORN = "trap '' TERM INT HUP QUIT; "
GRANDCHILD = "sh -c \"trap '' TERM INT HUP QUIT; echo $$; while :; do sleep 1; done\""


@pytest.mark.parametrize("mode", ["functional", "timed"])
@pytest.mark.parametrize(
    ("number", "program"),
    [
        (signal.SIGTERM, f"{STUBBORN} echo $$; while :; do sleep 1; done"),
        (signal.SIGINT, f"{STUBBORN} echo $$; while :; do sleep 1; done"),
        (signal.SIGHUP, f"{STUBBORN} {GRANDCHILD} & wait; wait; while :; do sleep 1; done"),
        (signal.SIGTERM, f"{GRANDCHILD} & wait"),  # the shell ends by the signal, what it left not
    ],
)
def test_a_program_that_ignores_signals_is_killed_after_a_grace(tmp_path, number, program, mode):
    command = [
        *DVSIM,
        "-n",
        "2",
        "--mode",
        mode,
        "--kill-after",
        "500ms",
        "--",
        "sh",
        "-c",
        program,
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as job:
        pids = [int(job.stdout.readline()) for _ in range(2)]  # both ignore signals by now
        job.send_signal(number)
        _, said = job.communicate(timeout=100)
    assert job.returncode != 0, said
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_a_grace_that_is_none_is_refused():
    assert process("-n", "1", "--kill-after", "soon", "--", "true").returncode == 2
