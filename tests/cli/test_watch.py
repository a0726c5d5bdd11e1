"""Does --watch show a real job while it works, and is the job otherwise the same?"""

import os
import signal
import subprocess
import sys

import pseudo_terminal
import pytest
from harness.in_process import dvsim
from pseudo_terminal import standing

from dvsim.cli.watching import CardView

DVSIM = [sys.executable, "-m", "dvsim"]
WATCH = [*DVSIM, "emulate", "--watch", "-n", "2", "--"]
JOB = """
import os
import sys
from dvsim import vic
with vic.open() as card:
    me = card.query_attr().card
    for round in range(200):
        card.counter_set(4, 100)
        card.barrier()
        card.put(1 - me, 0, range(100), 4)
        card.counter_wait(4)
        card.barrier()
    os.write(1, f"out of {me}\\n".encode())  # in one piece, whatever the others write
    os.write(2, f"err of {me}\\n".encode())
    card.barrier()
    sys.stdin.read()
"""


def snapshot(card, at_ns, **other):
    state = {"calls": 0, "words": 0, "wait_ns": 0, "fifo": 0, "fifo_peak": 0, "lost": 0}
    text = {"at_ns": at_ns, "card": card, "cards": 2, "state": "open", **state, **other}
    return str(text).replace("'", '"')


@pytest.fixture
def job(tmp_path):
    path = tmp_path / "job.py"
    path.write_text(JOB)
    return [sys.executable, str(path)]


def test_without_a_terminal_there_is_a_line_now_and_then(job):
    done = subprocess.run([*WATCH, *job], capture_output=True, text=True, input="", check=False)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["out of 0", "out of 1"]
    told = [line for line in done.stderr.splitlines() if "cards:" in line]
    assert told[-1].split("cards: ")[1].startswith("2 ended; ")
    assert "words/s" in told[-1] and "deepest FIFO" in told[-1]
    assert sorted(set(done.stderr.splitlines()) - set(told)) == ["err of 0", "err of 1"]


@pytest.mark.parametrize("columns", [40, 100])
def test_on_a_terminal_a_table_is_drawn_below_what_the_programs_say(job, columns):
    code, text = pseudo_terminal.run([*WATCH, *job], columns, stdin=subprocess.DEVNULL)
    assert code == 0, text
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") == 1
    shown = standing(text)
    assert {"out of 0", "out of 1", "err of 0", "err of 1"} <= set(shown)
    assert max(map(len, shown)) <= columns
    rows = {
        line.split()[0]: line.split() for line in shown if line[:1] in "01a" and "ended" in line
    }
    assert set(rows) == {"0", "1"}
    assert shown.index("out of 1") < shown.index(next(line for line in shown if line[:1] == "0"))
    assert sum("cards at work" in line for line in shown) == 1  # drawn in place
    if columns == 100:
        assert rows["0"][-2] == "20,000"  # words, of 200 rounds


@pytest.mark.parametrize(("script", "code"), [("exit 3", 3), ("kill -9 $$", 137)])
def test_the_exit_code_is_that_of_the_job(script, code):
    command = [*WATCH, "sh", "-c", script]
    assert subprocess.run(command, capture_output=True, check=False).returncode == code


def test_a_signal_goes_to_the_job_and_leaves_nothing_behind(tmp_path):
    script = f"echo $$ >> {tmp_path}/pids; exec sleep 100"
    watched = subprocess.Popen([*WATCH, "sh", "-c", script], stderr=subprocess.PIPE, text=True)
    for line in watched.stderr:  # the first is said when all have been started
        if "cards:" in line and (tmp_path / "pids").exists():
            break
    watched.send_signal(signal.SIGTERM)
    watched.communicate(timeout=60)
    assert watched.returncode == 128 + signal.SIGTERM
    for pid in (tmp_path / "pids").read_text().split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


def test_rates_are_those_between_two_lines():
    view = CardView()
    for at in (1, 2):
        for card in (0, 1):
            words = {1: 1000, 2: 4000}[at] * (card + 1)
            view.take(snapshot(card, at * 10**9, words=words, wait_ns=at * 25 * 10**7))
    rows = {row[0]: row for row in view.table().rows}
    assert rows["0"][2] == "3,000" and rows["1"][2] == "6,000" and rows["all"][2] == "9,000"
    assert rows["0"][4] == "25%"


def test_another_job_begins_anew():
    view = CardView()
    for at, words in ((5, 5000), (1, 100)):  # the clock of a job begins at its start
        for card in (0, 1):
            view.take(snapshot(card, at * 10**9, words=words))
    assert [row[2] for row in view.table().rows] == ["100", "100", "200"]


def test_lines_that_are_none_are_passed_over(capsys):
    view = CardView()
    for line in ("", "{", "[]", '"a"', '{"card": "x"}'):
        view.take(line)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["emulate", "--watch", "--join", "s", "--", "true"], "not of a program that joins it"),
        (["emulate", "-n", "1", "--trace", "t.json.gz", "--", "true"], "vicrun does not compress"),
        (["run", "h3/dv-8", "--watch"], "--watch: is for --backend emu"),
        (["run", "h3/fdr-8", "--backend", "emu", "--watch"], "--watch: h3/fdr-8: has no cards"),
    ],
)
def test_what_cannot_be_watched_or_traced_is_refused(arguments, said):
    done = dvsim(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
