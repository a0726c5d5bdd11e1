"""One RabbitMQ node for all workers of a test run: the first test that asks for it starts it.

The process that runs the tests ends it, however the tests end. Tests that share it leave it as it
was, and use names that no other test has.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from harness.once import MADE_HERE, STORE, once
from harness.patience import patience

from dvsim.broker.node import Control
from dvsim.broker.process import Identity

KEEPER = Path(__file__).with_name("rabbitmq_keeper.py")
RUN = "DVSIM_TESTS_RUN"
END_S = 60


@dataclass(frozen=True)
class SharedNode:
    """The node, with what `dvsim.broker.Node` has of it; nobody may kill or stop it."""

    name: str
    url: str
    tls_url: str
    port: int
    pid: int
    ports: dict[str, int]
    control: Control

    @property
    def log(self) -> str:
        """What it has written."""
        folder = self.control.home.parent / self.name
        paths = (folder / name for name in ("output", "log"))
        return "".join(p.read_text("utf-8", "replace") for p in paths if p.exists())

    def ctl(self, *arguments: str) -> str:
        """Run ``rabbitmqctl`` on it and return what that prints."""
        return self.control.run(self.name, *arguments)


@dataclass(frozen=True)
class Shared:
    """The node and its only user, with what `dvsim.broker.Brokers` has of them."""

    nodes: tuple[SharedNode, ...]
    control: Control
    user: str
    password: str
    credentials: Path
    tls: Path
    version: str
    vhost: str = "/"

    def room(self, name: str) -> Shared:
        """Return the same node with a new virtual host: exchanges and queues apart from all."""
        (node,) = self.nodes
        rights = "<<'.*'>>, <<'.*'>>, <<'.*'>>, <<'test'>>"
        said = (
            f"ok = rabbit_vhost:add(<<'{name}'>>, <<'test'>>), "
            f"rabbit_auth_backend_internal:set_permissions(<<'{self.user}'>>, <<'{name}'>>, "
            f"{rights})."
        )
        assert node.ctl("eval", said.replace("'", '"')).strip() == "ok"
        urls = {key: getattr(node, key).replace("%2f", name) for key in ("url", "tls_url")}
        return replace(self, nodes=(replace(node, **urls),), vhost=name)

    def queues(self) -> list[str]:
        """Return the names of the queues of this virtual host."""
        asked = ("list_queues", "-p", self.vhost, "--no-table-headers", "name")
        return self.nodes[0].ctl(*asked).split()


def shared() -> Shared:
    """Return the node of this run; start it if no test has."""
    once("the RabbitMQ node of the run", _start)
    said = json.loads(_known().read_text("utf-8"))
    control, own = said["control"], said["brokers"]
    reach = Control(Path(control["program"]), Path(control["home"]), control["epmd_port"])
    paths = {name: Path(own.pop(name)) for name in ("credentials", "tls")}
    return Shared((SharedNode(**said["node"], control=reach),), reach, **own, **paths)


def pytest_configure(config: pytest.Config) -> None:
    """Tell the workers, and the keeper, which process runs the tests."""
    if config.stash[MADE_HERE]:
        os.environ[RUN] = str(os.getpid())


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the node."""
    if config.stash[MADE_HERE] and _known().exists():
        keeper = Identity.of(json.loads(_known().read_text("utf-8"))["keeper"])
        _known().unlink()
        if keeper is not None:
            keeper.end(signal.SIGTERM, patience(END_S))


def _known() -> Path:
    return Path(os.environ[STORE]) / "rabbitmq.json"


def _start(folder: Path) -> None:
    """Start the process that keeps the node, and wait until it has written down where it is."""
    log = folder / "log"
    of_all = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    with log.open("wb") as out:
        keeper = subprocess.Popen(
            [sys.executable, str(KEEPER), str(_known()), os.environ[RUN]],
            stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd="/", start_new_session=True,
            env=of_all,
        )  # fmt: skip
    while not _known().exists():
        assert keeper.poll() is None, log.read_text("utf-8", "replace")
        time.sleep(0.05)
    keeper.returncode = 0  # it is nobody's child any more
