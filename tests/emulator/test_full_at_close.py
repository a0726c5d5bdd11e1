"""Does a card close if a program that lives does not take what is sent to it?"""

from __future__ import annotations

import re
import subprocess
import sys

from emulator_build import SMALL
from harness.processes import until

LOST = "packets that are lost: the FIFO of card 0 is full, and nobody took a word for 10 s"
FIFO, MORE = 64, 4  # words: of SMALL, and what each sends beyond
PYTHON = f"""
import sys
import numpy as np
from dvsim import vic
card = vic.open()
card.barrier()
if card.query_attr().card == 0:
    sys.stdin.read()
    card.close()
else:
    words = np.arange({FIFO + MORE}, dtype=np.uint64)
    card.write(0, vic.header(0, vic.FIFO) + 0 * words)
    card.dma_send(0, words)
    try:
        card.close()
    except vic.TimedOut as error:
        print(error, flush=True)
"""


def test_a_card_is_closed_though_nobody_reads(emulator, tmp_path):
    """Closed or left at the end of the program; and not while somebody reads, however slowly."""
    vicrun = str(emulator.prefix / "bin" / "vicrun")
    said = tmp_path / "said"
    with (
        said.open("w") as log,
        subprocess.Popen(
            [vicrun, "-n", "5", *SMALL, str(emulator.program("full_at_close"))],
            stdin=subprocess.PIPE, stdout=log, stderr=log,
        ) as job,
    ):  # fmt: skip
        try:
            until(lambda: said.read_text().count(LOST) == 2, "both to give up")
            until(lambda: "card 4 closed" in said.read_text(), "the slow reader")
            job.stdin.close()
            assert job.wait(200) == 0, said.read_text()
        finally:
            job.kill()
    lost = dict(re.findall(rf"vic: card (.) was closed with (\d+) {LOST}\n", said.read_text()))
    assert sum(map(int, lost.values())) == 2 * (FIFO + MORE) - FIFO
    assert lost.keys() == {"1", "2"}
    assert sorted(line for line in said.read_text().splitlines() if LOST not in line) == [
        "all came",
        "card 0 closed: good",
        "card 1 closed: the wait timed out (VIC_ETIMEDOUT)",
        "card 3 closed: good",
        "card 4 closed: good",
    ]


def test_python_hears_that_words_are_lost(emulator):
    vicrun = str(emulator.prefix / "bin" / "vicrun")
    command = [vicrun, "-n", "2", *SMALL, "--", sys.executable, "-c", PYTHON]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as job:
        try:
            assert "packets for a full FIFO are lost" in job.stdout.readline()
            _, errors = job.communicate(timeout=200)
        finally:
            job.kill()
    assert (job.returncode, errors.count(LOST)) == (0, 1)


def test_in_model_time_the_card_holds_what_does_not_fit(emulator):
    done = emulator.run(2, "full_at_close", options=[*SMALL, "--mode", "timed"])
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(done.stdout.splitlines()) == ["card 0 closed: good", "card 1 closed: good"]
