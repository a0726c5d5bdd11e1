"""Cards of volume and broker from quorum queues of real nodes, and the model beside these.

The smallest and the largest size are fitted, with all their windows; sizes between are held out.
Other runs of the same cluster can judge the cards, of any size. Beside them stand the runs that the
RabbitMQ team published.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import pandas as pd

from dvsim.contract.find import kind_of
from dvsim.contract.kind import EMULATED
from dvsim.contract.load import load
from dvsim.errors import Advice, Argument, Fault, ScenarioError
from dvsim.evidence.affine import nearest
from dvsim.evidence.calibration import EMULATE, Calibrated
from dvsim.kinds.cluster.spec import ClusterScenario
from dvsim.scenario.find import reference_root
from dvsim.scenario.reference import read_csv
from dvsim.scenario.types import Card
from dvsim.study.store import load_result
from dvsim.table.result import Result

PS_PER_S = 1e12
MILLION = 1e6  # messages of a published run
PUBLISHED = {"default": 170, "raised credits": 3000}
"""The credit of the runs of 2024, by what their table calls it."""

HEAD = ["size", "window", "from", "rate", "simulated_rate", "syncs", "simulated_syncs"]
LEAST = 1e-7  # seconds of a fitted number, whose logarithm is searched

Cards = Mapping[str, Card]


class Point(NamedTuple):
    """Messages a second of a queue, and its syncs for each message on a node."""

    size: int
    window: int
    rate: float
    syncs: float


def calibrate(
    folders: Sequence[Path], name: str, command: str, against: Sequence[Path] = ()
) -> Calibrated:
    """Return cards made from emulated runs of quorum queues, ``NAME-volume`` and ``NAME-rabbit``.

    Runs in `against` judge them.
    """
    studies: dict[Path, Any] = {folder: load_result(folder) for folder in (*folders, *against)}
    faults = [
        Fault(str(folder), None, "", reason)
        for folder, study in studies.items()
        for reason in _unusable(study)
    ]
    if not faults and len({_alike(study) for study in studies.values()}) > 1:
        message = "the runs differ in nodes, copies or cards; calibrate them apart"
        faults.append(Argument("folders").fault(message))
    if faults:
        raise ScenarioError(faults)
    first: Result = studies[folders[0]]
    points, judges = (
        tuple(sorted(point for folder in some for point in _points(studies[folder])))
        for some in (folders, against)
    )
    if len({point.window for point in points}) < 2:
        message = "one window tells no cycle of the log; measure with credit 16 and 1000, say"
        raise ScenarioError.at(Argument("folders"), message, "workload.credit")
    scenario = cast("ClusterScenario", first.scenario.at(0))
    host = first.manifest.host
    cards = _cards(scenario, points, name, command)
    used, ends = {**scenario.cards, **cards}, _ends(points)
    origins = [f"emu, {'fitted' if p.size in ends else 'held out'}" for p in points]
    origins += ["emu, another run"] * len(judges)
    compared = [
        (origin, one, simulated(scenario, used, one.size, one.window))
        for origin, one in zip(origins, (*points, *judges), strict=True)
    ]
    rows = [
        (one.size, one.window, origin, one.rate, own.rate, one.syncs, own.syncs)
        for origin, one, own in [*compared, *published()]
    ]
    table = pd.DataFrame(rows, columns=HEAD)
    table["rate_ratio"] = table["simulated_rate"] / table["rate"]
    table["syncs_ratio"] = table["simulated_syncs"] / table["syncs"]
    nodes = f"a copy on each of {scenario.system.nodes} nodes, {host.cpu}, {host.cores} cores"
    return Calibrated(cards, table, f"quorum queue with {nodes}")


def _unusable(study: Any) -> Iterator[str]:  # noqa: ANN401 - a result of any kind
    if study.scenario.KIND != ClusterScenario.KIND:
        yield "is not of kind cluster, as the first is; calibrate them apart"
        return
    if study.manifest.backend != EMULATED:
        yield Advice("is a simulated run, which has measured nothing; ", EMULATE)
    for number in range(len(study.scenario.points)):
        scenario = study.scenario.at(number)
        if scenario.system.queue != "quorum" or scenario.workload.rate is not None:
            yield "is not of a quorum queue without workload.rate, such as rabbit/here"
            return
    if study.wide["fsyncs"].isna().any():
        yield "has no syncs; they are counted on private nodes alone"


def _alike(study: Result) -> str:
    system = cast("ClusterScenario", study.scenario.at(0)).system
    return f"{system.nodes} {system.replicas} {study.scenario.used_cards()}"


def _points(study: Result) -> Iterator[Point]:
    scenario = cast("ClusterScenario", study.scenario)
    for number, rows in study.wide.groupby("point"):
        work = scenario.at(cast("int", number)).workload
        rates, syncs = rows["rate_in"], rows["fsyncs"] / rows["rate_in"] / work.seconds
        middle = (float(column.median()) for column in (rates, syncs))
        yield Point(work.message_bytes, work.credit or work.window, *middle)


def _ends(points: Sequence[Point]) -> set[int]:
    sizes = [point.size for point in points]
    return {min(sizes), max(sizes)}


def _cards(
    scenario: ClusterScenario, points: Sequence[Point], name: str, command: str
) -> dict[str, Card]:
    ends = _ends(points)
    used = [point for point in points if point.size in ends]
    windows = " and ".join(str(point) for point in sorted({point.window for point in used}))
    sizes = " and ".join(f"{size} B" for size in sorted(ends))
    fit = nearest(_begin(used), partial(_misses, scenario, used), diff_step=0.001)
    known = {"source": command, "fitted": f"{sizes} with windows of {windows}"}
    made = _put(scenario.cards, fit, confidence="calibrated", **known)
    roles = ("storage", "broker")
    return {role: replace(made[role], name=f"{name}-{made[role].kind}") for role in roles}


def _put(cards: Cards, numbers: Mapping[str, float], **known: str) -> Cards:
    times = {key: round(value * PS_PER_S) for key, value in numbers.items()}
    volume: dict[str, float] = {"write": 0, "sync": times["sync"], "bandwidth": 1 / numbers["byte"]}
    broker: dict[str, float] = {
        key: times[key] for key in ("log_entry", "queue_quorum", "queue_byte")
    }
    broker |= {"credit_cycles": numbers["credit_cycles"]}
    return {
        **cards,
        "storage": cards["storage"].having(volume, **known),
        "broker": cards["broker"].having(broker, **known),
    }


def _misses(
    scenario: ClusterScenario, points: Sequence[Point], numbers: Mapping[str, float]
) -> list[float]:
    cards = _put(scenario.cards, numbers)
    owns = [simulated(scenario, cards, point.size, point.window) for point in points]
    return [
        math.log(mine / theirs)
        for own, point in zip(owns, points, strict=True)
        for mine, theirs in ((own.rate, point.rate), (own.syncs, point.syncs))
    ]


def _begin(points: Sequence[Point]) -> dict[str, float]:
    """Return where the search begins, in seconds: what the smallest size says without scatter.

    A cycle of the log takes a second less what it syncs in it. The large window meets the slowest
    process; from both cycles follow what an entry adds and what is there without any.
    """
    least = min(point.size for point in points)
    own = sorted((point for point in points if point.size == least), key=lambda point: point.window)
    small, large = own[0], own[-1]
    near, far = (1 / (point.rate * point.syncs) for point in (small, large))
    grown = far * large.rate - near * small.rate
    entry = max(LEAST, (far - near) / grown) if grown > 0 else LEAST
    entry = min(entry, 0.5 / large.rate)
    most = max(points, key=lambda point: (point.size, point.window))
    byte = max(LEAST / 1e4, (1 / most.rate - 1 / large.rate) / max(1, most.size - least))
    return {
        "sync": near * (1 - small.rate * entry),
        "log_entry": entry,
        "byte": byte / 10,
        "queue_quorum": max(LEAST, 1 / large.rate - byte * least),
        "queue_byte": byte,
        "credit_cycles": small.window / (small.rate * near),
    }


def simulated(scenario: ClusterScenario, cards: Cards, size: int, window: int) -> Point:
    """Return what the model says of a size and a window, with these cards."""
    for key, value in {"message_bytes": size, "credit": window, "seconds": 1, **cards}.items():
        scenario = scenario.put(key, value)
    metrics = kind_of(scenario).replicate(scenario, 1, 1).metrics
    return Point(size, window, metrics["rate_out"], metrics["fsyncs"] / metrics["rate_out"])


def published() -> Iterator[tuple[str, Point, Point]]:
    """Yield the quorum queues of the single node of 2024: as published, and simulated."""
    loaded = load("rabbit/single-node-2024").at(0).put("queue", "quorum")
    scenario = cast("ClusterScenario", loaded)
    for row in read_csv(reference_root() / "rabbitmq_single_node_2024.csv"):
        credit = PUBLISHED.get(row["flow_control"])
        if (row["protocol"], row["queue"]) == ("AMQP 1.0", "quorum") and credit is not None:
            syncs = float(row["note"].split()[0].replace(",", "")) / MILLION
            own = simulated(scenario, scenario.cards, 12, credit)
            yield "published", Point(12, credit, float(row["rate_msg_s"]), syncs), own
