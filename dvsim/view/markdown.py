"""A page as Markdown: sentences and tables, for a paper, an issue or a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dvsim._version import __version__
from dvsim.study.table import Cell, Table
from dvsim.view.blocks import Block, Code, Fold, Heading, Items, Page, Pair, Text
from dvsim.view.figure import Figure


def markdown(page: Page) -> str:
    r"""Return a page as Markdown; figures in words.

    >>> from dvsim.view.blocks import Section
    >>> table = Table(["run", "rate"], [["a|b", "5"]], right=[1], caption="Rates.")
    >>> sections = [Section("a", "Answer", [Text("It is 5."), table]), Section("e", "Empty", [])]
    >>> print(markdown(Page("One <run>", sections)))  # doctest: +ELLIPSIS
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
    parts = [f"# {plain(page.title)}", plain(page.intro)]
    for section in page.sections:
        parts += [f"## {plain(section.title)}" if section.headed else "", *texts_of(section.blocks)]
    return "\n\n".join([*filter(None, parts), f"Made by dvsim {__version__}."]) + "\n"


def texts_of(blocks: Sequence[Block]) -> list[str]:
    """Return blocks as paragraphs; those of a fold under its title, a recorded run not at all."""
    texts = []
    for block in blocks:
        if isinstance(block, Text):
            texts.append(plain(block.text))
        elif isinstance(block, Heading):
            texts.append(f"### {plain(block.text)}")
        elif isinstance(block, Items):
            texts.append("\n".join(f"- {plain(text)}" for text in block.texts))
        elif isinstance(block, Code):
            texts.append("\n".join(["```", *block.lines, "```"]))
        elif isinstance(block, Fold):
            texts += [f"### {plain(block.title)}", *texts_of(block.blocks)]
        elif isinstance(block, Pair):
            texts += texts_of(block.figures)
        elif isinstance(block, Figure):
            label = block.label.removeprefix(f"{block.title}. ")  # it says what the picture is of
            texts.append(f"*{plain(block.title)}.* {plain(label)}")
        elif isinstance(block, Table):
            texts.append(table_text(block))
    return texts


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
    lines += [row_text(map(cell_text, row)) for row in table.cells]
    text = "\n".join(lines)
    return f"{plain(table.caption)}\n\n{text}" if table.caption else text


def row_text(cells: Iterable[str]) -> str:
    """Write one line of a table."""
    return f"| {' | '.join(cells)} |"


def cell_text(cell: Cell) -> str:
    """Write a cell; code stands between backticks, where nothing needs escaping but a bar."""
    if cell.kind == "code" and cell and "`" not in cell:
        return "`" + " ".join(cell.split()).replace("|", "\\|") + "`"
    return plain(cell.signed)


def plain(text: str) -> str:
    """Keep a text from being read as markup."""
    text = text.replace("\\", "\\\\")  # first: those of the others are not escaped again
    for letter, instead in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("|", "\\|")):
        text = text.replace(letter, instead)
    return " ".join(text.split()).replace("*", "\\*")
