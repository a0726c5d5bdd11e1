"""From card to card by topic, without a broker.

python fanout.py listen PATTERN MESSAGES: prints so many messages.
python fanout.py say TOPIC: the numbers from 1 on, until the job ends.
"""

from __future__ import annotations

import contextlib
import itertools
import sys

from dvsim import vic


def listen(client: vic.Client, pattern: str, messages: int) -> None:
    """Print what comes; the client tells the other cards of the pattern, and of its end."""
    client.bind(pattern)
    for number, delivery in enumerate(client, 1):
        print(f"{delivery.key}: {delivery.body.decode()}", flush=True)
        if number == messages:
            return


def say(client: vic.Client, topic: str) -> None:
    """Send numbers to all that are there by now; nothing is kept for cards that come later."""
    for number in itertools.count(1):
        client.topic(topic, str(number).encode())
        with contextlib.suppress(vic.TimedOut):
            client.recv(timeout=0.01)  # a pause, in which patterns of others come in


verb, key, *messages = sys.argv[1:]
with vic.open() as card, card.client() as client, contextlib.suppress(vic.Closed):
    if verb == "listen":
        listen(client, key, int(messages[0]))
    else:
        say(client, key)
