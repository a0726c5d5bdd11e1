"""The DRAM ring of a receiving node (models/host/host.h)."""

from __future__ import annotations

from typing import NamedTuple

from dvsim.core._core import ffi, lib


class Window(NamedTuple):
    """How a buffer is used for one burst.

    It takes `capacity` words; the threads come to it at `begin_ps`, in picoseconds, and take
    `drain_ps` for each message.
    """

    capacity: int
    begin_ps: int
    drain_ps: int


class DramRing:
    """A ring of a few buffers with a finite number of word slots, for messages of one size.

    Args:
        buffer_bytes, buffers: Size of one buffer in bytes, and how many there are.
        threads: Bridge threads; each holds one message in reassembly beyond the buffer.
        message_words: 64-bit words of one message.

    Raises:
        ValueError: If the C core refuses the sizes.
    """

    def __init__(self, buffer_bytes: int, buffers: int, threads: int, message_words: int) -> None:
        self._host = ffi.new("dvsim_host *")
        if lib.dvsim_host_init(self._host, buffer_bytes, buffers, threads, message_words):
            raise ValueError("the ring refuses its sizes")
        self._flow = ffi.new("dvsim_flow *")
        self._message_words = message_words

    @property
    def capacity(self) -> int:
        """Messages that one buffer and the threads take before the sender is stopped."""
        return int(lib.dvsim_host_room(self._host))

    @property
    def windows(self) -> int:
        """Bursts taken so far."""
        return int(self._host.windows)

    @property
    def overruns(self) -> int:
        """Bursts so far that did not fit and held the sender back."""
        return int(self._host.overruns)

    @property
    def held(self) -> int:
        """Messages in the ring."""
        return int(self._host.held)

    def fill(
        self, offered: int, *, arrival_ps: int, drain_ps: int, wait_ps: int, stop: float = 1.0
    ) -> int:
        """Fill a free buffer with a burst and return how many of its messages were taken.

        Args:
            offered: Messages of the burst.
            arrival_ps, drain_ps: From one message to the next, on the way in and out.
            wait_ps: Until the bridge has emptied the buffers before this one.
            stop: Scales the level at which the sender is stopped: the signal comes early or late.

        Raises:
            RuntimeError: If no buffer is free.
        """
        flow = self._flow
        flow.arrival_ps, flow.drain_ps, flow.wait_ps = arrival_ps, drain_ps, wait_ps
        flow.stop_ppm = round(stop * 1_000_000)
        taken = lib.dvsim_host_fill(self._host, offered, flow)
        if taken < 0:
            raise RuntimeError("a burst was let into a ring that has no free buffer")
        return int(taken)

    def window(self, now_ps: int) -> Window:
        """Return how the buffer is used that was filled last, word by word, if it begins now.

        A sender that is told to stop within a message ends it if half of it is out: that is how
        `fill` rounds.
        """
        flow, words = self._flow, self._message_words
        level = self.capacity * flow.stop_ppm / 1_000_000 + 0.5
        return Window(max(words, int(level * words)), now_ps + flow.wait_ps, flow.drain_ps)

    def drain(self, messages: int) -> None:
        """Give a buffer of `messages` to the bridge's threads.

        Raises:
            RuntimeError: If the ring does not hold that many.
        """
        if lib.dvsim_host_drain(self._host, messages):
            raise RuntimeError("the bridge drained messages that the ring does not hold")

    def balanced(self) -> bool:
        """Return whether messages filled equal messages drained plus messages held."""
        return bool(lib.dvsim_host_check(self._host))
