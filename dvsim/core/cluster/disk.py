"""Disks of a cluster: the log with its syncs, flushes at intervals, the credit of bursts."""

from __future__ import annotations

from typing import NamedTuple

from dvsim.scenario.types import Card

PS = 1e-12
CHUNK, ENTRY = 48, 4  # bytes in front of a chunk and of each message in it: osiris
ENTRIES = 65_535  # of a chunk at most
FULLEST = 0.95  # utilisation of the log at which its cycles stop growing


class Use(NamedTuple):
    """What a node does to its volume."""

    operations: float  # writes in a second
    bytes: float  # written in a second
    syncs: float  # in a second


class Log(NamedTuple):
    """The log that all quorum queues of a node share: one write and one sync for a batch.

    Entries that come while a batch is written are the next batch. So a cycle takes ``write + sync +
    batch * entry``, and from a rate of entries follows ``cycle = (write + sync) / (1 - rate *
    entry)``: batches grow with the load and syncs become fewer.
    """

    fixed: float
    entry: float
    frame: int
    operations: int

    @classmethod
    def of(
        cls,
        broker: Card,
        volume: Card,
        pace: float,
        size: int,
        queues: float,
        bandwidth: float | None = None,
    ) -> Log:
        """Return the log of a node with members of so many queues.

        It writes at `bandwidth`, or at that of the volume without credit of bursts.

        When a file of the log is full, each queue with messages that nobody has consumed yet
        writes them to a segment file of its own: a seek for each.
        """
        frame = size + broker["log_overhead"]
        turns = queues * frame / broker["log_file"] * volume["seek"] * PS
        entry = broker["log_entry"] * PS * pace + frame / (bandwidth or volume["bandwidth"]) + turns
        fixed = (volume["write"] + volume["sync"]) * PS
        return cls(fixed, entry, frame, broker["log_operations"])

    def used(self, rate: float, kept: float) -> Use:
        """Return what entries of a rate do, of which a share `kept` is written a second time."""
        if not rate > 0:
            return Use(0, 0, 0)
        syncs = min(1 / self.cycle(rate), rate)
        return Use(syncs * self.operations, rate * self.frame * (1 + kept), syncs)

    def cycle(self, rate: float) -> float:
        """Return the seconds of a cycle."""
        return self.fixed / (1 - min(FULLEST, rate * self.entry))


class Chunks(NamedTuple):
    """The segments of streams: what comes while a chunk is written is the next chunk.

    Each stream writes its own as a `Log` does, but nothing syncs them.
    """

    log: Log
    most: float

    @classmethod
    def of(cls, volume: Card, size: int) -> Chunks:
        """Return the chunks of a volume."""
        frame = size + ENTRY
        log = Log(max(1, volume["write"]) * PS, frame / volume["bandwidth"], frame, 1)
        return cls(log, volume["iops"])

    def cycle(self, rate: float, streams: float) -> float:
        """Return the seconds until a chunk is written, where streams share messages a second."""
        return self.log.cycle(rate / max(1e-9, streams))

    def used(self, rate: float, streams: float) -> Use:
        """Return what messages a second to so many streams do; beyond the operations they merge."""
        if not (rate > 0 and streams > 0):
            return Use(0, 0, 0)
        each = rate / streams
        chunks = streams * max(min(1 / self.log.cycle(each), each), each / ENTRIES)
        operations = min(chunks, self.most)
        return Use(operations, rate * self.log.frame + operations * CHUNK, 0)


def flushes(broker: Card, volume: Card, size: int, rate: float, kept: float, queues: float) -> Use:
    """Return what classic queues write: index and journal always, bodies that wait for the flush.

    Each queue flushes when the interval is over. What is written beyond the operations of the
    volume, or of the threads that write, is merged into larger writes.

    Args:
        rate: Messages that come to copies on the node, in a second.
        kept: The share that nobody has consumed when its queue is flushed.
        queues: Copies of queues on the node.
    """
    wanted = rate * broker["flush_operations"]
    can = min(volume["iops"], broker["writers"] / max(1e-9, volume["write"] * PS))
    written = rate * (broker["flush_bytes"] + kept * size)
    syncs = min(rate, queues / (broker["flush_interval"] * PS))
    return Use(min(wanted, can), written, syncs)


def pace_of(credit: float, volume: Card) -> float:
    """Return the bytes that a volume can write in a second: up to `burst` while there is credit."""
    return float(min(volume["burst"], volume["bandwidth"] + credit))


def written_in(credit: float, volume: Card, wanted: float, seconds: float) -> tuple[float, float]:
    """Return the bytes per second that a volume takes, and the credit that is left.

    Above `bandwidth` a volume spends credit, up to `burst`; below it earns some back.
    """
    base = volume["bandwidth"]
    done = min(wanted, pace_of(credit, volume))
    credit_left = min(float(volume["credit"]), max(0.0, credit + (base - done) * seconds))
    return done, credit_left
