"""From a document to a frozen `SwitchScenario`: schema, points and checks, all faults together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dvsim.errors import Fault
from dvsim.scenario import bounds, find
from dvsim.scenario.document import COMMAND_LINE, Document, KeyPath
from dvsim.scenario.faults import in_order, validate
from dvsim.scenario.switch_schema import (
    NetworkFileTable,
    SwitchFile,
    SwitchFileTable,
    TrafficFileTable,
    frozen_network,
    frozen_record,
    frozen_switch,
    frozen_traffic,
)
from dvsim.scenario.switch_types import Setting, SwitchScenario, point_text

NEEDED = {"switch": ("height", "angles"), "traffic": ("slots",)}
"""Keys that a table must have, unless they are varied."""


def is_switch(data: Mapping[str, Any]) -> bool:
    """Say whether a file is, or is meant to be, a scenario of a switch or network alone."""
    if "workload" in data or "system" in data:
        return False
    return data.get("kind") == "switch" or "traffic" in data


def build_switch(
    document: Document, path: Path, *, partial: bool = False
) -> tuple[SwitchScenario | None, list[Fault]]:
    """Check a document as a whole and freeze it; as `dvsim.scenario.build.build`."""
    model, faults = validate(SwitchFile, document, partial=partial)
    places = _Places(document)
    faults += list(_devices(document, partial=partial))
    faults += list(_varied(document, places))
    if not partial:
        # a key that is only misspelt is told once
        meant = {fault.hint for fault in faults if fault.message == "unknown key"}
        faults += [fault for fault in _needed(document, places) if _last(fault) not in meant]
    if model is None or faults or partial:
        return None, in_order(faults)
    scenario, faults = _freeze(model, document, places, path)
    fault = None if model.name else find.name_fault(scenario.name)
    if fault:
        faults.append(document.fault(("name",), f"missing, and that of the file {fault}"))
    faults = faults or _together(scenario, document, places)
    return (None, in_order(faults)) if faults else (scenario, [])


class _Places:
    """Where each key stands: in a table of ``[[vary]]``, or in the table that it belongs to.

    A key that is set on the command line is not varied any more, unless ``vary`` is set there too;
    see `SwitchScenario.fixed`.
    """

    def __init__(self, document: Document) -> None:
        self.device: KeyPath = ("network", "switch")
        if document.at(("switch",)) is not None:
            self.device = ("switch",)
        self.varied: dict[str, KeyPath] = {}
        self.pinned: set[str] = set()
        tables = document.at(("vary",))
        for number, table in enumerate(tables if isinstance(tables, list) else []):
            for key in table if isinstance(table, dict) else []:
                place = ("vary", number, key)
                own = self.own(key)
                given = own in document.origins and document.origin(own) == COMMAND_LINE
                if given and document.origin(place) != COMMAND_LINE:
                    self.pinned.add(key)
                else:
                    self.varied.setdefault(key, place)

    def own(self, key: str) -> KeyPath:
        """Return the place of a key in its table."""
        if key in TrafficFileTable.model_fields:
            return ("traffic", key)
        if key in SwitchFileTable.model_fields:
            return (*self.device, key)
        return ("network", key)

    def of(self, key: str) -> KeyPath:
        """Return the place of the value that counts."""
        return self.varied.get(key) or self.own(key)


def _devices(document: Document, *, partial: bool) -> Iterator[Fault]:
    """Ask for a switch or a network."""
    given = [name for name in ("switch", "network") if document.at((name,)) is not None]
    if len(given) == 2:
        message = "not beside [switch]; a scenario has one of the two"
        yield document.fault(("network",), message)
    elif not given and not partial:
        yield document.fault(("switch",), "missing; a scenario has [switch] or [network]")


def _varied(document: Document, places: _Places) -> Iterator[Fault]:
    """Look for keys that are varied twice, or that the device does not have."""
    tables = document.at(("vary",))
    for number, table in enumerate(tables if isinstance(tables, list) else []):
        for key in table if isinstance(table, dict) else []:
            place: KeyPath = ("vary", number, key)
            first = places.varied.get(key, place)
            own = places.own(key)
            if first != place and key not in places.pinned:
                line = document.origin(first).line
                yield document.fault(place, f"is varied twice, first in line {line}")
            elif key in NetworkFileTable.model_fields and document.at(("network",)) is None:
                yield document.fault(place, "is of [network]; this scenario has [switch]")
            elif own[:2] == ("network", "switch") and document.at(own[:2]) is None:
                yield document.fault(place, "is of [network.switch], which is not there")


def _needed(document: Document, places: _Places) -> Iterator[Fault]:
    """Look for keys that are neither given nor varied."""
    tables: dict[KeyPath, tuple[str, ...]] = {("traffic",): NEEDED["traffic"]}
    tables[places.device] = NEEDED["switch"]
    for path, keys in tables.items():
        table = document.at(path)
        for key in keys if isinstance(table, dict) else ():
            if key not in table and key not in places.varied:
                yield document.fault((*path, key), "missing, and not varied")


def _last(fault: Fault) -> str:
    return fault.key.rpartition(".")[2]


def _freeze(
    model: SwitchFile, document: Document, places: _Places, path: Path
) -> tuple[SwitchScenario, list[Fault]]:
    """Return the frozen form of a checked file, and what is wrong with its trace."""
    vary = tuple(table.given() for table in model.vary)
    first = {
        key: values[0]
        for table in vary
        for key, values in table.items()
        if key not in places.pinned
    }
    trace, traffic = model.traffic.trace, model.traffic
    if isinstance(trace, str):
        traffic = traffic.model_copy(update={"trace": None})
    setting = Setting(
        switch=None if model.switch is None else frozen_switch(model.switch, first),
        network=None if model.network is None else frozen_network(model.network, first),
        traffic=frozen_traffic(traffic, first),
    )
    faults: list[Fault] = []
    if isinstance(trace, str):
        setting, faults = _with_trace(setting, trace, document)
    scenario = SwitchScenario(
        name=model.name or find.scenario_name(path),
        path=str(path),
        title=model.title,
        question=model.question,
        source=model.source,
        setting=setting,
        vary=vary,
        compare=tuple(dict.fromkeys(model.compare.with_)) if model.compare else (),
        record=frozen_record(model.record),
    )
    for key in sorted(places.pinned):
        scenario = scenario.fixed(key, scenario.setting.get(key))
    return scenario, faults


def _with_trace(setting: Setting, name: str, document: Document) -> tuple[Setting, list[Fault]]:
    """Read the packets of a trace, which lies beside the file that names it."""
    from dvsim.scenario.switch_points import read_packets, said

    place: KeyPath = ("traffic", "trace")
    origin = document.origin(place)
    path = Path(name) if origin == COMMAND_LINE else Path(origin.file).parent / name
    if find.is_file(path) and path.stat().st_size > bounds.TRACE_BYTES:
        message = f"is a file of {path.stat().st_size} B; a scenario may have {bounds.TRACE_BYTES}"
        return setting, [document.fault(place, message)]
    try:
        packets = read_packets(path, setting)
    except ValueError as error:
        near = None if find.is_file(path) else find.nearest(name, _tables_beside(path))
        return setting, [document.fault(place, said(str(error), "trace:"), near)]
    if len(packets) > bounds.TRACE:
        message = f"has {len(packets)} packets; a scenario may have {bounds.TRACE}"
        return setting, [document.fault(place, message)]
    return replace(setting, traffic=replace(setting.traffic, trace=packets)), []


def _tables_beside(path: Path) -> list[str]:
    folder = path.parent
    return [other.name for other in folder.glob("*.csv")] if find.is_folder(folder) else []


def _together(scenario: SwitchScenario, document: Document, places: _Places) -> list[Fault]:
    """Return what is wrong between the tables of each point, and what is too much."""
    from dvsim.scenario.switch_points import refused

    number = len(scenario.points)
    if number > bounds.POINTS:
        message = f"makes {number} points; a scenario may have {bounds.POINTS}"
        return [document.fault(("vary",), message)]
    faults: dict[Fault, None] = {}  # a set that keeps its order
    for point in scenario.points:
        setting = scenario.at(point)
        for key, message in refused(setting):
            where = f"at {point_text(point)}: " if point else ""
            place: KeyPath = places.of(key) if key else ("traffic",)
            faults[document.fault(place, where + message)] = None
        if not faults:
            for place, message in extent(setting):
                faults[document.fault(place, message)] = None
            for place, message in _beside(scenario, setting):
                faults[document.fault(place, message)] = None
    return list(faults)


def extent(setting: Setting) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what is too much in a point whose numbers are each within bounds."""
    from dvsim.scenario.switch_points import nodes_of

    slots, nodes = setting.traffic.slots + setting.traffic.warmup, nodes_of(setting)
    if slots > 2 * bounds.SLOTS:  # only after scaling
        yield ("traffic", "slots"), f"must be at most {bounds.SLOTS}, is {setting.traffic.slots}"
    elif slots * nodes > bounds.NODE_UPDATES:
        most = bounds.NODE_UPDATES // nodes
        yield (
            ("traffic", "slots"),
            f"must be at most {most} with {nodes} nodes, the warm-up included; is {slots}",
        )


def _beside(scenario: SwitchScenario, setting: Setting) -> Iterator[tuple[KeyPath, str]]:
    """Yield what asks for theory where there is none, or for a recording that cannot be."""
    from dvsim.scenario.switch_points import switch_of

    table, traffic = setting.switch, setting.traffic
    place: KeyPath = ("compare", "with")
    if scenario.record and table is None:
        yield ("record",), "is of a switch alone; of a network no packet is followed"
    if scenario.compare and table is None:
        yield place, "theory is of a switch alone, not of a network"
    if table is None:
        return
    if scenario.compare and traffic.pattern != "uniform":
        yield place, f"theory is of uniform traffic, not of pattern '{traffic.pattern}'"
    if "mean-field" in scenario.compare:
        if len(switch_of(table).injecting) < table.angles:
            yield place, "'mean-field' needs a switch whose angles all inject"
        if table.faults:
            yield place, "'mean-field' knows no faults"
    if "butterfly" in scenario.compare:
        inputs = switch_of(table).inputs
        if inputs & (inputs - 1):
            yield place, f"'butterfly' needs a power of two of inputs, here are {inputs}"
        if traffic.injection == "queue":
            yield place, "'butterfly' has no queues; use injection 'drop'"
