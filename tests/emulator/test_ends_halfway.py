"""A program that ends with exit code 0 in the middle of a call: do the others go on?"""

import pytest
from emulator_build import PROGRAMS, SMALL, build
from test_launcher import vicrun

GOES_ON = ("--if-killed", "leave")


@pytest.fixture(scope="module")
def program(emulator, tmp_path_factory):
    """Return a program that knows the library's own headers."""
    made = tmp_path_factory.mktemp("ends-halfway") / "ends_halfway"
    lib = emulator.prefix / "lib"
    flags = ["-std=c11", "-O1", "-pthread", *build.WARNINGS, "-Werror", *build.INCLUDES]
    flags += [f"-L{lib}", f"-Wl,-rpath,{lib}", "-lvic"]
    build.compile_c([PROGRAMS / "ends_halfway.c"], made, flags)
    return str(made)


@pytest.mark.parametrize("options", [(), GOES_ON], ids=["end", "leave"])
@pytest.mark.parametrize("how", ["returns", "closes", "exits"])
def test_words_behind_those_that_never_come_arrive(emulator, program, how, options):
    done = vicrun(emulator, "-n", "4", *SMALL, *options, "--", program, "fifo", how)
    assert (done.returncode, done.stderr) == (0, "")


def test_nobody_crosses_a_barrier_with_a_program_that_has_ended(emulator, program):
    done = vicrun(emulator, "-n", "2", *SMALL, "--", program, "barrier", "exits")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_process_that_is_left_with_the_card_is_waited_for(emulator, program, tmp_path):
    """Its places are its own as long as it lives."""
    left = f"{program} fifo leaves {tmp_path}/made & while ! test -e {tmp_path}/made; do sleep 0.01"
    script = f"test $VIC_CARD = 1 || exec {program} fifo returns; {left}; done; exit 0"
    done = vicrun(emulator, "-n", "3", *SMALL, "--", "sh", "-c", script)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_process_that_opens_its_card_late_is_watched(emulator, program, tmp_path):
    """In the background, after the shell that started it has ended."""
    late = f"while kill -0 $$ 2>/dev/null; do sleep 0.01; done; exec {program} fifo leaves"
    late += f" {tmp_path}/made"
    script = f"test $VIC_CARD = 1 || exec {program} fifo returns; ({late}) & exit 0"
    done = vicrun(emulator, "-n", "3", *SMALL, "--", "sh", "-c", script)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_process_that_opens_its_card_late_may_send_late(emulator):
    """When all programs but one have ended: their cards are left only when nobody has them open."""
    late = emulator.program("late_sender")
    script = f"test $VIC_CARD = 1 || exec {late}; {late} & exit 0"
    done = vicrun(emulator, "-n", "3", "--", "sh", "-c", script)
    assert (done.stdout, done.stderr, done.returncode) == ("good\n", "", 0)


def test_too_many_words_that_never_come_end_the_job(emulator, program):
    done = vicrun(emulator, "-n", "2", *SMALL, "--", program, "many", "exits")
    assert done.returncode == 1
    said = "vicrun: card 1 ended with exit code 0: too much of what it sent is left half done"
    assert done.stderr.startswith(said)
