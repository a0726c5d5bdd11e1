"""Programs that join a job that runs: do they get a card, and what becomes of it when they go?"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from emulator_build import SMALL
from harness.processes import until
from test_death import DIED, gone
from test_launcher import vicrun


@pytest.fixture
def place(tmp_path):
    """A socket's name in a folder of our own: names of sockets are short."""
    tmp_path.chmod(0o700)
    before = Path.cwd()
    os.chdir(tmp_path)
    yield Path("s")
    os.chdir(before)


class Job:
    """A job that serves."""

    def __init__(self, emulator, place, *programs, options=(), env=None):
        self.place, self.processes = place, []
        self.vicrun = [*emulator.before, str(emulator.prefix / "bin" / "vicrun")]
        command = [*self.vicrun, *SMALL, *options, "--serve", str(place), *map(str, programs)]
        self.process = self.start(command, env)
        until(lambda: place.exists() or self.process.poll() is not None, "the socket")

    def start(self, command, env=None):
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            command, stdout=pipe, stderr=pipe, stdin=pipe, text=True, env=env
        )
        self.processes.append(process)
        return process

    def close(self):
        for process in self.processes:
            process.kill()
            process.wait(30)
            for pipe in (process.stdout, process.stderr, process.stdin):
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

    def begin(self, *program, card=None, options=(), env=None):
        """Start to join."""
        head = ["--join", str(self.place), *options, *(["--card", str(card)] if card else [])]
        return self.start([*self.vicrun, *head, "--", *map(str, program)], env)

    def join(self, *program, **options):
        """Join, and return what came of it when the program has ended."""
        return result(self.begin(*program, **options))

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.process.wait(200)  # by the signal, before the programs read the end of their input
        return result(self.process)


def result(process, text=None):
    out, errors = process.communicate(text, timeout=200)
    return process.returncode, out, errors


@pytest.fixture
def serve(emulator, place):
    with contextlib.ExitStack() as stack:

        def start(*programs, build=emulator, **options):
            job = Job(build, place, *programs, **options)
            stack.callback(job.close)
            return job

        yield start


SAY = ("sh", "-c", 'echo "$VIC_CARD of $VIC_CARDS"; exit $0')


def test_a_job_of_empty_places_takes_who_comes_and_stays(serve, place):
    job = serve("-n", "3", "-")
    assert job.join(*SAY, "0") == (0, "0 of 3\n", "")
    assert job.join(*SAY, "0", card=2) == (0, "2 of 3\n", "")
    assert job.join(*SAY, "7", card=2) == (7, "2 of 3\n", "")
    assert job.process.poll() is None
    assert job.end() == (0, "", "")
    assert not place.exists()


def test_empty_places_may_be_written_apart(serve):
    job = serve("-n", "1", "-", ":", "-n", "2", "-")
    assert job.join(*SAY, "0", card=1) == (0, "1 of 3\n", "")
    assert job.process.poll() is None
    assert job.end() == (0, "", "")


def test_those_who_join_are_cards_as_others(serve, emulator):
    """They cross a barrier with a program that was there from the start."""
    opens = emulator.program("opens")
    job = serve("-n", "1", opens, "barrier", ":", "-n", "2", "-")
    first, second = job.begin(opens, "barrier"), job.begin(opens, "barrier")
    for process in (first, second, job.process):
        assert result(process)[:2] == (0, "0 \ngood\n")


def test_all_calls_work_for_those_who_join(serve, emulator):
    job = serve("-n", "1", emulator.program("exchange"), ":", "-n", "2", "-")
    others = [job.begin(emulator.program("exchange")) for _ in range(2)]
    for process in (*others, job.process):
        assert result(process) == (0, "", "")


def test_a_sanitizer_sees_nothing(serve, sanitized):
    job = serve("-n", "1", sanitized.program("exchange"), ":", "-n", "2", "-", build=sanitized)
    others = [job.begin(sanitized.program("exchange")) for _ in range(2)]
    for process in (*others, job.process):
        assert result(process) == (0, "", "")


def test_the_job_waits_for_those_who_joined(serve):
    job = serve("-n", "1", "sh", "-c", "read line; exit 0", ":", "-")
    guest = job.begin("sh", "-c", "echo here; read line; echo $line")
    assert guest.stdout.readline() == "here\n"
    job.process.stdin.close()  # its own program ends
    assert result(guest, "typed\n") == (0, "typed\n", "")
    assert job.process.wait(200) == 0


@pytest.mark.parametrize(
    ("card", "said"),
    [(0, "card 0 has a program"), (5, "the job has no card 5, but 0 .. 1"), (None, "all 2 cards")],
)
def test_who_gets_no_card_is_told_why(serve, card, said):
    job = serve("-n", "1", "sleep", "100", ":", "-")
    guest = job.begin("sh", "-c", "echo here; exec sleep 100")
    assert guest.stdout.readline() == "here\n"
    head = ["--card", "0"] if card == 0 else []
    code, out, errors = job.join("true", card=card, options=head)
    assert (code, out) == (1, "")
    assert errors.startswith("vicrun: --join: 's': ") and said in errors


def test_a_card_whose_program_has_ended_can_be_joined(serve, emulator):
    """And who waits is not told that the job is over meanwhile."""
    opens = emulator.program("opens")
    job = serve("-n", "1", opens, ":", opens, "wait", ":", "-")
    until(lambda: job.process.stdout.readline() == "0 \n", "card 0")
    until(lambda: job.join("true", card="0", options=())[0] == 0, "card 0 to be free")
    assert job.join(*SAY, "0", options=("--card", "0")) == (0, "0 of 3\n", "")
    assert job.end()[0] == 128 + 15


def test_a_program_that_cannot_be_run_hurts_nobody(serve):
    job = serve("-n", "2", "-")
    code, _, errors = job.join("no-such-program")
    assert (code, "cannot run 'no-such-program'" in errors) == (127, True)
    assert job.join(*SAY, "0") == (0, "0 of 2\n", "")
    assert job.end() == (0, "", "")


@pytest.mark.parametrize("killed", ["program", "vicrun"])
@pytest.mark.parametrize("how", ["end", "leave"])
@pytest.mark.parametrize("starter", ["echo $$; exec {}", "{} & echo $!; wait; true"])
def test_a_guest_that_dies(serve, emulator, how, killed, starter):
    """With its card open: the others are told, or its card is free again."""
    opens = emulator.program("opens")
    job = serve("-n", "1", opens, "wait", ":", "-", options=("--if-killed", how))
    guest = job.begin("sh", "-c", starter.format(f"{opens} wait"))
    direct = starter.startswith("echo")
    said = [guest.stdout.readline() for _ in range(2)]
    assert "0 \n" in said  # it is open
    process = next(int(line) for line in said if line != "0 \n")
    os.kill(process if killed == "program" else guest.pid, signal.SIGKILL)
    guest.communicate()
    if killed == "program":
        assert guest.returncode == (128 + 9 if direct else 1)
    word = "card 1 was killed by signal 9" if direct or killed == "vicrun" else "card 1"
    if how == "end":
        out, errors = job.process.communicate(timeout=200)
        assert job.process.returncode != 0 and DIED in out and word in errors
    else:
        until(lambda: job.join(*SAY, "0") == (0, "1 of 2\n", ""), "card 1 to be free")
        code, out, errors = job.end()
        assert (code, DIED in out) == (128 + 15, False)
        assert word in errors and "; the others go on" in errors


@pytest.mark.parametrize("taken", [False, True])
def test_who_has_lost_its_place_cannot_open_its_card(serve, emulator, place, taken):
    """Behind a shell a program outlives its vicrun, and would open the card unawaited."""
    opens = emulator.program("opens")
    job = serve("-n", "1", opens, "wait", ":", "-", options=("--if-killed", "leave"))
    late = f"(touch here; until test -e go; do sleep 0.02; done; {opens}; echo end) >said 2>&1"
    guest = job.begin("sh", "-c", f"{late} & wait; true", card=1)
    until(Path("here").exists, "the program")
    guest.kill()
    until(lambda: job.join(*SAY, "0", card=1) == (0, "1 of 2\n", ""), "card 1 to be free")
    other = job.begin(opens, "wait", card=1) if taken else None
    assert other is None or other.stdout.readline() == "0 \n"
    Path("go").touch()
    until(lambda: Path("said").read_text("utf-8").endswith("end\n"), "the program's end")
    assert Path("said").read_text("utf-8").startswith("-7 ")  # VIC_ENOJOB
    assert taken or job.join(*SAY, "0", card=1) == (0, "1 of 2\n", "")
    assert job.end()[0] == 128 + 15


def test_a_card_is_not_given_away_as_long_as_what_its_program_left_has_it(serve, emulator):
    left = f"{emulator.program('opens')} wait & echo $$"
    job = serve("-n", "1", "sh", "-c", left, ":", "-n", "1", "sleep", "100", ":", "-")
    said = [job.process.stdout.readline() for _ in range(2)]
    assert "0 \n" in said  # it is open
    shell = next(int(line) for line in said if line != "0 \n")
    until(lambda: not Path(f"/proc/{shell}").exists(), "the end of the shell")
    code, _, errors = job.join(*SAY, "0", options=("--card", "0"))
    assert (code, "card 0 has a program" in errors) == (1, True)
    assert job.join(*SAY, "0") == (0, "2 of 3\n", "")
    assert job.end()[0] == 128 + 15


def test_a_guest_is_started_again_too(serve, tmp_path):
    job = serve("-n", "2", "-", options=("--if-killed", "restart"))
    lives = tmp_path / "lives"
    script = f"echo x >>{lives}; test $(wc -l <{lives}) = 3 && echo $VIC_CARD"
    assert job.join("sh", "-c", script) == (0, "0\n", "")
    code, _, errors = job.end()
    assert code == 0
    assert errors.count("card 0 ended with exit code 1; it is started again") == 2


def test_who_brings_one_that_always_fails_is_not_kept(serve):
    job = serve("-n", "2", "-", options=("--if-killed", "restart:3"))
    assert job.join("false")[0] == 1
    assert "the last of 3 times in a row" in result(job.process)[2]


def test_signals_go_both_ways(serve, emulator):
    opens = emulator.program("opens")
    job = serve("-n", "2", "-")
    one, two = job.begin(opens, "wait"), job.begin(opens, "wait")
    assert (one.stdout.readline(), two.stdout.readline()) == ("0 \n", "0 \n")
    code, _, errors = job.end()  # to all
    assert (code, errors) == (128 + 15, "")
    ends = [result(guest)[:2] for guest in (one, two)]
    assert (128 + 15, "") in ends
    # who is late with the signal may first learn that the other was killed by it, and end by itself
    learnt = "a card of the job died or has ended, or all wait for each other (VIC_EPEER)\n"
    assert {*ends} <= {(128 + 15, ""), (128 + 15, learnt), (0, learnt)}


def test_a_signal_to_who_joined_reaches_its_program(serve, emulator):
    job = serve("-n", "2", "-", options=("--if-killed", "leave"))
    guest = job.begin(emulator.program("opens"), "wait")
    assert guest.stdout.readline() == "0 \n"
    guest.send_signal(signal.SIGINT)
    assert result(guest)[0] == 128 + 2
    assert job.end()[0] == 0


def test_guests_die_with_the_launcher(serve, emulator):
    job, mark = serve("-n", "2", "-"), f"guest-{os.getpid()}"
    guest = job.begin(emulator.program("opens"), "wait", mark)
    assert guest.stdout.readline() == "0 \n"
    job.process.kill()
    code, _, errors = result(guest)
    assert (code, "the launcher of the job was killed" in errors) == (128 + 9, True)
    assert gone(mark)


def test_what_a_guest_leaves_behind_is_ended(serve):
    job, mark = serve("-n", "2", "-"), f"1{os.getpid()}.7"
    assert job.join("sh", "-c", f"sleep {mark} & exit 0")[0] == 0
    assert gone(f"sleep {mark}")


def test_the_socket_of_a_killed_launcher_is_replaced(serve, place):
    first = serve("-n", "1", "-")
    first.process.kill()
    first.process.communicate()
    assert place.exists()
    code, _, errors = first.join("true")
    assert (code, "its launcher was killed" in errors) == (1, True)
    second = serve("-n", "1", "-")
    until(lambda: second.join("true")[0] == 0, "the second job")
    assert second.end()[0] == 0


def test_the_socket_of_another_job_is_not(serve, emulator, place):
    first = serve("-n", "1", "-")
    done = vicrun(emulator, "-n", "1", *SMALL, "--serve", str(place), "-")
    assert (done.returncode, "is served by another job" in done.stderr) == (2, True)
    assert first.join("true")[0] == 0


def test_a_file_is_not_replaced(emulator, place):
    place.write_text("mine")
    done = vicrun(emulator, "-n", "1", *SMALL, "--serve", str(place), "-")
    assert (done.returncode, "exists, and is no socket" in done.stderr) == (2, True)
    assert place.read_text() == "mine"


def test_the_socket_is_for_its_user_alone(serve, place, emulator, tmp_path):
    serve("-n", "1", "-")
    assert place.stat().st_mode & 0o777 == 0o600
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    done = vicrun(emulator, "-n", "1", *SMALL, "--serve", "open/s", "-")
    assert (done.returncode, "others can write to" in done.stderr) == (2, True)


def test_another_user_cannot_join(emulator):
    if os.getuid() != 0:
        pytest.skip("needs root to become another user")
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        Path(folder).chmod(0o755)
        place = Path(folder) / "s"
        job = Job(emulator, place, "-n", "1", "-")
        stack.callback(job.close)
        place.chmod(0o777)
        connection = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
        os.seteuid(65534)
        try:
            connection.connect(str(place))
        finally:
            os.seteuid(0)
        connection.settimeout(200)
        assert connection.recv(1000) == b""  # hung up, before anything was said
        assert job.join("true")[0] == 0


@pytest.mark.parametrize("sent", [b"", b"x", bytes(1000), b"\x01joj" + bytes(300)])
def test_garbage_is_hung_up_on(serve, place, sent):
    job = serve("-n", "1", "-")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.connect(str(place))
        if sent:
            connection.send(sent)
            connection.settimeout(200)
            assert len(connection.recv(1000)) in (0, 264)  # at most told that the versions differ
    assert job.join("true")[0] == 0


def test_who_says_nothing_stops_nobody(serve, place):
    job = serve("-n", "1", "-")
    with contextlib.ExitStack() as stack:
        for _ in range(20):
            silent = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            stack.enter_context(silent).connect(str(place))
            assert job.join("true")[0] == 0
    assert job.end()[0] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-n", "1", "-"], "it needs --serve"),
        (["-n", "1", "--serve", "s", "-", "x"], "has no arguments"),
        (["-n", "1", "--serve", "no/s", "-"], "in a folder that does not exist"),
        (["-n", "1", "--serve", "x" * 200, "-"], "too long"),
        (["-n", "1", "--mode", "timed", "--serve", "s", "-"], "functional mode"),
        (["-n", "1", "--card", "1", "true"], "--card: goes with --join"),
        (["--join", "s", "--card", "x", "true"], "--card: 'x' is not a whole number, 0 .. 65535"),
        (["--join", "s", "-n", "1", "true"], "--join: goes with --card, --prefix and a program"),
        (["--join", "s", "--stats", "true"], "--join: goes with --card, --prefix and a program"),
        (["--join", "s", "true", ":", "true"], "brings one program"),
        (["--join", "s"], "PROGRAM: say what to run"),
    ],
)
def test_what_makes_no_sense_is_refused(emulator, place, arguments, said):
    done = vicrun(emulator, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_output_is_prefixed_with_the_card(serve):
    job = serve("-n", "12", "-")
    assert job.join(*SAY, "0", card=3, options=("--prefix",)) == (0, "[ 3] 3 of 12\n", "")


def test_dvsim_emulate_serves_and_joins(place):
    """With the launcher that is installed."""
    dvsim = [sys.executable, "-m", "dvsim", "emulate"]
    with subprocess.Popen([*dvsim, "-n", "2", "--serve", str(place), "-"]) as job:
        until(place.exists, "the socket")
        done = subprocess.run(
            [*dvsim, "--join", str(place), "--place", "1", "--", *SAY, "5"],
            capture_output=True, text=True, check=False, timeout=200,
        )  # fmt: skip
        job.terminate()
    assert (done.returncode, done.stdout, done.stderr) == (5, "1 of 2\n", "")
    assert job.returncode == 0
