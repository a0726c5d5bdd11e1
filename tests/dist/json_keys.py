"""What `--json` prints, as lines for promised.py: the path of each value, and what it may be.

Verbs are run once for each kind of object that they print, on so little that it takes a moment:
the keys are those of the real thing. `{}` stands for keys that are names: of parameters, cards,
keys of scenarios, files. Any number can be null where there is none to be had.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from unittest import mock

from click.testing import CliRunner

from dvsim.broker import service
from dvsim.broker.control import Control
from dvsim.broker.process import Identity
from dvsim.broker.state import Kept, State
from dvsim.cli.main import cli

NAMED = ("values", "cards", "parameters", "notes", "units", "files", "point", "errors", "known",
         "types", "estimates", "ports")  # fmt: skip
"""Objects whose keys are names."""
OF_THE_MACHINE = ("git", "host")
"""Objects of which only their place is promised."""

FEW = ["--scale", "0.0005", "--replications", "2", "--workers", "1"]
SWITCH = ["switch/zero-load", "--set", "vary=[{height=[4]}]", "--set", "traffic.slots=50"]
TWO = ["h3/fdr-8", "--scale", "0.0005", "--vary", "workload.message_bytes=8,16"]
SWEEP = [*TWO, "--replications", "2", "--workers", "1"]
SOBOL = [*SWEEP, "--vary", "workload.messages=1000..2000", "--sensitivity"]
FIT = ["fdr-ipoib", "--against", "h3_message_rates.csv", "--fit", "r1:8"]
FIT += ["--parameter", "latency", "--budget", "4", "--starts", "1", "--scale", "0.0005"]
LIMIT = ["h3/fdr-8", "--until", "behind < 1 s", "--scale", "0.0002", "--replications", "2"]
BAD = 'extends = "h3/fdr-8"\nworkload = { mesages = 1 }\n'
WHATIF = """
title = "t"
question = "q?"
source = "s"
assumed = ["nothing"]
baseline = "as it is"
also = ["blocked"]
campaign = ["mine"]
[[variant]]
name = "two"
says = "two receivers"
times = { "system.broker.service" = 2 }
"""
COMMANDS: dict[str, list[str]] = {
    "list": ["list"],
    "check": ["check", "bad.toml"],
    "show, a scenario": ["show", "h3/dv-8"],
    "show, a card": ["show", "h3-bridge"],
    "show, a campaign": ["show", "h3/published"],
    "run, a system": ["run", "h3/fdr-8", *FEW],
    "run, a switch": ["run", *SWITCH, "--replications", "2", "--workers", "1"],
    "run, messaging": ["run", "zeromq/latency", *FEW],
    "run, what-if": ["run", "whatif.toml", *FEW],
    "compare, systems": ["compare", "h3/fdr-8", "--last", "2"],
    "compare, studies": ["compare", "zeromq/latency", "--last", "2"],
    "compare, a run and a sweep": ["compare", "h3/fdr-8", "sweeps/h3"],
    "validate": ["validate", "h3/*-8", *FEW],
    "validate --against": ["validate", "h3/fdr-8", "--against", "h3_message_rates.csv", *FEW],
    "sweep": ["sweep", *SWEEP],
    "sweep --dry-run": ["sweep", *SWEEP, "--dry-run"],
    "sweep --sensitivity": ["sweep", *SOBOL, "--samples", "2"],
    "limit": ["limit", *LIMIT, "--workers", "1"],
    "consistency": ["consistency"],
    "calibrate --against": ["calibrate", *FIT],
    "broker status": ["broker", "status", "--dir", "."],
}
BEFORE = {
    "compare, systems": [["run", "h3/fdr-8", *FEW, "--seed", "2"]],
    "compare, studies": [["run", "zeromq/latency", *FEW, "--seed", "2"]],
    "compare, a run and a sweep": [["sweep", *SWEEP]],
}


def json_keys() -> Iterator[str]:
    """Yield a line for each value of each object."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path("bad.toml").write_text(BAD, "utf-8")
        Path("mine.toml").write_text('extends = "h3/fdr-8"\n', "utf-8")
        Path("whatif.toml").write_text(WHATIF, "utf-8")
        for name, words in COMMANDS.items():
            for before in BEFORE.get(name, []):
                printed(before)
            found: dict[str, set[str]] = {}
            gather(printed(words), "", found)
            for path, seen in found.items():
                yield f"json: dvsim {name}: {path} {' or '.join(sorted(seen))}"


def printed(words: list[str]) -> object:
    """Return what a command prints with --json."""
    with mock.patch.object(service, "status", lambda folder: (STATE, [LOOK])):
        done = CliRunner().invoke(cli, [*words, "--json"], prog_name="dvsim")
    assert done.stdout.startswith("{"), done.output
    return json.loads(done.stdout)


def gather(value: object, path: str, found: dict[str, set[str]]) -> None:
    """Note what stands at each path; that of null is left out."""
    last = path.rpartition(".")[2]
    if last in OF_THE_MACHINE:
        found.setdefault(path, set()).add("object")
    elif isinstance(value, dict):
        for key, item in value.items():
            gather(item, f"{path}{{}}" if last in NAMED else f"{path}.{key}".lstrip("."), found)
    elif isinstance(value, list):
        for item in value:
            gather(item, f"{path}[]", found)
    elif value is not None:
        kind = {bool: "true or false", str: "text"}.get(type(value), "number")
        found.setdefault(path, set()).add(kind)


def _state() -> tuple[State, service.Look]:
    me = Identity(os.getpid(), 1, "boot")
    node = Kept("a1", "a", "amqp://127.0.0.1:1", None, {"stream": 2}, me)
    control = Control(Path("rabbitmqctl"), Path("folder/home"), 3)
    return State(me, {"tls": True}, (node,), control), service.Look(node, True, 1, 1.0, ("disk",))


STATE, LOOK = _state()
