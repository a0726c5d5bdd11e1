"""Publishes through the bridge on a card: python publisher.py BRIDGE KEY TEXT..."""

from __future__ import annotations

import sys

from dvsim import vic

bridge, key, *texts = sys.argv[1:]
with vic.open() as card, card.client(persistent=True) as client:
    for text in texts:
        client.publish(int(bridge), key, text.encode())
    client.flush()  # the broker has them
    counts = client.counts()
print(f"{counts.confirmed} confirmed, {counts.returned} of them had no queue", flush=True)
