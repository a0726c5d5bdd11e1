"""Do the events of a clock come as SimPy's do: an inbox as a Store, the last of some as AllOf?"""

import random

import pytest
import simpy

from dvsim.system.stage import All, Clock, Inbox


def story(seed, inbox_of, all_of):
    """A random program of givers and takers, and of what waits for several: what happened when."""
    clock, rng, told = Clock(), random.Random(seed), []
    inbox = inbox_of(clock)

    def giver(number):
        for item in range(10):
            yield clock.timeout(rng.choice([0, 0, 1, 2]))
            inbox.put((number, item))
            told.append(("put", number, clock.ps, clock.events))

    def taker():
        while True:
            item = yield inbox.get()
            told.append(("got", item, clock.ps, clock.events))
            waits = [clock.timeout(rng.choice([0, 1, 3])) for _ in range(rng.choice([0, 1, 3]))]
            yield clock.timeout(rng.choice([0, 2]))  # some are over by now
            yield all_of(clock, waits)
            told.append(("all", item, clock.ps, clock.events))

    for number in range(3):
        clock.process(giver(number))
    clock.process(taker())
    clock.run()
    return told, clock.events


@pytest.mark.parametrize("seed", range(20))
def test_the_events_are_those_of_simpy_in_their_order(seed):
    told, events = story(seed, Inbox, All)
    assert (told, events) == story(seed, simpy.Store, simpy.AllOf)
    assert sum(one[0] == "all" for one in told) == 30


@pytest.mark.parametrize("all_of", [All, simpy.AllOf])
def test_what_fails_before_all_are_over_is_told_to_who_waits(all_of):
    clock, told = Clock(), []

    def fails():
        yield clock.timeout(1)
        raise RuntimeError("lost")

    def waits():
        try:
            yield all_of(clock, [clock.timeout(5), clock.process(fails())])
        except RuntimeError as error:
            told.append((str(error), clock.ps))

    clock.process(waits())
    clock.run()
    assert (told, clock.ps) == ([("lost", 1)], 5)
