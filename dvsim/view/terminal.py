"""Sections of blocks as lines and tables for a terminal; figures are for pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise

from dvsim.study.number_text import MISSING
from dvsim.study.table import Table
from dvsim.view.blocks import Block, Code, Fold, Heading, Items, Section, Text

RANGE = ["low", "high"]  # headings of two columns that are the ends of one range


def lines(sections: Iterable[Section]) -> Iterator[str | Table]:
    r"""Yield sections, those that hold something: titles, texts, and tables to be indented.

    >>> from dvsim.study.table import plain_lines
    >>> table = Table(["", "low", "high"], [["pass", "1", "3"]], right=[1, 2],
    ...               caption="Rates.", spans=[("", 1), ("interval", 2)])
    >>> shown = [Section("a", "Answer", [Text("All hold", "verdict"), table])]
    >>> print("\n".join(plain_lines(lines(shown))))
    All hold
      Rates.
          interval
    pass    1 .. 3
    """
    for number, section in enumerate(section for section in sections if section.blocks):
        if number:
            yield from ("", section.title)
        yield from _lines(section.blocks)


def _lines(blocks: Sequence[Block]) -> Iterator[str | Table]:
    before: Block | None = None
    for block in blocks:
        if isinstance(block, Text):
            yield from [""] if isinstance(before, Text) and before.look == "question" else []
            yield block.text if block.look == "verdict" else f"  {block.text}"
        elif isinstance(block, Heading):
            yield from ("", block.text)
        elif isinstance(block, Items):
            yield from (f"  - {text}" for text in block.texts)
        elif isinstance(block, Code):
            yield from (f"  $ {line}" for line in block.lines)
        elif isinstance(block, Fold):
            yield from _lines(block.blocks)
        elif isinstance(block, Table):
            yield from [""] if isinstance(before, Table) else []
            yield from [f"  {block.caption}"] if block.caption else []
            yield as_text(block)
        before = block


def as_text(table: Table) -> Table:
    """Return a table without headings above its head; both ends of a range become one column.

    Other columns below one heading stay together.
    """
    spans = table.spans or [("", table.keys), *(("", 1) for _ in table.head[table.keys :])]
    ends = [0, *accumulate(width for _, width in spans)]
    head: list[str] = []
    columns: list[range] = []
    groups: list[int] = []
    for (text, width), (begin, end) in zip(spans, pairwise(ends), strict=True):
        ranged = list(table.head[begin:end]) == RANGE
        head += [text] if ranged else table.head[begin:end]
        columns += [range(begin, end)] if ranged else (range(n, n + 1) for n in range(begin, end))
        groups.append(1 if ranged else width)
    rows = [[_joined([row[n] for n in column]) for column in columns] for row in table.rows]
    right = [n for n, column in enumerate(columns) if table.kinds[column[0]] == "number"]
    return Table(
        head, rows, right, keys=groups[0], groups=groups[1:] if table.spans else table.groups
    )


def _joined(cells: Sequence[str]) -> str:
    return MISSING if set(cells) == {MISSING} else " .. ".join(cells)
