"""What must hold between the sections of a scenario.

Each check reads the raw tables and stays silent about values of the wrong type: those are faults
of the schema, and one fault must not hide the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dvsim.errors import Argument, Fault, ScenarioError, nearest
from dvsim.kinds.rabbitmq.spec import CLUSTER, ROLES, Scenario, System
from dvsim.scenario import bounds, find
from dvsim.scenario.document import Document, KeyPath
from dvsim.scenario.reference import transports
from dvsim.scenario.sampled import Tolerance
from dvsim.scenario.types import slot_of
from dvsim.scenario.units import format_value
from dvsim.scenario.word_card import beyond_words

if TYPE_CHECKING:
    from dvsim.emulation.settings import Emulation


def between_sections(document: Document, *, partial: bool = False) -> list[Fault]:
    """Return everything that is wrong between the sections.

    Args:
        document: The whole scenario.
        partial: True if other files may still add what is missing.
    """
    return [
        *_roles(document, partial),
        *_cluster(document),
        *_probe(document, partial),
        *_loop(document, partial),
        *_columns(document),
        *_reference(document, partial),
        *_tolerance(document, partial),
    ]


def limits(scenario: Scenario) -> Iterator[tuple[KeyPath, str]]:
    """Yield what a scenario asks of its interconnect card beyond its limits."""
    system, card = scenario.system, scenario.system.card
    if system.clustered:
        yield from _copies(system)
    if card.kind != "vortex":
        return
    needed = system.receivers + (system.senders or system.receivers)
    if needed > card["nodes"]:
        message = (
            f"is {system.receivers}; with their senders they need {needed} nodes, "
            f"and card '{card.name}' has {card['nodes']}"
        )
        yield ("system", "receivers"), message
    slot_ps, link_ps = slot_of(card), card["link"]
    if link_ps > bounds.LINK_SLOTS * slot_ps:
        limit = format_value(bounds.LINK_SLOTS * slot_ps, "time")
        message = (
            f"must be at most {bounds.LINK_SLOTS} slots, with these planes and this port_rate "
            f"{limit}, is {format_value(link_ps, 'time')}"
        )
        yield ("system", "card", "link"), message
    beyond = beyond_words(card)
    if system.fidelity == "cycle" and beyond is not None:
        message = f"{beyond[1]}; that is for fidelity 'cycle', 'flow' has no such limit"
        yield ("system", "card", beyond[0]), message
    size, sram = scenario.workload.message_bytes, card["sram"]
    if size > sram:
        message = f"is {size} B; a message must fit in the card's SRAM of {sram} B"
        yield ("workload", "message_bytes"), message


def _copies(system: System) -> Iterator[tuple[KeyPath, str]]:
    broker, receivers, nodes = system.broker, system.receivers, system.nodes
    if broker["queue"] == "classic" and system.copies > 1:
        message = "a classic queue has one copy; 'mirrored' has more"
        yield ("system", "broker", "replicas"), message
    there = "is 1 node" if nodes == 1 else f"are {nodes} nodes"
    if system.copies > nodes:
        key = "nodes" if broker.get("replicas") is None else "replicas"
        message = f"{system.copies} copies of a queue, but there {there}"
        most = f"set broker.nodes={system.copies} or broker.replicas={nodes}"
        yield ("system", "broker", key), f"{message}; {most}"
    if receivers > nodes:
        message = f"{receivers} receivers are nodes of the cluster, but there {there}"
        yield ("system", "broker", "nodes"), message


def _probe(document: Document, partial: bool) -> Iterator[Fault]:
    kind, transport = document.at(("probe", "kind")), document.at(("system", "transport"))
    if kind not in ("interval", "batch"):
        return
    wanted = {"data-vortex": "interval", "tcp": "batch"}.get(str(transport), kind)
    if kind != wanted:
        message = f"is '{kind}', but transport '{transport}' is sampled by '{wanted}'"
        yield document.fault(("probe", "kind"), message)
    elif document.at(("probe", kind)) is None and not partial:
        yield document.fault(("probe", kind), f"missing; a probe of kind '{kind}' has one")


def _loop(document: Document, partial: bool) -> Iterator[Fault]:
    path = ("workload", "messages_per_second")
    loop, given = document.at(("loop",)), document.at(path) is not None
    if loop == "open" and not given and not partial:
        yield document.fault(path, "missing; an open loop has an offered load")
    if loop == "closed" and given:
        yield document.fault(path, 'a closed loop has no offered load; set loop = "open"')


def _roles(document: Document, partial: bool) -> Iterator[Fault]:
    transport = document.at(("system", "transport"))
    if not isinstance(transport, str) or transport not in ROLES:
        return
    for role in ("bridge", "publisher"):
        given = document.at(("system", role)) is not None
        if given and role not in ROLES[transport]:
            yield document.fault(("system", role), f"not used by transport '{transport}'")
        if not given and role in ROLES[transport] and not partial:
            message = f"missing; transport '{transport}' needs one"
            yield document.fault(("system", role), message)
    for key in ("fidelity", "senders", "order"):
        if transport != "data-vortex" and document.at(("system", key)) is not None:
            message = f"not used by transport '{transport}'; it is that of the Data Vortex fabric"
            yield document.fault(("system", key), message)


def clustered(data: Mapping[str, Any]) -> bool:
    """Return whether the brokers of a file are a cluster: their card names a type of queue."""
    system = data.get("system")
    broker = system.get("broker") if isinstance(system, dict) else None
    return isinstance(broker, dict) and "queue" in broker


def _cluster(document: Document) -> Iterator[Fault]:
    if clustered(document.data):
        return
    broker = _table(document.at(("system", "broker")))
    key_paths: list[KeyPath] = [
        ("system", "broker", key) for key in ("nodes", "replicas", "window") if key in broker
    ]
    key_paths += [("system", role) for role in CLUSTER if document.at(("system", role)) is not None]
    for path in key_paths:
        yield document.fault(path, "is of a cluster of brokers; set system.broker.queue, too")


def _columns(document: Document) -> Iterator[Fault]:
    # a number that is itself a fault says nothing about the columns
    receivers = _count(document.at(("system", "receivers"))) or None
    iterations = _count(document.at(("workload", "iterations"))) or None
    transport = document.at(("system", "transport"))
    for label, column in _table(document.at(("probe", "columns"))).items():
        path = ("probe", "columns", label)
        receiver = _count(_table(column).get("receiver"))
        if receiver and transport == "tcp":
            message = f"is {receiver}; over tcp only the whole system is sampled, receiver 0"
            yield document.fault((*path, "receiver"), message)
        elif receiver == 0 and transport == "data-vortex":
            message = "is 0; over data-vortex each receiver is sampled, from 1 on"
            yield document.fault((*path, "receiver"), message)
        elif receiver is not None and receivers is not None and receiver > receivers:
            message = f"is {receiver}, but there are {receivers} receivers"
            yield document.fault((*path, "receiver"), message)
        listed = _table(column).get("iterations")
        for iteration in listed if isinstance(listed, list) else []:
            known = _count(iteration)
            if known is not None and iterations is not None and known > iterations:
                message = f"has {known}, but there are {iterations} iterations"
                yield document.fault((*path, "iterations"), message)


def _reference(document: Document, partial: bool) -> Iterator[Fault]:
    if document.at(("reference",)) is None:
        return
    if document.at(("tolerance",)) is None and not partial:
        message = "missing; a comparison declares its tolerances before"
        yield document.fault(("tolerance",), message)
    file = document.at(("reference", "file"))
    if isinstance(file, str) and file and not _is_published(file):
        near = nearest(file, (path.name for path in find.reference_root().glob("*.csv")))
        yield document.fault(("reference", "file"), f"no published data '{file}'", near)
    elif isinstance(file, str) and file:
        yield from _published(document, file)
    labels = list(_table(document.at(("probe", "columns"))))
    fitted = document.at(("reference", "fitted"))
    for label in fitted if isinstance(fitted, list) else []:
        if isinstance(label, str) and label not in labels and not partial:
            message = f"no column '{label}' in [probe.columns]"
            yield document.fault(("reference", "fitted"), message, nearest(label, labels))


def _tolerance(document: Document, partial: bool) -> Iterator[Fault]:
    table = document.at(("tolerance",))
    for name in Tolerance.__dataclass_fields__ if isinstance(table, dict) and not partial else ():
        if name not in table and nearest(name, table) is None:
            yield document.fault(("tolerance", name), "missing")


def _is_published(file: str) -> bool:
    return Path(file).name == file and find.is_file(find.reference_root() / file)


def _published(document: Document, file: str) -> Iterator[Fault]:
    try:
        known = transports(find.reference_root() / file)
    except ScenarioError as error:
        for fault in error.faults:
            yield document.fault(("reference", "file"), f"'{file}' {fault.message}")
        return
    transport = document.at(("reference", "transport"))
    if isinstance(transport, str) and transport and transport not in known:
        message = f"'{file}' has no transport '{transport}'"
        near = nearest(transport, known)
        yield document.fault(("reference", "transport"), message, near)


def _table(value: Any) -> dict[str, Any]:  # noqa: ANN401 - any TOML value
    return value if isinstance(value, dict) else {}


def _count(value: Any) -> int | None:  # noqa: ANN401
    good = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return int(value) if good else None


def extent(scenario: Scenario) -> Iterator[tuple[KeyPath, str]]:
    """Yield what is too much together, in a scenario whose numbers are each within bounds.

    Yields:
        tuple: The path of the key that asks too much, and a message.
    """
    work, system, probe = scenario.workload, scenario.system, scenario.probe
    took = least_ps(scenario)
    too_many = None
    if work.messages > bounds.MESSAGES:  # only after scaling
        too_many = f"must be at most {bounds.MESSAGES}, is {work.messages}"
    elif work.messages * work.message_bytes > bounds.TRAFFIC:
        most = bounds.TRAFFIC // work.message_bytes
        too_many = f"must be at most {most} of {work.message_bytes} B each, is {work.messages}"
    elif took > bounds.TIME:
        too_many = (
            f"is {work.messages}; they take at least {took / bounds.PS_PER_S:.3g} s, and an "
            f"iteration may take {bounds.TIME // bounds.PS_PER_S} s"
        )
    if too_many:
        yield ("workload", "messages"), too_many
        return
    yield from _full(scenario)
    stalls = work.messages / system.receivers / system.broker["stall_every"]
    steps: list[tuple[tuple[str, ...], str, float]] = [
        (("system", "broker", "stall_every"), "stalls", stalls)
    ]
    if probe.batch:
        steps.append((("probe", "batch"), "batches", work.messages / probe.batch))
    if probe.interval_ps:
        steps.append((("probe", "interval"), "samples", took / probe.interval_ps))
    if system.bridge:
        every = system.bridge["poll_interval"]
        steps.append((("system", "bridge", "poll_interval"), "polls", took / every))
    for path, name, number in steps:
        if number > bounds.STEPS:
            message = f"is too small; an iteration has at least {number:.3g} {name}, and may have"
            yield path, f"{message} {bounds.STEPS}"


def _full(scenario: Scenario) -> Iterator[tuple[KeyPath, str]]:
    work, system = scenario.workload, scenario.system
    if system.host is None or system.storage is None or system.rabbit is None:
        return
    most = math.ceil(system.receivers * system.copies / system.nodes)  # copies on a node
    each = work.messages / system.receivers * (work.message_bytes + system.rabbit["log_overhead"])
    free = system.storage["size"] - system.rabbit["disk_free"]
    if most * each > free:
        needed, there = (
            format_value(round(amount), "size") for amount in (most * each, max(0, free))
        )
        message = f"nobody drains the queues: a node keeps {needed}, and has room for {there}"
        yield ("system", "storage", "size"), message


def least_ps(scenario: Scenario) -> float:
    """Return how long an iteration takes at least, in picoseconds, but for random scatter."""
    work, system = scenario.workload, scenario.system
    size, share = work.message_bytes, work.messages / system.receivers
    times = [share * system.broker["service"].ps(size)]
    if work.messages_per_second:
        times.append(work.messages / work.messages_per_second * bounds.PS_PER_S)
    if system.bridge:
        sockets = min(system.bridge["sockets"], system.bridge["threads"])
        times.append(share * system.bridge["push"].ps(size) / sockets)
    if system.publisher:
        cost = system.publisher["publish"].ps(size)
        times.append(work.messages * cost / system.publisher["processes"])
    return float(max(times))


def unsuited(scenario: Scenario, emulation: Emulation) -> Iterator[Fault]:
    """Yield why backend emu cannot run a scenario, there or at all."""
    if scenario.system.clustered:
        message = "only backend sim has a cluster; backend emu has classic queues"
        yield Fault(scenario.name, None, "system.broker.queue", message)
    if emulation.bridge is not None and not scenario.system.over_cards:
        yield Argument("bridge").fault(f"{scenario.name} has no bridge: it is over TCP")
    wanted = "interval" if scenario.system.over_cards else "batch"
    if scenario.probe.kind != wanted:
        message = f"backend emu needs a probe of kind '{wanted}' over {scenario.system.transport}"
        yield Fault(scenario.name, None, "probe.kind", f"'{scenario.probe.kind}': {message}")
    if scenario.workload.messages < scenario.system.receivers:
        message = f"{scenario.workload.messages} is fewer than there are receivers"
        yield Fault(scenario.name, None, "workload.messages", message)
    if emulation.hosts is not None:
        cards = scenario.system.receivers if scenario.system.over_cards else 0
        yield from emulation.hosts.faults(scenario.name, cards, emulation.private)
