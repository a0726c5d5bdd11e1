"""Does a signal end a run with all its processes, and leave no half of a result?"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from harness.processes import until

DVSIM = [sys.executable, "-m", "dvsim"]


def result_folders(out):
    return sorted(path.parent for path in Path(out).rglob("manifest.json"))


def leftovers(out):
    return [path for path in Path(out).rglob("*") if path.name.startswith(".")]


@pytest.fixture
def running(tmp_path):
    """Start a long run in a session of its own: the command, its two workers, a tracker."""
    command = subprocess.Popen(
        [*DVSIM, "run", "h3/dv-8", "--scale", "50", "--workers", "2", "--out", str(tmp_path)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=heed_signals,  # noqa: PLW1509 - no threads here
    )  # fmt: skip

    def two_work():
        return len([pid for pid in processes_of(command.pid) if is_busy(pid)]) >= 2

    until(two_work, "two workers", 120)
    assert command.poll() is None, "the run ended before it could be interrupted"
    yield command
    for pid in processes_of(command.pid):
        os.kill(pid, signal.SIGKILL)
    command.communicate()


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (signal.SIGINT, "interrupted"),
        (signal.SIGTERM, "ended by SIGTERM"),
        (signal.SIGHUP, "ended by SIGHUP"),
    ],
)
def test_a_signal_ends_all_processes_and_leaves_no_result(running, tmp_path, number, message):
    if number == signal.SIGINT:
        os.killpg(running.pid, number)  # as a terminal does
    else:
        running.send_signal(number)
    _, errors = running.communicate(timeout=200)
    assert running.returncode == 128 + number
    assert errors.splitlines()[-1] == message
    assert "Traceback" not in errors
    assert result_folders(tmp_path) == []
    assert leftovers(tmp_path) == []
    until(lambda: not processes_of(running.pid), "the end of its processes", 120)
    assert processes_of(running.pid) == []


def test_workers_do_not_outlive_a_killed_command(running):
    running.kill()
    until(lambda: not processes_of(running.pid), "the end of its processes", 120)
    assert processes_of(running.pid) == []


def heed_signals():
    """Undo what a shell, or nohup, does to the processes that it starts."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def is_busy(pid):
    """Tell whether this is a worker: SIGINT, which it blocks, is left to its parent."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    (blocked,) = [line.split()[1] for line in status.splitlines() if line.startswith("SigBlk:")]
    command = Path(f"/proc/{pid}/cmdline").read_bytes()
    return b"spawn_main" in command and bool(int(blocked, 16) >> (signal.SIGINT - 1) & 1)


def processes_of(session):
    """Return the processes of a session, by their entry in /proc."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            fields = (process / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:  # it has ended meanwhile
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(process.name))
    return found


BEGIN = """
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
sys.argv = ["dvsim", "run", "h3/fdr-8", "--scale", "0.001", "--replications", "1", "--out", {out!r}]
from dvsim.__main__ import main  # as the command does
main()
"""


@pytest.mark.parametrize(
    "name",
    [
        *("dvsim.cli", "dvsim.cli.main", "click", "dvsim.errors", "dvsim.cli.terminal"),
        *("dvsim.cli.run", "dvsim.contract.load", "pydantic", "numpy", "pyarrow", "dvsim.session"),
    ],
)
def test_ctrl_c_while_a_command_begins_leaves_no_traceback(name, tmp_path):
    code = BEGIN.format(name=name, out=str(tmp_path / "runs"))
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, check=False, preexec_fn=heed_signals,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (130, "interrupted\n")


def test_little_is_imported_before_ctrl_c_is_heeded():
    code = "import sys; before = set(sys.modules); import dvsim; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"dvsim", "dvsim._version", "importlib", "warnings"}
