"""The look of the notebooks: colours, and how published and simulated values are drawn.

Published values are points, with a bar where the source gives a range. Simulated ones are a line,
in a band of the 95 % interval over replications. Colours (Okabe and Ito's, for the colour-blind)
and style are those of the reports; curves of one figure differ in dashes as well.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import pandas as pd

from dvsim.study.number_text import four_digits
from dvsim.view.figure import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dvsim.evidence.verdicts import Validation
    from dvsim.table.result import Result

SCALE = float(os.environ.get("DVSIM_ANALYSIS_SCALE", "1"))
"""Multiplies the messages of the runs of the paper's experiment; everything else is short."""

REPLICATIONS = 3 if SCALE >= 1 else 2
SHORT = 1.0 if SCALE >= 1 else 0.3
"""Multiplies the messages or slots of the other runs whose findings hold so short."""

COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
INK = "#222222"
TRANSPORTS = {"data-vortex": BLUE, "fdr-ipoib": VERMILION}

plt.rcParams.update(
    {
        "svg.hashsalt": "dvsim",
        "svg.fonttype": "none",  # text stays text: it can be searched
        "font.family": "sans-serif",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": "0.9",
        "legend.frameon": False,
        "figure.figsize": (7.5, 4.0),
        "figure.constrained_layout.use": True,
        "axes.axisbelow": True,
        "axes.grid.axis": "both",
        "axes.titlesize": "medium",
        "axes.titlelocation": "left",
        "legend.fontsize": "small",
        "lines.linewidth": 1.6,
        "lines.markersize": 5,
        "font.size": 10,
        "text.parse_math": True,  # powers at the ticks
    }
)
pd.options.display.float_format = four_digits


class Text(str):
    """Markdown that a cell has computed."""

    __slots__ = ()

    def _repr_markdown_(self) -> str:
        return str(self)


def pick(study: Result, metric: str, **keys: object) -> pd.DataFrame:
    """Return the estimates of a metric at the points with these keys, in the order of the study."""
    table = study.estimates()
    table = table[table["metric"] == metric]
    for key, value in keys.items():
        table = table[table[key] == value]
    assert len(table), f"no {metric} at {keys}"
    return table


def curve(axes: Axes, x: Iterable[float], rows: pd.DataFrame, number: int, label: str) -> None:
    """Draw simulated values, columns ``value``, ``low`` and ``high``, as the curve of a number."""
    places, colour = list(x), COLOURS[number % len(COLOURS)]
    axes.plot(places, rows["value"], color=colour, linestyle=DASHES[number % len(DASHES)],
              label=label)  # fmt: skip
    axes.fill_between(places, rows["low"], rows["high"], color=colour, alpha=0.2, linewidth=0)


def published(axes: Axes, points: Mapping[float, tuple[float, float]], label: str = "") -> None:
    """Draw published figures: by place, the range that the sentence allows."""
    for place, (low, high) in points.items():
        middle = (low * high) ** 0.5 if axes.get_yscale() == "log" else (low + high) / 2
        axes.errorbar([place], [middle], [[middle - low], [high - middle]], fmt="o", color=INK,
                      capsize=3, zorder=5, label=label or None)  # fmt: skip
        label = ""


def limit(axes: Axes, value: float, label: str) -> None:
    """Draw a level that a sentence speaks of."""
    axes.axhline(value, color=INK, linewidth=0.9, linestyle=(0, (2, 2)))
    axes.annotate(label, (0.01, value), xycoords=("axes fraction", "data"), xytext=(0, 3),
                  textcoords="offset points", fontsize="small", color=INK)  # fmt: skip


def sizes(axes: Axes, label: str = "message, B") -> None:
    """Make the horizontal axis one of sizes, in powers of two."""
    axes.set_xscale("log", base=2)
    axes.set_xlabel(label)


def legends(*panels: Axes) -> None:
    """Say what the curves are, at the end of a figure's cell: a cell shows its last value."""
    for axes in panels:
        axes.legend()


def claims(validation: Validation, *names: str) -> pd.DataFrame:
    """Return the verdicts on some sentences, or on all whose scenarios were run."""
    rows: list[dict[str, Any]] = [
        {
            "claim": one.id,
            "sentence": one.text,
            "claimed": one.expected,
            "simulated": one.simulated,
            "95 % interval": one.interval,
            "verdict": one.verdict,
            "rests on": one.basis,
        }
        for one in validation.claims
        if not names or one.id in names
    ]
    return pd.DataFrame(rows).set_index("claim")
