"""How many messages had passed a place by when: from two such courses come rate and latency."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from dvsim.core.stage import PS_PER_S, Clock

Floats = npt.NDArray[np.float64]
PS_PER_US = 10**6
MOST_SAMPLED = 20_000  # messages whose latency is looked up


class Course:
    """The messages that have passed one place, in order.

    Attributes:
        messages: So far.
        listener: Called when messages have passed.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.messages = 0
        self.listener: Callable[[], None] = lambda: None
        self._times: list[int] = []
        self._counts: list[int] = []

    def add(self, messages: int) -> None:
        """Count messages that pass now."""
        if messages:
            self.messages += messages
            self._times.append(self._clock.ps)
            self._counts.append(self.messages)
            self.listener()

    def when(self, numbers: Floats) -> Floats:
        """Return when each of these messages passed, counted from 1, in picoseconds."""
        at = np.searchsorted(np.array(self._counts), numbers, side="left")
        return np.array(self._times, dtype=np.float64)[at]

    def rate(self, skip: float) -> float:
        """Return messages per second, the first share of them left out; nan if that is all.

        It is the slope of the line through the course: where messages come in bursts, its ends do
        not depend on whether they are in the middle of one.
        """
        times, counts = np.array(self._times, dtype=np.float64), np.array(self._counts)
        first = int(np.searchsorted(counts, skip * self.messages))
        if first >= len(times) - 1:
            return float("nan")
        late = times[first:] - times[first:].mean()
        return float((late * counts[first:]).sum() / (late**2).sum() * PS_PER_S)


def merged(courses: Sequence[Course]) -> Course:
    """Return the course of the messages that have passed any of some places."""
    if len(courses) == 1:
        return courses[0]
    times = np.concatenate([np.array(course._times, dtype=np.int64) for course in courses])
    steps = np.concatenate([np.diff(course._counts, prepend=0) for course in courses])
    order = np.argsort(times, kind="stable")
    whole = Course(courses[0]._clock)
    whole._times = times[order].tolist()
    whole._counts = np.cumsum(steps[order]).tolist()
    whole.messages = sum(course.messages for course in courses)
    return whole


def latencies_us(start: Course, end: Course, skip: float) -> Floats:
    """Return how long messages took from one place to another in microseconds.

    The n-th to arrive is held against the n-th to start: of a mean that is exact in any order.

    Args:
        skip: The share of messages at the beginning that is left out.
    """
    count = min(start.messages, end.messages)
    first = int(skip * count) + 1
    if first > count:
        return np.empty(0)
    numbers = np.unique(np.linspace(first, count, min(count - first + 1, MOST_SAMPLED)).round())
    return (end.when(numbers) - start.when(numbers)) / PS_PER_US
