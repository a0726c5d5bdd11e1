"""What a page is made of: sections of blocks, which every renderer writes in its own form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from dvsim.study.table import Table
from dvsim.view.explore import Explorer
from dvsim.view.figure import Figure
from dvsim.view.recorded import Recording


@dataclass(frozen=True)
class Text:
    """A paragraph; a verdict is set larger, a question in italics."""

    text: str
    look: Literal["", "verdict", "question"] = ""
    form: ClassVar[str] = "text"


@dataclass(frozen=True)
class Heading:
    """A heading inside a section."""

    text: str
    form: ClassVar[str] = "heading"


@dataclass(frozen=True)
class Items:
    """Points of a list."""

    texts: Sequence[str]
    form: ClassVar[str] = "items"


@dataclass(frozen=True)
class Code:
    """Lines of commands."""

    lines: Sequence[str]
    form: ClassVar[str] = "code"


@dataclass(frozen=True)
class Pair:
    """Figures that stand side by side where there is room."""

    figures: Sequence[Figure]
    form: ClassVar[str] = "pair"


@dataclass(frozen=True)
class Fold:
    """Blocks behind a line that opens them."""

    title: str
    blocks: Sequence[Block]
    opened: bool = False
    form: ClassVar[str] = "fold"


Block = Text | Heading | Items | Code | Pair | Fold | Table | Figure | Recording | Explorer


@dataclass(frozen=True)
class Section:
    """A part of a page.

    Attributes:
        name: Its address within the page.
        title: What the line of links above the page calls it.
        blocks: Without any, there is no section.
        headed: Whether the title stands above the blocks, too; of the only study of a page it does
            not, since it is the title of the page.
    """

    name: str
    title: str
    blocks: Sequence[Block]
    headed: bool = True


@dataclass(frozen=True)
class Page:
    """A page, whatever the medium; sections that hold nothing are left out."""

    title: str
    sections: Sequence[Section]
    intro: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "sections", [section for section in self.sections if section.blocks]
        )

    @property
    def blocks(self) -> Iterator[Block]:
        """Every block in the order of the page, those inside of others too."""
        for section in self.sections:
            yield from _inside(section.blocks)

    @property
    def figures(self) -> list[Figure]:
        """Every figure in the order of the page."""
        return [block for block in self.blocks if isinstance(block, Figure)]


def _inside(blocks: Iterable[Block]) -> Iterator[Block]:
    for block in blocks:
        yield block
        if isinstance(block, Fold):
            yield from _inside(block.blocks)
        elif isinstance(block, Pair):
            yield from block.figures


def answer(sentences: Sequence[str]) -> list[Block]:
    """Return sentences as paragraphs, of which the first is the verdict."""
    return [Text(text, "" if index else "verdict") for index, text in enumerate(sentences)]


def tables(*some: Table | None) -> list[Table]:
    """Return the tables that there are and that have rows."""
    return [table for table in some if table is not None and table.rows]


def pair(figures: Sequence[Figure]) -> list[Block]:
    """Return figures side by side; nothing where there is none."""
    return [Pair(figures)] if figures else []


def under(heading: str, blocks: Sequence[Block]) -> list[Block]:
    """Return blocks with a heading above them; nothing where there is none."""
    return [Heading(heading), *blocks] if blocks else []


def commands(lines: Sequence[str]) -> list[Block]:
    """Return the commands that make a page again, under a heading."""
    return under("To repeat it", [Code(lines)] if lines else [])
