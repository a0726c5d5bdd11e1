"""Does a PMIx launcher, such as mpirun, start a job over hosts, each of its processes a host?"""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from emulator_build import SMALL
from harness.processes import children
from test_death import DIED, gone

LAUNCHER = ("mpirun", "--oversubscribe", "--quiet", "-n", "2")
PATIENT = ("--mca", "orte_abort_on_non_zero_status", "0")
MARK = {"VIC_TEST": f"hosts by PMIx of {os.getpid()}"}
ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} | MARK
USUAL = ("--pmix", "-n", "2", "--interface", "lo", "--host-timeout", "20s")


@pytest.fixture(scope="module", autouse=True)
def _needs(emulator):
    vichost = emulator.prefix / "bin" / "vichost"
    missing = [] if shutil.which("mpirun") else ["mpirun"]
    missing += [] if vichost.exists() and b"PMIx_Init" in vichost.read_bytes() else ["PMIx"]
    if missing:
        reason = f"needs {' and '.join(missing)} (tests/install-packages)"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


def command(emulator, program, *arguments, options=USUAL, launcher=LAUNCHER):
    vicrun = str(emulator.prefix / "bin" / "vicrun")
    program = program if isinstance(program, Path) else emulator.program(program)
    return [*launcher, vicrun, *SMALL, *options, "--", str(program), *arguments]


def run(*arguments, **options):
    return subprocess.run(
        command(*arguments, **options),
        capture_output=True, text=True, check=False, timeout=200, env=os.environ | ALLOWED,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["exchange", "surprise", "barriers", "collectives"])
def test_programs_do_what_they_do_elsewhere(emulator, name):
    done = run(emulator, name)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_cards_are_numbered_through(emulator):
    done = run(emulator, Path("/bin/sh"), "-c", "echo $VIC_CARD of $VIC_CARDS")
    assert sorted(done.stdout.splitlines()) == [f"{card} of 4" for card in range(4)]
    assert (done.returncode, done.stderr) == (0, "")


def test_the_exit_code_comes_back(emulator):
    """The program is on the second host. mpirun may end the first one before its cards say so."""
    done = run(emulator, "opens", "fail")
    assert done.returncode == 4
    assert 1 <= done.stdout.count(DIED) <= 3


def test_the_others_hear_that_a_program_has_failed(emulator):
    """Each gets VIC_EPEER, if the launcher does not end it before."""
    done = run(emulator, "opens", "fail", launcher=(*LAUNCHER[:1], *PATIENT, *LAUNCHER[1:]))
    assert done.stdout.count(DIED) == 3


def test_a_program_that_is_missing(emulator):
    done = run(emulator, Path("/nowhere/program"))
    assert done.returncode == 127
    assert f"vicrun: host {os.uname().nodename}: cannot run '/nowhere/program': No" in done.stderr
    assert gone(MARK["VIC_TEST"], "environ")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (USUAL, "--pmix: no launcher that speaks PMIx has started this"),
        ((*USUAL, "--stats-fd", "1"), "--stats-fd: is not for --pmix: start the job by --hosts"),
        ((*USUAL, "--trace", "x"), "--trace: is not for --pmix: start the job by --hosts"),
        ((*USUAL, "--if-killed", "leave"), "--if-killed: is not for --pmix: start the job by"),
        ((*USUAL, "--mode", "timed"), "--mode timed: is not for --pmix: start the job by --hosts"),
        ((*USUAL, "--hosts", "a:2"), "--hosts: is not for --pmix: the launcher says which hosts"),
    ],
)
def test_what_cannot_be(emulator, options, said):
    done = run(emulator, "calls", options=options, launcher=())
    assert done.returncode == 2
    assert said in done.stderr


def test_one_of_two_that_fails_ends_both(emulator):
    done = run(emulator, "calls", options=(*USUAL, "--interface", "eth77"))
    assert done.returncode == 1
    assert f"host {os.uname().nodename}: --interface: it has no 'eth77'" in done.stderr


@pytest.mark.parametrize(
    ("number", "whom"), [(signal.SIGTERM, "all"), (signal.SIGKILL, "all"), (signal.SIGKILL, "one")]
)
def test_nothing_is_left(emulator, number, whom):
    """Nothing is left when the launcher gets a signal or is killed, nor when a host is killed."""
    mark = f"pmix-{os.getpid()}"
    process = subprocess.Popen(
        command(emulator, "opens", "wait", mark), env=os.environ | ALLOWED,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert [process.stdout.readline() for _ in range(4)] == ["0 \n"] * 4
        hosts = children(process.pid)
        os.kill(process.pid if whom == "all" else max(hosts), number)
        process.communicate(timeout=200)
    finally:
        process.kill()
    assert process.returncode != 0
    assert gone(mark)
