"""An open card: the calls of vic.h as methods."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from dvsim.vic.binding import (
    FOREVER,
    AnyWords,
    Status,
    TimedOut,
    VicError,
    Words,
    error_of,
    given,
    libvic,
    taken,
    told,
)
from dvsim.vic.client import Client, Settings
from dvsim.vic.messages import Messages
from dvsim.vic.packets import Attr, Transfer, same_length
from dvsim.vic.team import Team
from dvsim.vic.waiting import Closing, Events, in_slices_of, is_alone


def open() -> Card:
    """Join the job of the environment, or have one card in loopback.

    Raises:
        Busy: If the card is open, here or in another process.
        NoJob: If VIC_JOB is set but names no job that can be joined; the text says why.
        SystemRefused: If there is no memory.
    """
    ffi, lib = libvic()
    handle = ffi.new("vic_t **")
    status = lib.vic_open(handle)
    if status != Status.OK:
        raise error_of(status, f"vic_open: {ffi.string(lib.vic_open_reason()).decode()}")
    return Card(handle[0])


class Card(Closing):
    """An open card, made by `open`. Threads may share it.

    `number` is its own number in the job, from 0; `cards` says how many the job has.
    Every method raises a `VicError` if the call of vic.h fails; the header says when it does.
    """

    def __init__(self, handle: Any) -> None:  # noqa: ANN401 - a C pointer
        self._ffi, self._lib = libvic()
        self._card = handle
        self._transfers: set[Transfer] = set()
        attr = self.query_attr()
        self.number, self.cards, self._timed = attr.card, attr.cards, attr.mode == 1
        self._events = Events(self.event_fd, self.event_fd_close)

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        """Close the card, unless an exception is to be told to the cards of other programs."""
        if self._card and (kind is None or self.query_attr().cards == 1):
            self.close()

    def close(self) -> None:
        """Give the card back; a second time does nothing. Waits of other threads raise `Closed`.

        `TimedOut`: packets were lost, as a card did not take from its full FIFO. It is closed.
        """
        card, self._card = self._card, self._ffi.NULL
        if card:
            status = self._lib.vic_close(card)
            self._events.close()
            self._transfers.clear()
            if status == Status.ETIMEDOUT:
                raise error_of(status, "vic_close: packets for a full FIFO are lost")

    def query_attr(self) -> Attr:
        """Return what the card is."""
        attr = self._ffi.new("struct vic_attr *")
        size = self._ffi.sizeof("struct vic_attr")
        status = self._lib.vic_query_attr_sized(size, self._card, attr)
        if status != Status.OK:
            raise self._error("vic_query_attr", status, {})
        return Attr(*(getattr(attr, name) for name in Attr._fields))

    def peer_opens(self, peer: int) -> int:
        """Return how often card `peer` has been opened or left so far: odd while it is open."""
        opens = self._ffi.new("uint64_t *")
        self._call("vic_peer_opens", peer=peer, _opens=opens)
        return int(opens[0])

    def time_ns(self) -> int:
        """Return nanoseconds since the job began; 0 for a closed card."""
        return int(self._lib.vic_time_ns(self._card))

    def compute_ns(self, ns: int) -> None:
        """Say that the program computes for so long in model time."""
        self._call("vic_compute_ns", ns=ns)

    def relax(self) -> None:
        """Be the body of a spin loop."""
        self._lib.vic_relax(self._card)

    # ---- SRAM of this card

    def alloc(self, words: int) -> int:
        """Return the address of so many free words, at a multiple of 8."""
        addr = self._ffi.new("vic_addr_t *")
        self._call("vic_alloc", words=words, _addr=addr)
        return int(addr[0])

    def free(self, addr: int) -> None:
        """Give words of `alloc` back."""
        self._call("vic_free", addr=addr)

    def write(self, addr: int, words: AnyWords) -> None:
        """Write words into SRAM by programmed I/O."""
        array = given(words)
        self._call("vic_write", addr=addr, _words=self._pointer(array), n=len(array))

    def read(self, addr: int, n: int) -> Words:
        """Return n words of SRAM, by programmed I/O."""
        array = np.empty(max(0, n), dtype=np.uint64)
        self._call("vic_read", addr=addr, _words=self._pointer(array), n=n)
        return array

    def read_into(self, addr: int, words: npt.NDArray[Any]) -> None:
        """Fill an array from SRAM, by programmed I/O."""
        array = taken(words)
        self._call("vic_read", addr=addr, _words=self._pointer(array), n=len(array))

    # ---- sending

    def send(self, headers: AnyWords, payloads: AnyWords) -> None:
        """Send packets; header and payload cross PCIe."""
        heads, array = given(headers), given(payloads)
        same_length("vic_send", heads, array)
        pointers = self._pointer(heads), self._pointer(array)
        self._call("vic_send", _headers=pointers[0], _payloads=pointers[1], n=len(array))

    def try_send(self, headers: AnyWords, payloads: AnyWords) -> int:
        """Send what does not have to wait for a full FIFO; return how many packets left."""
        heads, array = given(headers), given(payloads)
        same_length("vic_try_send", heads, array)
        done = self._ffi.new("size_t *")
        pointers = self._pointer(heads), self._pointer(array)
        status = self._lib.vic_try_send(self._card, *pointers, len(array), done)
        if status not in (Status.OK, Status.EAGAIN):
            raise self._error("vic_try_send", status, {"n": len(array)})
        return int(done[0])

    def send_cached(self, headers: int, payloads: AnyWords) -> None:
        """Send packets whose headers wait in SRAM from word `headers` on."""
        array = given(payloads)
        self._call("vic_send_cached", headers=headers, _p=self._pointer(array), n=len(array))

    def dma_send(self, headers: int, payloads: npt.NDArray[Any]) -> Transfer:
        """Start to send packets by DMA; the array must stay as it is until the transfer is done."""
        array = given(payloads)
        handle = self._ffi.new("vic_dma_t **")
        arguments = {"_p": self._pointer(array), "n": len(array), "_dma": handle}
        return self._start("vic_dma_send", Transfer(handle, array), headers=headers, **arguments)

    def put(self, dest: int, addr: int, words: AnyWords, counter: int) -> None:
        """Write consecutive words into SRAM of card `dest`, counted there by `counter`."""
        array = given(words)
        pointer = self._pointer(array)
        self._call("vic_put", dest=dest, addr=addr, _w=pointer, n=len(array), counter=counter)

    def put_strided(self, dest: int, addr: int, stride: int, words: AnyWords, counter: int) -> None:
        """Write word i into SRAM word addr + i * stride of card `dest`, counted by `counter`."""
        array = given(words)
        arguments = {"_w": self._pointer(array), "n": len(array), "counter": counter}
        self._call("vic_put_strided", dest=dest, addr=addr, stride=stride, **arguments)

    def put_indexed(self, dest: int, addrs: AnyWords, words: AnyWords, counter: int) -> None:
        """Write word i into SRAM word addrs[i] of card `dest`, counted there by `counter`."""
        array, places = given(words), np.atleast_1d(np.asarray(addrs))
        if len(places) != len(array):
            text = f"vic_put_indexed: {len(places)} addresses for {len(array)} words"
            raise error_of(Status.EINVAL, text)
        if len(places) and not 0 <= int(places.min()) <= int(places.max()) < 2**32:
            wrong = {"dest": dest, "addrs": f"{places.min()} .. {places.max()}"}
            raise self._error("vic_put_indexed", Status.ERANGE, wrong)
        short = self._ffi.from_buffer("vic_addr_t[]", places.astype(np.uint32))
        arguments = {"_w": self._pointer(array), "n": len(array), "counter": counter}
        self._call("vic_put_indexed", dest=dest, _addrs=short, **arguments)

    def get(self, dest: int, addr: int, n: int, local: int, counter: int) -> None:
        """Fetch words of card `dest` into this card's SRAM; each counts `counter` here."""
        self._call("vic_get", dest=dest, addr=addr, n=n, local=local, counter=counter)

    def dma_read(self, host: npt.NDArray[Any], addr: int) -> Transfer:
        """Start to fill an array from SRAM; it must not be touched until the transfer is done."""
        array = taken(host)
        handle = self._ffi.new("vic_dma_t **")
        arguments = {"addr": addr, "n": len(array), "_dma": handle}
        pointer = self._pointer(array)
        return self._start("vic_dma_read", Transfer(handle, array), _host=pointer, **arguments)

    def dma_test(self, transfer: Transfer) -> bool:
        """Return whether a transfer is done."""
        done = self._ffi.new("int *")
        self._call("vic_dma_test", _dma=transfer.handle[0], _done=done)
        return bool(done[0])

    def dma_wait(self, transfer: Transfer, timeout_ns: int = FOREVER) -> None:
        """Wait until a transfer is done, and end it."""
        self._wait("vic_dma_wait", timeout_ns, _dma=transfer.handle)
        self._transfers.discard(transfer)

    # ---- group counters

    def counter_alloc(self) -> int:
        """Return the lowest counter that is not allocated."""
        counter = self._ffi.new("unsigned *")
        self._call("vic_counter_alloc", _counter=counter)
        return int(counter[0])

    def counter_free(self, counter: int) -> None:
        """Give a counter of `counter_alloc` back."""
        self._call("vic_counter_free", counter=counter)

    def counter_set(self, counter: int, n: int) -> None:
        """Preset a counter."""
        self._call("vic_counter_set", counter=counter, n=n)

    def counter_get(self, counter: int) -> int:
        """Return what a counter reads."""
        value = self._ffi.new("int64_t *")
        self._call("vic_counter_get", counter=counter, _n=value)
        return int(value[0])

    def counter_wait(self, counter: int, timeout_ns: int = FOREVER) -> None:
        """Wait until a counter reads 0."""
        self._wait("vic_counter_wait", timeout_ns, counter=counter)

    def wait(self, counters: int, fifo_min: int = 0, timeout_ns: int = FOREVER) -> int:
        """Wait for any of several things; return as bits what is there.

        Args:
            counters: Bit n is set: wait for counter n to read 0. In the result it then reads 0.
            fifo_min: Wait for so many words in the FIFO, too; bit `READY_FIFO` of the result. 0: do
                not.
        """
        ready = self._ffi.new("uint64_t *")
        arguments = {"counters": counters, "fifo_min": fifo_min, "_ready": ready}
        self._wait("vic_wait", timeout_ns, **arguments)
        return int(ready[0])

    def event_fd(self, counters: int, fifo_min: int = 0) -> int:
        """Return a descriptor that polls readable when `wait` may find something.

        Read 8 bytes off it, then look by `wait` with timeout 0. `event_fd_close` closes it, or
        `close`. Raises `InvalidArgument` in timed mode.
        """
        fd = self._ffi.new("int *")
        self._call("vic_event_fd", counters=counters, fifo_min=fifo_min, _fd=fd)
        return int(fd[0])

    def event_fd_close(self, fd: int) -> None:
        """Close a descriptor of `event_fd`.

        Raises:
            InvalidArgument: If it is none, or was closed already.
        """
        self._call("vic_event_fd_close", fd=fd)

    async def ready(self, counters: int, fifo_min: int = 0, timeout_ns: int = FOREVER) -> int:
        """Do as `wait` in asyncio: the loop goes on meanwhile. Can be cancelled.

        In timed mode, which has no descriptors, it looks each time that the loop comes round; the
        only task of a loop waits.
        """
        began = self.time_ns()
        while True:
            remaining = max(0, timeout_ns - (self.time_ns() - began))
            try:
                return self.wait(counters, fifo_min, timeout_ns=0)
            except TimedOut:
                if remaining == 0 and timeout_ns != FOREVER:
                    raise
            if self._timed and is_alone():
                return self.wait(
                    counters, fifo_min, remaining if timeout_ns != FOREVER else FOREVER
                )
            if self._timed:
                await asyncio.sleep(0)
            else:
                seconds = None if timeout_ns == FOREVER else remaining / 1e9
                await self._events.may_be_ready(counters, fifo_min, seconds)

    # ---- surprise FIFO

    def fifo_poll(self, most: int) -> Words:
        """Return what is in the FIFO, at most so many words; none is a normal answer."""
        array, count = np.empty(max(0, most), dtype=np.uint64), self._ffi.new("size_t *")
        self._call("vic_fifo_poll", _words=self._pointer(array), max=most, _n=count)
        return array[: count[0]]

    def fifo_wait(self, least: int, most: int, timeout_ns: int = FOREVER) -> Words:
        """Wait until `least` words are in the FIFO, and return at most `most`."""
        array, count = np.empty(max(0, most), dtype=np.uint64), self._ffi.new("size_t *")
        pointer = self._pointer(array)
        self._wait("vic_fifo_wait", timeout_ns, _words=pointer, min=least, max=most, _n=count)
        return array[: count[0]]

    def barrier(self, timeout_ns: int = FOREVER) -> None:
        """Wait until every card of the job is in its barrier."""
        self._wait("vic_barrier", timeout_ns)

    # ---- what is built on these calls

    def messages(
        self, *, max_bytes: int = 0, window_bytes: int = 0, ordered: bool = False
    ) -> Messages:
        """Open messages of any length to other cards (vic_message.h).

        Args:
            max_bytes: Of one message; 0: 16 MiB. The same on all cards, as is `window_bytes`.
            window_bytes: Of the ring for each other card in the card's memory; 0: a share of a
                quarter of it.
            ordered: The program relies on the order in which each card sends.
        """
        if not self._card:
            raise self._error("vic_message_open", Status.ECLOSED, {})
        return Messages(self._card, self._timed, max_bytes, window_bytes, ordered)

    def client(self, **settings: Unpack[Settings]) -> Client:
        """Open a client of brokers and topics (vic_client.h); `Settings` says what can be set."""
        if not self._card:
            raise self._error("vic_client_open", Status.ECLOSED, {})
        return Client(self._card, self._timed, **settings)

    def team(self, cards: Sequence[int] | None = None, timeout: float | None = None) -> Team:
        """Open a team for calls that cards make together (vic_collective.h).

        Args:
            cards: The same list on each of them, this card among them; None: all cards of the job.
            timeout: Seconds to wait for the others; None: for ever. After `TimedOut` the same call
                goes on.
        """
        if not self._card:
            raise self._error("vic_team_open", Status.ECLOSED, {})
        attr = self.query_attr()
        cards = range(attr.cards) if cards is None else cards
        return Team(self._card, self._timed, attr.card, cards, timeout)

    # ---- how calls are made

    def _pointer(self, array: Words) -> Any:  # noqa: ANN401 - a C pointer
        return self._ffi.from_buffer("uint64_t[]", array)

    def _call(self, name: str, **arguments: Any) -> None:  # noqa: ANN401 - as C takes them
        try:
            status = getattr(self._lib, name)(self._card, *arguments.values())
        except OverflowError:  # negative, or more than 32 bits
            status = Status.ERANGE
        if status != Status.OK:
            raise self._error(name, status, arguments)

    def _wait(self, name: str, timeout_ns: int, **arguments: Any) -> None:  # noqa: ANN401
        call = getattr(self._lib, name)
        try:
            status = in_slices_of(
                lambda ns: int(call(self._card, *arguments.values(), ns)), timeout_ns, self._timed
            )
        except OverflowError:
            status = Status.ERANGE
        if status != Status.OK:
            shown = "FOREVER" if timeout_ns == FOREVER else timeout_ns
            raise self._error(name, status, {**arguments, "timeout_ns": shown})

    def _start(self, name: str, transfer: Transfer, **arguments: Any) -> Transfer:  # noqa: ANN401
        self._call(name, **arguments)
        self._transfers.add(transfer)
        return transfer

    def _error(self, name: str, status: int, arguments: dict[str, Any]) -> VicError:
        if not self._card:
            return error_of(Status.ECLOSED, f"{name}: the card is closed (VIC_ECLOSED)")
        shown = ", ".join(f"{key}={value}" for key, value in arguments.items() if key[0] != "_")
        text = f"{name}({shown}): {told(status)}"
        if status == Status.ERANGE:
            text += f"; {self.query_attr().bounds}"
        return error_of(status, text)
