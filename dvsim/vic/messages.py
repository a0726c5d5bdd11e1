"""Messages of any length between cards: the calls of vic_message.h.

>>> from dvsim import vic
>>> with vic.open() as card, card.messages() as messages:  # alone: to itself
...     messages.send(0, b"hello")
...     messages.recv()
(0, b'hello')

``for src, data in messages`` and, in asyncio, ``async for src, data in messages`` receive until the
messages are closed or the programs of all other cards have ended. vic_message.h is the manual.
"""

from __future__ import annotations

import threading
from typing import Any

from dvsim.vic.binding import (
    AnyBytes,
    Status,
    VicError,
    error_of,
    filled,
    libvic,
    readable,
    strerror,
    told,
)
from dvsim.vic.client import Stream
from dvsim.vic.waiting import Closing, in_slices

SHORT = 64 << 10  # bytes of the buffer that each thread receives into first


class Messages(Closing, Stream[tuple[int, bytes]]):
    """Messages that are open on a card, made by `Card.messages`. Threads may share them.

    Timeouts are seconds; None waits for ever. Waits leave the interpreter to others and answer
    Ctrl-C. Every method raises a `VicError` if the call of vic_message.h fails.
    """

    def __init__(
        self,
        card: Any,  # noqa: ANN401 - a C pointer
        timed: bool,
        max_bytes: int,
        window_bytes: int,
        ordered: bool,
    ) -> None:
        super().__init__(timed)
        self._ffi, self._lib = libvic()
        self._local = threading.local()
        handle = self._ffi.new("vic_message_t **")
        shown = f"vic_message_open(max_bytes={max_bytes}, window_bytes={window_bytes})"
        try:
            config = self._ffi.new(
                "struct vic_message_config *", [max_bytes, window_bytes, int(ordered)]
            )
            size = self._ffi.sizeof("struct vic_message_config")
            status = self._lib.vic_message_open_sized(size, card, config, handle)
        except OverflowError:
            raise error_of(Status.EINVAL, f"{shown}: {strerror(Status.EINVAL)}") from None
        if status != Status.OK:
            raise error_of(status, f"{shown}: {told(status)}")
        self._messages = handle[0]

    def send(self, dest: int, data: AnyBytes, timeout: float | None = None) -> None:
        """Send a message: bytes, an array or another buffer, read where it is.

        Raises:
            TimedOut: If the card does not receive; nothing was sent.
        """
        bytes_ = readable(data)
        call = self._lib.vic_message_send
        try:
            status = in_slices(
                lambda ns: int(call(self._messages, dest, bytes_, len(bytes_), ns)),
                timeout,
                self._timed,
            )
        except OverflowError:
            status = Status.ERANGE
        if status != Status.OK:
            raise self._error("send", status, dest=dest, bytes=len(bytes_), timeout=timeout)

    def recv(self, timeout: float | None = None) -> tuple[int, bytes]:
        """Return the next message: the card that sent it, and its bytes."""
        return self._next(timeout)

    def recv_into(self, buffer: AnyBytes, timeout: float | None = None) -> tuple[int, int]:
        """Receive into an array or another writable buffer; return the card and how many bytes.

        Raises:
            NoSpace: If it is too small; the message stays the next, and the text says how long it
                is.
        """
        memory = filled(buffer)
        if self._ready:
            src, data = self._ready[0]
            if len(data) > len(memory):
                raise self._error("recv", Status.ENOSPC, capacity=len(memory), bytes=len(data))
            self._ready.popleft()
            self._ffi.memmove(memory, data, len(data))
            return src, len(data)
        status, src, size = self._take(memory, timeout)
        if status != Status.OK:
            raise self._error("recv", status, capacity=len(memory), bytes=size, timeout=timeout)
        return src, size

    def flush_to(self, dest: int, timeout: float | None = None) -> None:
        """Wait until the program of one card has received what was sent to it; see `flush`."""
        call = self._lib.vic_message_flush_to
        try:
            status = in_slices(lambda ns: int(call(self._messages, dest, ns)), timeout, self._timed)
        except OverflowError:
            status = Status.ERANGE
        if status != Status.OK:
            raise self._error("flush_to", status, dest=dest, timeout=timeout)

    def flush(self, timeout: float | None = None) -> None:
        """Wait until the programs of other cards have received what was sent.

        Raises:
            PeerDied: If a card died, or closed and had not received all; said once.
        """
        call = self._lib.vic_message_flush
        status = in_slices(lambda ns: int(call(self._messages, ns)), timeout, self._timed)
        if status != Status.OK:
            raise self._error("flush", status, timeout=timeout)

    def close(self) -> None:
        """Close; a second time does nothing. Waits of other threads raise `Closed`.

        Raises:
            PeerDied: If a card had closed and not received all; closed all the same.
        """
        status = self._lib.vic_message_close(self._messages)
        if status not in (Status.OK, Status.ECLOSED):
            raise self._error("close", status)

    def _receive(self, timeout: float | None) -> tuple[int, bytes]:
        memory = getattr(self._local, "memory", None)
        if memory is None:
            memory = self._local.memory = self._ffi.new("char[]", SHORT)
        status, src, size = self._take(memory, timeout)
        while status == Status.ENOSPC and size > len(memory):  # unless another thread took it
            memory = self._ffi.new("char[]", size)
            status, src, size = self._take(memory, timeout)
        if status != Status.OK:
            raise self._error("recv", status, timeout=timeout)
        return src, bytes(self._ffi.buffer(memory, size))

    def _take(self, memory: Any, timeout: float | None) -> tuple[int, int, int]:  # noqa: ANN401
        src, size = self._ffi.new("uint32_t *"), self._ffi.new("size_t *")
        call, capacity = self._lib.vic_message_recv, len(memory)
        status = in_slices(
            lambda ns: int(call(self._messages, src, memory, capacity, size, ns)),
            timeout,
            self._timed,
        )
        return status, int(src[0]), int(size[0])

    def _error(self, name: str, status: int, **arguments: object) -> VicError:
        shown = ", ".join(f"{key}={value}" for key, value in arguments.items())
        why = strerror(status) if status == Status.ENOSPC else told(status)
        return error_of(status, f"vic_message_{name}({shown}): {why}")
