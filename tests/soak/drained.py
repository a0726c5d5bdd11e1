"""The queues from outside: made, and what is left in them, in the words of a consumer's journal."""

from __future__ import annotations

import struct
import time
import zlib
from collections.abc import Iterator, Sequence

import pika
from actors import Broker

from dvsim.broker import Brokers

HEAD = struct.Struct("<4Q")


def declare(broker: Broker, brokers: Brokers, queues: Sequence[int]) -> None:
    """Make the queues as bridges do, and have it on disk: a node forgets what is younger."""
    with _connected(broker, brokers) as connection:
        channel = connection.channel()
        channel.exchange_declare("soak", "topic", durable=True)
        for number in queues:
            channel.queue_declare(f"soak{number}", durable=True)
            channel.queue_bind(f"soak{number}", "soak", f"soak{number}.#")
    broker.node.sync()


def rows(broker: Broker, brokers: Brokers, queues: Sequence[int]) -> Iterator[list[str]]:
    """Take all that waits in the queues of a broker."""
    with _connected(broker, brokers) as connection:
        channel = connection.channel()
        for number in queues:
            life = f"{broker.name}.soak{number}"
            yield ["O", life, f"-{broker.name}", str(number), "0"]
            while (got := channel.basic_get(f"soak{number}"))[0] is not None:
                method, properties, body = got
                session, _, message = properties.message_id.partition("-")
                good, by = is_good(body, int(session, 16), int(message, 16))
                yield ["D", life, session, str(int(message, 16)), str(int(method.redelivered)),
                       str(int(good)), str(by), str(time.monotonic_ns())]  # fmt: skip
                channel.basic_ack(method.delivery_tag)


def publish(broker: Broker, brokers: Brokers, queue: int, message_id: str, body: bytes) -> None:
    """Put a message beside those of the publishers."""
    properties = pika.BasicProperties(message_id=message_id, delivery_mode=2)
    with _connected(broker, brokers) as connection:
        connection.channel().basic_publish("soak", f"soak{queue}.planted", body, properties)


def body_of(publisher: int, session: int, number: int, fill: bytes) -> bytes:
    """Return a message as the publishers make it (programs/soak.h)."""
    text = HEAD.pack(publisher, session, number, HEAD.size + len(fill) + 4) + fill
    return text + zlib.crc32(text).to_bytes(4, "little")


def _connected(broker: Broker, brokers: Brokers) -> pika.BlockingConnection:
    credentials = pika.PlainCredentials(brokers.user, brokers.password)
    return pika.BlockingConnection(
        pika.ConnectionParameters("127.0.0.1", broker.node.port, credentials=credentials)
    )


def is_good(body: bytes, session: int, number: int) -> tuple[bool, int]:
    """Say whether a body is of this message and unchanged, and who says to have published it."""
    if len(body) < HEAD.size + 4:
        return False, 0
    publisher, by_session, by_number, size = HEAD.unpack_from(body)
    same = (by_session, by_number, size) == (session, number, len(body))
    return same and zlib.crc32(body[:-4]) == int.from_bytes(body[-4:], "little"), publisher
