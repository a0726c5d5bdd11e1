"""Probes that measure as the paper did: per poll interval, or per batch."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dvsim.core.card import VortexCard

Counts = npt.NDArray[np.int64]


class Record(NamedTuple):
    """What a probe saw in one iteration; arrays of one length, times in picoseconds."""

    start_ps: Counts
    duration_ps: Counts
    pieces: Counts
    messages: Counts


class Counter(NamedTuple):
    """One number that a component kept: ``("card.1", "overruns", 12.0, "1")``."""

    component: str
    metric: str
    value: float
    unit: str

    @property
    def row(self) -> tuple[str, int, str, float, str]:
        """Its cells in a table: component and instance apart.

        >>> Counter("card.1", "overruns", 12.0, "1").row, Counter("run", "events", 7.0, "1").row
        (('card', 1, 'overruns', 12.0, '1'), ('run', 0, 'events', 7.0, '1'))
        """
        component, _, instance = self.component.partition(".")
        return component, int(instance or 0), self.metric, self.value, self.unit


class Iteration(NamedTuple):
    """What one iteration gives: records by receiver (0 = the whole system), and the counters."""

    records: dict[int, Record]
    counters: list[Counter]


class IntervalProbe:
    """Counts pieces that leave VIC SRAM for node memory, once every interval.

    A burst is linear between its first and its last piece, so only its ends are recorded while the
    simulation runs; the counts of all intervals are made at the end, exactly, in integers. Where
    the card is simulated word by word, the time of each piece is recorded instead (8 B each).
    """

    def __init__(self, card: VortexCard, interval_ps: int) -> None:
        self._card = card
        self._interval_ps = interval_ps
        self._first: list[int] = []
        self._last: list[int] = []
        self._messages: list[int] = []
        self._pieces: list[Counts] = []

    def record_pieces(self, pieces_ps: Counts) -> None:
        """Note when each piece of a burst was in node memory; bursts come in order, and pieces."""
        self._pieces.append(pieces_ps)

    def record(self, first_ps: int, last_ps: int, messages: int) -> None:
        """Note a burst of `messages` that moves between two times; bursts come in order."""
        self._first.append(first_ps)
        self._last.append(last_ps)
        self._messages.append(messages)

    def read(self, end_ps: int) -> Record:
        """Return the record of every interval up to `end_ps`."""
        intervals = max(1, -(-end_ps // self._interval_ps))
        ticks = np.arange(intervals + 1, dtype=np.int64) * self._interval_ps
        moved = self._moved(ticks)
        per_message = self._card.pieces
        shown = self._card.counted(moved)
        return Record(
            start_ps=ticks[:-1],
            duration_ps=np.full(intervals, self._interval_ps, dtype=np.int64),
            pieces=np.diff(shown),
            messages=np.diff(shown // per_message),
        )

    def extra_polls(self, poll_ps: int, end_ps: int) -> int:
        """Return how many polls find a message of which only some pieces have been counted.

        Another loop is needed to retrieve the rest; with messages of one piece there are none.
        """
        ticks = np.arange(1, end_ps // poll_ps + 1, dtype=np.int64) * poll_ps
        shown = self._card.counted(self._moved(ticks))
        return int(np.count_nonzero(shown % self._card.pieces))

    def _moved(self, ticks: Counts) -> Counts:
        if self._pieces:
            self._pieces = [np.concatenate(self._pieces)]
            return np.searchsorted(self._pieces[0], ticks, side="right").astype(np.int64)
        if not self._first:
            return np.zeros_like(ticks)
        first = np.array(self._first, dtype=np.int64)
        length = np.maximum(np.array(self._last, dtype=np.int64) - first, 1)
        pieces = np.array(self._messages, dtype=np.int64) * self._card.pieces
        before = np.concatenate(([0], np.cumsum(pieces)[:-1]))
        burst = np.searchsorted(first, ticks, side="right") - 1  # the last one that has begun
        started = burst >= 0
        burst = np.maximum(burst, 0)
        elapsed = np.maximum(np.minimum(ticks - first[burst], length[burst]), 0)
        if int(pieces.max()) * int(length.max()) >= 2**63:  # rare: whole numbers of any size
            product = pieces[burst].astype(object) * elapsed.astype(object)
            within = (product // length[burst].astype(object)).astype(np.int64)
        else:
            within = pieces[burst] * elapsed // length[burst]
        return np.where(started, before[burst] + within, 0)


class BatchProbe:
    """Notes how long each batch of messages took."""

    def __init__(self) -> None:
        self._start: list[int] = []
        self._end: list[int] = []
        self._messages: list[int] = []

    def record(self, start_ps: int, end_ps: int, messages: int) -> None:
        """Note one batch."""
        self._start.append(start_ps)
        self._end.append(end_ps)
        self._messages.append(messages)

    def read(self) -> Record:
        """Return one row per batch; a message of this path is one piece."""
        start = np.array(self._start, dtype=np.int64)
        messages = np.array(self._messages, dtype=np.int64)
        return Record(start, np.array(self._end, dtype=np.int64) - start, messages, messages)
