"""A client of brokers, through bridges on other cards, and of topics: the calls of vic_client.h.

>>> from dvsim import vic
>>> with vic.open() as card, card.client() as client:  # alone: to itself
...     client.bind("news.#")
...     while client.topic("news.today", b"hello") == 0:  # until the binding is known
...         pass
...     delivery = client.recv()
...     delivery.key, delivery.body
('news.today', b'hello')

``for delivery in client`` and, in asyncio, ``async for delivery in client`` receive until the
client is closed or the programs of all other cards have ended. vic_client.h is the manual.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypedDict, TypeVar, Unpack

from dvsim.vic.binding import (
    AnyBytes,
    Closed,
    Flag,
    InvalidArgument,
    Kind,
    Refused,
    Status,
    TimedOut,
    VicError,
    error_of,
    libvic,
    readable,
    strerror,
    told,
)
from dvsim.vic.waiting import SLICE_NS, Closing, in_slices, is_alone, nanoseconds, part_of_a_wait

Item = TypeVar("Item")

BREATH = 32
"""Items after which other tasks of the loop get a turn though more items are there."""


class Stream(Generic[Item]):
    """Something with `_receive(timeout)`; a loop over it ends when it is closed, or the job is."""

    def __init__(self, timed: bool) -> None:
        self._timed = timed
        self._ready: deque[Item] = deque()

    def _receive(self, timeout: float | None) -> Item:
        raise NotImplementedError

    def _next(self, timeout: float | None) -> Item:
        with contextlib.suppress(IndexError):
            return self._ready.popleft()  # received for a task that was cancelled
        return self._receive(timeout)

    def _fetch(self, since_ns: int, goes_on: Callable[[], bool]) -> None:
        with part_of_a_wait(since_ns):
            while True:
                with contextlib.suppress(TimedOut):
                    self._ready.append(self._receive(SLICE_NS / 1e9))
                    return
                if not goes_on():
                    return

    def __iter__(self) -> Iterator[Item]:
        """Return an iterator that waits for each item."""
        while True:
            try:
                item = self._next(None)
            except Closed:
                return
            yield item

    async def __aiter__(self) -> AsyncIterator[Item]:
        """Return an asynchronous iterator: threads wait, the loop goes on. Can be cancelled."""
        loop, count, since_ns = asyncio.get_running_loop(), 0, 0
        while True:
            item = None
            try:
                item = self._next(None if self._timed and is_alone() else 0)
            except Closed:
                return
            except TimedOut:
                since_ns = since_ns or time.monotonic_ns()
            if item is None:
                waiting = [is_alone()]  # else other tasks may end the wait

                def goes_on(waiting: list[bool] = waiting) -> bool:
                    return waiting == [True] and loop.is_running() and is_alone(loop)

                try:
                    await loop.run_in_executor(
                        None, self._fetch, since_ns if waiting[0] else 0, goes_on
                    )
                except Closed:
                    return
                except VicError as error:  # without the frames of the thread and of its pool
                    raise error.with_traceback(None) from None
                finally:
                    waiting.clear()
                continue
            since_ns = 0
            count += 1
            if count % BREATH == 0:
                try:
                    await asyncio.sleep(0)
                except asyncio.CancelledError:
                    self._ready.appendleft(item)
                    raise
            yield item


NUMBERS = ("max_bytes", "ring_bytes", "window_messages", "window_bytes")
FLAGS = {"at_most_once": 1, "persistent": 2, "bridge": 4, "returns": 8}


class Settings(TypedDict, total=False):
    """What `Card.client` takes; what is not given is 0 or False.

    `max_bytes`, `ring_bytes`: of one message and of each ring, see `Card.messages`; the same on
    all cards. `window_messages`, `window_bytes`: what may be unconfirmed; 0: 1024, 16 MiB.
    `at_most_once`: publish without confirms. `persistent`: brokers write messages to disk.
    `bridge`: what other cards publish comes out of `Client.recv`; `Client.ack` confirms it.
    `returns`: what was returned or refused comes out of `Client.recv`, as a CONFIRM.
    """

    max_bytes: int
    ring_bytes: int
    window_messages: int
    window_bytes: int
    at_most_once: bool
    persistent: bool
    bridge: bool
    returns: bool


class Counts(NamedTuple):
    """What a client has done: `struct vic_client_count`."""

    session: int
    published: int
    confirmed: int
    returned: int
    refused: int
    repeated: int
    unconfirmed: int
    delivered: int
    topics: int
    strange: int


@dataclass(frozen=True, slots=True)
class Delivery:
    """Something that a client received.

    `session` and `id` are those of the message: no two have the same; 0 if they are not known.
    `reason` says why a message was refused (a CONFIRM with `returns`); else it is empty.
    """

    kind: Kind
    flags: Flag
    src: int
    subscription: int
    session: int
    id: int
    key: str
    body: bytes
    reason: str
    handle: Any = field(repr=False, compare=False)

    @property
    def message_id(self) -> str:
        """The id as it stands in AMQP; two deliveries that have the same are one message."""
        return f"{self.session:016x}-{self.id:016x}"


class Client(Closing, Stream[Delivery]):
    """An open client, made by `Card.client`. Threads may share it.

    Timeouts are seconds; None waits for ever. Waits leave the interpreter to others and answer
    Ctrl-C. Every method raises a `VicError` if the call of vic_client.h fails.
    """

    def __init__(
        self,
        card: Any,  # noqa: ANN401 - a C pointer
        timed: bool,
        **settings: Unpack[Settings],
    ) -> None:
        super().__init__(timed)
        self._ffi, self._lib = libvic()
        unknown = set(settings) - {*NUMBERS, *FLAGS}
        if unknown:
            known = ", ".join((*NUMBERS, *FLAGS))
            raise TypeError(f"client() has no setting {min(unknown)!r}, only {known}")
        numbers = [int(settings.get(name, 0)) for name in NUMBERS]  # type: ignore[call-overload]
        flags = sum(bit for name, bit in FLAGS.items() if settings.get(name))
        handle = self._ffi.new("vic_client_t **")
        shown = ", ".join(f"{key}={value}" for key, value in settings.items())
        shown = f"vic_client_open({shown})"
        try:
            rings = self._ffi.new("struct vic_message_config *", [*numbers[:2], 0])
            config = self._ffi.new("struct vic_client_config *", [*numbers[2:], flags])
            sizes = (self._ffi.sizeof(rings[0]), self._ffi.sizeof(config[0]))
            status = self._lib.vic_client_open_sized(*sizes, card, rings, config, handle)
        except OverflowError:
            raise error_of(Status.EINVAL, f"{shown}: {strerror(Status.EINVAL)}") from None
        if status != Status.OK:
            raise error_of(status, f"{shown}: {told(status)}")
        self._client = handle[0]

    # ---- brokers

    def publish(
        self, bridge: int, key: str, body: AnyBytes = b"", timeout: float | None = None
    ) -> None:
        """Publish bytes, an array or another buffer through the bridge on a card.

        Raises:
            TimedOut: If the window was full, or the bridge not there; it was not published.
            NoSpace: If what was received waits, for nobody but this thread; see `recv`.
        """
        data, name = readable(body), self._name(key)
        self._wait(
            "publish", timeout, bridge=bridge, _key=name, _data=data, bytes=len(data), shown=key
        )

    def flush(self, timeout: float | None = None) -> None:
        """Wait until every message published before is confirmed."""
        self._wait("flush", timeout)

    def subscribe(self, bridge: int, queue: str, credit: int = 256) -> int:
        """Receive from a queue, with so many deliveries unacknowledged; return the subscription."""
        number = self._ffi.new("uint32_t *")
        name = self._name(queue)
        self._call("subscribe", bridge=bridge, _queue=name, credit=credit, _n=number, shown=queue)
        return int(number[0])

    def unsubscribe(self, subscription: int) -> None:
        """End a subscription; deliveries that are not acknowledged go back to the queue."""
        self._call("unsubscribe", subscription=subscription)

    # ---- topics

    def bind(self, pattern: str) -> None:
        """Receive what any card sends with a topic of this pattern (``*`` a word, ``#`` any)."""
        self._call("bind", _pattern=self._name(pattern), shown=pattern)

    def unbind(self, pattern: str) -> None:
        """No longer receive it."""
        self._call("unbind", _pattern=self._name(pattern), shown=pattern)

    def topic(self, topic: str, body: AnyBytes = b"", timeout: float | None = None) -> int:
        """Send to every card that is known to have bound the topic; return how many those are.

        A wait for one of them that has no room is not in slices, as some have it already: it sees
        Ctrl-C when it is over.

        Raises:
            TimedOut: If some had no room; the others have it.
        """
        data, name, cards = readable(body), self._name(topic), self._ffi.new("uint32_t *")
        last = {"_cards": cards, "timeout_ns": nanoseconds(timeout)}
        self._call("topic", _topic=name, _data=data, bytes=len(data), **last, shown=topic)
        return int(cards[0])

    # ---- receiving

    def recv(self, timeout: float | None = None) -> Delivery:
        """Return the next delivery; `ack` it when the program is done with it.

        Raises:
            Refused: If a subscription could not begin, or has ended. Others go on.
        """
        return self._next(timeout)

    def ack(
        self, delivery: Delivery, *, reject: bool = False, timeout: float | None = None
    ) -> None:
        """Say that a delivery is done, so that the broker forgets it; or give it back.

        Raises:
            InvalidArgument: If it was acknowledged before.
            TimedOut: If its bridge is there and has no room; it can be acknowledged later.
        """
        self._wait("ack_within", timeout, _delivery=delivery.handle, reject=int(reject))

    def counts(self) -> Counts:
        """Return what was done so far."""
        counts = self._ffi.new("struct vic_client_count *")
        self._call("counts", _counts=counts)
        return Counts(*(int(getattr(counts, name)) for name in Counts._fields))

    def close(self) -> None:
        """Close; a second time does nothing. Waits of other threads raise `Closed`.

        Raises:
            PeerDied: If not all that was published is confirmed; closed all the same.
        """
        status = self._lib.vic_client_close(self._client)
        if status == Status.EPEER:
            text = "vic_client_close: not all that was published is confirmed; flush before"
            raise error_of(status, text)
        if status not in (Status.OK, Status.ECLOSED):
            raise error_of(status, f"vic_client_close: {strerror(status)}")

    # ---- how calls are made

    def _receive(self, timeout: float | None) -> Delivery:
        d = self._ffi.new("struct vic_delivery *")
        self._wait("recv", timeout, _delivery=d)
        try:
            key = bytes(self._ffi.buffer(d.key, d.key_bytes)).decode("utf-8", "surrogateescape")
            body = bytes(self._ffi.buffer(d.body, d.bytes))
            reason = self._ffi.string(self._lib.vic_client_reason(d)).decode("utf-8", "replace")
        finally:
            self._lib.vic_client_release(self._client, d)
        kind, flags = Kind(d.kind), Flag(d.flags)
        if kind is Kind.REFUSAL:
            raise Refused(key, reason, d.subscription)
        return Delivery(kind, flags, d.src, d.subscription, d.session, d.id, key, body, reason, d)

    def _name(self, text: str) -> bytes:
        if "\0" in text:
            raise InvalidArgument(f"{text!r} has a 0 in it: no name has", Status.EINVAL)
        return text.encode("utf-8", "surrogateescape")

    def _call(self, name: str, shown: str | None = None, **arguments: Any) -> None:  # noqa: ANN401
        self._checked(name, shown, arguments, lambda call: int(call()))

    def _wait(
        self,
        name: str,
        timeout: float | None,
        shown: str | None = None,
        **arguments: Any,  # noqa: ANN401
    ) -> None:
        def wait(call: Callable[..., int]) -> int:
            return in_slices(lambda ns: int(call(ns)), timeout, self._timed)

        self._checked(name, shown, {**arguments}, wait)

    def _checked(
        self,
        name: str,
        shown: str | None,
        arguments: dict[str, Any],
        run: Callable[[Callable[..., int]], int],
    ) -> None:
        function, values = getattr(self._lib, f"vic_client_{name}"), tuple(arguments.values())
        try:
            status = run(lambda *last: int(function(self._client, *values, *last)))
        except OverflowError:  # negative, or more bits than C has there
            status = Status.ERANGE
        if status != Status.OK:
            raise self._error(name, shown, status, arguments)

    def _error(
        self, name: str, shown: str | None, status: int, arguments: dict[str, Any]
    ) -> VicError:
        parts = [] if shown is None else [repr(shown)]
        parts += [f"{key}={value}" for key, value in arguments.items() if key[0] != "_"]
        return error_of(status, f"vic_client_{name}({', '.join(parts)}): {told(status)}")
