"""The folder in which nodes that outlive a command are written down.

It has ``state.json`` (which process keeps which nodes; no password), ``nodes/`` (everything of the
nodes), ``keeper.log`` and ``lock``, held while somebody starts or ends nodes.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import stat
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from dvsim.broker.control import Control
from dvsim.broker.private_folder import unusable
from dvsim.broker.process import Identity
from dvsim.errors import OutputError

WAIT_S = 10
"""How long a process may take to be gone after SIGKILL."""


@dataclass(frozen=True)
class Kept:
    """A node that is kept running."""

    # As of `Node`.
    name: str
    cluster: str
    url: str
    tls_url: str | None
    ports: dict[str, int]  # what its plug-ins listen on, by purpose
    process: Identity  # its process; it may have ended since


@dataclass(frozen=True)
class State:
    """What runs, or is being started."""

    keeper: Identity  # the process that keeps the nodes
    asked: dict[str, Any]  # parameters of `Brokers`, as they were given
    nodes: tuple[Kept, ...] = field(default=())  # empty until all are ready
    control: Control | None = None  # how to reach them; None until then

    def to_json(self) -> str:
        """Return it as text."""
        return json.dumps(asdict(self), indent=2, default=str)

    @classmethod
    def from_json(cls, text: str) -> State:
        """Return what `to_json` wrote.

        Raises:
            ValueError, TypeError, KeyError: If it is something else.
        """
        record = json.loads(text)
        nodes = [
            Kept(**{**node, "process": Identity(**node["process"])}) for node in record["nodes"]
        ]
        control = record["control"]
        if control is not None:
            control = Control(Path(control["program"]), Path(control["home"]), control["epmd_port"])
        return cls(Identity(**record["keeper"]), record["asked"], tuple(nodes), control)


class StateFolder:
    """The folder, made for its owner alone if it is not there."""

    def __init__(self, path: Path) -> None:
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = path.stat()
        except OSError as error:
            raise unusable(path, error) from error
        if status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise OutputError(f"cannot use '{path}' for nodes: others can write it")
        self.path = path.resolve()
        self.nodes = self.path / "nodes"
        self.log = self.path / "keeper.log"
        self._file = self.path / "state.json"

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Wait until nobody else starts or ends nodes here, and keep others from it."""
        try:
            lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise OutputError(f"cannot write in '{self.path}': {error.strerror}") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def read(self) -> State | None:
        """Return what is written down; None if nothing is."""
        try:
            return State.from_json(self._file.read_text("utf-8"))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise OutputError(f"cannot read '{self._file}': {error.strerror}") from error
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            text = f"'{self._file}' is damaged, or not of dvsim"
            raise OutputError(f"{text}; remove it, and 'nodes' beside it") from error

    def write(self, state: State) -> None:
        """Write down what runs, whole or not at all."""
        new = self.path / f".state.{os.getpid()}"
        try:
            new.write_text(state.to_json(), "utf-8")
            new.replace(self._file)
        except OSError as error:
            new.unlink(missing_ok=True)
            raise unusable(self._file, error) from error

    def check_free(self) -> None:
        """Refuse a folder of nodes that is not ours."""
        if self.nodes.exists():
            raise OutputError(f"'{self.nodes}' is in the way")

    def clear(self) -> None:
        """Remove what is written down and all that is left, when the keeper has gone.

        Nodes end with their keeper; one that did not is killed, if it is still the same process.
        """
        state = self.read()
        if state is None:  # the folder of nodes, if there is one, is not ours
            return
        for node in state.nodes:
            node.process.end(signal.SIGKILL, WAIT_S)
        shutil.rmtree(self.nodes, ignore_errors=True)
        self._file.unlink()
