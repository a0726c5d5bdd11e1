"""What stands in for a RabbitMQ where only processes matter: it greets clients, and that is all.

A node of it starts at once. Erlang's epmd is the real one.
"""

from __future__ import annotations

import sys
from pathlib import Path

SERVER = r"""import os, socket, sys, time
time.sleep(float(sys.argv[1]))
with socket.socket() as server:
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("127.0.0.1", int(os.environ["RABBITMQ_NODE_PORT"])))
    server.listen()
    while True:
        client, _ = server.accept()
        with client:
            if client.recv(8) == b"AMQP\0\0\x09\x01":
                client.sendall(b"\x01\0\0\0\0\0\x04\0\x0a\0\x0a")
"""
CTL = """echo '{"alarms": [], "running_nodes": ["a1@localhost"]}'"""


def install(folder: Path, *, ready_s: float = 0) -> Path:
    """Return a folder for DVSIM_RABBITMQ; its nodes are ready after a while."""
    scripts = folder / "sbin"
    scripts.mkdir(parents=True)
    (scripts / "server.py").write_text(SERVER, "utf-8")
    server = f"exec '{sys.executable}' -I -S '{scripts}/server.py' {ready_s}"
    for name, text in {"rabbitmq-server": server, "rabbitmqctl": CTL}.items():
        (scripts / name).write_text(f"#!/bin/sh\n{text}\n", "utf-8")
        (scripts / name).chmod(0o755)
    return scripts
