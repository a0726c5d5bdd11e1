"""``dvsim broker``: private RabbitMQ nodes that run until they are told to end."""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dvsim.cli.options import Output, json_option
from dvsim.cli.terminal import complain, say, say_json, say_table
from dvsim.errors import RunFailed, ScenarioError, nearest
from dvsim.study.table import Table

if TYPE_CHECKING:
    from dvsim.broker.service import Look, State

dir_option = click.option(
    "--dir",
    "folder",
    type=Output(folder=True),
    metavar="FOLDER",
    help="Where the nodes that run are recorded.  [default: ~/.local/state/dvsim/broker]",
)


@click.group("broker")
def broker() -> None:
    """Run private RabbitMQ nodes: two clusters of three, as in the paper, or fewer.

    They listen on loopback, on ports, with names, a user and folders of their own, and disturb no
    other RabbitMQ. It must be installed: apt install rabbitmq-server.
    """


@broker.command("up")
@click.option("--clusters", default=1, show_default=True, help="How many clusters.")
@click.option("--nodes", default=1, show_default=True, help="Nodes in each cluster.")
@click.option(
    "--plugins", default="", metavar="NAME,...", help="Plugins, such as rabbitmq_management."
)
@click.option(
    "--memory",
    metavar="SIZE",
    help="From here on a node makes publishers wait.  [default: together 40 % of the machine's]",
)
@click.option("--tls", is_flag=True, help="Listen with TLS, too; makes certificates.")
@click.option("--timeout", "timeout_s", default=180.0, show_default=True, help="Seconds to wait.")
@dir_option
@json_option
def up(
    plugins: str,
    memory: str | None,
    folder: Path | None,
    as_json: bool,
    **asked: Any,  # noqa: ANN401 - as in click
) -> None:
    """Start nodes, and return when they are ready.

    Of nodes that run already, those that have ended or do not answer are started again.

    Example: dvsim broker up --clusters 2 --nodes 3
    """
    from dvsim.broker import service
    from dvsim.table.reply import Reply

    asked["plugins"] = [name.strip() for name in plugins.split(",") if name.strip()]
    asked["memory"] = None if memory is None else _bytes(memory)
    state, before = service.up(folder or service.default_folder(), asked, complain)
    if before:
        complain("these nodes run already")
    say_json(Reply.of(**_facts(state))) if as_json else say(_addresses(state))


@broker.command("status")
@dir_option
@json_option
def status(folder: Path | None, as_json: bool) -> None:
    """Show the nodes that run. Exit code 1 if none does, or one has ended or does not answer."""
    from dvsim.broker import service
    from dvsim.table.reply import Reply

    folder = folder or service.default_folder()
    status = service.status(folder)
    if status is None:
        say_json(Reply.of(nodes=[])) if as_json else say(f"no nodes run in '{folder}'")
        sys.exit(1)
    state, looks = status
    say_json(Reply.of(**_facts(state, looks))) if as_json else say_table(_table(looks))
    sys.exit(0 if all(look.answers for look in looks) else 1)


@broker.command("env")
@click.option("--cluster", metavar="NAME", help="The cluster to use.  [default: a]")
@dir_option
def env(cluster: str | None, folder: Path | None) -> None:
    """Print settings for the shell, so that later commands find the nodes.

    eval "$(dvsim broker env)"

    Then vicbridge and dvsim run --backend emu take URLs and credentials from the environment, and
    so do programs that dvsim emulate starts. The password stays in its file.
    """
    from dvsim.broker import service

    folder = folder or service.default_folder()
    status = service.status(folder)
    if status is None:
        raise RunFailed(f"no nodes run in '{folder}'; 'dvsim broker up' starts some")
    state, looks = status
    there = {look.node.name for look in looks if look.answers}
    names = list(dict.fromkeys(node.cluster for node in state.nodes))
    chosen = names[0] if cluster is None else cluster
    if chosen not in names:
        near = nearest(chosen, names)
        raise ScenarioError.at("--cluster", f"'{chosen}' does not run", hint=near)
    urls = " ".join(n.url for n in state.nodes if n.cluster == chosen and n.name in there)
    if not urls:
        raise RunFailed(f"no node of cluster {chosen} answers; 'dvsim broker up' starts it again")
    named = {"VICBRIDGE_URL": urls, "VICBRIDGE_CREDENTIALS": str(_files(state)["credentials"])}
    for name, value in named.items():
        click.echo(f"export {name}={shlex.quote(value)}")
    click.echo("unset VICBRIDGE_USER VICBRIDGE_PASSWORD")  # they would count instead of the file


@broker.command("down")
@dir_option
def down(folder: Path | None) -> None:
    """End the nodes and remove everything of theirs, messages, too."""
    from dvsim.broker import service

    folder = folder or service.default_folder()
    if not service.down(folder):
        say(f"no nodes run in '{folder}'")


def _bytes(text: str) -> int:
    from dvsim.scenario.units import UnitError, parse

    try:
        return parse(text, "size")
    except UnitError as error:
        raise ScenarioError.at("--memory", str(error)) from error


def _facts(state: State, looks: list[Look] | None = None) -> dict[str, Any]:
    nodes = {n.name: asdict(n) | {"process": n.process.pid} for n in state.nodes}
    for look in looks or ():
        now = {
            "running": look.running,
            "answers": look.answers,
            "memory": look.memory,
            "alarms": look.alarms,
        }
        nodes[look.node.name] |= now | {"uptime_s": round(look.uptime_s, 1)}
    return {"nodes": list(nodes.values())} | {
        name: str(path) for name, path in _files(state).items()
    }


def _files(state: State) -> dict[str, Path]:
    assert state.control is not None
    folder = state.control.home.parent
    files = {"credentials": folder / "credentials"}
    return files | ({"ca": folder / "tls" / "ca.pem"} if state.asked["tls"] else {})


def _addresses(state: State) -> str:
    lines = []
    for node in state.nodes:
        lines.append(f"{node.name:12} {node.url}")
        lines += [f"{node.name:12} {node.tls_url}"] if node.tls_url else []
        lines += [f"{node.name:12} {what} on port {port}" for what, port in node.ports.items()]
    return "\n".join([*lines, *(f"{name:12} {path}" for name, path in _files(state).items())])


def _table(looks: list[Look]) -> Table:
    rows = []
    for look in looks:
        running = (str(look.node.process.pid), str(look.memory >> 20), f"{look.uptime_s:.0f} s")
        state = ", ".join(look.alarms) or "none" if look.answers else "does not answer"
        columns = (*running, state) if look.running else ("", "", "", "has ended")
        rows.append((look.node.name, look.node.url, *columns))
    return Table(("node", "url", "pid", "MiB", "up", "alarms"), rows, right=(2, 3, 4))
