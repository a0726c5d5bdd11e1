"""Cards of volume and broker from quorum queues of real nodes, and the model beside these.

The smallest and the largest size are fitted, with all their windows; sizes between are held out.
Beside them stand the runs that the RabbitMQ team published.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

from dvsim.errors import Fault, ScenarioError
from dvsim.kinds.base import EMULATED, kind_of
from dvsim.kinds.cluster.spec import ClusterScenario
from dvsim.kinds.load import load
from dvsim.results.folder import load_result
from dvsim.results.lines import Table, plain_lines
from dvsim.results.points import PointsStudy
from dvsim.scenario.find import reference_root
from dvsim.scenario.published import read_csv
from dvsim.scenario.types import Card, Parameter

PS_PER_S = 1e12
MILLION = 1e6  # messages of a published run
PUBLISHED = {"default": 170, "raised credits": 3000}
"""The credit of the runs of 2024, by what their table calls it."""

LEAST = 1e-12  # of a fitted number, whose logarithm is searched

Cards = Mapping[str, Card]


class Point(NamedTuple):
    """Messages a second of a queue, and its syncs for each message on a node."""

    size: int
    window: int
    rate: float
    syncs: float


@dataclass(frozen=True)
class Queues:
    """What was measured, the cards that it gives, and what the model makes of them.

    Attributes
    ----------
    scenario
        What was measured, at its first point.
    points
        By size and window.
    made
        The cards of volume and broker, by their roles.
    machine
        Where it was measured, for people.
    """

    scenario: ClusterScenario
    points: tuple[Point, ...]
    made: Cards
    machine: str

    @property
    def used(self) -> Cards:
        """The cards of a scenario of this machine, by role."""
        return {**self.scenario.cards, **self.made}

    def compared(self) -> Iterator[tuple[str, Point, Point]]:
        """Yield where a point is from, the point, and what the model says of it."""
        ends = _ends(self.points)
        for one in self.points:
            own = simulated(self.scenario, self.used, one.size, one.window)
            yield "emu, fitted" if one.size in ends else "emu, held out", one, own
        yield from published()

    def lines(self) -> Iterator[str]:
        """Yield simulated beside emulated and published."""
        head = ["bytes", "window", "from", "msg/s", "sim", "ratio"]
        head += ["syncs of 1,000", "sim", "ratio"]
        rows = []
        for told, one, own in self.compared():
            rates = [f"{one.rate:,.0f}", f"{own.rate:,.0f}", f"{own.rate / one.rate:.2f}"]
            syncs = [f"{1000 * point.syncs:.1f}" for point in (one, own)]
            share = f"{own.syncs / one.syncs:.2f}"
            rows.append([f"{one.size}", f"{one.window}", told, *rates, *syncs, share])
        nodes = self.scenario.system.nodes
        yield f"quorum queue with a copy on each of {nodes} nodes, {self.machine}"
        yield from plain_lines([Table(head, rows, [0, 1, *range(3, len(head))])])

    def table(self) -> list[dict[str, Any]]:
        """Return all points as JSON types."""
        return [
            {"from": told, **one._asdict(), "simulated": own._asdict()}
            for told, one, own in self.compared()
        ]


def calibrate_queues(folders: Sequence[Path], name: str, command: str) -> Queues:
    """Return cards made from emulated runs of quorum queues, ``NAME-volume`` and ``NAME-rabbit``.

    Raises
    ------
    ScenarioError
        If a run is simulated, is not of one quorum queue that nothing but windows limits, or if
        two are not of one cluster.
    RunFailed
        If a folder is no run.
    """
    studies: dict[Path, Any] = {folder: load_result(folder) for folder in folders}
    faults = [
        Fault(str(folder), None, "", reason)
        for folder, study in studies.items()
        for reason in _unusable(study)
    ]
    if not faults and len({_alike(study) for study in studies.values()}) > 1:
        message = "the runs differ in nodes, copies or cards; calibrate them apart"
        faults.append(Fault("--from", None, "", message))
    if faults:
        raise ScenarioError(faults)
    first: PointsStudy = studies[folders[0]]
    points = tuple(sorted(point for study in studies.values() for point in _points(study)))
    if len({point.window for point in points}) < 2:
        message = "one window tells no cycle of the log; measure with credit 16 and 1000, say"
        raise ScenarioError([Fault("--from", None, "workload.credit", message)])
    scenario = cast("ClusterScenario", first.scenario.at(0))
    host = first.manifest.get("host") or {}
    machine = f"{host.get('cpu')}, {host.get('cores')} cores"
    cards = _cards(scenario, points, name, command)
    return Queues(scenario, points, cards, machine)


def _unusable(study: Any) -> Iterator[str]:  # noqa: ANN401 - a result of any kind
    if study.scenario.KIND != ClusterScenario.KIND:
        yield "is not of kind cluster, as the first is; calibrate them apart"
        return
    if study.manifest.get("backend") != EMULATED:
        yield "is a simulated run, which has measured nothing; run its scenario with --backend emu"
    for number in range(len(study.scenario.points)):
        one = study.scenario.at(number)
        if one.system.queue != "quorum" or one.workload.rate is not None:
            yield "is not of a quorum queue without workload.rate, such as rabbit/here"
            return
    if study.points["fsyncs"].isna().any():
        yield "has no syncs; they are counted on private nodes alone, without --url"


def _alike(study: PointsStudy) -> str:
    system = cast("ClusterScenario", study.scenario.at(0)).system
    return f"{system.nodes} {system.replicas} {study.scenario.used_cards()}"


def _points(study: PointsStudy) -> Iterator[Point]:
    """Yield the geometric means over the replications of each point."""
    scenario = cast("ClusterScenario", study.scenario)
    for number, rows in study.points.groupby("point"):
        work = scenario.at(cast("int", number)).workload
        rates, syncs = rows["rate_in"], rows["fsyncs"] / rows["rate_in"] / work.seconds
        middle = (math.exp(sum(map(math.log, one)) / len(one)) for one in (rates, syncs))
        yield Point(work.message_bytes, work.credit or work.window, *middle)


def _ends(points: Sequence[Point]) -> set[int]:
    """Return the smallest and the largest size."""
    sizes = [point.size for point in points]
    return {min(sizes), max(sizes)}


def _cards(
    scenario: ClusterScenario, points: Sequence[Point], name: str, command: str
) -> dict[str, Card]:
    """Return the cards of this machine: what no run shows is taken over."""
    ends = _ends(points)
    used = [one for one in points if one.size in ends]
    windows = " and ".join(str(one) for one in sorted({one.window for one in used}))
    run = f"{' and '.join(f'{size} B' for size in sorted(ends))} with windows of {windows}"
    found = _fit(scenario, used)
    made = {}
    for role, values in found.items():
        card = scenario.cards[role]
        given = {
            key: replace(
                _like(card, key),
                value=value,
                confidence="calibrated",
                source=command,
                fitted=run,
            )
            for key, value in values.items()
        }
        parameters = {**card.parameters, **given}
        made[role] = replace(card, name=f"{name}-{card.kind}", parameters=parameters)
    return made


def _values(numbers: Sequence[float]) -> dict[str, dict[str, Any]]:
    """Return the values of cards by role, of seconds, seconds per byte and cycles."""
    sync, entry, byte, serial, serial_byte, cycles = numbers
    return {
        "storage": {
            "write": 0,
            "sync": round(sync * PS_PER_S),
            "bandwidth": 1 / byte,
        },
        "broker": {
            "log_entry": round(entry * PS_PER_S),
            "queue_quorum": round(serial * PS_PER_S),
            "queue_byte": round(serial_byte * PS_PER_S),
            "credit_cycles": cycles,
        },
    }


def _fit(scenario: ClusterScenario, points: Sequence[Point]) -> dict[str, dict[str, Any]]:
    """Return the values that come nearest to rates and syncs: least squares of logarithms."""
    from scipy.optimize import least_squares

    begin = _begin(points)

    def misses(logs: Sequence[float]) -> list[float]:
        cards = _put(scenario.cards, _values([math.exp(log) for log in logs]))
        owns = [simulated(scenario, cards, one.size, one.window) for one in points]
        return [
            math.log(mine / theirs)
            for own, one in zip(owns, points, strict=True)
            for mine, theirs in ((own.rate, one.rate), (own.syncs, one.syncs))
        ]

    found = least_squares(misses, [math.log(max(one, LEAST)) for one in begin], diff_step=0.001)
    return _values([math.exp(log) for log in found.x])


def _begin(points: Sequence[Point]) -> tuple[float, ...]:
    """Return where the search begins: what the smallest size says if nothing scatters.

    A cycle of the log takes a second less what it syncs in it. The large window meets the slowest
    process; from both cycles follow what an entry adds and what is there without any.
    """
    least = min(point.size for point in points)
    own = sorted((one for one in points if one.size == least), key=lambda one: one.window)
    small, large = own[0], own[-1]
    (near, far), rates = (
        [1 / (one.rate * one.syncs) for one in (small, large)],
        (small.rate, large.rate),
    )
    grown = far * rates[1] - near * rates[0]
    entry = max(1e-7, (far - near) / grown) if grown > 0 else 1e-7
    entry = min(entry, 0.5 / rates[1])
    most = max(points, key=lambda one: (one.size, one.window))
    byte = max(1e-11, (1 / most.rate - 1 / large.rate) / max(1, most.size - least))
    serial = max(1e-7, 1 / large.rate - byte * least)
    fixed, cycles = near * (1 - rates[0] * entry), small.window / (rates[0] * near)
    return fixed, entry, byte / 10, serial, byte, cycles


def _put(cards: Cards, values: Mapping[str, Mapping[str, Any]]) -> dict[str, Card]:
    """Return cards with other values."""
    found = dict(cards)
    for role, own in values.items():
        old = found[role].parameters
        new = {key: replace(_like(found[role], key), value=value) for key, value in own.items()}
        found[role] = replace(found[role], parameters={**old, **new})
    return found


def _like(card: Card, key: str) -> Parameter:
    """Return a parameter, or what one is like that a card may leave out: a time."""
    return card.parameters.get(key) or replace(card.parameters["queue_quorum"], name=key)


def simulated(scenario: ClusterScenario, cards: Cards, size: int, window: int) -> Point:
    """Return what the model says of a size and a window, with these cards."""
    for key, value in {"message_bytes": size, "credit": window, "seconds": 1, **cards}.items():
        scenario = scenario.put(key, value)
    found = kind_of(scenario).replicate(scenario, 1, 1).metrics
    return Point(size, window, found["rate_out"], found["fsyncs"] / found["rate_out"])


def published() -> Iterator[tuple[str, Point, Point]]:
    """Yield the quorum queues of the single node of 2024: as published, and simulated."""
    found = load("rabbit/single-node-2024").at(0).put("queue", "quorum")
    scenario = cast("ClusterScenario", found)
    for row in read_csv(reference_root() / "rabbitmq_single_node_2024.csv"):
        credit = PUBLISHED.get(row["flow_control"])
        if (row["protocol"], row["queue"]) == ("AMQP 1.0", "quorum") and credit is not None:
            syncs = float(row["note"].split()[0].replace(",", "")) / MILLION
            own = simulated(scenario, scenario.cards, 12, credit)
            yield "published", Point(12, credit, float(row["rate_msg_s"]), syncs), own
