"""What this version promises to its users, as text: one line for each thing that must stay.

::

    python tests/dist/promised.py      # writes promised.txt anew, after something was added

libvic for compiled programs, commands and options, keys of scenarios and cards, columns of what
``--json`` prints, names in Python.
A line that is no longer there breaks what somebody wrote before; it takes a version that may do so
(docs/versions.md), and is refused until `dvsim/_version.py` has one.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import click
from abi import lines_of
from pydantic import TypeAdapter

import dvsim
import dvsim.vic
from dvsim.cli.main import cli
from dvsim.contract import OWN
from dvsim.contract.find import kind_named
from dvsim.native import emulator_prefix
from dvsim.scenario.card_kinds import KINDS
from dvsim.scenario.schema import CampaignFile
from dvsim.table.reply import Facts, Point, Value
from dvsim.vic.binding import libvic

KEPT = Path(__file__).with_name("promised.txt")


def promised() -> list[str]:
    """Return all lines, of the checkout that is installed."""
    lines = [f"libvic: {line}" for line in lines_of(emulator_prefix(), libvic())]
    return sorted([*lines, *commands(cli, "dvsim"), *files(), *names(), *columns()])


def commands(command: click.Command, path: str) -> Iterator[str]:
    """Yield verbs, options with the values that they can have, and how many arguments there are."""
    context = click.Context(command)
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            choices = getattr(parameter.type, "choices", ())
            for name in (*parameter.opts, *parameter.secondary_opts):
                takes = "" if parameter.is_flag else f" {parameter.type.name}"
                yield f"command: {path} {name}{takes}"
                yield from (f"command: {path} {name} {choice}" for choice in choices)
        else:
            many = "..." if parameter.nargs == -1 else ""
            need = "" if parameter.required else " or nothing"
            yield f"command: {path} {parameter.name}{many}{need}"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield f"command: {path} {name}"
            yield from commands(inner, f"{path} {name}")


def files() -> Iterator[str]:
    """Yield the keys of scenario files and cards."""
    specs = {kind: kind_named(kind).Spec for kind in OWN} | {"campaign": CampaignFile}
    for kind, spec in specs.items():
        schema = TypeAdapter(spec).json_schema()
        for name, table in {"file": schema, **schema.get("$defs", {})}.items():
            yield from (f"file: {kind} {name} {key}" for key in table.get("properties", {}))
    for kind, parameters in KINDS.items():
        yield from (f"file: card {kind} {name}" for name in parameters)


def columns() -> Iterator[str]:
    """Yield the columns of what ``--json`` prints."""
    for part, model in {"points": Point, "values": Value, "facts": Facts}.items():
        yield from (f"json: {part} {name}" for name in model.model_fields)


def names() -> Iterator[str]:
    """Yield the names that Python users get, with their parameters."""
    for module in (dvsim, dvsim.vic):
        for name in module.__all__:
            thing = getattr(module, name)
            yield f"python: {module.__name__}.{name}"
            if inspect.isroutine(thing):
                for parameter in inspect.signature(thing).parameters.values():
                    need = " (needed)" if parameter.default is parameter.empty else ""
                    yield f"python: {module.__name__}.{name}: {parameter.name}{need}"


def breaking(version: str) -> str:
    """Return the part of a version that has to change when something is removed."""
    major, minor, *_ = version.split(".")
    return f"{major}.{minor}" if major == "0" else major


def kept() -> tuple[str, list[str]]:
    """Return the list that is kept, and the part of the version that it belongs to."""
    head, *lines = KEPT.read_text("utf-8").splitlines()
    return head.removeprefix("dvsim "), lines


def main() -> int:
    """Write the list anew, unless that needs another version."""
    lines = promised()
    if KEPT.exists():
        belongs, old = kept()
        gone = sorted(set(old) - set(lines))
        if gone and belongs == breaking(dvsim.__version__):
            print(*gone, sep="\n")
            print(
                f"promised.py: these are gone, which no {belongs}.x may do; raise the version first"
            )
            return 1
    KEPT.write_text("\n".join([f"dvsim {breaking(dvsim.__version__)}", *lines]) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
