"""A table for the page: cells as text with a meaning, and the same rows as CSV."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import quote

from dvsim.study.amounts import MISSING, number_text, ratio_text
from dvsim.study.text_table import csv_text

if TYPE_CHECKING:
    from dvsim.study.paired import Change

MARKS = {"pass": "✓", "fail": "✗", "info": "–"}  # a mark and a word: never colour alone


@dataclass(frozen=True)
class Cell:
    """One cell.

    Attributes:
        text: What is shown; the page escapes it.
        kind: How it is set; prose has lines, of a width that can be read.
        status: Its meaning, from which the page takes colour and mark.
        raw: What the CSV holds; the text where None.
    """

    text: str
    kind: str = "text"
    status: str = ""
    raw: str | float | None = None

    @property
    def csv(self) -> str | float:
        """The cell as the CSV holds it."""
        return self.text if self.raw is None else self.raw


@dataclass(frozen=True)
class Table:
    """Rows under a heading.

    Attributes:
        name: Identifier of the table on the page and name of its CSV file.
        caption: What it shows.
        head: One heading per column.
        rows: As wide as `head`; the first cell heads its row.
        spans: Optional line of headings above `head`: text and number of columns.
        csv_head, csv_rows :: What the download holds, where it differs from what is shown.
    """

    name: str
    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    spans: Sequence[tuple[str, int]] = ()
    csv_head: Sequence[str] = ()
    csv_rows: Sequence[Sequence[str | float]] = field(default=())
    form: ClassVar[str] = "table"

    @property
    def kinds(self) -> list[str]:
        """How each column is set, so that its heading stands where its cells do."""
        columns = zip(*self.rows, strict=True)
        numbers = [any(cell.kind == "number" for cell in column) for column in columns]
        return ["number" if found else "text" for found in numbers or [False] * len(self.head)]

    @property
    def csv_uri(self) -> str:
        """The rows as a ``data:`` address, so that the page carries its own downloads."""
        rows = self.csv_rows or ([cell.csv for cell in row] for row in self.rows)
        return "data:text/csv;charset=utf-8," + quote(csv_text(self.csv_head or self.head, rows))


def table_of(name: str, caption: str, rows: Sequence[Mapping[str, Cell]]) -> Table:
    """Return rows, each cell under the heading that it has in its row, as a table."""
    head = list(rows[0]) if rows else []
    return Table(name, caption, head, [[row[text] for text in head] for row in rows])


def ratio(value: float | None, base: float | None) -> float | None:
    """Divide, or give None where either is missing or there is nothing to divide by."""
    if value is None or base is None or math.isnan(value) or math.isnan(base) or base == 0:
        return None
    return value / base


def number(value: float | None, status: str = "") -> Cell:
    """Make a cell of a number; the CSV keeps all its digits."""
    raw = "" if value is None or math.isnan(value) else value
    return Cell(number_text(value), "number", status, raw)


def times(value: float | None, status: str = "") -> Cell:
    """Make a cell of a ratio; the CSV keeps all its digits."""
    raw = "" if value is None or not math.isfinite(value) else value
    return Cell(ratio_text(value), "number", status, raw)


def changed(change: Change | None, unit: float = 1.0) -> Cell:
    """Make a cell of what became of a value; the CSV has the change alone, with all its digits."""
    if change is None:
        return Cell(MISSING, "number", raw="")
    return Cell(change.text(unit), "number", raw=change.value)


def mark(passed: bool | None, kind: str = "text") -> Cell:
    """Make a cell of a verdict: a mark and a word, since colour alone is not enough."""
    if passed is None:
        return Cell(MISSING, kind, "info", "not judged")
    word = "pass" if passed else "fail"
    return Cell(f"{MARKS[word]} {word}", kind, word, word)
