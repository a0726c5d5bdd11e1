"""What is typed: ``--set``, and the small languages of the other options."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import islice
from pathlib import Path

from case_changes import mutated
from case_files import Files
from target_scenarios import said
from targets import Target

from dvsim.contract.load import Template, load_campaign, template
from dvsim.errors import DvsimError, ScenarioError
from dvsim.kinds.switch.kind import KIND
from dvsim.scenario.find import resolve_name
from dvsim.scenario.units import DIMENSIONS, format_value, parse
from dvsim.study.limit.criterion import parse_criterion
from dvsim.study.sweeps.grid import parse_axis, parse_where

SETTINGS = (
    ("h3/dv-8", "workload.message_bytes=2 KiB\nsystem.card.sram=64 MiB\nprobe.interval=5 ms"),
    ("h3/fdr-8", "system.publisher.processes=8\nsystem.broker.service=9 us + 0.5 ns/B\nloop=open"),
    ("switch/load-latency", "traffic.load=0.3\nswitch.height=16\nvary=[{ load = [0.1, 0.2] }]"),
    ("amps/acknowledgements", "workload.rate=1000\nsystem.brokers=2\nsystem.link=ipoib-ddr"),
)
OPTIONS = {
    "vary": ("workload.message_bytes=8..131072*16", "system.card.sram=1 MiB..4 MiB*2,1 GiB",
             "load=0.1..0.9+0.1", "rate=1e3..1e7/20", "client=[{ a = 1 }, { b = 2 }],'x,y'"),
    "where": ("sram < 64 MiB and not load > 0.9", "load * 2 + 1 >= -3 / sram or name == 'a'"),
    "until": ("acceptance > 0.99 and p99 <= 40", "latency_p99 < 1 ms"),
    "unit": ("5.001 ms", "2 MiB", "56 Gb/s", "46 us + 3.3 ns/B", "20_000_000", "0.15"),
    "name": ("h3/dv-8", "h3/dv-*", "../h3/dv-8", "switch/load-latency"),
}  # fmt: skip
POINT = {"system.card.sram": "16 MiB", "load": "0.5", "name": "a"}


@cache
def _template(name: str) -> Template:
    return template(name)


def read_settings(files: Files, folder: Path) -> str:
    """Apply options to a scenario."""
    asked = files["set"].decode("utf-8", "surrogateescape").split("\n")
    try:
        _template(files["of"].decode("utf-8", "replace")).resolved(asked)
    except KeyError:
        return "no such scenario here"
    except ScenarioError as error:
        return said(error.faults)
    return "good"


def _vary(text: str) -> str:
    axis = parse_axis(text)
    return f"{len(axis.values)} values, {axis.at(0.0)[:40]}, {axis.at(0.999)[:40]}"


def _unit(text: str) -> str:
    answers = []
    for dimension in DIMENSIONS:
        try:
            value = parse(text, dimension)
        except DvsimError as error:
            answers.append(str(error))
            continue
        assert parse(format_value(value, dimension), dimension) == value, (value, dimension)
        answers.append(f"a {dimension}")
    return "; ".join(answers)


READERS: dict[str, Callable[[str], str]] = {
    "vary": _vary,
    "where": lambda text: str(parse_where(text, list(POINT)).holds(POINT)),
    "until": lambda text: str(len(parse_criterion(text, KIND.units).terms)),
    "unit": _unit,
    "name": lambda text: str(len(list(islice(load_campaign(text), 3)))),
}


def read_option(files: Files, folder: Path) -> str:
    """Read a text as the option that it is of."""
    ((kind, case),) = files.items()
    text = case.decode("utf-8", "surrogateescape")
    if kind == "name" and Path(f"{text}.toml").name == text:
        resolve_name(text)
    return f"{kind} {READERS[kind](text)}"


TARGETS = {
    "set": Target(
        lambda: [{"of": of.encode(), "set": text.encode()} for of, text in SETTINGS],
        read_settings,
        (DvsimError,),
        mutated,
    ),
    "option": Target(
        lambda: [{kind: text.encode()} for kind, texts in OPTIONS.items() for text in texts],
        read_option,
        (DvsimError,),
        mutated,
    ),
}
