"""Which parameters a result depends on: Sobol indices that a sweep has kept, as a picture."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from dvsim.errors import Fault, ScenarioError
from dvsim.scenario.quantity import show
from dvsim.view.figure import BLUE, VERMILION, Axis, Figure, forest, frame_of, reading

FILE = "sensitivity.csv"
ORDERS = {"total": ("total", VERMILION, 0), "first": ("alone", BLUE, 1)}
"""Column -> what it is called, its colour, and whether its marks are hollow."""
ENDS = ("", "_low", "_high")  # of the names of columns: an index and its interval
MOST_KEYS = 15  # that are drawn; the data have all

Row = Mapping[str, str]


def sensitivity_figures(folder: Path) -> list[Figure]:
    """Draw the indices that ``dvsim sweep --sensitivity`` has kept in a folder.

    Returns:
        list of Figure: One for each result, in the order of the file.

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
    return [
        result_figure(result, [row for row in rows if row["result"] == result], number)
        for number, result in enumerate(results)
    ]


def result_figure(result: str, rows: Sequence[Row], number: int) -> Figure:
    """Draw the indices of one result, the most important key at the top."""
    drawn = sorted(rows, key=lambda row: float(row["total"]), reverse=True)[:MOST_KEYS]
    frame = frame_of(
        {"line": text, "colour": colour, "y": row["key"], "x": number_of(row[order]), "open": open_}
        | {"low": number_of(row[f"{order}_low"]), "high": number_of(row[f"{order}_high"])}
        for row in drawn
        for order, (text, colour, open_) in ORDERS.items()
    )
    omitted = f" {len(rows) - len(drawn)} weaker keys are not drawn." * (len(rows) > len(drawn))
    chart = forest(frame, Axis("share of the variance", ends=(-0.05, 1.1)))
    described = ", ".join(f"{row['key']} {float(row['total']):.2f}" for row in drawn[:3])
    heads = {"line": "index", "y": "key", "x": "share", "low": "low", "high": "high"}
    told, words = reading("sensitivity", omitted=omitted), f"Sobol indices: total {described}."
    title = f"What {result} depends on"
    return Figure(f"sensitivity-{number}", title, frame, chart, told, words, heads)


def _is_index(text: str | None) -> bool:
    try:
        return not math.isinf(float(text or ""))
    except ValueError:
        return False


def number_of(text: str) -> float:
    """Read an index; what is not a number explains nothing."""
    value = float(text)
    return 0.0 if math.isnan(value) else value
