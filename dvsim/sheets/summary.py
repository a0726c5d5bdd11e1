"""Tables of statistics in any of their forms, melted into rows of one printed number each."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal
from typing import NamedTuple

from dvsim.errors import Fault, nearest
from dvsim.scenario.quantity import UnitError
from dvsim.sheets.headings import (
    SIZES,
    STATISTICS,
    metric_word,
    split_heading,
    statistic_of,
    unit_of,
)
from dvsim.sheets.sheet import Printed, Sheet, number_of, quantity_of

NAMES = ("column", "published_column", "name", "label")
OF_NUMBERS = {"statistic", "value", "unit", "metric"}


class Number(NamedTuple):
    """One number of a summary."""

    # line, heading: where it stands
    line: int
    heading: str
    statistic: str  # ``mean``, ``25%`` …; what was written, if it is none
    text: str  # as it stands there, never empty
    name: str  # what was measured, as the heading or the row calls it; may be empty
    unit: str | None  # as text; None if it is nowhere in the table
    row: Mapping[str, str]  # the other cells, which tell cases apart


def form_of(sheet: Sheet, own: Collection[str] = ()) -> str:
    """Return ``long``, ``described`` or ``wide``; empty for a table that is no summary.

    Long has a column ``statistic`` and one ``value``, or the columns of pandas' ``describe()``
    beside its index; wide has statistics side by side. A metric of a kind of scenario, `own`, is
    a mean.
    """
    if "statistic" in sheet.headings:
        if _value(sheet) is not None:
            return "long"
        words = [row[sheet.headings.index("statistic")] for _, row in sheet.rows]
        alone = len(set(words)) == len(words) and all(map(statistic_of, words))
        alone = alone and sheet.headings[0] == "statistic" and not nearest("value", sheet.headings)
        return "described" if alone else ""
    return "wide" if {word for word, _ in _wide(sheet, own).values()} - {"count"} else ""


def numbers(
    sheet: Sheet, form: str, faults: list[Fault], own: Collection[str] = ()
) -> Iterator[Number]:
    """Yield each number of a summary, row by row; what is no statistic is a fault."""
    if form == "wide":
        yield from _wide_numbers(sheet, faults, own)
        return
    value = _value(sheet)
    described = [name for name in sheet.headings[1:] if name not in (*SIZES, "run")]
    sized = _one_size(sheet, faults) if form == "described" else {}
    for line, cells in sheet.cells:
        statistic = statistic_of(cells["statistic"])
        if statistic is None:
            faults.append(no_statistic(sheet, line, cells["statistic"]))
            continue
        for heading in [value] if value is not None else described:
            name, unit = split_heading(heading)
            if form == "long":
                row = {
                    key: text for key, text in cells.items() if key not in (heading, "statistic")
                }
                name, unit = row.get("metric", "") or name, unit or row.get("unit") or None
            else:
                row = sized if metric_word(name) else sized | {"column": heading}
            if cells[heading] or form == "long":
                yield Number(line, heading, statistic, cells[heading], name, unit, row)


def _one_size(sheet: Sheet, faults: list[Fault]) -> dict[str, str]:
    heading = next((name for name in SIZES if name in sheet.headings), None)
    if heading is None:
        return {}
    ends = [
        (line, cells[heading])
        for line, cells in sheet.cells
        if statistic_of(cells["statistic"]) in ("min", "max")
    ]
    if len({text for _, text in ends}) > 1:
        said = (
            f"its samples have sizes from {ends[0][1]} to {ends[-1][1]}: describe each size alone"
        )
        faults.append(sheet.fault(ends[-1][0], heading, said))
    return {heading: ends[0][1]} if ends else {}


def scaled(text: str, unit: str | None, stated: str | None = None) -> Printed | None:
    """Return the number of a cell in a unit, from its own or the stated one; None if it is none.

    >>> scaled("1.25 kmsg/s", "msg/s"), scaled("12", "us"), scaled("12 cows", "us")
    (Printed(value=1250.0, decimals=-1), Printed(value=12.0, decimals=0), None)
    """
    number, own = quantity_of(text)
    own = own or stated
    if number is None or own in (None, unit):
        return number
    try:
        units = [unit_of(name) for name in (own, unit or own) if name is not None]
    except UnitError:
        return None
    if len({one.dimension for one in units}) > 1:
        return None
    return number_of(
        f"{Decimal(str(number.value)) * Decimal(str(units[0].factor / units[-1].factor)):f}"
    )


def no_statistic(sheet: Sheet, line: int, text: str) -> Fault:
    """Return the fault of a cell that names no statistic."""
    message = f"'{text}' is no statistic; they are count, mean, std, min, N% and max"
    return sheet.fault(line, "statistic", message, nearest(text.lower(), STATISTICS))


def _value(sheet: Sheet) -> str | None:
    return next((name for name in sheet.headings if split_heading(name)[0] == "value"), None)


def _wide(sheet: Sheet, own: Collection[str]) -> dict[str, tuple[str, str]]:
    found = {}
    for heading in sheet.headings:
        name = split_heading(heading)[0]
        word, rest = ("mean" if name in own else statistic_of(name)), name if name in own else ""
        parts = name.split()
        for at in (0, -1) if word is None and len(parts) > 1 else ():
            others = " ".join(parts[1:] if at == 0 else parts[:-1])
            if word is None and metric_word(others) and (word := statistic_of(parts[at])):
                rest = others  # of: mean latency (us), latency p99 (us)
        if word is not None:
            found[heading] = (word, rest)
    return found


def _wide_numbers(sheet: Sheet, faults: list[Fault], own: Collection[str]) -> Iterator[Number]:
    columns = _wide(sheet, own)
    units = [unit for heading in columns if (unit := split_heading(heading)[1])]
    for line, cells in sheet.cells:
        row = {name: text for name, text in cells.items() if name not in columns}
        label, of_row = split_heading(row.get("column", ""))
        if of_row and not units and re.search("[a-z]", label):  # describe(), transposed
            row["column"] = "" if metric_word(label) else label
        if not any(cells[heading] for heading in columns):
            message = "has no number of any statistic; was the file cut here?"
            faults.append(sheet.fault(line, "", message))
        for heading, (statistic, name) in columns.items():
            if cells[heading]:  # else a statistic that this row does not have
                unit = split_heading(heading)[1] or row.get("unit") or of_row
                unit = unit or (next(iter(units), None) if name not in own else None)
                named = name or row.get("metric", "") or (label if of_row else "")
                yield Number(line, heading, statistic, cells[heading], named, unit, row)
