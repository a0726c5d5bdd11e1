"""A quorum queue of real RabbitMQ nodes on this machine, beside what the model says of it.

Runs of one size with a small and a large window give four numbers of cards; runs of the other size
are held out. Syncs are the batches that the logs of the nodes counted.

    python -m dvsim.evidence.quorum [--nodes N] [--messages N] [--out FOLDER]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from dvsim.broker import Brokers
from dvsim.emulation.quorum import Asked, measured
from dvsim.evidence.calibration.cards import write_cards
from dvsim.kinds.base import kind_of
from dvsim.kinds.load import load, load_card
from dvsim.results.lines import Table, plain_lines
from dvsim.scenario.find import reference_root
from dvsim.scenario.published import read_csv
from dvsim.scenario.types import Card

FITTED, HELD = 1024, 4096  # bytes
WINDOWS = (16, 1000)
MESSAGES = 10_000
PS_PER_S = 1e12
MILLION = 1e6  # messages of a published run
PUBLISHED = {"default": 170, "raised credits": 3000}
"""The credit of the runs of 2024, by what their table calls it."""

Cards = Mapping[str, Card]


class Point(NamedTuple):
    """Messages a second of a queue, and its syncs for each message on a node."""

    size: int
    window: int
    rate: float
    syncs: float


def emulated(nodes: int, messages: int, sizes: Sequence[int] = (FITTED, HELD)) -> list[Point]:
    """Return what private nodes did with each size and window; each message is accounted for."""
    found = []
    with Brokers(clusters=1, nodes=nodes) as brokers:
        measured(brokers, Asked(FITTED, messages // 10 + 1, WINDOWS[1]))  # code is loaded then
        for size in sizes:
            for window in WINDOWS:
                seen = measured(brokers, Asked(size, messages, window))
                syncs = fmean(seen.syncs) / messages
                found.append(Point(size, window, messages / seen.seconds, syncs))
    return found


def fitted(points: Sequence[Point]) -> Cards:
    """Return cards of this machine from the runs of one size.

    A cycle of the log takes a second less what it syncs in it. The large window meets the slowest
    process; from both cycles follow what an entry adds and what is there without any.
    """
    small, large = sorted(points, key=lambda one: one.window)
    rates, cycles = zip(
        *((one.rate, 1 / (one.rate * one.syncs)) for one in (small, large)), strict=True
    )
    grown = cycles[1] * rates[1] - cycles[0] * rates[0]
    entry = max(0.0, (cycles[1] - cycles[0]) / grown) if grown > 0 else 0.0
    fixed = cycles[0] * (1 - rates[0] * entry)
    credit = small.window / (rates[0] * cycles[0])
    run = f"{small.size} B with windows of {small.window} and {large.window}"
    broker = {
        "log_entry": round(entry * PS_PER_S),
        "queue_quorum": round(PS_PER_S / rates[1]),
        "credit_cycles": credit,
    }
    volume = {"write": 0, "sync": round(fixed * PS_PER_S)}
    return {
        "host": load_card("nuc-11"),
        "storage": _with(load_card("nvme-nuc"), "here-volume", run, **volume),
        "broker": _with(load_card("rabbitmq-4"), "here-rabbit", run, **broker),
    }


def _with(card: Card, name: str, run: str, **values: float) -> Card:
    given = {
        key: replace(
            card.parameters[key],
            value=value,
            confidence="calibrated",
            source="python -m dvsim.evidence.quorum, on this machine",
            fitted=run,
        )
        for key, value in values.items()
    }
    return replace(card, name=name, parameters={**card.parameters, **given})


def simulated(cards: Cards, size: int, window: int, nodes: int) -> Point:
    """Return what kind ``cluster`` says of one queue with a copy on each node."""
    scenario = load("rabbit/single-node-2024").at(0)
    values = {"queue": "quorum", "nodes": nodes, "replicas": nodes, "seconds": 1}
    for key, value in {**values, "message_bytes": size, "credit": window, **cards}.items():
        scenario = scenario.put(key, value)
    found = kind_of(scenario).replicate(scenario, 1, 1).metrics
    return Point(size, window, found["rate_out"], found["fsyncs"] / found["rate_out"])


def published() -> Iterator[tuple[Point, Point]]:
    """Yield the quorum queues of the single node of 2024: simulated, and as published."""
    cards = {"host": "nuc-11", "storage": "nvme-nuc", "broker": "rabbitmq-4"}
    for row in read_csv(reference_root() / "rabbitmq_single_node_2024.csv"):
        credit = PUBLISHED.get(row["flow_control"])
        if (row["protocol"], row["queue"]) == ("AMQP 1.0", "quorum") and credit is not None:
            syncs = float(row["note"].split()[0].replace(",", "")) / MILLION
            own = simulated({role: load_card(name) for role, name in cards.items()}, 12, credit, 1)
            yield own, Point(12, credit, float(row["rate_msg_s"]), syncs)


def lines(points: Sequence[Point], nodes: int) -> Iterator[str | Table]:
    """Yield simulated beside emulated and published."""
    cards = fitted([one for one in points if one.size == FITTED])
    head = ["bytes", "window", "from", "msg/s", "sim", "ratio", "syncs of 1,000", "sim", "ratio"]
    rows = [_row(simulated(cards, one.size, one.window, nodes), one, _told(one)) for one in points]
    rows += [_row(own, one, "published") for own, one in published()]
    yield f"a quorum queue on {nodes} of {nodes} nodes of this machine, and as published in 2024"
    yield Table(head, rows, [0, 1, *range(3, len(head))])


def _told(point: Point) -> str:
    return "emu, fitted" if point.size == FITTED else "emu, held out"


def _row(own: Point, point: Point, told: str) -> list[str]:
    numbers = [f"{point.rate:,.0f}", f"{own.rate:,.0f}", f"{own.rate / point.rate:.2f}"]
    numbers += [f"{1000 * one.syncs:.1f}" for one in (point, own)]
    return [f"{point.size}", f"{point.window}", told, *numbers, f"{own.syncs / point.syncs:.2f}"]


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--messages", type=int, default=MESSAGES, help="of each of four runs")
    parser.add_argument("--out", type=Path, help="folder for the fitted cards")
    asked = parser.parse_args()
    points = emulated(asked.nodes, asked.messages)
    print(*plain_lines(lines(points, asked.nodes)), sep="\n")
    if asked.out is not None:
        cards = fitted([one for one in points if one.size == FITTED])
        paths = write_cards([cards["storage"], cards["broker"]], asked.out)
        print(f"cards: {', '.join(map(str, paths))}")


if __name__ == "__main__":
    main()
