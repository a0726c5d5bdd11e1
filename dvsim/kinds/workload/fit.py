"""Numbers of LogGOPS, fitted to programs that were measured: their traces, or OSU's tables.

A trace with a wall time of its own is one measurement, each line of ``osu_latency`` another, of a
ping-pong of two ranks, and each line of ``osu_bw`` one of 64 messages and an answer. One of these
says little of each number: a ping-pong knows the sum L + 2 o alone. So the fit begins with a card,
and goes from there only as far as the measurements ask for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dvsim.errors import Fault, ScenarioError
from dvsim.kinds.workload.fabrics import LOGGOPS, Chosen
from dvsim.kinds.workload.graph import Builder, Graph
from dvsim.kinds.workload.readers.formats import NO_FORMAT, read
from dvsim.kinds.workload.replay import replay_graph
from dvsim.scenario.types import Card
from dvsim.scenario.units import Law

FIELDS = {key: field for key, (field, _) in LOGGOPS.items() if key != "S"}
"""Settings that are fitted: the fields of `Costs`. What is 0 in the card stays so."""

MEASURED = 0.01
"""A measurement counts as this exact, relative to it."""

CARD = 3.0
"""The card's numbers count as this exact, as logarithms: a factor of 20."""

FURTHEST = 1e4  # from the card's number, as a factor
STEP = 1e-3  # of a logarithm, for a slope
WINDOW = 64  # messages of osu_bw before an answer
ANSWER = 4  # bytes of that
ROUNDS = 4  # of a ping-pong that is replayed

TAGGED = re.compile(r"^(\[[^\]]*\](<std\w+>)?:?\s*|\d+:\s+)")
"""What launchers put before each line of a program."""
_HEAD = re.compile(r"\s*#\s*OSU\s+(?P<what>.*?)(\s+Test\b.*|\s+v\d[\d.]*)?\s*$", re.IGNORECASE)
_FITS = re.compile(r"MPI(-[\w-]+)?\s+(?P<what>Latency|Bandwidth)", re.IGNORECASE)
READABLE = "point-to-point tables of osu_latency and osu_bw, each with its heading,"
MOST_SIZE = 1 << 26  # bytes of a file that may have such tables
MOST_DIGITS = 15  # of a size
MOST_VALUE = 1e9
_LINE = re.compile(r"\s*(?P<size>\d+)\s+(?P<value>\d+(\.\d*)?)(\s|$)")


@dataclass(frozen=True)
class Measurement:
    """What took how long."""

    name: str  # for people
    graph: Graph  # what ran
    time_ns: float  # that it took


def measurements(path: str | Path) -> list[Measurement]:
    """Return what a file says was measured.

    Args:
        path: A trace, or what osu_latency or osu_bw printed.
    """
    rows = list(_tables(Path(path)))
    if rows:
        return [Measurement(str(path), *row) for row in rows]
    try:
        graph = read(path)
    except ScenarioError as error:
        if any(fault.message.startswith(NO_FORMAT) for fault in error.faults):
            told = f"; or {READABLE} can be fitted"
            faults = [replace(fault, message=fault.message + told) for fault in error.faults]
            raise ScenarioError(faults) from None
        raise
    time_ns = (graph.traced_ns or 0) - graph.finalize_ns
    if time_ns <= 0:
        raise ScenarioError.at(path, "has no times of its own, so nothing can be fitted to it")
    return [Measurement(str(path), graph, time_ns)]


def _tables(path: Path) -> Iterator[tuple[Graph, float]]:
    if not path.is_file() or path.stat().st_size > MOST_SIZE:
        return
    text = path.read_bytes().decode("utf-8-sig", "replace")
    if "\0" in text[:4096]:
        return
    heading, what, rows, faults = 0, "", 0, []
    lines = [TAGGED.sub("", line) for line in text.splitlines()]
    for number, line in enumerate((*lines, "# OSU end"), 1):
        row = _LINE.match(line) if what else None
        if row is not None and float(row["value"]) > 0:
            if len(row["size"]) > MOST_DIGITS or float(row["value"]) > MOST_VALUE:
                raise ScenarioError.at(path, f"is too large: {line.strip()[:40]}", line=number)
            size, value, rows = int(row["size"]), float(row["value"]), rows + 1
            if what == "latency":
                yield ping_pong(size), 2 * ROUNDS * value * 1000
            elif size:
                yield window(size), WINDOW * size / value * 1000
        title = _HEAD.match(line)
        if what and (title or (rows and line.lstrip().startswith("#"))):
            if not rows:
                message = f"has no line of a size and a {what} above 0"
                faults.append(Fault(str(path), heading, "", message))
            what = ""
        if title is not None and number <= len(lines):
            fits = _FITS.fullmatch(title["what"])
            heading, what, rows = number, fits["what"].lower() if fits else "", 0
            if fits is None:
                message = f"is a table of '{title['what']}'; {READABLE} can be fitted"
                faults.append(Fault(str(path), number, "", message))
    if faults:
        raise ScenarioError(faults)


def ping_pong(size: int) -> Graph:
    """Return a ping-pong of two ranks."""
    builder = Builder(2, f"ping-pong of {size} B")
    before: list[list[int]] = [[], []]
    for number in range(2 * ROUNDS):
        source, target = number % 2, 1 - number % 2
        before[source] = [builder.send(source, target, size, after=before[source])]
        before[target] = [builder.recv(target, source, size, after=before[target])]
    return builder.build()


def window(size: int) -> Graph:
    """Return as many messages as osu_bw has under way, and their answer."""
    builder = Builder(2, f"{WINDOW} messages of {size} B")
    sends = [builder.send(0, 1, size) for _ in range(WINDOW)]
    got = [builder.recv(1, 0, size) for _ in range(WINDOW)]
    builder.send(1, 0, ANSWER, 1, after=got)
    builder.recv(0, 1, ANSWER, 1, after=sends)
    return builder.build()


def fitted(fabric: Chosen, measured: Sequence[Measurement]) -> Chosen:
    """Return a fabric with numbers that give the times that were measured."""
    from scipy.optimize import least_squares

    if fabric.model != "loggops":
        message = "has no numbers that can be fitted; fdr, aries, loggops and cards of LogGOPS have"
        raise ScenarioError.at(fabric.name, message)
    old = fabric.costs._asdict()
    free = [field for field in FIELDS.values() if old[field] > 0]
    start = np.array([old[field] for field in free], dtype=np.float64)

    def made(logs: npt.NDArray[np.float64]) -> Chosen:
        values = np.maximum(1, np.rint(start * np.exp(logs))).astype(np.int64).tolist()
        return replace(fabric, costs=fabric.costs._replace(**dict(zip(free, values, strict=True))))

    def ratios(chosen: Chosen) -> list[float]:
        return [replay_graph(it.graph, chosen).time_ns / it.time_ns for it in measured]

    def residuals(logs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        times = np.log(np.maximum(ratios(made(logs)), 1e-12)) / MEASURED
        return np.concatenate([times, logs / CARD])

    def slopes(logs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        here, steps = residuals(logs), STEP * np.eye(len(free))
        return np.column_stack([(residuals(logs + step) - here) / STEP for step in steps])

    edge = float(np.log(FURTHEST))
    fit = least_squares(residuals, np.zeros(len(free)), slopes, bounds=(-edge, edge))
    best = made(fit.x)
    worst = max(abs(ratio - 1) for ratio in ratios(best))
    names = ", ".join(dict.fromkeys(measurement.name for measurement in measured))
    source = f"{names}; times within {100 * worst:.1f} %"
    changed = tuple(f"{key}={text}" for key, text in _texts(best).items())
    return replace(best, card=_card(best, source), changed=changed, fitted=source)


def _card(chosen: Chosen, text: str) -> Card:
    costs, old = chosen.costs, chosen.card
    values: dict[str, int | Law] = {
        "latency": costs.latency_ps,
        "overhead": Law(costs.overhead_ps, costs.overhead_byte_fs),
        "gap": Law(costs.gap_ps, costs.gap_byte_fs),
        "eager": costs.eager_bytes,
    }
    others = {name: value for name, value in values.items() if value != old[name]}
    source = f"dvsim replay --fit, from card {old.name}"
    made = old.having(others, confidence="calibrated", source=source, fitted=text)
    return replace(made, name=f"{old.name}-fitted", title=f"{old.title}, fitted")


def _texts(chosen: Chosen) -> Mapping[str, str]:
    costs = chosen.costs._asdict()
    return {
        key: f"{costs[field] / (1e3 if field.endswith('_ps') else 1e6):.6g}ns"
        for key, field in FIELDS.items()
        if costs[field]
    }
