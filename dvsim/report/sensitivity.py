"""Which parameters a result depends on: Sobol indices that a sweep has kept, as a picture."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dvsim.errors import Fault, ScenarioError
from dvsim.report.drawing import BLUE, VERMILION, Drawing, error_bars, layout, marker, scatter
from dvsim.scenario.quantity import show

FILE = "sensitivity.csv"
ORDERS = {
    "total": ("total", VERMILION, "circle", 0.12),
    "first": ("alone", BLUE, "diamond-open", -0.12),
}
"""Column -> what it is called, colour, mark, and its place beside the line of a key."""
ENDS = ("", "_low", "_high")  # of the names of columns: an index and its interval
MOST_KEYS = 15  # that are drawn; the data have all

Row = Mapping[str, str]


def sensitivity_drawings(folder: Path) -> list[Drawing]:
    """Draw the indices that ``dvsim sweep --sensitivity`` has kept in a folder.

    Returns:
        list of Drawing: One for each result, in the order of the file.

    Raises:
        ScenarioError: If there are none, or the file has other columns.
    """
    path = folder / FILE
    try:
        text = path.read_text("utf-8")
        rows = list(csv.DictReader(text.splitlines()))
    except OSError:
        message = f"holds no {FILE}; 'dvsim sweep SCENARIO --sensitivity' makes one"
        raise ScenarioError.at(folder, message) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise ScenarioError.at(path, f"is no CSV in UTF-8: {error}") from None
    wanted = {"result", "key", *(f"{order}{end}" for order in ORDERS for end in ENDS)}
    missing = sorted(wanted - set(rows[0] if rows else ()))
    if missing:
        raise ScenarioError.at(path, f"lacks the columns {', '.join(missing)}")
    faults = [
        Fault(str(path), line, name, f"must be a number, is {show(row[name])}")
        for line, row in enumerate(rows, 2)
        for name in sorted(wanted - {"result", "key"})
        if not _is_index(row[name])
    ]
    if faults:
        raise ScenarioError(faults)
    results = list(dict.fromkeys(row["result"] for row in rows))
    data = f"data:text/csv;charset=utf-8,{quote(text)}"
    return [
        result_drawing(result, [row for row in rows if row["result"] == result], number, data)
        for number, result in enumerate(results)
    ]


def result_drawing(result: str, rows: Sequence[Row], number: int, data: str) -> Drawing:
    """Draw the indices of one result, the most important key at the top."""
    drawn = sorted(rows, key=lambda row: float(row["total"]), reverse=True)[:MOST_KEYS]
    keys = [row["key"] for row in drawn]
    name = f"sensitivity-{number}"
    traces = [index_trace(drawn, order) for order in ORDERS]
    y = {
        "tickvals": list(range(len(keys))),
        "ticktext": [escape(key) for key in keys],
        "range": [len(keys) - 0.5, -0.5],
        "showgrid": False,
    }
    x = {"title": "share of the variance", "range": [-0.05, 1.1], "showgrid": True}
    described = ", ".join(f"{row['key']} {float(row['total']):.2f}" for row in drawn[:3])
    omitted = f" {len(rows) - len(drawn)} weaker keys are not drawn." * (len(rows) > len(drawn))
    return Drawing(
        name=name,
        title=f"What {result} depends on",
        traces=traces,
        looks=layout(150 + 28 * len(keys), x, y),
        label=f"Sobol indices of {result}: total {described}.",
        reading=(
            "Filled marks are the share of the variance in which a key has a part, hollow ones "
            "what it explains alone; where they differ keys act together, and a key near 0 could "
            "have any value in its range. Bars are 95 % intervals of the bootstrap over samples."
            f"{omitted}"
        ),
        data=data,
    )


def index_trace(rows: Sequence[Row], order: str) -> dict[str, Any]:
    """Return the indices of one order with their intervals."""
    text, colour, symbol, shift = ORDERS[order]
    value, low, high = ([number_of(row[order + end]) for row in rows] for end in ENDS)
    return scatter(
        text,
        value,
        [index - shift for index in range(len(rows))],
        error_x=error_bars(value, low, high, thickness=1.5, width=3),
        marker=marker(colour, 9, symbol),
        hovertemplate=f"%{{x:.3f}} {text}<extra></extra>",
    )


def _is_index(text: str | None) -> bool:
    try:
        return not math.isinf(float(text or ""))
    except ValueError:
        return False


def number_of(text: str) -> float:
    """Read an index; what is not a number explains nothing."""
    value = float(text)
    return 0.0 if math.isnan(value) else value
