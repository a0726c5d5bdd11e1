"""Messages over the cycle-accurate fabric of a replay, one by one: for tests of it alone."""

from typing import NamedTuple

from dvsim.core._core import ffi, lib


class CycleCounts(NamedTuple):
    """Slots that were run and that were skipped; messages and words that were sent."""

    slots: int
    skipped: int
    messages: int
    words: int


class Arrived(NamedTuple):
    """A message that has come, see models/workload/fabric.h."""

    id: int
    time_ps: int
    latency_ps: int
    serial_ps: int


def counts_of(cycle):
    """Return what was run and sent so far."""
    counts = lib.dvsim_cycle_counts_now(cycle._cycle)
    return CycleCounts(counts.slots, counts.skipped, counts.messages, counts.words)


def alone_ps(cycle, words, way_slots):
    """Return how long a message takes in an empty fabric, sent just in time for a slot."""
    return int(lib.dvsim_cycle_alone_ps(cycle._cycle, words, way_slots))


def send(cycle, message, source, to, length, time_ps):
    """Send a message of so many bytes at a time; ValueError if there is no such port."""
    given = ffi.new("dvsim_message *", (message, source, to, length))
    if cycle.native.send(cycle.native.self, given, time_ps) != lib.DVSIM_OK:
        raise ValueError(f"the fabric refuses a message of {length} B from {source} to {to}")


def arrivals(cycle, until_ps=1 << 62, capacity=1 << 10):
    """Return all messages that arrive, at most up to a time."""
    found, some = [], ffi.new("dvsim_arrival[]", capacity)
    while count := cycle.native.advance(cycle.native.self, until_ps, some, capacity):
        assert count > 0, "no memory for the words under way"
        found += [
            Arrived(one.id, one.time_ps, one.latency_ps, one.serial_ps) for one in some[0:count]
        ]
    return found
