"""Sections of blocks as lines and tables for a terminal; figures are for pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise

from dvsim.report.blocks import Block, Code, Fold, Heading, Items, Section, Text
from dvsim.report.table import MARKS, Cell, Table
from dvsim.study import text_table
from dvsim.study.amounts import MISSING

RANGE = ["low", "high"]  # headings of two columns that are the ends of one range


def lines(sections: Iterable[Section]) -> Iterator[str | text_table.Table]:
    r"""Yield sections, those that hold something: titles, texts, and tables to be indented.

    >>> ends = [Cell("1", "number"), Cell("3", "number")]
    >>> table = Table("t", "Rates.", ["", "low", "high"], [[Cell("✓ pass"), *ends]],
    ...               [("", 1), ("interval", 2)])
    >>> shown = [Section("a", "Answer", [Text("All hold", "verdict"), table])]
    >>> print("\n".join(text_table.plain_lines(lines(shown))))
    All hold
      Rates.
          interval
    pass    1 .. 3
    """
    for number, section in enumerate(section for section in sections if section.blocks):
        if number:
            yield from ("", section.title)
        yield from _lines(section.blocks)


def _lines(blocks: Sequence[Block]) -> Iterator[str | text_table.Table]:
    before: Block | None = None
    for block in blocks:
        if isinstance(block, Text):
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


def as_text(table: Table) -> text_table.Table:
    """Return a table of a page as one of text; both ends of a range become one column.

    Other columns below one heading stay, and stay together; the heading is left out.
    """
    spans = table.spans or [("", 1)] * len(table.head)
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
    return text_table.Table(head, rows, right, keys=groups[0], groups=groups[1:])


def _joined(cells: Sequence[Cell]) -> str:
    """Return a cell without its mark, which goes with a word; several as the ends of a range."""
    marks = tuple(f"{sign} " for sign in MARKS.values())
    texts = [cell.text[2:] if cell.text.startswith(marks) else cell.text for cell in cells]
    return MISSING if set(texts) == {MISSING} else " .. ".join(texts)
