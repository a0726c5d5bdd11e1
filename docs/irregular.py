"""Draws docs/irregular.svg: the measured columns and the model of docs/irregular.md."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
mpl.rcParams["svg.hashsalt"] = "dvsim"
from matplotlib import pyplot as plt  # noqa: E402 - after the backend is chosen

from dvsim.kinds.irregular.calibration import Column, columns, predicted  # noqa: E402

NODES = [2**power for power in range(10)]
NAMES = {"cray-cs": "FDR", "cray-xc": "Aries"}
COLOURS = {
    ("cray-cs", False): "#b2182b",
    ("cray-cs", True): "#2166ac",
    ("cray-xc", False): "#1b7837",
}


def line(column: Column) -> list[float]:
    """Return what the model says of a column at all nodes, in ns."""
    return [
        predicted(column._replace(work=replace(column.work, nodes=nodes))) / column.work.words * 1e9
        for nodes in NODES
    ]


def main() -> None:
    """Write the figure."""
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


if __name__ == "__main__":
    main()
