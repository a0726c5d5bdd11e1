"""Sections of blocks as lines and tables for a terminal; figures are for pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from dvsim.report.blocks import Block, Code, Fold, Heading, Items, Section, Text
from dvsim.report.table import MARKS, Cell, Table
from dvsim.study import text_table
from dvsim.study.amounts import MISSING


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
            yield from [f"  {block.caption}"] if block.caption else []
            yield as_text(block)


def as_text(table: Table) -> text_table.Table:
    """Return a table of a page as one of text; columns below one heading become one of ranges."""
    widths = [width for _, width in table.spans] or [1] * len(table.head)
    ends = [sum(widths[:place]) for place in range(len(widths) + 1)]
    over = [text for text, _ in table.spans] or [""] * len(widths)
    head = [
        text or table.head[begin] for text, (begin, _) in zip(over, pairwise(ends), strict=True)
    ]
    rows = [[_joined(row[begin:end]) for begin, end in pairwise(ends)] for row in table.rows]
    right = [place for place, begin in enumerate(ends[:-1]) if table.kinds[begin] == "number"]
    return text_table.Table(head, rows, right)


def _joined(cells: Sequence[Cell]) -> str:
    """Return a cell without its mark, which goes with a word; several as the ends of a range."""
    marks = tuple(f"{sign} " for sign in MARKS.values())
    texts = [cell.text[2:] if cell.text.startswith(marks) else cell.text for cell in cells]
    return MISSING if set(texts) == {MISSING} else " .. ".join(texts)
