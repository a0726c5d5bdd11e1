"""Does a clock tell the same story as SimPy: an inbox as a Store, the last of some as AllOf?

Compared are the times of all events and their owners. Events of one time may come in another order.
Turns come as those of a PriorityResource, a run ends as that of an Environment. Counted is what was
pushed into the heap.
"""

import gc
import random
from heapq import heappush

import pytest
import simpy

import dvsim
from dvsim.core import stage as kernel
from dvsim.core.stage import All, Clock, Happening, Inbox, Stage, Steps, Through
from dvsim.kinds.hosts.hop import Turns


def story(seed, inbox_of, all_of, process):
    """A random program of givers and takers, and of what waits for several: what happened when.

    Each of them has its own story, as their order at one time is not promised.
    """
    clock, told = Clock(), {}
    inbox = inbox_of(clock)

    def giver(number):
        rng, own = random.Random(f"{seed} {number}"), told.setdefault(number, [])
        for item in range(10):
            yield clock.timeout(rng.choice([0, 0, 1, 2]))
            inbox.put((number, item))
            own.append((item, clock.ps))

    def taker():
        rng, own = random.Random(seed), told.setdefault("taker", [])
        for _ in range(30):
            item = yield inbox.get()
            own.append(("got", item, clock.ps))
            waits = [clock.timeout(rng.choice([0, 1, 3])) for _ in range(rng.choice([0, 1, 3]))]
            yield clock.timeout(rng.choice([0, 2]))  # some are over by now
            yield all_of(clock, waits)
            own.append(("all", item, clock.ps))

    for number in range(3):
        process(clock, giver(number))
    clock.run(process(clock, taker()))
    return told, clock.ps


@pytest.mark.parametrize("seed", range(20))
def test_the_events_are_those_of_simpy(seed):
    told, end_ps = story(seed, Inbox, All, Steps)
    assert (told, end_ps) == story(seed, simpy.Store, simpy.AllOf, simpy.Process)
    assert sum(one[0] == "all" for one in told["taker"]) == 30


@pytest.mark.parametrize("process", [Steps, simpy.Process])
def test_a_process_ends_with_its_value_and_starts_after_who_started_it(process):
    clock, told = Clock(), []

    def one(number):
        told.append(("begins", number, clock.ps))
        yield clock.timeout(number)
        return 10 * number

    def several():
        started = [process(clock, one(number)) for number in range(3)]
        told.append(("started", clock.ps))
        for some in started:
            value = yield some
            told.append((value, clock.ps))
        return "over"

    assert clock.run(process(clock, several())) == "over"
    begun = [("begins", number, 0) for number in range(3)]
    assert told == [("started", 0), *begun, (0, 0), (10, 1), (20, 2)]


def test_who_waits_for_a_happening_goes_on_within_the_call():
    clock, told = Clock(), []
    there = Happening(clock)

    def waits(number):
        value = yield there
        told.append((number, value, clock.ps))

    def happens():
        yield clock.wait(5)
        there.happen("now")
        told.append("happened")
        assert (yield there) == "now"  # it is over
        assert (yield clock.wait(0)) is None

    for number in range(2):
        clock.process(waits(number))
    clock.run(clock.process(happens()))
    assert told == [(0, "now", 5), (1, "now", 5), "happened"]
    assert clock.ps == 5


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


def visits(clock, seed, take, told):
    """Some visitors, each of whom asks `take` for turns at random; what happened when is told."""
    rng = random.Random(seed)

    def visitor(number):
        for turn in range(8):
            yield clock.timeout(rng.choice([0, 0, 1, 3]))
            told.append(("asks", number, turn, clock.ps))
            leave = yield from take(rng.choice([0, 1, 1]))
            told.append(("has", number, turn, clock.ps))
            yield clock.timeout(rng.choice([0, 1, 2]))
            leave()

    return [clock.process(visitor(number)) for number in range(5)]


def of_turns(clock, count):
    turns = Turns(clock, count)

    def take(priority):
        granted = simpy.Event(clock)
        granted._ok, granted._value = True, None
        turns.ask(priority, lambda _: [call(granted) for call in granted.callbacks])
        yield granted
        return turns.leave

    return take


def of_simpy(clock, count):
    resource = simpy.PriorityResource(clock, count)

    def take(priority):
        request = resource.request(priority)
        yield request
        return lambda: resource.release(request)

    return take


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("seed", range(20))
def test_turns_are_those_of_simpy_in_their_order(seed, count):
    found = []
    for kind in (of_turns, of_simpy):
        clock, told = Clock(), []
        visits(clock, seed, kind(clock, count), told)
        clock.run()
        found.append((told, clock.ps))
    assert found[0] == found[1]
    assert sum(one[0] == "has" for one in found[0][0]) == 40


@pytest.mark.parametrize("seed", range(5))
def test_a_run_ends_where_that_of_simpy_ends_and_can_go_on(seed):
    found = []
    for run in (Clock.run, simpy.Environment.run):
        clock, told = Clock(), []
        some = visits(clock, seed, of_simpy(clock, 2), told)
        for process in some:
            run(clock, process)
            told.append(clock.ps)
        run(clock)
        found.append((told, clock.ps))
    assert found[0] == found[1]


def test_a_run_whose_end_never_comes_and_one_with_an_error_say_so():
    clock = Clock()
    with pytest.raises(RuntimeError, match="nothing is left to happen"):
        clock.run(clock.event())

    def fails():
        yield clock.timeout(1)
        raise OSError("lost")

    clock.process(fails())
    before = gc.get_threshold()
    with pytest.raises(OSError, match="lost"):
        clock.run()
    assert gc.get_threshold() == before
    done = clock.event().succeed(7)
    assert [clock.run(done), clock.run(done)] == [7, 7]


class Steady(Stage):
    """A stage whose messages take so long each."""

    def __init__(self, clock, each_ps):
        super().__init__(clock, "steady")
        self.each_ps = each_ps

    def work_ps(self, messages):
        return messages * self.each_ps


@pytest.mark.parametrize("arrival_ps", [1, 40])
def test_a_batch_is_through_with_the_last_of_its_parts_as_a_process_that_waits_for_all(arrival_ps):
    def counted(pass_through):
        clock, told = Clock(), []
        stages = [Steady(clock, each) for each in (3, 7, 5)]

        def ended():
            told.append((clock.ps, [stage.messages for stage in stages]))

        for batch in (2, 3):
            pass_through(clock, stages, batch, ended)
        clock.run()
        return told

    def by_calls(clock, stages, batch, ended):
        through = Through(clock, 1 + len(stages), ended)
        for stage in stages:
            stage.take(batch, through.part)

        def arrives():
            yield clock.wait(arrival_ps)
            through.part()

        clock.process(arrives())
        assert not through.processed

    def by_process(clock, stages, batch, ended):
        arrived = Happening(clock)

        def drains():
            yield clock.all_of([arrived, *(stage.serve(batch) for stage in stages)])
            ended()

        def arrives():
            yield clock.wait(arrival_ps)
            arrived.happen()

        clock.process(drains())
        clock.process(arrives())

    found = counted(by_calls)
    assert found == counted(by_process)
    assert [at for at, _ in found] == ([14, 35] if arrival_ps == 1 else [40, 40])


def test_who_waits_for_no_time_goes_on_without_an_event():
    clock = Clock()
    assert clock.wait(0).processed
    assert clock.events == 0


@pytest.mark.parametrize("name", ["h3/dv-2048", "h3/fdr-2048", "zeromq/latency"])
def test_the_events_of_a_run_are_what_was_pushed_into_the_heap(name, monkeypatch):
    pushed = []

    def counted(queue, item):
        pushed.append(item[2])
        heappush(queue, item)

    for module in (kernel, simpy.core):
        monkeypatch.setattr(module, "heappush", counted)
    run = dvsim.run(name, replications=1, scale=0.001)
    assert run.manifest.counts["events"] == len(pushed) > 10
