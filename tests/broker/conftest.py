"""Private RabbitMQ nodes for tests: one that is shared, and some of one's own to break."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from dvsim.broker import Brokers, Node

if TYPE_CHECKING:
    import pika

MEMORY = 1 << 30
"""Bytes for each node: what a test queues fits in, whatever the machine has."""


@pytest.fixture(scope="session")
def broker() -> Iterator[Brokers]:
    """One node, with TLS, for all tests that leave it as it was."""
    with Brokers(tls=True, memory=MEMORY) as brokers:
        yield brokers


@pytest.fixture
def own_broker() -> Iterator[Callable[..., Brokers]]:
    """A function that starts nodes for one test, with the parameters of `Brokers`."""
    with contextlib.ExitStack() as stack:
        yield lambda **how: stack.enter_context(Brokers(**{"memory": MEMORY, **how}))


@pytest.fixture
def connect() -> Iterator[Callable[..., pika.BlockingConnection]]:
    """A function from `Brokers` (and one of its nodes; default: the first) to a connection."""
    import pika

    with contextlib.ExitStack() as stack:

        def connected(
            brokers: Brokers, node: Node | None = None, **how: Any
        ) -> pika.BlockingConnection:
            parameters = pika.ConnectionParameters(
                "127.0.0.1",
                (node or brokers.nodes[0]).port,
                credentials=pika.PlainCredentials(brokers.user, brokers.password),
                **how,
            )
            connection = pika.BlockingConnection(parameters)
            stack.callback(_close, connection)
            return connection

        yield connected


@pytest.fixture
def unique() -> str:
    """A name for exchanges and queues that no other test has."""
    return f"t{uuid.uuid4().hex[:12]}"


def _close(connection: pika.BlockingConnection) -> None:
    """Close a connection whose broker may have gone."""
    import pika.exceptions

    with contextlib.suppress(pika.exceptions.AMQPError, OSError):
        connection.close()
