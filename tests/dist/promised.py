"""What this version promises to its users, as text: one line for each thing that must stay.

::

    python tests/dist/promised.py      # writes promised.txt anew, after something was added

libvic for compiled programs, commands and options, keys of scenarios and cards, names in Python.
A line that is no longer there breaks what somebody wrote before; it takes a version that may do so
(docs/versions.md), and is refused until `dvsim/_version.py` has one. A file that has to say more
than before is broken, too: so what a table requires is on one line.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from abi import lines_of
from pydantic import TypeAdapter

import dvsim
import dvsim.vic
from dvsim import errors
from dvsim.cli.main import cli
from dvsim.contract import OWN
from dvsim.contract.find import kind_named
from dvsim.kinds.hosts.spec import MessagingScenario
from dvsim.kinds.rabbitmq.spec import Scenario
from dvsim.kinds.switch.spec import SwitchScenario
from dvsim.native import emulator_prefix
from dvsim.scenario.card_kinds import KINDS
from dvsim.scenario.schema import CampaignFile
from dvsim.vic.binding import libvic

KEPT = Path(__file__).with_name("promised.txt")


def promised() -> list[str]:
    """Return all lines, of the checkout that is installed."""
    lines = [f"libvic: {line}" for line in lines_of(emulator_prefix(), libvic())]
    return sorted([*lines, *commands(cli, "dvsim"), *exits(), *files(), *names()])


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


def exits() -> Iterator[str]:
    """Yield the exit code of each kind of error."""
    for name, kind in vars(errors).items():
        if isinstance(kind, type) and issubclass(kind, errors.DvsimError):
            yield f"exit code: {kind.exit_code} of {name}"


NAMES = {
    "Scenario": "ScenarioFile",
    "SwitchScenario": "SwitchFile",
    "MessagingScenario": "MessagingFile",
    "SystemTable": "SystemFileTable",
    "System": "SystemTable",
    **{f"{name}Table": f"{name}FileTable" for name in ("Switch", "Network", "Traffic", "Flow")},
    **{
        name: f"{name}Table"
        for name in ("Column", "Compare", "Hot", "Probe", "Record", "Reference", "Tolerance")
    },
    "WhatIf": "WhatIfTable",
    "Workload": "WorkloadTable",
}
"""What the tables of files were called when they were first promised, by what they are now."""


def files() -> Iterator[str]:
    """Yield the keys of scenario files and cards, and the words that a key can be."""
    known = Scenario | SwitchScenario | MessagingScenario | CampaignFile
    tables = {NAMES.get(n, n): one for n, one in TypeAdapter(known).json_schema()["$defs"].items()}
    for kind in OWN:  # the tables of the first three had names before kinds had
        spec = kind_named(kind).Spec
        if spec.__name__ not in NAMES:
            schema = TypeAdapter(spec).json_schema()
            tables[f"{kind} file"] = schema
            tables |= {f"{kind} {name}": one for name, one in schema.get("$defs", {}).items()}
    varied = {
        name: one["properties"]["vary"]
        for name, one in tables.items()
        if "vary" in one["properties"]
    }
    tables |= {f"{name} vary": one["items"] for name, one in varied.items()}
    for name, table in tables.items():
        keys = table.get("properties", {})
        required = sorted(set(table.get("required", ())))
        if keys:
            yield f"file: {name} needs {', '.join(required) or 'nothing'}"
        for key, spec in keys.items():
            yield f"file: {name} {key}"
            yield from (f"file: {name} {key} = {word}" for word in _words(spec))
    for kind, parameters in KINDS.items():
        needed = sorted(name for name, spec in parameters.items() if not spec.optional)
        yield f"file: card {kind} needs {', '.join(needed)}"
        for name, spec in parameters.items():
            yield f"file: card {kind} {name} is a {spec.dimension}"


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


def _words(spec: dict[str, Any]) -> list[str]:
    every = [spec, *spec.get("anyOf", ())]
    return [str(word) for one in every for word in (*one.get("enum", ()), one.get("const")) if word]


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
