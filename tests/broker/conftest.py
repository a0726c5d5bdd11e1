"""RabbitMQ for tests: a node that all share, a virtual host apart, connections, names."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import pytest
from harness import rabbitmq
from harness.rabbitmq import Shared, SharedNode

if TYPE_CHECKING:
    import pika

    from dvsim.broker import Brokers, Node


@pytest.fixture(scope="session")
def broker() -> Shared:
    """The node of this run, with TLS and plug-ins, for all tests that leave it as it was."""
    return rabbitmq.shared()


@pytest.fixture(scope="session")
def room(broker: Shared) -> Shared:
    """The same node with a virtual host that only this worker has: what is in it is its own."""
    return broker.room(f"room-{os.environ.get('PYTEST_XDIST_WORKER', 'one')}")


@pytest.fixture
def connect() -> Iterator[Callable[..., pika.BlockingConnection]]:
    """A function from brokers (and one of their nodes; default: the first) to a connection."""
    import pika

    with contextlib.ExitStack() as stack:

        def connected(
            brokers: Brokers | Shared, node: Node | SharedNode | None = None, **how: Any
        ) -> pika.BlockingConnection:
            at = node or brokers.nodes[0]
            parameters = pika.ConnectionParameters(
                "127.0.0.1",
                at.port,
                virtual_host=unquote(urlsplit(at.url).path[1:]),
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
