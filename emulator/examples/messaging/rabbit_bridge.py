"""A bridge of your own to RabbitMQ, in Python: what cards publish goes to an exchange.

In the published harness it takes vicbridge's place, see docs/emulated-runs.md:

    dvsim run h3/dv-256 --backend emu --bridge 'python rabbit_bridge.py'
"""

import os
from pathlib import Path

import pika

from dvsim import vic

settings = {name: os.environ[f"BRIDGE_{name}"] for name in ("URL", "CREDENTIALS", "EXCHANGE")}
clients, confirms = (int(os.environ[f"BRIDGE_{n}"]) for n in ("CLIENTS", "AT_LEAST_ONCE"))
user, _, password = Path(settings["CREDENTIALS"]).read_text().strip().partition(":")
where = pika.URLParameters(settings["URL"])
where.credentials = pika.PlainCredentials(user, password)

with vic.open() as card, card.client(bridge=True) as client, pika.BlockingConnection(where) as link:
    channel = link.channel()
    if confirms:
        channel.confirm_delivery()  # then basic_publish waits for the confirm of each message
    while True:
        opens = [card.peer_opens(number) for number in range(clients)]
        left = all(count > 0 and count % 2 == 0 for count in opens)
        try:  # what they have sent is there
            message = client.recv(timeout=0 if left else 0.001)
        except vic.TimedOut:
            if left:
                break
            continue
        except vic.Closed:  # all others have ended
            break
        known = pika.BasicProperties(message_id=message.message_id)
        channel.basic_publish(settings["EXCHANGE"], message.key, message.body, known)
        client.ack(message)
