"""Private nodes that outlive a command: which run, how they start and end."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dvsim.broker.files import unusable
from dvsim.broker.node import POLL_S, RESPONDS_S, STOP_S, Control, tail
from dvsim.broker.process import Identity, age_s, greets, resident_bytes
from dvsim.errors import DvsimError, OutputError, RunFailed, ScenarioError
from dvsim.machine import user_folder

# The folder in which nodes that outlive a command are written down.
#
# It has ``state.json`` (which process keeps which nodes; no password), ``nodes/`` (everything of
# the nodes), ``keeper.log`` and ``lock``, held while somebody starts or ends nodes.

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


@dataclass(frozen=True)
class Look:
    """A node, as it is now."""

    node: Kept  # what was written down when it was ready
    running: bool  # whether its process runs
    answers: bool  # whether it also answers as an AMQP broker does
    memory: int  # bytes that the process holds
    uptime_s: float  # for how long it has run, in seconds
    # ``memory`` or ``disk``, for which publishers wait; empty if its cluster does not answer.
    alarms: tuple[str, ...]


def default_folder() -> Path:
    """Return where nodes are written down if nothing else is said."""
    return user_folder("STATE", ".local/state") / "broker"


def up(path: Path, asked: Mapping[str, Any], progress: Callable[[str], None]) -> tuple[State, bool]:
    """Start nodes and return when they are ready.

    Args:
        path: The folder where they are written down.
        asked: Parameters of `Brokers`.
        progress: Told what is waited for.

    Returns:
        State, bool: What runs, and whether all of it did before. Nodes that have ended, or do not
        answer, are started again with their data.
    """
    folder = StateFolder(path)
    with folder.alone():
        state = _running(folder)
        if state is None:
            folder.clear()
            folder.check_free()
            keeper = _start_keeper(folder, asked)
            try:
                _follow(keeper, "started", progress, folder.log)  # from now on others see it
            except BaseException:
                _abandon(keeper)
                raise
    if state is not None:
        if not state.nodes:
            raise RunFailed(f"nodes are being started in '{folder.path}' already")
        if state.asked | {"timeout_s": 0} != {**asked, "timeout_s": 0}:
            text = "other nodes run there already; 'dvsim broker down' ends them"
            raise ScenarioError.at(folder.path, text)
        lame = _lame(state)
        if not lame:
            return state, True
        names = ", ".join(lame)
        progress(f"RabbitMQ node {names} has ended, or does not answer: it is started again")
        return _revive(folder, state, asked["timeout_s"]), False
    try:
        _follow(keeper, "ready", progress, folder.log)
    except BaseException:
        _abandon(keeper)
        raise
    _close_pipe(keeper)
    keeper.returncode = 0  # it is nobody's child any more
    state = folder.read()
    if state is None:
        raise RunFailed(f"the nodes in '{folder.path}' were ended at once")
    return state, False


def status(path: Path) -> tuple[State, list[Look]] | None:
    """Look at the nodes that run, also those that have ended since; None if there are none."""
    if not _is_there(path):
        return None
    folder = StateFolder(path)
    state = _running(folder)
    if state is None:
        return None
    if not state.nodes:
        raise RunFailed(f"nodes are being started in '{folder.path}'")
    clusters = dict.fromkeys(node.cluster for node in state.nodes)
    with ThreadPoolExecutor(len(clusters)) as pool:
        answers = pool.map(lambda cluster: _alarms(state, cluster), clusters)
        alarms = {name: status for answer in answers for name, status in answer.items()}
    return state, [_look(node, alarms) for node in state.nodes]


def down(path: Path) -> bool:
    """End the nodes and remove what they have left; say whether there were any."""
    if not _is_there(path):
        return False
    folder = StateFolder(path)
    with folder.alone():
        state = _running(folder)
        if (
            state is not None
            and not state.keeper.end(signal.SIGTERM, STOP_S + WAIT_S)
            and not state.keeper.end(signal.SIGKILL, WAIT_S)
        ):
            raise RunFailed(f"process {state.keeper.pid}, which keeps the nodes, does not end")
        folder.clear()
    return state is not None


def _lame(state: State) -> list[str]:
    with ThreadPoolExecutor(len(state.nodes)) as pool:
        good = list(pool.map(_responds, state.nodes))
    return [node.name for node, is_good in zip(state.nodes, good, strict=True) if not is_good]


def _responds(node: Kept) -> bool:
    address = urlsplit(node.url)
    return node.process.alive() and greets(address.port or 0, address.hostname or "", RESPONDS_S)


def _revive(folder: StateFolder, state: State, timeout_s: float) -> State:
    state.keeper.tell(signal.SIGHUP)
    end = time.monotonic() + timeout_s
    while True:
        now = _running(folder)
        if now is None:
            raise RunFailed(f"the nodes in '{folder.path}' were ended at once")
        lame = _lame(now)
        if not lame:
            return now
        if time.monotonic() > end:
            text = f"RabbitMQ node {', '.join(lame)} cannot be started again in {timeout_s:g} s"
            said = tail(folder.log.read_text("utf-8", "replace"))
            raise RunFailed(f"{text}; 'dvsim broker down' ends all\n{said}".rstrip())
        time.sleep(POLL_S)


def _is_there(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise unusable(path, error) from error


def _running(folder: StateFolder) -> State | None:
    state = folder.read()
    return state if state is not None and state.keeper.alive() else None


def _start_keeper(folder: StateFolder, asked: Mapping[str, Any]) -> subprocess.Popen[str]:
    try:
        log = folder.log.open("w")
    except OSError as error:
        raise unusable(folder.log, error) from error
    with log:
        keeper = subprocess.Popen(
            [sys.executable, "-m", "dvsim.broker.keeper", str(folder.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            cwd="/",
            start_new_session=True,
        )
    assert keeper.stdin is not None
    with suppress(BrokenPipeError), keeper.stdin:  # it has ended: who follows it says how
        keeper.stdin.write(json.dumps(dict(asked)))
    return keeper


def _follow(
    keeper: subprocess.Popen[str], until: str, progress: Callable[[str], None], log: Path
) -> None:
    assert keeper.stdout is not None
    for line in iter(keeper.stdout.readline, ""):
        ((key, value),) = json.loads(line).items()
        if key == until:
            return
        if key == "progress":
            progress(value)
        elif key == "error":
            keeper.wait()
            error = DvsimError(value[0])
            error.exit_code = value[1]
            raise error
    text = f"the process that keeps the nodes has ended with code {keeper.wait()}"
    raise RunFailed(f"{text}:\n{tail(log.read_text('utf-8', 'replace'))}")


def _abandon(keeper: subprocess.Popen[str]) -> None:
    _close_pipe(keeper)
    keeper.terminate()
    try:
        keeper.wait(STOP_S + WAIT_S)
    except subprocess.TimeoutExpired:
        keeper.kill()
        keeper.wait()


def _close_pipe(keeper: subprocess.Popen[str]) -> None:
    if keeper.stdout is not None:
        keeper.stdout.close()


def _alarms(state: State, cluster: str) -> Mapping[str, set[str]]:
    alarms: dict[str, set[str]] = {}
    for node in state.nodes:
        if node.cluster == cluster and node.process.alive() and state.control is not None:
            try:
                said = state.control.status(node.name, timeout_s=20)["alarms"]
            except DvsimError:
                continue
            for alarm in said:
                alarms.setdefault(alarm["node"].partition("@")[0], set()).add(alarm["resource"])
            break
    return alarms


def _look(node: Kept, alarms: Mapping[str, set[str]]) -> Look:
    running = node.process.alive()
    return Look(
        node,
        running,
        _responds(node),
        resident_bytes(node.process.pid) if running else 0,
        age_s(node.process) if running else 0,
        tuple(sorted(alarms.get(node.name, ()))),
    )
