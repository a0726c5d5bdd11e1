"""Irregular programs as they were measured, beside what the model of kind ``irregular`` says.

The columns are Arkouda's runs of 2020-04-16 (`arkouda.csv`): gather, scatter and a radix sort
(``argsort``) in Chapel, on nodes of 36 cores, over FDR InfiniBand (Cray CS) and Aries (Cray XC).
Cards are fitted to the columns of at most 4 nodes; those of 8 and more are held out.

    python docs/irregular.py [--fit | --draw]

`--draw` writes docs/irregular.svg: the measured columns and the model.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from dvsim.evidence.affine import nearest
from dvsim.kinds.irregular.link import over_link
from dvsim.kinds.irregular.programs import Time
from dvsim.kinds.irregular.spec import WordsTable
from dvsim.scenario.card import load_card
from dvsim.scenario.find import scenario_root
from dvsim.scenario.reference import read_csv
from dvsim.scenario.types import Card
from dvsim.study.table import Table, plain_lines

FITTED = 4
"""Nodes up to which columns are fitted."""

NEAR = 0.25
"""How near a prediction is to be."""

HOST = "chapel-36"
LINKS = {"cray-cs": "fdr-chapel", "cray-xc": "aries-chapel"}
PROGRAMS = {"gather": "gather", "scatter": "scatter", "argsort": "radix-sort"}
KEYS: Mapping[str, Sequence[str]] = {
    "cray-cs": ("read", "write", "key", "get", "put", "pack", "answer", "crowd"),
    "cray-xc": ("get", "put"),
}
"""What is fitted to the columns of each machine; of the host only on the first."""

NODES = [2**power for power in range(10)]
NAMES = {"cray-cs": "FDR", "cray-xc": "Aries"}
COLOURS = {
    ("cray-cs", False): "#b2182b",
    ("cray-cs", True): "#2166ac",
    ("cray-xc", False): "#1b7837",
}


class Column(NamedTuple):
    """A measured column: the machine, what it ran, and the seconds that it took."""

    machine: str
    work: WordsTable
    aggregated: bool
    seconds: float

    @property
    def held_out(self) -> bool:
        """Whether no number was fitted to it."""
        return self.work.nodes > FITTED

    @property
    def per_word(self) -> float:
        """Seconds for an element of each node."""
        return self.seconds / self.work.words


def columns() -> tuple[Column, ...]:
    """Return the measured columns, in the order of their file.

    A node has 10^8 elements, but 10^6 where Chapel sends word by word over InfiniBand: so say
    the rates of the source. On a Cray XC it has many words under way.
    """
    return tuple(_column(row) for row in read_csv(scenario_root() / "irregular" / "arkouda.csv"))


def _column(row: Mapping[str, str]) -> Column:
    machine, aggregated = row["system"], row["aggregation"] == "yes"
    alone = "word" if machine == "cray-cs" else "window"
    words = 10**6 if alone == "word" and not aggregated else 10**8
    sending = "buffer" if aggregated else alone
    work = WordsTable(PROGRAMS[row["benchmark"]], sending, int(row["nodes"]), words)  # type: ignore[arg-type]
    return Column(machine, work, aggregated, float(row["seconds"]))


def predicted(column: Column) -> float:
    """Return the seconds that the model says of a column, with the packaged cards."""
    return over_link(column.work, load_card(HOST), load_card(LINKS[column.machine])).whole


def factors(machine: str, predict: bool) -> dict[tuple[str, int], float]:
    """Return by program and nodes how much faster an element is with aggregation."""
    seconds_of: dict[tuple[str, int], dict[bool, float]] = {}
    for column in columns():
        if column.machine == machine:
            seconds = predicted(column) / column.work.words if predict else column.per_word
            key = (column.work.program, column.work.nodes)
            seconds_of.setdefault(key, {})[column.aggregated] = seconds
    both = {key: pair for key, pair in seconds_of.items() if len(pair) == len((True, False))}
    return {key: pair[False] / pair[True] for key, pair in both.items()}


def fit(machine: str) -> dict[str, float]:
    """Return the numbers that come nearest to the columns of a machine that are not held out.

    Least squares of log(predicted / measured); times in picoseconds.
    """
    host, link = load_card(HOST), load_card(LINKS[machine])
    fitted = [column for column in columns() if column.machine == machine and not column.held_out]
    keys = KEYS[machine]

    def having(card: Card, values: Mapping[str, float]) -> Card:
        return card.having({key: value for key, value in values.items() if key in card.parameters})

    def misses(values: Mapping[str, float]) -> list[float]:
        cards = having(host, values), having(link, values)
        times: Iterator[Time] = (over_link(column.work, *cards) for column in fitted)
        return [
            math.log(time.whole / column.seconds)
            for time, column in zip(times, fitted, strict=True)
        ]

    start = {key: (host if key in host.parameters else link)[key] for key in keys}
    return nearest(start, misses, xtol=1e-12, ftol=1e-12)


def lines() -> Iterator[str | Table]:
    """Yield the measured columns beside the predicted, the share that is near, and the factors."""
    held = [column for column in columns() if column.held_out]
    near = [column for column in held if abs(predicted(column) / column.seconds - 1) <= NEAR]
    yield f"{len(near)} of {len(held)} columns that were held out are within {NEAR:.0%}"
    rows = [
        [column.machine, column.work.program, column.work.sending, str(column.work.nodes),
         f"{column.per_word * 1e9:.4g}", f"{predicted(column) / column.work.words * 1e9:.4g}",
         f"{predicted(column) / column.seconds:.2f}", "held out" if column.held_out else "fitted"]
        for column in columns()
    ]  # fmt: skip
    head = ["machine", "program", "sending", "nodes", "measured ns", "predicted ns", "ratio", ""]
    yield Table(head, rows, range(3, 7))
    yield ""
    yield "How much faster an element is with aggregation"
    lines: list[list[str]] = []
    for machine in LINKS:
        predicted_factors = factors(machine, predict=True)
        for (program, nodes), factor in factors(machine, predict=False).items():
            guess = predicted_factors[program, nodes]
            row = [f"{factor:.3g}", f"{guess:.3g}", f"{guess / factor:.2f}"]
            lines.append([machine, program, str(nodes), *row])
    yield Table(
        ["machine", "program", "nodes", "measured", "predicted", "ratio"], lines, range(2, 6)
    )


def fit_lines() -> Iterator[str]:
    """Yield what a fit gives, beside the cards."""
    for machine, link in LINKS.items():
        for key, value in fit(machine).items():
            card = next(card for card in map(load_card, (HOST, link)) if key in card.parameters)
            kept = card.parameters[key]
            unit = "" if kept.dimension == "ratio" else " ns"
            shown = value if kept.dimension == "ratio" else value / 1e3
            yield f"{card.name} {key}: {shown:.4g}{unit}; the card says {kept.text}"


def line(column: Column) -> list[float]:
    """Return what the model says of a column at all nodes, in ns."""
    return [
        predicted(column._replace(work=replace(column.work, nodes=nodes))) / column.work.words * 1e9
        for nodes in NODES
    ]


def draw() -> None:
    """Write the figure."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "dvsim"
    from matplotlib import pyplot as plt

    figure, panes = plt.subplots(1, 3, figsize=(10, 3.6), sharey=True)
    for pane, program in zip(panes, ("gather", "scatter", "radix-sort"), strict=True):
        for (machine, aggregated), colour in COLOURS.items():
            some = [
                one for one in columns()
                if (one.machine, one.work.program, one.aggregated) == (machine, program, aggregated)
            ]  # fmt: skip
            if some:
                label = f"{NAMES[machine]}, {some[0].work.sending}"
                pane.plot(NODES, line(some[0]), color=colour, linewidth=1, label=label)
            for one in some:
                face = "white" if one.held_out else colour
                pane.plot(one.work.nodes, one.per_word * 1e9, "o", color=colour, mfc=face, ms=5)
        pane.set(xscale="log", yscale="log", xlabel="nodes", title=program)
        pane.set_xticks(NODES[::2], [str(nodes) for nodes in NODES[::2]])
        pane.minorticks_off()
        pane.grid(visible=True, linewidth=0.3)
    panes[0].set_ylabel("ns per element of a node")
    panes[0].legend(fontsize=8, loc="center right", bbox_to_anchor=(1.0, 0.42))
    figure.text(0.5, 0.005, "lines: model; filled: fitted; open: held out", ha="center", fontsize=8)
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


def main() -> None:
    """Print one of the two, or draw."""
    if "--draw" in sys.argv:
        draw()
    else:
        print(*(fit_lines() if "--fit" in sys.argv else plain_lines(lines())), sep="\n")


if __name__ == "__main__":
    main()
