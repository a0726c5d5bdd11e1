"""Ports that nobody else is given, from before a node listens until it has gone for good.

A port that is found free and let go can be taken before the node has it, and while it is down. So
it stays bound here, without listening: the kernel gives it to nobody who asks for any port, and
lets a program have it that says ``SO_REUSEADDR``, as Erlang does.
"""

from __future__ import annotations

import socket

HOST = "127.0.0.1"


class Ports:
    """Ports of this machine, kept until `close`."""

    def __init__(self) -> None:
        self._held: list[socket.socket] = []

    def take(self, address: str = HOST) -> int:
        """Return a port of an address that is free and stays ours."""
        held = socket.socket()
        self._held.append(held)
        held.bind((address, 0))
        # only now: with it from the start, the kernel might choose one that is held in this way
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        port: int = held.getsockname()[1]
        return port

    def close(self) -> None:
        """Give all of them back."""
        for held in self._held:
            held.close()
        self._held.clear()


def answers(port: int) -> bool:
    """Say whether somebody listens on a port."""
    try:
        socket.create_connection((HOST, port), timeout=5).close()
    except OSError:
        return False
    return True


def greets(port: int, address: str = HOST, wait_s: float = 5) -> bool:
    """Say whether an AMQP 0-9-1 broker answers on a port: a connection.start to our header."""
    try:
        with socket.create_connection((address, port), timeout=wait_s) as connection:
            connection.sendall(b"AMQP\0\0\x09\x01")
            start = connection.recv(11, socket.MSG_WAITALL)
    except OSError:
        return False
    return start[:1] == b"\x01" and start[7:] == b"\0\x0a\0\x0a"
