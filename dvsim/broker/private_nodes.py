"""Clusters of private RabbitMQ nodes, from a `with` on until its end."""

from __future__ import annotations

import secrets
import string
import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from dvsim.broker.files import LISTENERS, PrivateFolder, Settings, erlang, unusable, write_private
from dvsim.broker.install import (
    Installation,
    check_patience,
    check_plugins,
    check_shape,
    find,
    memory_of,
)
from dvsim.broker.node import POLL_S, READY_S, STOP_S, Control, Node, make_certificates
from dvsim.broker.process import HOST, Ports, answers, start_bound
from dvsim.errors import RunFailed


@dataclass(frozen=True)
class Cluster:
    """Nodes that are one broker."""

    name: str  # ``a``, ``b`` and so on
    nodes: tuple[Node, ...]  # ``a1``, ``a2`` and so on


class Brokers:
    """Private RabbitMQ: ready when it is constructed, gone when the `with` ends.

    The nodes listen on loopback, on ports, with names, a cookie, a user and folders of their own;
    whatever else runs on this machine is neither used nor disturbed. They are killed as soon as
    this process ends, however it ends. Of a process that was killed the files stay in the folder
    for temporary ones, until somebody makes the next `Brokers`.

    Args:
        clusters, nodes: How many clusters, and how many nodes in each.
        directory: Where their files are: a folder that is empty or not there. Default: a temporary
            one.
        plugins: Plug-ins to enable, such as ``rabbitmq_management``; each listens on a port of its
            own.
        memory: Bytes in use at which a node lets its publishers wait. Default: all nodes together
            have 40 % of the machine's memory.
        tls: Listen with TLS, too; certificates are in `tls`.
        address: Where the nodes listen for AMQP without TLS: an IPv4 address of this machine.
        timeout_s: How long to wait until all are ready, in seconds.
        progress: Told, in a few words, what is waited for.

    Attributes:
        clusters: The `Cluster` of nodes.
        user, password: Of the only user, made up at random.
        credentials: A file with ``user:password``, which only its owner can read.
        tls: The folder with ``ca.pem``, ``client.pem`` and ``client-key.pem``; None without TLS.
        version: RabbitMQ's version.

    ::

        with Brokers(clusters=2, nodes=3) as brokers:
            for cluster in brokers.clusters:
                print(cluster.name, [node.url for node in cluster.nodes])
    """

    def __init__(
        self,
        clusters: int = 1,
        nodes: int = 1,
        *,
        directory: Path | None = None,
        plugins: Iterable[str] = (),
        memory: int | None = None,
        tls: bool = False,
        address: str = HOST,
        timeout_s: float = 180,
        progress: Callable[[str], None] = lambda _: None,
    ) -> None:
        check_shape(clusters, nodes)
        check_patience(timeout_s)
        memory = memory_of(clusters * nodes, memory)
        self._installation: Installation = find()
        chosen = check_plugins(plugins, self._installation)
        self.version = self._installation.version
        self.user = f"dvsim-{secrets.token_hex(4)}"
        self.password = secrets.token_hex(16)
        self.clusters: tuple[Cluster, ...] = ()
        self._ports, self._address = Ports(), address
        self._epmd: subprocess.Popen[bytes] | None = None
        self._folder = PrivateFolder(directory)
        try:
            self.credentials = self._folder.path / "credentials"
            self.tls = self._folder.path / "tls" if tls else None
            self._control = self._prepare()
            self.clusters = tuple(
                Cluster(name, tuple(self._node(name, k, chosen, memory) for k in range(nodes)))
                for name in string.ascii_lowercase[:clusters]
            )
            self._start(time.monotonic() + timeout_s, progress)
        except OSError as error:  # a full disk, as a rule
            self.close()
            if isinstance(error, BrokenPipeError):  # nobody hears the progress any more
                raise
            raise unusable(Path(error.filename or self._folder.path), error) from error
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Brokers:
        """Return itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close."""
        self.close()

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes, cluster by cluster."""
        return tuple(node for cluster in self.clusters for node in cluster.nodes)

    @property
    def control(self) -> Control:
        """How to reach the nodes with ``rabbitmqctl``."""
        return self._control

    def complete(self, timeout_s: float = READY_S) -> None:
        """Wait until every cluster has all its nodes, as after one that was killed is back."""
        for cluster in self.clusters:
            self._wait_cluster(cluster, time.monotonic() + timeout_s)

    def close(self, *, tidily: bool = False) -> None:
        """Kill the nodes and remove their files, once.

        Args:
            tidily: Let the nodes end by themselves first, which tells their clients, and takes
                seconds.
        """
        if tidily:
            end = time.monotonic() + STOP_S
            for node in self.nodes:
                node.ask_to_stop()
            for node in self.nodes:
                node.stop(max(0.0, end - time.monotonic()))
        for node in self.nodes:
            node.kill()
        if self._epmd is not None:
            self._epmd.kill()
            self._epmd.wait()
        self._ports.close()
        self._folder.close()

    def _prepare(self) -> Control:
        folder, home = self._folder.path, self._folder.path / "home"
        home.mkdir(mode=0o700)
        write_private(home / ".erlang.cookie", secrets.token_hex(20), 0o400)
        write_private(self.credentials, f"{self.user}:{self.password}\n")
        if self.tls is not None:
            make_certificates(self.tls)
        port = self._ports.take()
        epmd = [str(self._installation.epmd), "-address", HOST, "-port", str(port)]
        self._epmd = start_bound(epmd, erlang(home, port), home, folder / "epmd-output")
        return Control(self._installation.ctl, home, port)

    def _node(self, cluster: str, index: int, plugins: tuple[str, ...], memory: int) -> Node:
        names = ["amqp", "distribution", *(["amqps"] if self.tls else [])]
        names += LISTENERS if plugins else []
        settings = Settings(
            name=f"{cluster}{index + 1}",
            cluster=cluster,
            seed=f"{cluster}1" if index else None,
            folder=self._folder.path / f"{cluster}{index + 1}",
            ports={
                name: self._ports.take(self._address if name == "amqp" else HOST) for name in names
            },
            plugins=plugins,
            memory=memory,
            user=self.user,
            password=self.password,
            address=self._address,
            tls=self.tls is not None,
        )
        return Node(settings, self._installation, self._control)

    def _start(self, end: float, progress: Callable[[str], None]) -> None:
        self._wait_epmd(end)
        for batch in (
            [cluster.nodes[0] for cluster in self.clusters],
            [node for cluster in self.clusters for node in cluster.nodes[1:]],
        ):
            for node in batch:
                node.start(wait=False)
            for node in batch:
                progress(f"waiting for RabbitMQ node {node.name}")
                node.wait_ready(end - time.monotonic())
        for cluster in self.clusters:
            if len(cluster.nodes) > 1:
                progress(f"waiting for cluster {cluster.name}")
                self._wait_cluster(cluster, end)

    def _wait_epmd(self, end: float) -> None:
        while not answers(self._control.epmd_port):
            if self._epmd is None or self._epmd.poll() is not None or time.monotonic() > end:
                runs = self._epmd is not None and self._epmd.poll() is None
                reason = (self._folder.path / "epmd-output").read_text("utf-8", "replace").strip()
                reason = reason or ("it does not answer in time" if runs else "no reason told")
                raise RunFailed(f"Erlang's epmd does not start: {reason}")
            time.sleep(POLL_S)

    def _wait_cluster(self, cluster: Cluster, end: float) -> None:
        wanted = {f"{node.name}@localhost" for node in cluster.nodes}
        while True:
            running = self._control.status(cluster.nodes[0].name)["running_nodes"]
            if wanted == set(running):
                return
            if time.monotonic() > end:
                missing = ", ".join(sorted(wanted - set(running)))
                raise RunFailed(f"cluster {cluster.name} is not complete: {missing} missing")
            time.sleep(POLL_S)
