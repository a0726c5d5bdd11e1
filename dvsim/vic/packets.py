"""Packets and the results of calls."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from dvsim.vic.binding import NO_COUNTER, Op, OutOfRange, Status, Words, error_of, libvic


class Attr(NamedTuple):
    """What a card is: `struct vic_attr`."""

    card: int
    cards: int
    sram_words: int
    counters: int
    fifo_words: int
    dma_entries: int
    mode: int  # 0 functional, 1 timed

    @property
    def bounds(self) -> str:
        """What there is, for the text of an error."""
        return (
            f"there are cards 0 .. {self.cards - 1}, SRAM words 0 .. {self.sram_words - 1}, "
            f"counters 0 .. {self.counters - 4} and 61 .. 63"
        )


class Transfer:
    """A DMA transfer in flight; `Card.dma_wait` ends it. Its arrays live until then."""

    def __init__(self, handle: Any, *arrays: Words) -> None:  # noqa: ANN401 - a C pointer
        self.handle = handle
        self.arrays = arrays


Ints = npt.NDArray[np.integer[Any]]


@overload
def header(dest: int, op: Op, addr: int = 0, counter: int = NO_COUNTER) -> int: ...
@overload
def header(
    dest: int | Ints, op: Op, addr: int | Ints = 0, counter: int | Ints = NO_COUNTER
) -> int | Words: ...


def header(
    dest: int | Ints, op: Op, addr: int | Ints = 0, counter: int | Ints = NO_COUNTER
) -> int | Words:
    """Return the header of a packet, or an array of headers if any argument is an array.

    Args:
        dest, addr, counter: Card, SRAM word and counter there; arrays are broadcast against each
            other.
        op: What the packet does.

    Raises:
        OutOfRange: If one cannot be in any header. What this job does not have is found when it is
            sent.
    """
    parts = (dest, addr, counter)
    if not any(isinstance(part, np.ndarray) for part in parts):
        return _checked(int(dest), op, int(addr), int(counter))
    if any(np.size(part) == 0 for part in parts):
        return np.zeros(np.broadcast_shapes(*map(np.shape, parts)), dtype=np.uint64)
    for end in (np.min, np.max):
        _checked(int(end(dest)), op, int(end(addr)), int(end(counter)))
    zero, of_dest, of_addr, of_counter = _units(op)
    made: Words = zero + (
        np.asarray(dest, dtype=np.uint64) * of_dest
        + np.asarray(addr, dtype=np.uint64) * of_addr
        + np.asarray(counter, dtype=np.uint64) * of_counter
    )
    return made


def _checked(dest: int, op: Op, addr: int, counter: int) -> int:
    zero, of_dest, of_addr, of_counter = map(int, _units(op))
    try:
        made = int(libvic().lib.vic_header(dest, op, addr, counter))
    except OverflowError:
        made = -1
    if made != zero + dest * of_dest + addr * of_addr + counter * of_counter:
        message = f"dest={dest}, addr={addr}, counter={counter}: one of them fits in no header"
        raise OutOfRange(message, Status.ERANGE)
    return made


@cache
def _units(op: Op) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    make = libvic().lib.vic_header
    zero = make(0, op, 0, 0)
    ones = (make(1, op, 0, 0), make(0, op, 1, 0), make(0, op, 0, 1))
    dest, addr, counter = (np.uint64(number - zero) for number in ones)
    return np.uint64(zero), dest, addr, counter


def same_length(name: str, headers: Words, payloads: Words) -> None:
    """Check that a call has a payload for each header.

    Raises:
        InvalidArgument: If it has not.
    """
    if len(headers) != len(payloads):
        text = f"{name}: {len(headers)} headers for {len(payloads)} payloads"
        raise error_of(Status.EINVAL, text)
