"""Tables of text: as plain lines and as CSV here, on a terminal by `screen`."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Rows of equally many cells, at least one, under a head if there is one.

    Attributes:
        head, rows: The cells, as text.
        right: Columns that are flush right: numbers.
        keys: Columns on the left that name the row: repeated where a table is wider than the
            terminal.
        groups: How many of the other columns stay together; those that are left stand alone.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[int] = ()
    keys: int = 1
    groups: Sequence[int] = ()

    def lines(self) -> Iterator[str]:
        """Yield the table as plain lines."""
        widths = [max(map(len, cells)) for cells in zip(*self.all_rows, strict=True)]
        for row in self.all_rows:
            cells = (
                cell.rjust(width) if column in self.right else cell.ljust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            yield (" " * GAP).join(cells).rstrip()

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


GAP = 2  # blanks between columns


def csv_text(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return rows under a head as CSV."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([head, *rows])
    return buffer.getvalue()


def plain_lines(parts: Iterable[str | Table]) -> Iterator[str]:
    """Yield lines, and the tables among them as plain lines."""
    for part in parts:
        yield from [part] if isinstance(part, str) else part.lines()
