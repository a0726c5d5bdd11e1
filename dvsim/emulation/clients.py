"""Clients that publish and consume over pika, and the one loop of events that runs them."""

from __future__ import annotations

import itertools
import time
from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import pika

from dvsim.emulation.alarms import Deaths
from dvsim.emulation.amqp import parameters
from dvsim.emulation.messages import HEAD, Asked, Seen
from dvsim.errors import RunFailed

if TYPE_CHECKING:
    from dvsim.emulation.alarms import Alarms
    from dvsim.emulation.queues import Place


# Senders with a window of confirms and receivers that acknowledge.
#
# Each has a connection of its own, on pika, in the one loop of events of `dvsim.emulation.clients`.
# Where nodes die, a client whose connection is lost connects to the next node, and a sender sends
# again what was not confirmed.

AGAIN_S = 0.5  # until what failed is tried again
PERSISTENT = 2
OFFSET = "x-stream-offset"


class Client:
    """A connection with one channel; both are made anew where nodes die."""

    def __init__(self, loop: Loop, number: int, queue: str) -> None:
        self.loop, self.number, self.queue = loop, number, queue
        self.connection: Any = None
        self.channel: Any = None
        self.started = False
        self._turns = itertools.cycle(range(len(loop.targets)))
        for _ in range(number % len(loop.targets)):
            next(self._turns)

    def begin(self) -> None:
        """Set up a new channel, and call `ready`."""
        raise NotImplementedError

    def interrupt(self) -> None:
        """Drop what belonged to the lost channel."""
        raise NotImplementedError

    def more(self) -> None:
        """Go on, on a channel that is ready again."""

    def connect(self) -> None:
        """Connect to the next node in turn."""
        if self.loop.closing:
            return
        target = self.loop.targets[next(self._turns)]
        self.connection = pika.SelectConnection(
            parameters(target, f"{type(self).__name__.lower()} {self.number + 1}"),
            self._connected,
            self._refused,
            self._lost,
            custom_ioloop=self.loop.loop,
        )

    def ready(self, *_: object) -> None:
        """Note that the channel can be used."""
        if self.started:
            self.more()
            return
        self.started = True
        self.loop.ready()

    def later(self, seconds: float, what: Any) -> None:  # noqa: ANN401
        """Do something in some seconds."""
        self.loop.loop.call_later(seconds, what)

    def close(self) -> None:
        """Begin to close the connection, which may be open or still opening."""
        if not self.gone and not self.connection.is_closing:
            self.connection.close()

    @property
    def gone(self) -> bool:
        """Whether there is no connection, or it is closed."""
        return self.connection is None or self.connection.is_closed

    def _connected(self, _: object = None) -> None:
        if self.connection.is_open and not self.loop.closing:
            self.connection.channel(on_open_callback=self._opened)

    def _opened(self, channel: Any) -> None:  # noqa: ANN401
        self.channel = channel
        channel.add_on_close_callback(self._closed)
        self.begin()

    def _refused(self, _: object, error: BaseException) -> None:
        if self._bears(error):
            self.later(AGAIN_S, self.connect)

    def _lost(self, _: object, error: BaseException) -> None:
        if self._bears(error):
            self.interrupt()
            self.later(self.loop.asked.away_s, self.connect)

    def _closed(self, _: object, error: BaseException) -> None:
        if self.connection.is_open and self._bears(error):
            self.interrupt()
            self.later(AGAIN_S, self._connected)

    def _bears(self, error: BaseException) -> bool:
        if not self.loop.closing and self.loop.deaths is None:
            self.loop.fail(str(error))
        return not self.loop.closing and self.loop.failure is None


class Sender(Client):
    """Publishes every n-th message, when it is due and the window has room."""

    def __init__(self, loop: Loop, number: int, queue: str) -> None:
        super().__init__(loop, number, queue)
        self.next, self.sent = number, 0
        self.waiting: OrderedDict[int, int] = OrderedDict()  # by tag, in order
        self.again: deque[int] = deque()  # to be sent again now
        self.failed: list[int] = []  # to be sent again after a while
        self.unrouted: set[int] = set()  # returned by the broker, not yet confirmed
        self.timed = False
        self.properties = pika.BasicProperties(delivery_mode=PERSISTENT)
        self.padding = bytes(max(0, loop.asked.size - HEAD.size))

    def unconfirmed(self) -> Iterable[int]:
        """Return the numbers of messages without a confirm."""
        return (*self.waiting.values(), *self.again, *self.failed)

    def begin(self) -> None:
        """Ask for confirms, and for the return of messages whose queue has no living node."""
        for add, stopped in (
            (self.connection.add_on_connection_blocked_callback, True),
            (self.connection.add_on_connection_unblocked_callback, False),
        ):
            add(lambda *_, stopped=stopped: self.loop.stop(self.number, stopped=stopped))
        self.channel.confirm_delivery(self.answered)
        self.channel.add_on_return_callback(self.returned)
        self.ready()

    def interrupt(self) -> None:
        """Let what was not confirmed be sent again; note that no node forbids to publish."""
        self.loop.stop(self.number, stopped=False)
        self.again.extendleft(reversed(self.waiting.values()))
        self.waiting.clear()
        self.unrouted.clear()
        self.sent = 0

    def more(self) -> None:
        """Publish what is due and has room in the window."""
        loop, asked = self.loop, self.loop.asked
        while self.channel.is_open and len(self.waiting) < asked.window:
            now = time.monotonic()
            if self.again:
                number = self.again.popleft()
                loop.resent.add(number)
                self.publish(number, loop.intended(number, now))
                continue
            if self.next >= asked.messages or loop.ended(now):
                return
            due = loop.intended(self.next, now)
            if due > now:
                if not self.timed:
                    self.timed = True
                    loop.loop.call_later(due - now, self.on_time)
                return
            self.publish(self.next, due)
            self.next += asked.publishers
            loop.seen.published += 1

    def publish(self, number: int, due: float) -> None:
        """Publish a message."""
        body = HEAD.pack(number, due) + self.padding
        given_back = self.loop.deaths is not None
        self.channel.basic_publish("", self.queue, body, self.properties, mandatory=given_back)
        self.sent += 1
        self.waiting[self.sent] = number

    def on_time(self) -> None:
        """Publish what has become due."""
        self.timed = False
        self.more()

    def retry(self) -> None:
        """Send again what failed a while ago."""
        self.again.extend(self.failed)
        self.failed.clear()
        self.more()

    def returned(self, _c: object, _m: object, _p: object, body: bytes) -> None:
        """Note a message that has no queue now; its confirm comes after this."""
        self.unrouted.add(HEAD.unpack_from(body)[0])

    def answered(self, frame: Any) -> None:  # noqa: ANN401
        """Note a confirm or a refusal of the broker."""
        loop, seen = self.loop, self.loop.seen
        tag, method = frame.method.delivery_tag, frame.method
        tags = [waits for waits in self.waiting if waits <= tag] if method.multiple else [tag]
        taken = isinstance(method, pika.spec.Basic.Ack)
        for confirmed in tags:
            if confirmed not in self.waiting:
                loop.fail(f"message {confirmed} was confirmed twice")
                return
            number = self.waiting.pop(confirmed)
            if taken and number not in self.unrouted:
                seen.confirmed += 1
            elif loop.deaths is None:
                seen.refused += 1
            else:
                self.unrouted.discard(number)
                if not self.failed:
                    self.later(AGAIN_S, self.retry)
                self.failed.append(number)
        loop.last = time.monotonic()
        seen.seconds = loop.last - loop.begun
        self.more()
        loop.ended(loop.last)
        loop.end()


class Receiver(Client):
    """Takes messages one after the other, each for as long as it is processed."""

    def __init__(self, loop: Loop, number: int, queue: str) -> None:
        super().__init__(loop, number, queue)
        self.held: deque[int] = deque()  # tags of messages that wait to be processed
        self.done, self.tag = 0, 0
        self.lives = 0
        self.offset: int | None = None  # of the last message of a stream
        self.every = min(loop.asked.acknowledge, loop.asked.prefetch or loop.asked.acknowledge)

    def begin(self) -> None:
        """Begin to consume."""
        self.channel.basic_qos(prefetch_count=self.loop.asked.prefetch)
        self.channel.add_on_cancel_callback(lambda _: self.later(AGAIN_S, self.subscribe))
        self.subscribe()

    def subscribe(self) -> None:
        """Consume from the queue; from a stream what follows the last message received."""
        if not self.channel.is_open:
            return
        stream = self.loop.asked.queue == "stream" and self.started
        behind: int | str = "first" if self.offset is None else self.offset + 1
        arguments = {OFFSET: behind} if stream else None
        self.channel.basic_consume(self.queue, self.came, arguments=arguments, callback=self.ready)

    def interrupt(self) -> None:
        """Drop messages that are not acknowledged: the broker sends them again."""
        self.held.clear()
        self.done = 0
        self.lives += 1

    def came(self, _channel: Any, method: Any, properties: Any, body: bytes) -> None:  # noqa: ANN401
        """Note a message, and process it when those before are done."""
        loop, seen = self.loop, self.loop.seen
        loop.last = time.monotonic()
        number, due = HEAD.unpack_from(body)
        self.offset = (properties.headers or {}).get(OFFSET, self.offset)
        if number in loop.had:
            seen.again += 1
        else:
            loop.had.add(number)
            seen.delivered += 1
            seen.latencies.append(loop.last - due)
            seen.received_s = loop.last - loop.begun
        self.held.append(method.delivery_tag)
        if len(self.held) == 1:
            self.process()

    def process(self) -> None:
        """Process messages: at once, or one when its time is over."""
        processing = self.loop.asked.processing
        while self.held:
            takes = processing(time.monotonic() - self.loop.begun) if processing else 0.0
            if takes > 0:
                self.loop.loop.call_later(takes, partial(self.finish, self.lives))
                return
            self.take()
        self.loop.end()

    def finish(self, life: int) -> None:
        """Finish a message and begin the next, unless the channel was lost meanwhile."""
        if life == self.lives:
            self.take()
            self.process()

    def take(self) -> None:
        """Count a message that is processed, and acknowledge several at once."""
        self.tag = self.held.popleft()
        self.done += 1
        if self.done >= self.every:
            self.acknowledge()

    def acknowledge(self) -> None:
        """Acknowledge what is processed."""
        if self.done and self.channel.is_open:
            self.channel.basic_ack(self.tag, multiple=True)
        self.done = 0


PATIENCE_S = 60.0  # without a confirm or a message
LOOK_S = 0.5  # between two looks at patience and at nodes that start
LAST_S = 0.05  # for the last acknowledgements to be sent
GOODBYE_S = 10.0  # for brokers to answer that a connection is closed
STEP_S = 0.01  # between two looks at which connections are still open


class Loop:
    """Senders and receivers of one run.

    Args:
        place: The nodes; clients are spread over them evenly.
        queues: Their names; sender and receiver n use queue n, after the last the first again.
        asked: What is sent.
        alarms: Those of this run, which their nodes have.

    Attributes:
        had, resent: The numbers of messages that were received, and of those that were sent again.
    """

    def __init__(
        self, place: Place, queues: Sequence[str], asked: Asked, alarms: Alarms | None = None
    ) -> None:
        self.asked, self.seen, self.targets = asked, Seen(), place.targets
        self.loop = pika.adapters.select_connection.IOLoop()
        self.had: set[int] = set()
        self.resent: set[int] = set()
        self.failure: str | None = None
        self.begun = self.last = time.monotonic()
        self.over = asked.messages == 0
        self.closing = False
        private = place.private
        self.deaths = (
            Deaths(private, asked.deaths) if private is not None and asked.deaths else None
        )
        self.alarms = alarms
        self.stopped: set[int] = set()  # senders that may not publish
        self.stopped_at = 0.0
        self.senders = [
            Sender(self, number, queues[number % len(queues)]) for number in range(asked.publishers)
        ]
        self.receivers = [
            Receiver(self, number, queues[number % len(queues)])
            for number in range(asked.consumers)
        ]
        self.missing = 0  # clients that are not ready

    def run(self) -> Seen:
        """Run until every message is confirmed and delivered."""
        self.loop.call_later(LOOK_S, self._look)
        self._open(self.receivers)
        self.loop.start()
        self.closing = True
        self._leave()
        self.loop.close()
        if self.failure is not None:
            raise RunFailed(self.failure)
        if self.deaths is not None:
            self.seen.downs = self.deaths.downs
        self.seen.resent = len(self.resent)
        return self.seen

    def unconfirmed(self) -> set[int]:
        """Return the numbers of messages that were published and not confirmed."""
        return {number for sender in self.senders for number in sender.unconfirmed()}

    def published(self) -> set[int]:
        """Return the numbers of all messages that were published."""
        step = self.asked.publishers
        return {n for sender in self.senders for n in range(sender.number, sender.next, step)}

    def fail(self, why: str) -> None:
        """End the run with an error."""
        self.failure = self.failure or why
        self.loop.stop()

    def ready(self) -> None:
        """Count a client that is ready. After all receivers open the senders, after these begin."""
        self.missing -= 1
        if self.missing:
            return
        if not any(sender.started for sender in self.senders):
            self._open(self.senders)
            return
        self.begun = self.last = time.monotonic()
        if self.deaths is not None:
            self.deaths.begin(self.loop)
        if self.alarms is not None:
            self.alarms.begin()
        for sender in self.senders:
            sender.more()

    def stop(self, sender: int, *, stopped: bool) -> None:
        """Note that a node forbids a sender to publish, or allows it again."""
        before, now = bool(self.stopped), time.monotonic()
        (self.stopped.add if stopped else self.stopped.discard)(sender)
        if self.stopped and not before:
            self.stopped_at = now
        elif before and not self.stopped:
            self.seen.blocked_s += now - self.stopped_at

    def intended(self, number: int, now: float) -> float:
        """Return when a message is to be sent; now if the run has no times."""
        return now if self.asked.due is None else self.begun + self.asked.due[number]

    def ended(self, now: float) -> bool:
        """Return whether no more messages are sent."""
        self.over = (
            self.over
            or self.seen.published >= self.asked.messages
            or (self.asked.due is None and now >= self.begun + self.asked.seconds)
        )
        return self.over

    def end(self) -> None:
        """Stop when every message is confirmed and delivered, and every node is back."""
        seen = self.seen
        answered = seen.confirmed + seen.refused == seen.published
        received = seen.delivered + seen.refused >= seen.published
        if any(event is not None and event.pending for event in (self.deaths, self.alarms)):
            return
        if (
            self.over
            and answered
            and received
            and not any(receiver.held for receiver in self.receivers)
        ):
            for receiver in self.receivers:
                receiver.acknowledge()
            self.loop.call_later(LAST_S, self.loop.stop)

    def _look(self) -> None:
        if self.closing:
            return
        if self.deaths is not None and self.deaths.pending:
            try:
                self.deaths.look()
            except RunFailed as error:
                self.fail(str(error))
            self.last = time.monotonic()
        if self.alarms is not None and self.alarms.pending:
            self.last = time.monotonic()
        self.end()
        if time.monotonic() - self.last > PATIENCE_S:
            if self.deaths is not None:  # afterwards missing messages are looked for
                self.loop.stop()
                return
            self.fail(f"nothing was confirmed or delivered for {PATIENCE_S:g} s")
        self.loop.call_later(LOOK_S, self._look)

    def _leave(self) -> None:
        clients = (*self.senders, *self.receivers)
        for client in clients:
            client.close()
        end = time.monotonic() + GOODBYE_S
        while not all(client.gone for client in clients) and time.monotonic() < end:
            self.loop.call_later(STEP_S, self.loop.stop)  # another stop may come first
            self.loop.start()

    def _open(self, clients: Sequence[Client]) -> None:
        self.missing = len(clients)
        for client in clients:
            client.connect()
