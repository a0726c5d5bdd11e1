"""What happens to the others, and what is left, when something dies or ends?"""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from emulator_build import SMALL
from harness.processes import until

DIED = "a card of the job died or has ended, or all wait for each other (VIC_EPEER)"
ENDED = "the card is closed, or the job has ended (VIC_ECLOSED)"


def start(emulator, cards, *arguments, options=SMALL):
    command = [str(emulator.prefix / "bin" / "vicrun"), "-n", str(cards), *options, "--"]
    return subprocess.Popen(
        [*command, str(emulator.program("opens")), *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def opened(process, cards):
    """Wait until all cards are open."""
    for _ in range(cards):
        assert process.stdout.readline() == "0 \n"


def processes(text, where="cmdline"):
    """Return the live processes whose command line holds a text, or "environ", their variables."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            line = (path / where).read_bytes().replace(b"\0", b" ").decode()
            dead = (path / "stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX"
        except OSError:
            continue
        if text in line and not dead and int(path.name) != os.getpid():
            found.append(line)
    return found


def gone(text, where="cmdline", seconds=100.0):
    end = time.monotonic() + seconds
    while processes(text, where) and time.monotonic() < end:
        time.sleep(0.01)
    return processes(text, where) == []


@pytest.mark.parametrize(("how", "code"), [("die", 128 + 9), ("fail", 4)])
def test_a_card_that_dies_ends_all_waits(emulator, how, code):
    done = emulator.run(4, "opens", how)
    assert done.returncode == code
    assert done.stdout.count(DIED) == 3
    word = "killed by signal 9" if how == "die" else "exit code 4"
    assert f"vicrun: card 1 {'was' if how == 'die' else 'ended with'} {word}" in done.stderr


def test_a_card_that_ends_well_is_no_death_but_can_cross_no_barrier(emulator):
    done = emulator.run(3, "opens", "end")
    assert done.returncode == 0
    # card 0 waits for a counter that nobody can count any more, card 2 for a barrier
    assert sorted(done.stdout.splitlines())[-2:] == sorted([DIED, ENDED])


def test_a_sender_that_a_dead_reader_blocks_goes_on(emulator):
    done = emulator.run(2, "opens", "block")
    assert (done.returncode, DIED in done.stdout) == (137, True)


def test_a_transfer_that_an_ended_reader_blocks_ends(emulator):
    done = emulator.run(3, "opens", "stuck")
    assert (done.returncode, DIED in done.stdout) == (0, True), done.stdout + done.stderr


@pytest.mark.parametrize("how", ["die", "fail", "end", "block", "stuck"])
def test_a_death_leads_to_no_bad_access(sanitized, how):
    done = sanitized.run(3, "opens", how)
    assert "Sanitizer" not in done.stderr, done.stderr
    assert done.returncode in (0, 4, 137)


def test_the_fault_kill_kills(emulator):
    done = emulator.run(3, "opens", "wait", options=[*SMALL, "--fault", "kill card=2 at=30ms"])
    assert done.returncode == 137
    assert done.stdout.count(DIED) == 2


def test_a_program_that_is_killed_at_0_ms_never_begins(emulator, tmp_path):
    """Though it is the first that is started, of so many that it would have ended meanwhile."""
    command = [str(emulator.prefix / "bin" / "vicrun"), "-n", "24", *SMALL]
    command += ["--fault", "kill card=0 at=0ms", "sh", "-c", f"echo >>{tmp_path}/began.$VIC_CARD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)
    assert done.returncode == 137, done.stderr
    assert "card 0 was killed by signal 9" in done.stderr
    assert not (tmp_path / "began.0").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_reach_the_programs(emulator, number):
    process = start(emulator, 2, "wait")
    opened(process, 2)
    process.send_signal(number)
    _, errors = process.communicate(timeout=200)
    assert process.returncode == 128 + number
    asked = errors.startswith("vicrun: SIGINT: who waits for what\n")
    assert asked == (number == signal.SIGINT)
    assert asked or errors == ""  # what was asked for is no news


def test_programs_die_with_the_launcher(emulator):
    mark = f"wait-{os.getpid()}"
    process = start(emulator, 3, "wait", mark)
    opened(process, 3)
    process.kill()
    process.communicate(timeout=200)
    assert gone(mark)


def test_a_grandchild_whose_launcher_dies_is_told(emulator, tmp_path):
    """It is no child of the launcher, so nobody kills it: its waits end."""
    told = [tmp_path / card for card in "01"]
    script = f"{emulator.program('opens')} wait >{tmp_path}/$VIC_CARD; true"
    vicrun = str(emulator.prefix / "bin" / "vicrun")
    process = subprocess.Popen([vicrun, "-n", "2", *SMALL, "sh", "-c", script])
    until(lambda: all(one.exists() and "0 \n" in one.read_text() for one in told), "both to open")
    time.sleep(0.1)  # let them sleep
    process.kill()
    process.wait(200)
    until(lambda: all(ENDED in one.read_text() for one in told), "both to be told")


def test_what_programs_leave_behind_is_ended(emulator):
    mark = f"1{os.getpid()}.5"
    vicrun = str(emulator.prefix / "bin" / "vicrun")
    command = [vicrun, "-n", "2", *SMALL, "--", "sh", "-c", f"sleep {mark} & exit 0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)
    assert done.returncode == 0
    assert gone(f"sleep {mark}")


def test_nothing_has_a_name(emulator):
    """So nobody finds it who was not given it, and nothing can be left behind."""

    def names():
        return {path.name for folder in ("/dev/shm", "/tmp") for path in Path(folder).iterdir()}

    made = []
    for _ in range(3):  # others on the machine make names, too, but not each time
        before = names()
        process = start(emulator, 2, "wait")
        opened(process, 2)
        made.append({name for name in names() - before if "vic" in name})
        process.kill()
        process.communicate(timeout=200)
    assert set() in made, made


def test_another_user_cannot_reach_the_memory(emulator):
    if os.getuid() != 0:
        pytest.skip("needs root to become another user")
    process = start(emulator, 2, "wait")
    opened(process, 2)
    script = f"cat /proc/{process.pid}/fd/* >/dev/null 2>&1 && echo reached"
    try:
        done = subprocess.run(
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c", script],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.stdout == ""
    finally:
        process.kill()
        process.communicate(timeout=200)
