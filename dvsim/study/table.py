"""Tables, whatever they are shown on: the same rows as plain lines, on a terminal, a page, as CSV.

A cell is a text that may know more: whether it is a number, whether it is good, what CSV holds.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from dvsim.study.number_text import MISSING, four_digits, number_text, ratio_text

if TYPE_CHECKING:
    import pandas as pd

    from dvsim.table.estimate import Change

GAP = 2  # blanks between columns
EXACT = 2**53  # whole numbers below it are themselves as floating point
SIGNS = {"pass": "✓", "fail": "✗"}  # beside the words on a page: never colour alone


class Cell(str):
    """What a cell shows, a text, and what is known of it.

    Attributes:
        kind: How it is set: text, number, code; prose has lines, of a width that can be read.
        status: Its meaning, from which a page takes its colour.
        csv: What CSV holds.
    """

    __slots__ = ("csv", "kind", "status")
    kind: str
    status: str
    csv: str | float

    def __new__(
        cls, text: str, kind: str = "text", status: str = "", raw: str | float | None = None
    ) -> Self:
        """Make a cell; CSV holds its text unless `raw` says what else."""
        self = super().__new__(cls, text)
        self.kind, self.status, self.csv = kind, status, text if raw is None else raw
        return self

    @property
    def signed(self) -> str:
        """The text as a page has it: a verdict with its sign."""
        sign = SIGNS.get(self.status, "")
        return self if sign in self else f"{sign} {self}"


@dataclass(frozen=True)
class Table:
    """Rows of equally many cells, at least one, under a head if there is one.

    Attributes:
        head, rows: The cells: a text, or a `Cell` that knows more.
        right: Columns that are flush right: those named, and all that have numbers.
        keys: Columns on the left that name the row: repeated where a table is wider than the
            terminal.
        groups: How many of the other columns stay together; those that are left stand alone.
        widths: Of the columns in plain lines; empty takes what the cells need, with two blanks
            between.
        name: Its address on a page, and the name of its CSV file.
        caption: What it shows.
        spans: Headings above the head, for pages: text and number of columns.
        csv_head, csv_rows: What the download holds, where it differs from what is shown.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[int] = ()
    keys: int = 1
    groups: Sequence[int] = ()
    widths: Sequence[int] = ()
    name: str = ""
    caption: str = ""
    spans: Sequence[tuple[str, int]] = ()
    csv_head: Sequence[str] = ()
    csv_rows: Sequence[Sequence[str | float]] = ()
    form: ClassVar[str] = "table"

    def __post_init__(self) -> None:
        cells = (pair for row in self.rows for pair in enumerate(row))
        numbers = {n for n, cell in cells if isinstance(cell, Cell) and cell.kind == "number"}
        object.__setattr__(self, "right", sorted(numbers.union(self.right)))

    @property
    def kinds(self) -> list[str]:
        """How the heading of each column is set, so that it stands where its cells do."""
        return ["number" if column in self.right else "text" for column in range(len(self.head))]

    @property
    def cells(self) -> list[list[Cell]]:
        """The rows, of which every cell knows what it is."""
        return [
            [
                cell if isinstance(cell, Cell) else Cell(cell, kind)
                for cell, kind in zip(row, self.kinds, strict=True)
            ]
            for row in self.rows
        ]

    def lines(self) -> Iterator[str]:
        """Yield the table as plain lines."""
        widths = self.widths or [max(map(len, cells)) for cells in zip(*self.all_rows, strict=True)]
        between = "" if self.widths else " " * GAP
        for row in self.all_rows:
            cells = (
                cell.rjust(width) if column in self.right else cell.ljust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            yield between.join(cells).rstrip()

    @property
    def all_rows(self) -> list[Sequence[str]]:
        """The head, if there is one, and the rows."""
        return [self.head, *self.rows] if self.head else [*self.rows]

    def parts(self, columns: int) -> Iterator[list[int]]:
        """Yield the columns of each part of the table that fits into so many characters.

        A group that does not fit beside the keys has a part of its own.
        """
        needed = [max(map(len, cells)) + GAP for cells in zip(*self.all_rows, strict=True)]
        keys = list(range(self.keys))
        rest, begin = [], self.keys
        for size in [*self.groups, *[1] * len(needed)]:
            if begin < len(needed):
                rest.append(list(range(begin, min(begin + size, len(needed)))))
                begin += size
        part = list(keys)
        for group in rest:
            if len(part) > len(keys) and sum(needed[n] for n in part + group) > columns:
                yield part
                part = list(keys)
            part += group
        yield part

    @property
    def csv(self) -> str:
        """What the download of the table holds."""
        rows = self.csv_rows or [[cell.csv for cell in row] for row in self.cells]
        return csv_text(self.csv_head or self.head, rows)


def frame_table(frame: pd.DataFrame, keys: int = 1) -> Table:
    """Return a frame as a table, its numbers with four digits."""

    def text(cell: object) -> str:
        if isinstance(cell, float):
            return "-" if math.isnan(cell) else four_digits(cell)
        return str(cell)

    rows = [list(map(text, row)) for row in frame.itertuples(index=False)]
    right = [place for place, name in enumerate(frame) if frame[name].dtype.kind in "iuf"]
    return Table([*map(str, frame)], rows, right, keys=keys)


def table_of(name: str, caption: str, rows: Sequence[Mapping[str, str]]) -> Table:
    """Return rows, each cell under the heading that it has in its row, as a table."""
    head = list(rows[0]) if rows else []
    return Table(head, [[row[text] for text in head] for row in rows], name=name, caption=caption)


def csv_text(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return rows under a head as CSV, numbers with all digits; what is not a number is empty."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([head, *(map(_plain, row) for row in rows)])
    return buffer.getvalue()


def _plain(value: object) -> object:
    """Return what CSV has of a value: a whole number without a point.

    >>> [_plain(value) for value in (5.0, 0.1, float("nan"), "5.0")]
    [5, 0.1, '', '5.0']
    """
    if not isinstance(value, float):
        return value
    if math.isnan(value):
        return ""
    return int(value) if value.is_integer() and abs(value) < EXACT else float(value)


def plain_lines(parts: Iterable[str | Table]) -> Iterator[str]:
    """Yield lines, and the tables among them as plain lines."""
    for part in parts:
        yield from [part] if isinstance(part, str) else part.lines()


def ratio(value: float | None, base: float | None) -> float | None:
    """Divide, or give None where either is missing or there is nothing to divide by."""
    if value is None or base is None or math.isnan(value) or math.isnan(base) or base == 0:
        return None
    return value / base


def number(value: float | None, status: str = "") -> Cell:
    """Make a cell of a number; CSV keeps all its digits."""
    raw = "" if value is None or math.isnan(value) else value
    return Cell(number_text(value), "number", status, raw)


def times(value: float | None, status: str = "") -> Cell:
    """Make a cell of a ratio; CSV keeps all its digits."""
    raw = "" if value is None or not math.isfinite(value) else value
    return Cell(ratio_text(value), "number", status, raw)


def changed(change: Change | None, unit: float = 1.0) -> Cell:
    """Make a cell of what became of a value; CSV has the change alone, with all its digits."""
    if change is None:
        return Cell(MISSING, "number", raw="")
    return Cell(change.text(unit), "number", raw=change.value)


def mark(passed: bool | None, kind: str = "text") -> Cell:
    """Make a cell of a verdict."""
    if passed is None:
        return Cell(MISSING, kind, "info", "not judged")
    word = "pass" if passed else "fail"
    return Cell(word, kind, word)
