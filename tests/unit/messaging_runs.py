"""Cards and settings of messaging for tests: costs that can be added up in the head."""

from dataclasses import replace

from dvsim.kinds.hosts.run import run_point
from dvsim.kinds.hosts.spec import ROLES, FlowTable, MessagingScenario, SystemTable
from dvsim.scenario.card_kinds import KINDS
from dvsim.scenario.types import Card, Parameter
from dvsim.scenario.units import parse

PLAIN = {
    "client": {
        "threads": 2,
        "publish": "1 us",
        "encode": "2 us + 1 ns/B",
        "decode": "3 us + 2 ns/B",
        "consume": "1 us",
        "wake": "5 us",
        "frame_overhead": "0 B",
    },
    "link": {
        "rate": "1 GB/s",
        "slot_rate": "1 GB/s",
        "packet": "1000 B",
        "packet_overhead": "0 B",
        "packet_cost": "0 s",
        "latency": "10 us",
        "moderation": "0 s",
        "send": "1 us",
        "receive": "1 us",
        "connect": "1 ms",
    },
    "host": {
        "cores": 64,
        "message_contention": 0.0,
        "byte_contention": 0.0,
        "scatter": 0.0,
        "run_spread": 0.0,
    },
    "broker": {
        "threads": 1,
        "steps": 3,
        "accept": "10 us",
        "match": "1 us",
        "deliver": "8 us",
        "inspect": "0 s",
        "settle": "0 s",
        "log_overhead": "0 B",
        "sync_interval": "100 ms",
    },
    "storage": {"bandwidth": "100 MB/s", "write": "0 s", "sync": "1 ms"},
}
FLOW = {"mode": "ping", "message_bytes": 100, "messages": 4}
SYSTEM = {"pattern": "peer", "buffer": 8000}
US, MS = 1e6, 1e9


def card(role, **changed):
    """A card of a role whose numbers are PLAIN but for what is changed."""
    kind = ROLES[role]
    parameters = {}
    for name, spec in KINDS[kind].items():
        given = (PLAIN[role] | changed)[name]
        value = parse(given, spec.dimension)
        parameters[name] = Parameter(
            name, value, spec.dimension, str(given), "assumed", "", None, ""
        )
    return Card("plain", kind, "", "", parameters)


def setting(flow=None, system=None, **cards):
    """A setting with PLAIN cards, but for what is changed in them by role."""
    roles = {role: card(role, **cards.get(role, {})) for role in ROLES}
    return MessagingScenario(
        name="plain",
        title="",
        question="",
        source="",
        path="",
        workload=FlowTable(**(FLOW | (flow or {}))),
        system=SystemTable(**(SYSTEM | (system or {})), **roles),
    )


def measure(flow=None, system=None, **cards):
    """The metrics of one run."""
    return run_point(setting(flow, system, **cards), 1, 1).metrics


def stages(flow=None, system=None, **cards):
    """The utilisation of the stages of one run."""
    return run_point(setting(flow, system, **cards), 1, 1).stages


def brokered(flow=None, system=None, **cards):
    """The metrics of one run with a broker."""
    return measure(flow, {"pattern": "broker"} | (system or {}), **cards)


def faster(of, **changed):
    """A flow of a setting with other numbers."""
    return replace(of, workload=replace(of.workload, **changed))
