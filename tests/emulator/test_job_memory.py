"""Does a program refuse a job that it cannot trust, and say why?"""

import os
import struct
import subprocess

import pytest
from emulator_build import SMALL

ENOJOB = -7
SEALS = 1 | 2 | 4  # F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW
F_ADD_SEALS, F_GET_SEALS = 1033, 1034
LAYOUT_AT, VERSION_AT, NONCE_AT, BYTES_AT, CONFIG_AT = 8, 12, 32, 40, 60


def opening(emulator, environment, fds=()):
    clean = {key: value for key, value in os.environ.items() if not key.startswith("VIC_")}
    done = subprocess.run(
        [str(emulator.program("opens"))], env={**clean, **environment}, pass_fds=fds,
        capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    status, _, reason = done.stdout.splitlines()[0].partition(" ")
    return int(status), reason


def attach(emulator, fd, nonce="2a", card="0", cards=None):
    environment = {"VIC_JOB": f"{fd}:{nonce}", "VIC_CARD": card, "VIC_CARDS": cards}
    given = {name: text for name, text in environment.items() if text is not None}
    return opening(emulator, given, (fd,))


@pytest.fixture
def good(emulator, tmp_path):
    """The bytes of a good job, taken from a running one, with its nonce."""
    script = f"cat /dev/fd/${{VIC_JOB%:*}} >{tmp_path}/job; echo $VIC_JOB"
    vicrun = str(emulator.prefix / "bin" / "vicrun")
    done = subprocess.run(
        [vicrun, "-n", "2", *SMALL, "bash", "-c", f"test $VIC_CARD = 1 || ({script})"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return bytearray((tmp_path / "job").read_bytes()), done.stdout.strip().split(":")[1]


OPEN = []


@pytest.fixture(autouse=True)
def closed():
    yield
    while OPEN:
        os.close(OPEN.pop())


def memory(content, seals=SEALS):
    import fcntl

    fd = os.memfd_create("test", os.MFD_ALLOW_SEALING)
    OPEN.append(fd)
    os.write(fd, content)
    fcntl.fcntl(fd, F_ADD_SEALS, seals)
    fcntl.lockf(fd, fcntl.LOCK_EX)  # as its launcher
    return fd


def test_without_a_job_there_is_one_card_in_loopback(emulator):
    assert opening(emulator, {}) == (0, "")
    assert opening(emulator, {"VIC_CARD": "7"}) == (0, "")


def test_a_machine_without_memory_is_a_status(emulator):
    program = str(emulator.program("opens"))
    clean = {key: value for key, value in os.environ.items() if not key.startswith("VIC_")}
    done = subprocess.run(
        ["prlimit", f"--as={30 << 20}", program],
        env=clean, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "-8 no memory for the card\n")
    vicrun = str(emulator.prefix / "bin" / "vicrun")
    command = [vicrun, "-n", "1", "--", "prlimit", f"--as={30 << 20}", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "-8 no memory for the job\n")


GARBLED = ["", "x", ":", "3", "-1:2a", "99999999999:2a", "3:xyz", " 3:2a", "3: 2a"]
GARBLED += ["3:2a:", "3:2a:x", "3:2a:4294967296", "3:2a:1:1"]
TOO_LONG = ["3:11111111111111111", "0000000000000003:2a"]


@pytest.mark.parametrize("text", [*GARBLED, *TOO_LONG])
def test_a_garbled_environment_is_refused(emulator, text):
    status, reason = opening(emulator, {"VIC_JOB": text, "VIC_CARD": "0"})
    assert status == ENOJOB and "descriptor:nonce" in reason


def test_a_good_copy_is_accepted(emulator, good):
    content, nonce = good
    assert attach(emulator, memory(content), nonce, "1", "2") == (0, "")


@pytest.mark.parametrize("card", ["2", "-1", "x", "", "0 ", None])
def test_a_card_that_the_job_does_not_have_is_refused(emulator, good, card):
    content, nonce = good
    status, reason = attach(emulator, memory(content), nonce, card)
    assert (status, "VIC_CARD" in reason) == (ENOJOB, True)


@pytest.mark.parametrize("cards", ["3", "x"])
def test_another_number_of_cards_is_refused(emulator, good, cards):
    content, nonce = good
    status, reason = attach(emulator, memory(content), nonce, "0", cards)
    assert (status, "VIC_CARDS" in reason) == (ENOJOB, True)


def test_a_descriptor_that_is_closed_is_refused(emulator):
    status, reason = opening(emulator, {"VIC_JOB": "77:2a", "VIC_CARD": "0"})
    assert (status, "not open" in reason) == (ENOJOB, True)


def test_files_that_are_no_job_are_refused(emulator, tmp_path):
    ends = os.pipe()
    (tmp_path / "empty").write_bytes(b"")
    files = [ends[0], os.open("/dev/null", os.O_RDWR), os.open(tmp_path, os.O_RDONLY)]
    files += [os.open(tmp_path / "empty", os.O_RDWR)]
    OPEN.extend([*files, ends[1]])
    for fd in [*files, memory(b""), memory(bytes(100_000))]:
        status, reason = attach(emulator, fd)
        assert (status, "not the memory of a job" in reason) == (ENOJOB, True)


def test_memory_that_a_peer_could_cut_off_is_refused(emulator, good):
    content, nonce = good
    status, reason = attach(emulator, memory(content, 0), nonce)
    assert (status, "not the memory" in reason) == (ENOJOB, True)


def test_a_job_that_was_cut_off_is_refused(emulator, good):
    content, nonce = good
    for n in (10, 4096, len(content) - 1):
        status, _ = attach(emulator, memory(content[:n]), nonce)
        assert status == ENOJOB


def test_other_versions_are_refused(emulator, good):
    content, nonce = good
    for at in (LAYOUT_AT, VERSION_AT):
        changed = bytearray(content)
        changed[at] += 1
        status, reason = attach(emulator, memory(changed), nonce)
        assert (status, "different versions" in reason) == (ENOJOB, True)


def test_another_nonce_is_refused(emulator, good):
    content, _ = good
    status, reason = attach(emulator, memory(content), "1234")
    assert (status, "another job" in reason) == (ENOJOB, True)


@pytest.mark.parametrize("at", range(64, 700, 4))
def test_no_word_of_the_configuration_can_hurt(emulator, good, at):
    """Each is replaced by a huge number: the job is refused, or works."""
    content, nonce = good
    struct.pack_into("<I", content, at, 0xFFFFFFF0)
    status, _ = attach(emulator, memory(content), nonce)
    assert status in (0, ENOJOB)


def test_a_card_cannot_be_opened_twice(emulator):
    done = emulator.run(2, "opens", "twice")
    assert done.returncode == 0, done.stderr
    assert sorted(line[:3] for line in done.stdout.splitlines()) == ["-3 ", "-3 ", "0 ", "0 "]


def test_a_card_can_be_opened_again_and_again(emulator):
    for cards in (1, 2):
        done = emulator.run(cards, "opens", "many")
        assert done.returncode == 0, done.stderr


def test_a_card_without_a_job_can_be_opened_again_and_again(emulator):
    program = str(emulator.program("opens"))
    clean = {key: value for key, value in os.environ.items() if not key.startswith("VIC_")}
    done = subprocess.run([program, "many"], env=clean, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_card_whose_process_was_killed_is_free_for_the_next_one(emulator):
    """Both of one program: a shell, which does not mind."""
    opens = emulator.program("opens")
    vicrun = str(emulator.prefix / "bin" / "vicrun")
    command = [vicrun, "-n", "1", *SMALL, "--", "sh", "-c", f"{opens} killed; {opens}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "0 \n0 \n"), done.stderr
