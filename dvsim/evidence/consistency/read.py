"""From files to what is examined: summaries in long form, tables, raw samples, workloads.

A file with the headings ``statistic`` and ``value`` is a summary, one row per printed number. One
with ``statistic`` alone is a table of several numbers side by side. Any other is raw samples: each
column whose cells are numbers is one; if a heading says that it is an average, a difference or a
ratio of others, its rows are looked at as a table, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from dvsim.errors import Fault, ScenarioError, nearest
from dvsim.evidence.consistency.grid import some
from dvsim.evidence.consistency.relations import has_derived
from dvsim.evidence.consistency.types import Column, Data, Line, Workload
from dvsim.evidence.sheet import Printed, Sheet, number_of, open_sheet, whole_number
from dvsim.evidence.statistics import STATISTICS, SYNONYMS, share_of

SIZE = ("message_bytes", "size")
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
            if "statistic" in headings and ("value" in headings or _heading(sheet, NAME)):
                columns += _summary(sheet, name, faults)
                numbers += len(sheet.rows)
                continue
            at = [headings.index(name) for name in _numeric(sheet) if name not in SIZE]
            numbers += sum(row[column] != "" for _, row in sheet.rows for column in at)
            if "statistic" in headings or (has_derived(headings) and len(sheet.rows) <= ROWS):
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
    size = _needed(sheet, SIZE)
    messages = _needed(sheet, ("messages",))
    iterations = _heading(sheet, ("iterations",))
    faults: list[Fault] = []
    workloads: dict[int, Workload] = {}
    for line, cells in sheet.cells:
        numbers = []
        for heading in filter(None, (size, messages, iterations)):
            number = whole_number(cells[heading])
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


def _summary(sheet: Sheet, name: str, faults: list[Fault]) -> list[Column]:
    """Return the columns of a summary in long form."""
    heading, value = _needed(sheet, NAME), _needed(sheet, ("value",))
    size, transport = _heading(sheet, SIZE), _heading(sheet, ("transport",))
    results: dict[tuple[str, int | None, str], dict[str, Printed]] = {}
    for line, cells in sheet.cells:
        statistic, number = cells["statistic"], number_of(cells[value])
        if statistic not in {"count", "mean", "std"} and share_of(statistic) is None:
            message = f"'{statistic}' is no statistic; they are count, mean, std, min, N% and max"
            faults.append(sheet.fault(line, "statistic", message, _statistic_like(statistic)))
        if number is None:
            faults.append(_no_number(sheet, line, value, cells[value]))
        elif statistic in {"count", "std"} and number.value < 0:
            message = f"a {statistic} is not negative, this is {cells[value]}"
            faults.append(sheet.fault(line, value, message))
        bytes_ = _size(sheet, line, size, cells, faults)
        key = (cells[transport] if transport else name, bytes_, cells[heading])
        statistics = results.setdefault(key, {})
        if statistic in statistics:
            message = f"'{statistic}' of column '{cells[heading]}' is there twice"
            faults.append(sheet.fault(line, "statistic", message))
        if number is not None:
            statistics[statistic] = number
    return _with_decimals(
        Column(group, column, bytes_, statistics)
        for (group, bytes_, column), statistics in results.items()
    )


def _table(sheet: Sheet, faults: list[Fault]) -> tuple[Line, ...]:
    """Return the rows of a table; what is no number is part of the row's name."""
    size = _heading(sheet, SIZE)
    numeric = [name for name in _numeric(sheet) if name != size]
    lines = []
    for line, cells in sheet.cells:
        numbers = {}
        for heading in numeric:
            number = number_of(cells[heading])
            if number is not None:
                numbers[heading] = number
            elif cells[heading]:
                faults.append(_no_number(sheet, line, heading, cells[heading]))
        label = " ".join(text for name, text in cells.items() if name not in numeric)
        bytes_ = _size(sheet, line, size, cells, faults)
        lines.append(Line(label or f"line {line}", bytes_, cells.get("statistic", ""), numbers))
    return tuple(lines)


def _samples(sheet: Sheet, name: str) -> list[Column]:
    """Return the numeric columns of raw samples."""
    faults: list[Fault] = []
    columns = []
    numeric = set(_numeric(sheet)) - set(SIZE)
    for at, heading in enumerate(sheet.headings):
        if heading not in numeric:
            continue
        first = {row[at]: line for line, row in reversed(sheet.rows)}  # text -> its first line
        numbers: dict[float, Printed] = {}
        for text, line in first.items():
            number = number_of(text)
            if number is not None:
                numbers[number.value] = number
            elif text:
                faults.append(_no_number(sheet, line, heading, text))
        columns.append(Column(name, heading, None, {}, _kept(numbers)))
    if faults:
        raise ScenarioError(sorted(faults, key=lambda fault: fault.line or 0))
    if not columns:
        raise ScenarioError([sheet.fault(None, "", "has no column of numbers")])
    return _with_decimals(columns)


def _with_decimals(columns: Iterable[Column]) -> list[Column]:
    """Return columns that know to how many places their single values are given."""
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
    """Return at most `KEPT` of the distinct numbers above zero."""
    values = sorted(value for value in numbers if value > 0)
    if len(values) > KEPT:
        values = [values[rank] for rank in some(len(values), KEPT)]
    return tuple(numbers[value] for value in values)


def _numeric(sheet: Sheet) -> list[str]:
    """Return the headings whose first cell that is not empty is a number."""
    names = []
    for at, heading in enumerate(sheet.headings):
        first = next((row[at] for _, row in sheet.rows if row[at]), "")
        if number_of(first) is not None:
            names.append(heading)
    return names


def _size(
    sheet: Sheet, line: int, size: str | None, cells: Mapping[str, str], faults: list[Fault]
) -> int | None:
    if size is None:
        return None
    number = whole_number(cells[size])
    if number is None:
        message = f"must be a whole number of bytes above 0, is '{cells[size]}'"
        faults.append(sheet.fault(line, size, message))
    return number


def _no_number(sheet: Sheet, line: int, key: str, text: str) -> Fault:
    plain = text.replace(",", "")
    hint = plain if plain != text and number_of(plain) is not None else None
    return sheet.fault(line, key, f"'{text}' is not a number" if text else "is empty", hint)


def _statistic_like(text: str) -> str | None:
    lower = text.strip().lower()
    if lower[:1] == "p" and share_of(f"{lower[1:]}%") is not None:
        return f"{lower[1:]}%"
    return SYNONYMS.get(lower) or nearest(lower, STATISTICS)


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
    """Refuse a summary whose ``statistic`` is misspelt: it is not raw samples of ``value``."""
    near = nearest("statistic", sheet.headings, 0.75)
    if near:
        message = f"'{near}' is no heading that is known"
        raise ScenarioError([sheet.fault(1, near, message, "statistic")])
