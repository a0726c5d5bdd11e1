"""Files and folders that nobody else can read."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dvsim.broker.process import HOST
from dvsim.errors import OutputError

LISTENERS = {
    "management": ("management.tcp.ip = {host}", "management.tcp.port = {port}"),
    "prometheus": ("prometheus.tcp.ip = {host}", "prometheus.tcp.port = {port}"),
    "mqtt": ("mqtt.listeners.tcp.1 = {host}:{port}",),
    "stomp": ("stomp.listeners.tcp.1 = {host}:{port}",),
    "stream": (
        "stream.listeners.tcp.1 = {host}:{port}",
        "stream.advertised_host = {host}",
        "stream.advertised_port = {port}",
    ),
    "web_mqtt": ("web_mqtt.tcp.ip = {host}", "web_mqtt.tcp.port = {port}"),
    "web_stomp": ("web_stomp.tcp.ip = {host}", "web_stomp.tcp.port = {port}"),
}
"""What plug-ins listen on: by themselves on every interface, on a port that may be taken."""


@dataclass(frozen=True)
class Settings:
    """What makes one node different from another."""

    # Such as ``a1`` of ``a``; in Erlang it is ``a1@localhost``.
    name: str
    cluster: str
    seed: str | None  # the name of the node whose cluster it joins; None for the first one
    folder: Path  # where all its files are
    # By purpose: ``amqp``, ``distribution``, ``amqps`` if wanted, and those of `LISTENERS`.
    ports: Mapping[str, int]
    plugins: tuple[str, ...]  # plug-ins to enable
    memory: int  # bytes at which the node lets publishers wait
    # Of the only user.
    user: str
    password: str
    address: str  # where it listens for AMQP without TLS; everything else listens on loopback
    tls: bool  # whether it also listens with TLS; then ``../tls`` has its certificate


def write(node: Settings) -> None:
    """Write the files that the node reads, for its owner alone."""
    node.folder.mkdir(mode=0o700)
    for name, text in {
        "rabbitmq.conf": "\n".join(_lines(node)) + "\n",
        "advanced.config": "[].\n",
        "enabled_plugins": f"[{','.join(node.plugins)}].\n",
    }.items():
        write_private(node.folder / name, text)


def write_private(path: Path, text: str, mode: int = 0o600) -> None:
    """Write a new file that nobody else can read, not even for a moment."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w") as file:
        file.write(text)


def environment(node: Settings, home: Path, epmd_port: int) -> dict[str, str]:
    """Return all of a node's environment."""
    folder = node.folder
    return erlang(home, epmd_port) | {
        "RABBITMQ_NODENAME": f"{node.name}@localhost",
        # by way of the folder that the node starts in: RabbitMQ's watch of free space gives up on a
        # path with spaces or letters beyond ASCII
        "RABBITMQ_MNESIA_BASE": "/proc/self/cwd/data",
        "RABBITMQ_LOG_BASE": str(folder),
        "RABBITMQ_LOGS": str(folder / "log"),
        "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq.conf"),
        "RABBITMQ_ADVANCED_CONFIG_FILE": str(folder / "advanced.config"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "enabled_plugins"),
        "RABBITMQ_GENERATED_CONFIG_DIR": str(folder / "generated"),
        "RABBITMQ_NODE_IP_ADDRESS": node.address,
        "RABBITMQ_NODE_PORT": str(node.ports["amqp"]),
        "RABBITMQ_DIST_PORT": str(node.ports["distribution"]),
        # each node's schedulers to the same cores, as is the default, is bad for several nodes
        "RABBITMQ_SCHEDULER_BIND_TYPE": "u",
        # the script becomes the node: its number is the one that was started
        "RUNNING_UNDER_SYSTEMD": "true",
    }


def erlang(home: Path, epmd_port: int) -> dict[str, str]:
    """Return the environment of a node, and of a program that talks to it.

    Nothing is taken over from this process but the path: what somebody has set for a RabbitMQ of
    his own must not reach this one.
    """
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "HOME": str(home),
        "RABBITMQ_CONF_ENV_FILE": os.devnull,
        "ERL_EPMD_PORT": str(epmd_port),
        "ERL_EPMD_ADDRESS": HOST,
        "ERL_FLAGS": "-kernel inet_dist_use_interface {127,0,0,1}",
        "ERL_CRASH_DUMP_SECONDS": "0",  # none: nobody would read it
    }


def _lines(node: Settings) -> list[str]:
    lines = [
        f"listeners.tcp.1 = {node.address}:{node.ports['amqp']}",
        f"cluster_name = {node.cluster}",
        f"default_user = {node.user}",
        f"default_pass = {node.password}",
        "default_user_tags.administrator = true",
        "loopback_users = none",
        f"vm_memory_high_watermark.absolute = {node.memory}",
        "disk_free_limit.absolute = 1MB",
        "log.file.level = info",
        "log.console = false",
    ]
    if node.seed is not None:  # which runs by then: no race for who founds the cluster
        lines += [
            "cluster_formation.peer_discovery_backend = classic_config",
            f"cluster_formation.classic_config.nodes.1 = {node.seed}@localhost",
            f"cluster_formation.classic_config.nodes.2 = {node.name}@localhost",
            "cluster_formation.randomized_startup_delay_range.min = 0",
            "cluster_formation.randomized_startup_delay_range.max = 1",
        ]
    if node.tls:
        lines += [
            f"listeners.ssl.1 = {HOST}:{node.ports['amqps']}",
            # relative to the node's folder, where it starts: a path may hold what this file cannot
            "ssl_options.cacertfile = ../tls/ca.pem",
            "ssl_options.certfile = ../tls/server.pem",
            "ssl_options.keyfile = ../tls/server-key.pem",
            "ssl_options.verify = verify_peer",
            "ssl_options.fail_if_no_peer_cert = false",
        ]
    for name, wanted in LISTENERS.items():
        if name in node.ports:
            lines += [line.format(host=HOST, port=node.ports[name]) for line in wanted]
    return lines


# A folder that nobody else can read, and that goes with its owner.
#
# The owner holds a lock on a file in it, which the kernel lets go when the owner ends, however it
# ends. What an owner that was killed has left in the folder for temporary files is removed by the
# next one.

PREFIX = "dvsim-broker-"
LOCK = "lock"
ATTEMPTS = 100  # to remove a folder, 10 ms apart


class PrivateFolder:
    """A new folder; or one that exists, is empty, and stays when its content has gone.

    Args:
        given: Its path; None for a new one among the temporary files.
        prefix: How the name of a new one begins; those that are left are found by it.
    """

    def __init__(self, given: Path | None = None, *, prefix: str = PREFIX) -> None:
        self._lock: int | None = None
        try:
            self._kept = given is not None and given.exists()
            if given is None:
                remove_left(prefix)
                given = Path(tempfile.mkdtemp(prefix=prefix))
            else:
                given.mkdir(mode=0o700, parents=True, exist_ok=True)
                if any(given.iterdir()):
                    raise OutputError(f"'{given}' is not empty")
            self.path = given.resolve()
            self._lock = _locked(self.path)
        except OSError as error:
            raise unusable(given, error) from error

    def close(self) -> None:
        """Remove it, and give back the lock, once."""
        if self._lock is None:
            return
        if self._kept:
            with contextlib.suppress(FileNotFoundError):
                _empty(self.path)
        else:
            _remove(self.path)
        os.close(self._lock)
        self._lock = None


def unusable(folder: Path | None, error: OSError) -> OutputError:
    """Return the error of a folder that cannot be made, read or written."""
    reason = "it is no folder" if isinstance(error, FileExistsError) else error.strerror
    return OutputError(f"cannot use '{folder}' for nodes: {reason}")


def remove_left(prefix: str = PREFIX) -> None:
    """Remove folders among the temporary files whose owners have gone."""
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with contextlib.suppress(OSError):
            lock = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if not folder.is_symlink() and folder.stat().st_uid == os.getuid():
                    _remove(folder)
            finally:
                os.close(lock)


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _remove(folder: Path) -> None:
    with contextlib.suppress(OSError):  # the name is taken, or the folder has gone
        folder = folder.rename(folder.with_name(f"{folder.name}-going"))
    for _ in range(ATTEMPTS):  # a program that was in the middle of a call may make one more file
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            break
        time.sleep(0.01)


def _locked(folder: Path) -> int:
    new = folder / f".{LOCK}"
    lock = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    new.rename(folder / LOCK)
    return lock
