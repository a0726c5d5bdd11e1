"""The process that has the RabbitMQ node of a test run: `rabbitmq.py` starts and ends it.

It is told a file, which it writes when the node is ready, and the number of the process that runs
the tests. It ends when either has gone, and its node ends with it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

from dvsim.broker import Brokers
from dvsim.broker.process import Identity

MEMORY = 1 << 30
"""Bytes for the node: what tests queue fits in, whatever the machine has."""
PLUGINS = ("rabbitmq_management", "rabbitmq_mqtt", "rabbitmq_prometheus")
LOOK_S = 0.2


def keep(known: Path, run: Identity) -> None:
    """Have the node until its file or the run of the tests has gone."""
    with Brokers(tls=True, memory=MEMORY, plugins=PLUGINS) as brokers:
        (node,) = brokers.nodes
        said = {
            "keeper": os.getpid(),
            "node": {"name": node.name, "url": node.url, "tls_url": node.tls_url,
                     "port": node.port, "pid": node.pid, "ports": dict(node.ports)},
            "control": {"program": str(brokers.control.program), "home": str(brokers.control.home),
                        "epmd_port": brokers.control.epmd_port},
            "brokers": {"user": brokers.user, "password": brokers.password, "tls": str(brokers.tls),
                        "credentials": str(brokers.credentials), "version": brokers.version},
        }  # fmt: skip
        new = known.with_suffix(".new")
        new.write_text(json.dumps(said), "utf-8")
        new.replace(known)
        while known.exists() and run.alive():
            time.sleep(LOOK_S)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    tests = Identity.of(int(sys.argv[2]))
    if tests is not None:
        keep(Path(sys.argv[1]), tests)
