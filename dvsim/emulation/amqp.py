"""A broker as a client sees it: its address, the queue of a receiver, and errors that name it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import Any, Self
from urllib.parse import unquote, urlsplit

import pika
from pika import exceptions
from pika.exceptions import AMQPError

from dvsim.errors import RunFailed

PORT = 5672
UNUSED_MS = 24 * 3600 * 1000  # without use; then the broker removes the queue of a dead harness
TCP_S = 8.0  # for a machine to accept a connection; its broker may take longer
CONNECT_S = 30.0
LOST = {"TCP_KEEPIDLE": 2, "TCP_KEEPINTVL": 1, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 5000}
"""A machine of which the network says nothing for five seconds is lost."""


@dataclass(frozen=True)
class Target:
    """A broker with user and password. Its repr has no password.

    `host` is where a private broker was started, if on another machine.
    """

    url: str
    user: str
    password: str
    host: str = ""

    def __repr__(self) -> str:
        """Name the broker, not the password."""
        return f"Target({self.url!r})"

    def as_json(self) -> dict[str, str]:
        """Return what `Target` takes, to be sent through a pipe."""
        return asdict(self)


def connect(target: Target, what: str) -> Any:  # noqa: ANN401 - pika has no types
    """Return a blocking connection to a broker.

    Heartbeats are off: a connection may be idle for as long as others work.

    Args:
        target: The broker.
        what: The name of the connection, as the broker shows it.
    """
    with spoken(target):
        return pika.BlockingConnection(parameters(target, what))


def parameters(target: Target, what: str) -> Any:  # noqa: ANN401
    """Return the parameters of a connection, blocking or not; see `connect`."""
    logging.getLogger("pika").addHandler(logging.NullHandler())  # it raises what it logs
    parts = urlsplit(target.url)
    return pika.ConnectionParameters(
        host=parts.hostname or "",
        port=parts.port or PORT,
        virtual_host=unquote(parts.path[1:]) or "/",
        credentials=pika.PlainCredentials(target.user, target.password),
        heartbeat=0,
        connection_attempts=1,
        socket_timeout=TCP_S,
        stack_timeout=CONNECT_S,
        tcp_options=LOST,
        blocked_connection_timeout=None,  # else publishes are lost without a word
        client_properties={"connection_name": f"dvsim {what}"},
    )


@contextmanager
def spoken(target: Target) -> Iterator[None]:
    """Turn what the client library raises into an error that names the broker."""
    try:
        yield
    except (AMQPError, OSError) as error:
        where = f"host {target.host}: " if target.host else ""
        raise RunFailed(f"{where}broker {target.url}: {_reason(error)}") from error


def _reason(error: BaseException) -> str:
    inner = error
    while True:
        wrapped = [getattr(inner, "exception", None), *inner.args]
        deeper = next((cause for cause in wrapped if isinstance(cause, BaseException)), None)
        if deeper is None:
            break
        inner = deeper
    known = {
        exceptions.ProbableAuthenticationError: "it refuses the user or password",
        exceptions.AuthenticationError: "it refuses the user or password",
        exceptions.ProbableAccessDeniedError: "it refuses access to the virtual host",
        exceptions.StreamLostError: "the connection was lost",
        exceptions.ChannelWrongStateError: "the connection was lost",
        exceptions.ConnectionWrongStateError: "the connection was lost",
    }
    for kind, text in known.items():
        if isinstance(inner, kind):
            return text
    code: int | None = getattr(inner, "reply_code", None)
    if code is not None:
        return f"{getattr(inner, 'reply_text', '')} ({code})"
    if isinstance(inner, OSError) and inner.strerror:
        return inner.strerror.lower()
    text = ", ".join(map(str, inner.args)) if inner.args else ""
    return text or type(inner).__name__


class Queue:
    """The queue of one receiver for one iteration, with a connection of its own.

    The names of queue and exchange contain the token, so no other run has the same.

    Args:
        target: The broker.
        receiver: 1 …; queue and topic of the first end with ``.A``, as in the paper.
        token: Of the run.
    """

    def __init__(self, target: Target, receiver: int, token: str) -> None:
        letter = chr(ord("A") + receiver - 1) if receiver <= 26 else str(receiver)
        self.target, self.receiver = target, receiver
        self.exchange = f"dv-{token}"
        self.name = f"dv-{token}.{letter}"
        self.key = f"dv{receiver}.{letter}"
        self._binding = f"*.{letter}"
        self._connection = connect(target, f"harness, receiver {receiver}")
        self.channel: Any = None

    def __enter__(self) -> Self:
        """Declare the exchange and the queue: durable, classic; their messages are transient."""
        try:
            with spoken(self.target):
                self.channel = self._connection.channel()
                self.channel.exchange_declare(
                    self.exchange, "topic", durable=True, auto_delete=True
                )
                self.channel.queue_declare(
                    self.name, durable=True, arguments={"x-expires": UNUSED_MS}
                )
                self.channel.queue_bind(self.name, self.exchange, self._binding)
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        """Delete the queue; the broker deletes the exchange with the last one.

        A broker that does not answer is no error.
        """
        with suppress(Exception):
            self.channel.queue_delete(self.name)
        self._close()

    def depth(self) -> int:
        """Return how many messages are queued."""
        with spoken(self.target):
            declared = self.channel.queue_declare(self.name, durable=True, passive=True)
            return int(declared.method.message_count)

    def events(self, seconds: float) -> None:
        """Wait so long for events, and call their callbacks."""
        with spoken(self.target):
            self._connection.process_data_events(time_limit=seconds)

    def broker(self) -> dict[str, str]:
        """Return product, version, platform and name of the cluster, as the broker states them."""
        stated = self._connection._impl.server_properties  # pika has it nowhere else
        known = ("product", "version", "platform", "cluster_name")
        text = {key: stated.get(key) for key in known}
        return {
            key: value.decode() if isinstance(value, bytes) else str(value)
            for key, value in text.items()
            if value is not None
        }

    def _close(self) -> None:
        with suppress(Exception):
            self._connection.close()
