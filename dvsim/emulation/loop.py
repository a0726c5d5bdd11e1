"""The event loop of the senders and receivers of one run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pika

from dvsim.emulation.clients import Client, Receiver, Sender
from dvsim.emulation.deaths import Deaths
from dvsim.emulation.messages import Asked, Seen
from dvsim.errors import RunFailed

if TYPE_CHECKING:
    from dvsim.emulation.alarms import Alarms
    from dvsim.emulation.queues import Place

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
