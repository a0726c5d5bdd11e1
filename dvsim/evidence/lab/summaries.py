"""Summaries: one row a statistic (long), or one row a case with a column a statistic (wide)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from dvsim.errors import Fault, ScenarioError, nearest
from dvsim.evidence.headings import (
    METRICS,
    Unit,
    metric_of,
    split_heading,
    statistic_of,
    unit_of,
)
from dvsim.evidence.lab.data import About, Case, Sample, sample_of
from dvsim.evidence.sheet import Sheet, number_of, size_number
from dvsim.evidence.statistics import STATISTICS
from dvsim.scenario.quantity import UNITS, UnitError

SIZES = ("message_bytes", "size", "message_size", "bytes")
RUNS = ("run",)
NAMES = ("column", "published_column", "name", "label")
RESERVED = {*RUNS, *NAMES, "statistic", "value", "unit", "metric"}


class Key(NamedTuple):
    """What tells one case from another."""

    label: str
    size: int | None
    metric: str
    keys: tuple[tuple[str, str], ...]


class Cell(NamedTuple):
    """One printed number: of which case and statistic, in which unit, where."""

    key: Key
    statistic: str
    value: float
    decimals: int
    factor: float
    line: int


def is_long(headings: Sequence[str]) -> bool:
    """Return whether a table has one statistic in each row."""
    return "statistic" in headings


def is_wide(headings: Sequence[str], own: Collection[str] = ()) -> bool:
    """Return whether a table has a statistic, or several side by side, in each row."""
    return bool(set(wide_columns(headings, own).values()) - {"count"})


def wide_columns(headings: Sequence[str], own: Collection[str] = ()) -> dict[str, str]:
    """Return the headings that are statistics, ``p99 (ms)`` among them, with their statistic.

    A metric that a kind of scenario has itself, `own`, is a mean.
    """
    parts = {name: split_heading(name)[0] for name in headings}
    results = {name: "mean" if part in own else statistic_of(part) for name, part in parts.items()}
    return {name: word for name, word in results.items() if word is not None}


def summary_cases(sheet: Sheet, about: About, own: Mapping[str, str]) -> list[Case]:
    """Return the cases of a summary in either form.

    Raises:
        ScenarioError: With every fault: file, line, column, nearest valid word.
    """
    reader = _Reader(sheet, about, own)
    cells = reader.long() if is_long(sheet.headings) else reader.wide()
    if not reader.faults and not cells:
        reader.faults.append(sheet.fault(None, "", "has no number"))
    cases = reader.cases(cells)
    if reader.faults:
        raise ScenarioError(reader.faults)
    return cases


class _Reader:
    def __init__(self, sheet: Sheet, about: About, own: Mapping[str, str]) -> None:
        self.sheet, self.about, self.own = sheet, about, own
        self.faults: list[Fault] = []

    def long(self) -> list[Cell]:
        value = next(
            (name for name in self.sheet.headings if split_heading(name)[0] == "value"), None
        )
        if value is None:
            near = nearest("value", self.sheet.headings)
            self._wrong(1, near or "", "there is no column 'value'", "value" if near else None)
            return []
        cells = []
        for line, row in self.sheet.cells:
            statistic = statistic_of(row["statistic"])
            if statistic is None:
                near = nearest(row["statistic"].lower(), STATISTICS)
                self._wrong(line, "statistic", f"'{row['statistic']}' is no statistic", near)
                continue
            text = split_heading(value)[1] or row.get("unit") or self.about.unit
            cell = self._cell(line, row, value, statistic, text, row.get("metric"))
            cells += [] if cell is None else [cell]
        return cells

    def wide(self) -> list[Cell]:
        columns = wide_columns(self.sheet.headings, self.own)
        units = (split_heading(name)[1] for name in columns)
        common = next(filter(None, units), self.about.unit)  # a count has none of its own
        cells = []
        for line, row in self.sheet.cells:
            if not any(row[heading] for heading in columns):
                self._wrong(line, "", "has no number of any statistic; was the file cut here?")
            for heading, statistic in columns.items():
                if not row[heading]:
                    continue  # a statistic that this row does not have
                name, text = split_heading(heading)
                text = text or row.get("unit") or (None if name in self.own else common)
                named = name if name in self.own else row.get("metric")
                cell = self._cell(line, row, heading, statistic, text, named)
                cells += [] if cell is None else [cell]
        return cells

    def cases(self, cells: Sequence[Cell]) -> list[Case]:
        results: dict[Key, dict[str, Cell]] = {}
        for cell in cells:
            statistics = results.setdefault(cell.key, {})
            if cell.statistic in statistics:
                first = statistics[cell.statistic].line
                message = f"{cell.statistic} of the same case stands in line {first} already"
                self._wrong(cell.line, cell.statistic, message)
            statistics[cell.statistic] = cell
        return [self._case(key, statistics) for key, statistics in results.items()]

    def _case(self, key: Key, cells: Mapping[str, Cell]) -> Case:
        values = {name: cell.value * cell.factor for name, cell in cells.items()}
        line = min(cell.line for cell in cells.values())
        factor = next((cell.factor for name, cell in cells.items() if name != "count"), 1.0)
        count = values.pop("count", None)
        self._in_order(values, cells)
        keys = dict(key.keys)
        if key.metric in self.own and set(values) != {"mean"}:
            statistic = next(name for name in values if name != "mean")
            message = f"of a {key.metric} there are means only, no {statistic}"
            self._wrong(cells[statistic].line, statistic, message)
        declared = self.about.of(self.about.sample, keys.get("transport", ""))
        return Case(
            where=f"{self.sheet.name}:{line}",
            label=key.label,
            keys=keys,
            message_bytes=key.size,
            metric=key.metric,
            sample=Sample("run") if key.metric in self.own else sample_of(declared, key.metric),
            count=None if count is None else round(count),
            statistics=values,
            half=(self.about.rounding or 0.0) * factor,
            own_unit=self.own.get(key.metric),
        )

    def _in_order(self, values: Mapping[str, float], cells: Mapping[str, Cell]) -> None:
        """Find order statistics that fall: two columns were changed over, or a digit is wrong."""
        order = Case("", "", {}, None, "rate", Sample(), None, values).quantiles
        names = {value: name for name, value in values.items()}
        ordered = list(order.values())
        for low, high in pairwise(ordered):
            if high < low:
                name = names[high]
                message = f"is smaller than the {names[low]} of the same case"
                self._wrong(cells[name].line, name, message)

    def _cell(
        self,
        line: int,
        row: Mapping[str, str],
        heading: str,
        statistic: str,
        unit_text: str | None,
        named: str | None,
    ) -> Cell | None:
        number = number_of(row[heading])
        if number is None:
            text = row[heading]
            message = f"'{text}' is not a number" if text else "is empty, or not a number (NaN)"
            plain = text.split(" ")[0].replace(",", "")
            message += "" if " " not in text else "; the unit stands in the heading"
            self._wrong(line, heading, message, plain if number_of(plain) else None)
            return None
        if number.value < 0:
            self._wrong(line, heading, f"{statistic} is not negative, this is {row[heading]}")
            return None
        known = [*METRICS, *self.own]
        if named and named not in known:
            message = f"'{named}' is no metric; they are {', '.join(known)}"
            self._wrong(line, "metric", message, nearest(named, known))
            return None
        quantity: tuple[Unit, int | None, str] | None
        if named is not None and named in self.own:
            quantity = self._own(line, heading, unit_text, named)
        else:
            quantity = self._of_messages(line, row, heading, unit_text, named)
        if quantity is None:
            return None
        unit, size, metric = quantity
        keys = self._keys(row, () if named in self.own else SIZES)
        key = Key(self._label(row), size, metric, keys)
        factor = 1.0 if statistic == "count" else unit.factor
        return Cell(key, statistic, number.value, number.decimals, factor, line)

    def _own(
        self, line: int, heading: str, text: str | None, metric: str
    ) -> tuple[Unit, None, str] | None:
        """Return the unit of a metric that a kind has itself: as that has it, or another time."""
        unit = self.own[metric]
        if text is None or text == unit:
            return Unit("", 1.0), None, metric
        times = UNITS["time"]
        if text in times and unit in times:
            return Unit("", float(times[text] / times[unit])), None, metric
        self._wrong(line, heading, f"'{text}' is not the unit of {metric}", unit)
        return None

    def _of_messages(
        self, line: int, row: Mapping[str, str], heading: str, text: str | None, named: str | None
    ) -> tuple[Unit, int | None, str] | None:
        """Return the unit, the size of a message and the metric of a number about messages."""
        size = self._size(line, row)
        if size is None and any(name in row for name in SIZES):
            return None
        unit = self._unit(line, heading, text, size)
        metric = None if unit is None else self._metric(line, heading, unit, named)
        return None if unit is None or metric is None else (unit, size, metric)

    def _unit(
        self, line: int, heading: str, unit_text: str | None, size: int | None
    ) -> Unit | None:
        if unit_text is None:
            message = "its unit is nowhere stated; write it into the heading, such as "
            message += (
                f"'{heading} (msg/s)', or unit = \"msg/s\" into [lab] of a TOML file beside it"
            )
            if not any(fault.message == message for fault in self.faults):  # once, not in each row
                self._wrong(line, heading, message)
            return None
        try:
            unit = unit_of(unit_text)
        except UnitError as error:
            in_heading = unit_text == split_heading(heading)[1]
            self._wrong(1 if in_heading else line, heading, error.message, error.hint)
            return None
        if unit.dimension != "bytes":
            return unit
        if not size:
            message = f"{unit_text} needs the size of a message: a column 'message_bytes'"
            self._wrong(line, heading, message)
            return None
        return Unit("rate", unit.factor / size)

    def _metric(self, line: int, heading: str, unit: Unit, named: str | None) -> str | None:
        name = named or self.about.metric or split_heading(heading)[0]
        metric = metric_of(name, unit.dimension)
        if metric is None:
            self._wrong(line, heading, f"a {name} is not measured in a unit of {unit.dimension}")
        return metric

    def _size(self, line: int, row: Mapping[str, str]) -> int | None:
        heading = next((name for name in SIZES if name in row), None)
        if heading is None:
            return self.about.message_bytes
        number = size_number(row[heading])
        if number is None:
            message = f"must be a whole number of bytes above 0, is '{row[heading]}'"
            self._wrong(line, heading, message)
        return number

    def _label(self, row: Mapping[str, str]) -> str:
        run = row.get("run", "")
        if run:
            return f"r{run}" if run.isdigit() else run
        return next((row[name] for name in NAMES if row.get(name)), "")

    def _keys(self, row: Mapping[str, str], sizes: Collection[str]) -> tuple[tuple[str, str], ...]:
        columns = () if is_long(list(row)) else wide_columns(list(row), self.own)
        return tuple(
            (name, text)
            for name, text in row.items()
            if text
            and name not in RESERVED.union(sizes)
            and name not in columns
            and split_heading(name)[0] != "value"
        )

    def _wrong(self, line: int | None, key: str, message: str, hint: str | None = None) -> None:
        fault = self.sheet.fault(line, key, message, hint)
        if fault not in self.faults:
            self.faults.append(fault)
