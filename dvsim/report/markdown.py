"""A report as Markdown: sentences and tables, for a paper, an issue or a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dvsim._version import __version__
from dvsim.report.drawing import Drawing
from dvsim.report.table import Cell, Table

Block = str | Table | Drawing | Sequence[str]
"""A paragraph, a table, a figure in words, or lines of code."""


def markdown(title: str, sections: Iterable[tuple[str, Sequence[Block]]]) -> str:
    r"""Write headings with what stands below them; sections that hold nothing are left out.

    Examples
    --------
    >>> table = Table("t", "Rates.", ["run", "rate"], [[Cell("a|b"), Cell("5", "number")]])
    >>> sections = [("Answer", ["It is 5.", table]), ("Empty", [])]
    >>> print(markdown("One <run>", sections))  # doctest: +ELLIPSIS
    # One &lt;run&gt;
    <BLANKLINE>
    ## Answer
    <BLANKLINE>
    It is 5.
    <BLANKLINE>
    Rates.
    <BLANKLINE>
    | run | rate |
    | --- | ---: |
    | a\|b | 5 |
    <BLANKLINE>
    Made by dvsim ...
    """
    parts = [f"# {plain(title)}"]
    for heading, blocks in sections:
        texts = [text for block in blocks if (text := block_text(block))]
        if texts:
            parts += [f"## {plain(heading)}", *texts]
    return "\n\n".join([*parts, f"Made by dvsim {__version__}."]) + "\n"


def block_text(block: Block) -> str:
    """Write one block."""
    if isinstance(block, str):
        return plain(block)
    if isinstance(block, Table):
        return table_text(block)
    if isinstance(block, Drawing):
        return f"*{plain(block.title)}.* {plain(block.label)}"
    return "\n".join(["```", *block, "```"]) if block else ""


def table_text(table: Table) -> str:
    """Write a table with its caption; a heading above several columns joins the heading of each."""
    if not table.rows:
        return ""
    above = [text for text, width in table.spans for _ in range(width)] or [""] * len(table.head)
    head = [
        f"{over}: {text}" if over else text for over, text in zip(above, table.head, strict=True)
    ]
    lines = [row_text(map(plain, head))]
    lines.append(row_text("---:" if kind == "number" else "---" for kind in table.kinds))
    lines += [row_text(map(cell_text, row)) for row in table.rows]
    text = "\n".join(lines)
    return f"{plain(table.caption)}\n\n{text}" if table.caption else text


def row_text(cells: Iterable[str]) -> str:
    """Write one line of a table."""
    return f"| {' | '.join(cells)} |"


def cell_text(cell: Cell) -> str:
    """Write a cell; code stands between backticks, where nothing needs escaping but a bar."""
    if cell.kind == "code" and cell.text and "`" not in cell.text:
        return "`" + " ".join(cell.text.split()).replace("|", "\\|") + "`"
    return plain(cell.text)


def plain(text: str) -> str:
    """Keep a text from being read as markup."""
    for letter, instead in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("|", "\\|")):
        text = text.replace(letter, instead)
    return " ".join(text.split()).replace("*", "\\*")
