"""Are the calls of vic_collective.h in Python those of C: arrays, timeouts, errors?"""

from __future__ import annotations

import doctest
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from python_job import run_python

import dvsim.vic.team
from dvsim import vic
from dvsim.vic import binding


@pytest.fixture
def team(card):
    with card.team() as team:
        yield team


def test_the_example_in_the_docstring(installed):
    assert doctest.testmod(dvsim.vic.team).failed == 0


def test_every_call_of_the_header_is_there(installed):
    text = (installed.prefix / "include" / "vic_collective.h").read_text()
    calls = set(binding.re.findall(r"\bvic_(\w+)\(", binding.declarations(text)))
    calls = {call.removeprefix("team_") for call in calls}
    assert calls - set(dir(vic.Team)) == {"open"}  # a method of the card


def test_reductions_are_those_of_the_header(installed):
    lib = binding.libvic().lib
    names = {name for name in dir(lib) if name in {f"VIC_{op.name}" for op in vic.Reduction}}
    assert len(names) == len(vic.Reduction) == 6
    assert all(getattr(lib, f"VIC_{op.name}") == op for op in vic.Reduction)


def test_alone(team):
    words = np.arange(6, dtype=np.uint64)
    assert (len(team), team.cards, team.index) == (1, (0,), 0)
    team.barrier()
    team.broadcast(0, words)
    assert team.reduce(0, words, vic.Reduction.MAX).tolist() == list(range(6))
    assert team.allreduce(7).tolist() == [7]
    assert team.gather(0, words).tolist() == [list(range(6))]
    assert team.alltoall(words.reshape(2, 3)).tolist() == [list(range(6))]
    assert team.allreduce([]).tolist() == []


def test_errors_say_what_was_asked(card, team):
    with pytest.raises(vic.OutOfRange, match=r"root=3, op=SUM, n=1.*the team has cards 0 .. 0"):
        team.reduce(3, 1)
    with pytest.raises(vic.OutOfRange, match="root=-1"):
        team.gather(-1, 1)
    with pytest.raises(vic.InvalidArgument, match=r"op=6"):
        team.allreduce(1, 6)
    with pytest.raises(vic.InvalidArgument, match="read-only"):
        team.broadcast(1, np.broadcast_to(np.uint64(1), (3,)))
    with pytest.raises(vic.InvalidArgument, match="no call on this team has timed out"):
        team.resume()
    with pytest.raises(vic.InvalidArgument, match="places 0 and 1 of the list both have card 0"):
        card.team([0, 0])
    with pytest.raises(vic.OutOfRange, match=r"place 0 of the list has card 5; .* 0 .. 0"):
        card.team([5])
    with pytest.raises(vic.OutOfRange, match=r"vic_team_open\(\[-1\]\)"):
        card.team([-1])
    with pytest.raises(vic.InvalidArgument, match="has no cards"):
        card.team([])


def test_closing(card):
    team = card.team()
    team.close()
    team.close()
    with pytest.raises(vic.Closed):
        team.barrier()
    card.close()
    with pytest.raises(vic.Closed):
        card.team()


MANY = """
import numpy as np
from dvsim import vic

with vic.open() as card:
    me, cards = card.query_attr()[:2]
    with card.team(range(cards)[::-1]) as team:
        words = np.arange(5000, dtype=np.uint64) + np.uint64(me)
        total = team.allreduce(words)
        assert total.tolist() == [cards * i + cards * (cards - 1) // 2 for i in range(5000)]
        least = team.reduce(0, words, vic.Reduction.MIN)
        assert (least is None) == (team.index != 0)
        rows = team.gather(1, [me, 7])
        assert rows is None or rows.tolist() == [[card, 7] for card in team.cards]
        mine = team.alltoall([[10 * me + to] for to in range(cards)])
        assert mine.ravel().tolist() == [10 * card + team.index for card in team.cards]
        word = np.array([me], dtype=np.float64)
        team.broadcast(1, word)
        assert word[0] == team.cards[1]
        if me == 0:
            try:
                team.alltoall(np.arange(cards + 1))
            except vic.InvalidArgument as error:
                assert "4 words are not rows for 3 cards; 3 are" in str(error)
            try:
                team.allreduce([1, 2], timeout=0.001)
            except vic.TimedOut as error:
                assert "resume() goes on" in str(error)
            try:
                team.barrier()
            except vic.Busy as error:
                assert "vic_allreduce(op=SUM, n=2) is not finished" in str(error)
            card.barrier()
            both = team.resume()
        else:
            card.barrier()
            both = team.allreduce([1, 2])
        assert both.tolist() == [cards, 2 * cards]
        team.barrier(timeout=60)
        print(me)
"""


@pytest.mark.parametrize("options", [[], ["--reorder", "3"], ["--mode", "timed"]], ids=str)
def test_a_job(installed, options):
    done = run_python(installed, 3, MANY, *options)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split()) == ["0", "1", "2"]


ENDS = """
import os, sys
from dvsim import vic
me, how = int(os.environ["VIC_CARD"]), sys.argv[1]
if me == 0 and how == "never":
    sys.exit()
card = vic.open()  # and it is not closed
try:
    team = card.team()
    team.barrier()
    if me == 0:
        sys.exit()
    team.barrier()
except (vic.PeerDied, vic.Closed):  # closed: the others have ended
    print("told", me)
"""


@pytest.mark.parametrize("mode", ["functional", "timed"])
@pytest.mark.parametrize("how", ["never", "open"])
def test_a_program_that_ends_well_with_its_card_open_or_never_opened_is_missed(
    installed, how, mode
):
    code = ENDS.replace("sys.argv[1]", repr(how))
    done = run_python(installed, 3, code, "--mode", mode)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["told 1", "told 2"]


def test_a_wait_answers_control_c(installed):
    code = (
        "import os\n"
        "from dvsim import vic\n"
        "with vic.open() as card:\n"
        "    if card.query_attr().card == 1:\n"
        "        card.fifo_wait(1, 1)\n"
        "    try:\n"
        "        print(os.getpid(), flush=True)\n"
        "        card.team()\n"
        "    except KeyboardInterrupt:\n"
        "        print('answered', flush=True)\n"
        "    os._exit(0)\n"
    )
    vicrun = str(installed.prefix / "bin" / "vicrun")
    command = [vicrun, "-n", "2", "--", sys.executable, "-c", code]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as job:
        os.kill(int(job.stdout.readline()), signal.SIGINT)
        out, errors = job.communicate(timeout=200)
    assert "answered" in out, errors
