"""Are the descriptors of a card readable when they should be, and is nothing left of them?"""

import asyncio
import threading
from pathlib import Path

import pytest
from emulator_build import SMALL
from python_job import run_python

from dvsim import vic


def good(done):
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr


@pytest.mark.parametrize("order", [[], ["--reorder", "3"]], ids=["in-order", "reordered"])
def test_what_comes_is_seen_by_poll(emulator, order):
    good(emulator.run(3, "event_fd", options=[*SMALL, *order]))


def test_a_crowd_on_few_cores(emulator):
    good(emulator.run(12, "event_fd"))


def test_timed_mode_says_why_not(emulator):
    good(emulator.run(2, "event_fd", options=[*SMALL, "--mode", "timed"]))


def test_who_polls_is_told_of_a_death(emulator):
    done = emulator.run(3, "event_fd", env={"DIES": "1"})
    assert (done.returncode, done.stdout) == (3, "told\ntold\n")


def test_address_and_undefined_behaviour(sanitized):
    good(sanitized.run(2, "event_fd"))


def test_data_races(threaded):
    good(threaded("event_fd", "-n", "3", *SMALL))


# ---- Python


def later(call, seconds=0.02):
    """Do something from another thread, as a packet of another card does."""
    thread = threading.Timer(seconds, call)
    thread.start()
    return thread


def test_an_event_loop_waits_for_counters_and_goes_on(card):
    async def main():
        card.counter_set(3, 1)
        ticked = threading.Event()  # the loop goes on while the card is waited for

        async def tick():
            while True:
                for _ in range(4):
                    await asyncio.sleep(0.001)
                ticked.set()

        ticking = asyncio.create_task(tick())
        waits = [asyncio.create_task(card.ready(1 << 3)) for _ in range(3)]
        later(lambda: ticked.wait(30) and card.put(0, 0, [1], 3))
        assert await asyncio.gather(*waits) == [1 << 3] * 3  # each of them is woken
        later(lambda: card.send([vic.header(0, vic.FIFO)], [7]))
        assert await card.ready(0, 1) == 1 << vic.READY_FIFO
        ticking.cancel()

    asyncio.run(asyncio.wait_for(main(), 60))
    assert card.fifo_poll(1).tolist() == [7]


def test_a_wait_in_a_loop_ends(card):
    async def main():
        card.counter_set(3, 1)
        with pytest.raises(vic.TimedOut):
            await card.ready(1 << 3, timeout_ns=2_000_000)
        cancelled = asyncio.create_task(card.ready(1 << 3))
        await asyncio.sleep(0.005)
        cancelled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cancelled
        with pytest.raises(vic.OutOfRange):
            await card.ready(1 << 64)
        waits = [asyncio.create_task(card.ready(1 << 3)) for _ in range(2)]
        await asyncio.sleep(0.005)
        card.close()  # in the thread of the loop, whose next look finds it
        for wait in waits:
            with pytest.raises(vic.Closed):
                await wait

    before = set(Path("/proc/self/fd").iterdir())
    asyncio.run(asyncio.wait_for(main(), 60))
    assert len(set(Path("/proc/self/fd").iterdir()) - before) <= 1  # that of this look


def test_timed_mode_has_a_loop_too(installed):
    program = """
import asyncio
from dvsim import vic
async def main(card):
    card.counter_set(0, 1)
    wait = asyncio.create_task(card.ready(1))
    await asyncio.sleep(0)
    assert not wait.done()
    card.put(0, 0, [1], 0)
    assert await wait == 1
    try:
        await card.ready(2 + 4 + 8, 1, timeout_ns=1000)
    except vic.TimedOut:
        print("ended", flush=True)
with vic.open() as card:
    card.counter_set(1, 1), card.counter_set(2, 1), card.counter_set(3, 1)
    asyncio.run(main(card))
"""
    done = run_python(installed, 1, program, *SMALL, "--mode", "timed")
    assert (done.returncode, done.stdout) == (0, "ended\n"), done.stderr
