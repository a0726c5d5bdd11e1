"""The process that keeps nodes running after the command that started them has returned.

``python -m dvsim.broker.keeper FOLDER`` takes the parameters of `Brokers` as JSON from stdin, and
tells on stdout, a JSON object a line, what it waits for, then ``ready`` or ``error``. From then on
it waits for SIGTERM; its nodes end with it, however it ends. At SIGHUP it starts nodes again that
have ended, or do not answer.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from dvsim.broker.private_nodes import Brokers
from dvsim.broker.process import Identity
from dvsim.broker.service import Kept, State, StateFolder
from dvsim.errors import DvsimError


class Ended(BaseException):
    """SIGTERM."""


def main() -> None:
    """Keep nodes until SIGTERM."""
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGHUP, lambda *_: None)  # it wakes
    awake, wakes = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wakes)
    folder = StateFolder(Path(sys.argv[1]))
    asked = json.load(sys.stdin)
    keeper = Identity.of(os.getpid())
    assert keeper is not None
    try:
        folder.write(State(keeper, asked))
        _tell("started", None)
        brokers = Brokers(
            **asked, directory=folder.nodes, progress=lambda text: _tell("progress", text)
        )
        try:
            folder.write(_state(keeper, asked, brokers))
            _tell("ready", None)
            _let_go()
            while True:
                select.select([awake], [], [])
                os.read(awake, 512)
                if _revive(brokers):
                    folder.write(_state(keeper, asked, brokers))
        finally:
            brokers.close(tidily=True)
    except Ended:
        pass
    except DvsimError as error:
        _tell("error", [str(error), error.exit_code])
        raise SystemExit(error.exit_code) from error
    finally:
        folder.clear()


def _revive(brokers: Brokers) -> bool:
    lame = [node for node in brokers.nodes if not node.responds()]
    try:
        for node in lame:
            node.kill()
        for node in lame:
            node.start(wait=False)
        for node in lame:
            node.wait_ready()
        brokers.complete()
    except DvsimError as error:
        print(error, file=sys.stderr, flush=True)
        return False
    return True


def _state(keeper: Identity, asked: dict[str, Any], brokers: Brokers) -> State:
    kept = [
        Kept(node.name, cluster.name, node.url, node.tls_url, dict(node.ports), process)
        for cluster in brokers.clusters
        for node in cluster.nodes
        if node.pid is not None and (process := Identity.of(node.pid)) is not None
    ]
    return State(keeper, asked, tuple(kept), brokers.control)


def _tell(key: str, value: object) -> None:
    sys.stdout.write(json.dumps({key: value}) + "\n")
    sys.stdout.flush()


def _let_go() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1):
        os.dup2(nowhere, number)
    os.close(nowhere)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Ended


if __name__ == "__main__":
    main()
