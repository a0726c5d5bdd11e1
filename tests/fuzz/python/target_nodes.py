"""What brokers and their keeper tell: the file of what runs, messages that come out of a queue."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

from case_changes import mutated
from case_files import Files, lay
from targets import Target

from dvsim.broker.node import Control
from dvsim.broker.process import Identity
from dvsim.broker.service import Kept, State, StateFolder
from dvsim.emulation.drain import Sent, _Found
from dvsim.emulation.messages import Bodies, Digest
from dvsim.errors import OutputError, RunFailed

BODIES = Bodies(24, 1)


def nodes_seeds() -> list[Files]:
    """Return what is written down of two nodes, and of none that is ready."""
    process = Identity(*range(len(Identity.__dataclass_fields__)))
    node = Kept("a1", "a", "amqp://u@127.0.0.1:5672", None, {"amqp": 5672}, process)
    ready = State(process, {"clusters": 1}, (node, node), Control(Path("ctl"), Path("home"), 4369))
    return [{"state.json": one.to_json().encode()} for one in (ready, State(process, {}))]


def read_nodes(files: Files, folder: Path) -> str:
    """Read the file of what runs; it can be written again."""
    lay(files, folder)
    folder.chmod(0o700)
    state = StateFolder(folder).read()
    assert state is not None
    return f"{len(state.nodes)} {state.control is None} {len(json.loads(state.to_json()))}"


def drained_seeds() -> list[Files]:
    """Return three bodies, one of them twice."""
    bodies = {f"body-{n}": BODIES.body(n) for n in range(3)}
    return [bodies, {**bodies, "body-3": BODIES.body(1)}]


def read_drained(files: Files, folder: Path) -> str:
    """Hold what a queue gave against what was sent: nothing else may pass."""
    sent = Digest()
    for number in range(3):
        sent.add(BODIES.body(number))
    found = _Found(Sent(sent.messages, sent.bytes, sent.hex))
    for name, body in sorted(files.items()):
        found.take(None, None, SimpleNamespace(message_id=None if "1" in name else name), body)
    found.check(1)
    assert sorted(files.values()) == [BODIES.body(n) for n in range(3)], files
    return "all"


TARGETS = {
    "nodes": Target(nodes_seeds, read_nodes, (OutputError,), mutated),
    "drained": Target(drained_seeds, read_drained, (RunFailed,), mutated),
}
