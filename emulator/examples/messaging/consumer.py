"""Takes messages from a queue, in asyncio: python consumer.py BRIDGE QUEUE [MESSAGES].

Ends after so many different messages, or with the job. Any number of these share a queue; what one
had not acknowledged when it ended, or was killed, goes to the others.
"""

from __future__ import annotations

import asyncio
import sys

from dvsim import vic


async def consume(client: vic.Client, messages: int | None) -> None:
    """Print messages until there were so many."""
    seen: set[str] = set()
    async for delivery in client:
        if delivery.message_id not in seen:  # delivered again: bridge or broker did not see the ack
            seen.add(delivery.message_id)
            print(f"{delivery.key}: {delivery.body.decode()}", flush=True)
            await asyncio.sleep(0)  # work that awaits something: other tasks of the loop go on
        client.ack(delivery)  # done; only now the broker forgets it
        if len(seen) == messages:
            return


bridge, queue, *most = sys.argv[1:]
with vic.open() as card, card.client() as client:
    client.subscribe(int(bridge), queue, credit=64)
    try:
        asyncio.run(consume(client, int(most[0]) if most else None))
    except vic.Refused as refused:  # no such queue, or it was deleted
        sys.exit(f"consumer: {refused}")
