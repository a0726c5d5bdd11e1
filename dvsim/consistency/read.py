"""From files to what is examined: summaries in any form, tables, raw samples, workloads.

What `dvsim.sheets.summary` calls a summary is one. A file with a heading ``statistic`` and
several numbers side by side is a table. Any other is raw samples: each column whose cells are
numbers is one; if a heading says that it is an average, a difference or a ratio of others, its rows
are looked at as a table, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from dvsim.consistency.grid import some
from dvsim.consistency.relations import has_derived
from dvsim.consistency.types import Column, Data, Line, Workload
from dvsim.errors import Fault, ScenarioError, nearest
from dvsim.sheets.headings import SIZES, split_heading, unit_of
from dvsim.sheets.sheet import (
    Printed,
    Sheet,
    Unclear,
    open_sheet,
    quantity_of,
    size_number,
    whole_number,
)
from dvsim.sheets.summary import Number, form_of, scaled
from dvsim.sheets.summary import numbers as numbers_of

NAME = ("published_column", "column")
KEPT = 96
"""Distinct values of a raw column that are kept; more would not make any finding stronger."""

ROWS = 1000
"""Samples of more rows are not looked at as a table, whatever their headings."""


def read_data(sources: Iterable[Any]) -> Data:
    """Return what stands in all files or tables that are examined together.

    Args:
        sources: Paths of CSV or Parquet files, or pandas tables.

    Raises:
        ScenarioError: With every fault of all of them: file, line, column, nearest valid word.
    """
    columns: list[Column] = []
    tables: dict[str, tuple[Line, ...]] = {}
    faults: list[Fault] = []
    names: list[str] = []
    numbers = 0
    for source in sources:
        try:
            sheet = open_sheet(source)
            names.append(sheet.stem)
            again = names.count(sheet.stem)
            name = sheet.stem if again == 1 else f"{sheet.stem} ({again})"
            headings = sheet.headings
            if "statistic" not in headings:
                _refuse_misspelt(sheet)
            form = form_of(sheet)
            derived = has_derived(headings)
            given = list(numbers_of(sheet, form, faults)) if form else []
            if form == "wide" and derived and len({number.statistic for number in given}) < 2:
                form = ""  # a column of averages, beside those that it is the average of
            if form or ("statistic" in headings and _heading(sheet, NAME)):
                columns += _summary(sheet, name, form, given, faults)
                numbers += len(given)
                continue
            at = [headings.index(name) for name in _numeric(sheet) if name not in SIZES]
            numbers += sum(row[column] != "" for _, row in sheet.rows for column in at)
            if "statistic" in headings or (derived and len(sheet.rows) <= ROWS):
                tables[name] = _table(sheet, faults)
            if "statistic" not in headings:
                columns += _samples(sheet, name)
        except ScenarioError as error:
            faults += error.faults
    if faults:
        raise ScenarioError(faults)
    return Data(tuple(columns), tables, numbers)


def read_workloads(source: Any) -> dict[int, Workload]:  # noqa: ANN401 - as `open_sheet`
    """Return what was sent by size: ``message_bytes``, ``messages`` and, if not 1, ``iterations``.

    Raises:
        ScenarioError: If a heading is missing, a cell is no whole number above zero, or a size is
            there twice.
    """
    sheet = open_sheet(source)
    size = _needed(sheet, SIZES)
    messages = _needed(sheet, ("messages",))
    iterations = _heading(sheet, ("iterations",))
    faults: list[Fault] = []
    workloads: dict[int, Workload] = {}
    for line, cells in sheet.cells:
        numbers = []
        for heading in filter(None, (size, messages, iterations)):
            number = (size_number if heading == size else whole_number)(cells[heading])
            if number is None:
                message = f"must be a whole number above 0, is '{cells[heading]}'"
                faults.append(sheet.fault(line, heading, message))
            else:
                numbers.append(number)
        if len(numbers) == 2 + (iterations is not None):
            if numbers[0] in workloads:
                faults.append(sheet.fault(line, size, f"size {numbers[0]} is there twice"))
            workloads[numbers[0]] = Workload(numbers[1], numbers[2] if iterations else 1)
    if faults:
        raise ScenarioError(faults)
    return workloads


def _summary(
    sheet: Sheet, name: str, form: str, given: Sequence[Number], faults: list[Fault]
) -> list[Column]:
    if not form:
        _needed(sheet, ("value",))
    if form == "long":
        _needed(sheet, NAME)
    results: dict[tuple[str, int | None, str], dict[str, Printed]] = {}
    units: dict[Any, str | None] = {}
    for number in given:
        line, row = number.line, number.row
        wrong = partial(sheet.fault, line, number.heading)
        size = next((key for key in SIZES if key in row), None)
        bytes_ = _size(sheet, line, size, row, faults)
        apart = [text for key, text in row.items() if key not in (*SIZES, "transport", "unit")]
        if form == "long":
            label = next(row[key] for key in NAME if key in row)
        else:
            label = " ".join(filter(None, [number.name, *apart])) or f"line {line}"
        case = (row.get("transport") or name, bytes_, label)
        own = number.unit if _of_messages(number.unit) else None
        common = None
        if number.statistic != "count":
            common = units.setdefault(case, number.unit or quantity_of(number.text)[1])
        printed = scaled(number.text, common, own if common else None)
        if printed is None:
            faults.append(sheet.no_number(line, number.heading, number.text))
        elif printed.value < 0 and (
            number.statistic in {"count", "std"} or _of_messages(number.unit)
        ):
            faults.append(wrong(f"a {number.statistic} is not negative, this is {number.text}"))
        statistics = results.setdefault(case, {})
        if number.statistic in statistics:
            message = f"'{number.statistic}' of column '{label}' is there twice"
            faults.append(sheet.fault(line, "statistic", message))
        if printed is not None:
            statistics[number.statistic] = printed
    return _with_decimals(
        Column(group, column, bytes_, statistics)
        for (group, bytes_, column), statistics in results.items()
    )


def _of_messages(unit: str | None) -> bool:
    try:
        return unit is not None and bool(unit_of(unit))
    except ValueError:
        return False


def _table(sheet: Sheet, faults: list[Fault]) -> tuple[Line, ...]:
    size = _heading(sheet, SIZES)
    numeric = {name: unit for name, unit in _numeric(sheet).items() if name != size}
    lines = []
    for line, cells in sheet.cells:
        numbers = {}
        for heading, unit in numeric.items():
            number = scaled(cells[heading], unit)
            if number is not None:
                numbers[heading] = number
            elif cells[heading]:
                faults.append(sheet.no_number(line, heading, cells[heading]))
        label = " ".join(text for name, text in cells.items() if name not in numeric)
        bytes_ = _size(sheet, line, size, cells, faults)
        lines.append(Line(label or f"line {line}", bytes_, cells.get("statistic", ""), numbers))
    return tuple(lines)


def _samples(sheet: Sheet, name: str) -> list[Column]:
    faults: list[Fault] = []
    columns = []
    numeric = _numeric(sheet)
    for at, heading in enumerate(sheet.headings):
        if heading not in numeric or heading in SIZES:
            continue
        first = {row[at]: line for line, row in reversed(sheet.rows)}  # text -> its first line
        numbers: dict[float, Printed] = {}
        for text, line in first.items():
            number = scaled(text, numeric[heading])
            if number is not None:
                numbers[number.value] = number
            elif text:
                faults.append(sheet.no_number(line, heading, text))
        columns.append(Column(name, heading, None, {}, _kept(numbers)))
    if faults:
        raise ScenarioError(sorted(faults, key=lambda fault: fault.line or 0))
    if not columns:
        raise ScenarioError([sheet.fault(None, "", "has no column of numbers")])
    return _with_decimals(columns)


def _with_decimals(columns: Iterable[Column]) -> list[Column]:
    return [replace(column, decimals=_decimals(column)) for column in columns]


def _decimals(column: Column) -> int:
    """Return to how many places the single values of a column are given.

    That is what a quarter of them has at most: of numbers rounded to d places one in ten has fewer,
    but of whole numbers the quantiles between two of them have more. Zeros before the point are
    taken for rounding only if all numbers of the column have them, its mean as well.
    """
    single = sorted(number.decimals for number in column.single_values())
    if not single:
        return 0
    printed = [number.decimals for name, number in column.statistics.items() if name != "count"]
    return max(single[len(single) // 4], min(0, max(printed or single)))


def _kept(numbers: Mapping[float, Printed]) -> tuple[Printed, ...]:
    values = sorted(value for value in numbers if value > 0)
    if len(values) > KEPT:
        values = [values[rank] for rank in some(len(values), KEPT)]
    return tuple(numbers[value] for value in values)


def _numeric(sheet: Sheet) -> dict[str, str | None]:
    found = {}
    for at, heading in enumerate(sheet.headings):
        first = next((row[at] for _, row in sheet.rows if row[at]), "")
        unit = split_heading(heading)[1] or quantity_of(first)[1]
        bare = unit is None or quantity_of(first)[1] is None or _of_messages(unit)
        if isinstance(first, Unclear) or (bare and scaled(first, unit) is not None):
            found[heading] = unit
    return found


def _size(
    sheet: Sheet, line: int, size: str | None, cells: Mapping[str, str], faults: list[Fault]
) -> int | None:
    if size is None:
        return None
    number = size_number(cells[size])
    if number is None:
        message = f"must be a whole number of bytes above 0, is '{cells[size]}'"
        faults.append(sheet.fault(line, size, message))
    return number


def _heading(sheet: Sheet, names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in sheet.headings), None)


def _needed(sheet: Sheet, names: tuple[str, ...]) -> str:
    result = _heading(sheet, names)
    if result is not None:
        return result
    wanted = " or ".join(f"'{name}'" for name in names)
    near = next(filter(None, (nearest(name, sheet.headings) for name in names)), None)
    message = f"there is no column {wanted}" + (f"; is it the one called '{near}'?" if near else "")
    raise ScenarioError([sheet.fault(1, "", message)])


def _refuse_misspelt(sheet: Sheet) -> None:
    near = nearest("statistic", sheet.headings, 0.75)
    if near:
        message = f"'{near}' is no heading that is known"
        raise ScenarioError([sheet.fault(1, near, message, "statistic")])
