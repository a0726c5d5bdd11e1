"""The options of ``dvsim run`` that say what runs a scenario: the model, or real programs."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dvsim.cli.options import with_options
from dvsim.cli.terminal import complain
from dvsim.errors import Fault, ScenarioError

if TYPE_CHECKING:
    from dvsim.emulation.settings import Emulation

OPTIONS = (
    *("backend", "urls", "credentials", "clusters", "nodes", "at_least_once"),
    *("hosts", "broker_hosts", "launch_with", "interface", "bridge"),
)


def emulation_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options to a verb, which gets ``emulation``: what the backend is, when asked."""

    @functools.wraps(command)
    def packed(**given: Any) -> None:  # noqa: ANN401 - as in click
        own = {name: given.pop(name) for name in OPTIONS}
        command(emulation=functools.partial(_chosen, **own), **given)

    return with_options(
        packed,
        click.option(
            "--backend",
            default="sim",
            show_default=True,
            help="sim: the model. emu: real programs and RabbitMQ on this machine.",
        ),
        _emu(
            "--url",
            "your broker, amqp://HOST[:PORT][/VHOST]. Repeatable: the n-th is for receiver n."
            "  [default: VICBRIDGE_URL, see dvsim broker env]",
            "urls",
            multiple=True,
            metavar="URL",
        ),
        _emu(
            "--credentials", "file with user:password for --url.", type=click.Path(path_type=Path)
        ),
        _emu("--clusters", "private RabbitMQ clusters.  [default: 2]", type=int),
        _emu("--nodes", "nodes of each cluster.  [default: 3]", type=int),
        _emu("--at-least-once", "with publisher confirms, unlike the paper.", is_flag=True),
        _emu("--bridge", "your bridge in vicbridge's place, as the shell runs it.", metavar="CMD"),
        _emu(
            "--hosts",
            "N cards on host A, then M on B; senders first, then bridges.",
            metavar="A:N,B:M",
        ),
        _emu(
            "--broker-hosts",
            "the host of each cluster.  [default: that of its bridge]",
            metavar="A,B",
        ),
        _emu("--launch-with", "how to run a command on {host}.  [default: ssh]", metavar="COMMAND"),
        _emu("--interface", "network interface between the hosts.", metavar="NAME"),
    )


def _emu(
    name: str,
    what: str,
    *names: str,
    **how: Any,  # noqa: ANN401 - as in click
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option(name, *names, help=f"emu: {what}", **how)


def _chosen(
    backend: str,
    urls: tuple[str, ...],
    credentials: Path | None,
    clusters: int | None,
    nodes: int | None,
    at_least_once: bool,
    hosts: str | None,
    broker_hosts: str | None,
    launch_with: str | None,
    interface: str | None,
    bridge: str | None,
) -> str | Emulation:
    from dvsim.emulation.hosts import Hosts
    from dvsim.emulation.own_bridge import OwnBridge
    from dvsim.emulation.settings import CLUSTERS, Emulation

    private = {"--clusters": clusters, "--nodes": nodes}
    on_hosts = {
        "--broker-hosts": broker_hosts,
        "--launch-with": launch_with,
        "--interface": interface,
    }
    emulated = {
        "--hosts": hosts,
        "--bridge": bridge,
        **on_hosts,
        "--url": urls or None,
        "--credentials": credentials,
        "--at-least-once": at_least_once or None,
        **private,
    }
    wrong: dict[str, object] = {}
    if backend == "sim":
        wrong, reason = {**emulated}, "is for --backend emu"
    elif hosts is None and any(value is not None for value in on_hosts.values()):
        wrong, reason = {**on_hosts}, "is for --hosts"
    elif urls:
        wrong, reason = {**private}, "is for private brokers, and --url names others"
    elif broker_hosts is None and not any(value is not None for value in private.values()):
        urls = tuple(os.environ.get("VICBRIDGE_URL", "").split())  # of dvsim broker env
        if urls and not any("@" in url for url in urls):
            complain(f"brokers: {' '.join(urls)} (VICBRIDGE_URL)")
    faults = [Fault(name, None, "", reason) for name, value in wrong.items() if value is not None]
    if faults:
        raise ScenarioError(faults)
    if backend != "emu":
        return backend
    return Emulation(
        clusters=CLUSTERS if clusters is None else clusters,
        nodes=nodes,
        urls=urls,
        credentials=credentials,
        at_least_once=at_least_once,
        bridge=None if bridge is None else OwnBridge(bridge),
        hosts=None if hosts is None else Hosts.of(hosts, broker_hosts, launch_with, interface),
    )
