"""Several programs in one job: does each run on its cards, with its arguments?"""

import os
import subprocess
import sys

import pytest
from emulator_build import SMALL
from test_launcher import ends_in_turn, vicrun

SAY = ("sh", "-c", 'echo "$VIC_CARD of $VIC_CARDS:" "$0" "$@"')


def said(done):
    assert done.returncode == 0, done.stderr
    return sorted(done.stdout.splitlines())


def test_cards_are_numbered_through(emulator):
    done = vicrun(
        emulator, "-n", "2", *SMALL, "--", *SAY, "a", ":", "-n", "3", *SAY, "b", ":", *SAY, "c"
    )
    cards = ["0 of 6: a", "1 of 6: a", "2 of 6: b", "3 of 6: b", "4 of 6: b", "5 of 6: c"]
    assert said(done) == cards


def test_a_colon_is_written_twice(emulator):
    done = vicrun(emulator, "-n", "1", *SMALL, *SAY, "a", "::", "x:y", ":::", ":", "--", *SAY, "-n")
    assert said(done) == ["0 of 2: a : x:y ::", "1 of 2: -n"]


def test_an_argument_may_be_what_an_option_of_ours_is(emulator):
    done = vicrun(emulator, "-n", "1", *SMALL, *SAY, "a", "-n", "5", ":", "-n2", *SAY, "--stats")
    assert said(done) == ["0 of 3: a -n 5", "1 of 3: --stats", "2 of 3: --stats"]


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["-n", "1", ":", "true"], "PROGRAM: say what to run before ':'"),
        (["-n", "1", "true", ":"], "PROGRAM: say what to run behind ':'"),
        (["-n", "1", "true", ":", "-n", "2"], "PROGRAM: say what to run behind ':'"),
        (["-n", "1", "true", ":", "-n", "x", "true"], "-n: 'x' is not a number of cards"),
        (["-n", "1", "true", ":", "-n"], "-n: '' is not a number of cards"),
        (["-n", "1", "true", ":", "--stats", "true"], "'--stats' cannot stand here"),
        (["-n", "65535", "true", ":", "-n", "2", "true"], "together have more than 65536 cards"),
        (["-n", "1", "--fault", "kill card=2 at=1s", "true", ":", "true"], "no card 2, but 0 .. 1"),
    ],
)
def test_what_makes_no_sense_is_refused(emulator, arguments, what):
    done = vicrun(emulator, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("vicrun: ") and what in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_program_that_cannot_be_run_is_named(emulator):
    done = vicrun(emulator, "-n", "1", *SMALL, "sleep", "100", ":", "no-such-program")
    assert done.returncode == 127
    assert done.stderr == "vicrun: cannot run 'no-such-program': No such file or directory\n"


def test_a_program_of_this_folder_is_named_with_its_folder(emulator, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").touch(0o755)
    done = vicrun(emulator, "-n", "1", *SMALL, "mine")
    assert done.returncode == 127
    assert done.stderr.endswith("No such file or directory; did you mean './mine'?\n")


def test_the_first_exit_code_that_is_not_0_is_returned_whichever_program_it_is(emulator, tmp_path):
    first, second = (("sh", "-c", script) for script in ends_in_turn(tmp_path))
    assert vicrun(emulator, "-n", "1", *SMALL, *second, ":", *first).returncode == 7
    assert vicrun(emulator, "-n", "1", *SMALL, "true", ":", *first).returncode == 7


@pytest.mark.parametrize("mode", ["functional", "timed"])
def test_programs_share_the_cards(emulator, mode):
    """Two names of one program: its cards talk to each other."""
    ring = str(emulator.program("exchange"))
    command = ["-n", "1", *SMALL, "--mode", mode, "--stats", "--", ring, ":", "-n", "2", ring, "x"]
    done = vicrun(emulator, *command)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line for line in done.stderr.splitlines() if line.endswith(("program", ring))]
    assert len(rows) == 4


def test_output_is_prefixed_by_card(emulator):
    done = vicrun(emulator, "-n", "1", *SMALL, "--prefix", "--", *SAY, "a", ":", *SAY, "b")
    assert said(done) == ["[0] 0 of 2: a", "[1] 1 of 2: b"]


def test_dvsim_emulate_passes_programs_on(emulator):
    """With the launcher that is installed."""
    command = [
        sys.executable,
        "-m",
        "dvsim",
        "emulate",
        "-n",
        "1",
        "--",
        "echo",
        "a",
        ":",
        "-n",
        "2",
        "echo",
        "b",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)
    assert said(done) == ["a", "b", "b"]


PYTHON = """
from dvsim import vic
with vic.open() as card:
    card.barrier()
    print(f"{[card.peer_opens(peer) for peer in range(card.query_attr().cards)]}\\n", end="")
    card.barrier()
    try:
        card.peer_opens(2)
    except vic.OutOfRange:
        print("no card 2\\n", end="")
"""


def test_a_job_may_have_programs_in_c_and_in_python(emulator):
    """They cross two barriers together; the Python one counts openings.

    Each line is one write, also where Python is told not to buffer: what two programs write to one
    pipe is mixed between writes.
    """
    twice = ["-n", "1", *SMALL, "--", str(emulator.program("opens")), "barrier"]
    environment = {**os.environ, "VIC_PREFIX": str(emulator.prefix)}
    done = vicrun(emulator, *twice, "2", ":", sys.executable, "-c", PYTHON, env=environment)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == sorted(["0 ", "good", "[1, 1]", "no card 2"])
