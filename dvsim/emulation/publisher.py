"""A publisher process of the TCP path: one Python process, one connection to every broker.

It reads lines on stdin that say what to publish, and answers on stdout; the harness measures the
time between. A share of a batch is done when a request on each channel has been answered: by then
all that was published on it before is in its queue.

Without confirms a message is published and forgotten, as in the paper's test. With them
each publish waits for its confirm, as pika's blocking connection does it.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from typing import Any

import pika
from pika.exceptions import NackError, UnroutableError

from dvsim.emulation.amqp import Target, connect, spoken
from dvsim.emulation.messages import Bodies, Digest
from dvsim.errors import RunFailed

TRANSIENT = 1


class Publisher:
    """A publisher process.

    Args:
        asked: ``name``, ``size`` and ``seed`` of the bodies, ``exchange``, ``confirms``, and
            ``routes``: a list of ``target``, ``key`` and ``queue``, one for each receiver.
    """

    def __init__(self, asked: Mapping[str, Any]) -> None:
        self._bodies = Bodies(asked["size"], asked["seed"])
        self._exchange = asked["exchange"]
        self._properties = pika.BasicProperties(delivery_mode=TRANSIENT)
        self._mandatory = asked["confirms"]
        self._ranges: list[tuple[int, int]] = []
        self._routes = []
        for route in asked["routes"]:
            target = Target(**route["target"])
            connection = connect(target, asked["name"])
            with spoken(target):
                channel = connection.channel()
                if asked["confirms"]:
                    channel.confirm_delivery()
            self._routes.append((target, channel, route["key"], route["queue"]))
        self._idle_s = time.process_time()  # of imports and connections, which are not publishing

    def publish(self, first: int, messages: int) -> None:
        """Publish messages by number, in turn to all receivers, and wait until they are queued."""
        routes, body = self._routes, self._bodies.body
        exchange, properties, mandatory = self._exchange, self._properties, self._mandatory
        for number in range(first, first + messages):
            target, channel, key, _ = routes[number % len(routes)]
            try:
                channel.basic_publish(exchange, key, body(number), properties, mandatory)
            except Exception as error:
                _raise(target, error)
        for target, channel, _, queue in routes:
            with spoken(target):
                channel.queue_declare(queue, passive=True)
        self._ranges.append((first, messages))

    def report(self) -> dict[str, Any]:
        """Return what was published to each receiver, and the CPU time that it took."""
        cpu_s = time.process_time() - self._idle_s  # before the sums, which are no part of it
        digests = [Digest() for _ in self._routes]
        for first, messages in self._ranges:
            for number in range(first, first + messages):
                digests[number % len(digests)].add(self._bodies.body(number))
        reports = [
            {"messages": digest.messages, "bytes": digest.bytes, "digest": digest.hex}
            for digest in digests
        ]
        return {"cpu_s": cpu_s, "sent": reports}


def _raise(target: Target, error: Exception) -> None:
    if isinstance(error, UnroutableError):
        raise RunFailed(f"broker {target.url}: it returned a message: no queue for it") from error
    if isinstance(error, NackError):
        raise RunFailed(f"broker {target.url}: it refused a message") from error
    with spoken(target):
        raise error


def main() -> int:
    """Read what is asked for, then ``publish FIRST MESSAGES`` and ``report``, to the last line."""
    try:
        publisher = Publisher(json.loads(sys.stdin.readline()))
        print("ready", flush=True)
        for line in sys.stdin:
            verb, *numbers = line.split()
            if verb == "report":
                print(json.dumps(publisher.report()), flush=True)
                continue
            publisher.publish(*map(int, numbers))
            print("done", flush=True)
    except RunFailed as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
