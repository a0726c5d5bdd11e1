"""What a file about an irregular program holds: the program, its nodes, what carries its words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from dvsim.scenario.card_kinds import Limits
from dvsim.scenario.fields import CardField, Quantity, Tolerances, Varied, Vary, Whole
from dvsim.scenario.spec import Spec, Table

MOST_NODES = 65_536
MOST_WORDS = 10**12
MOST_UNEVEN = 1000
LEAST_BUFFER, MOST_BUFFER = 8, 2**30
WORD = 8
"""Bytes of a word."""

Program = Literal["gather", "scatter", "histogram", "radix-sort", "gups"]
Sending = Literal["word", "window", "buffer"]

Bytes = Annotated[int, Quantity(Limits("size", LEAST_BUFFER, most=MOST_BUFFER), "64 KiB")]


@dataclass(frozen=True)
class WordsTable(Table):
    """What the program does."""

    VARIED: ClassVar[bool] = True

    # ``gather``: read elements at random places. ``scatter``: write them there. ``histogram``:
    # count in bins at random places. ``radix-sort``: keys of 32 bits, 16 bits in each pass.
    # ``gups``: random updates of a table, of which no core has more than 1,024 under way.
    program: Annotated[Program, Field(description="what is done with each element")]
    # ``word``: one element after the other, each core waits for what it reads. ``window``: some
    # elements are under way at a time. ``buffer``: elements are collected in buffers.
    sending: Annotated[Sending, Field(description="one by one, in a window, or in buffers")]
    # How many nodes, and elements of each, of which 1 / nodes are local.
    nodes: Annotated[Whole, Field(ge=1, le=MOST_NODES)]
    words: Annotated[Whole, Field(ge=1, le=MOST_WORDS, description="elements of each node")]
    # How many times as many elements as on average are for the busiest node; 1: all nodes get the
    # same.
    uneven: Annotated[
        float,
        Field(ge=1, le=MOST_UNEVEN, description="elements for the busiest node, over their mean"),
    ] = 1.0
    # Elements of a core that are under way.
    window: Annotated[Whole, Field(ge=1, le=10**6, description="elements under way of a core")] = 64
    # Bytes of a buffer: over a network that software drives one for each core and destination,
    # over a Data Vortex one for each transfer, to any destinations.
    buffer: Annotated[Bytes, Field(description="bytes of a buffer")] = 64 * 1024
    # Over a Data Vortex: ``cached``, they wait in the card; ``sent``, they go there with the
    # payloads.
    headers: Literal["cached", "sent"] = "cached"
    # Over a Data Vortex, what carries buffers from node memory into the card: ``dma`` or ``pio``.
    # Single words go by PIO.
    path: Literal["dma", "pio"] = "dma"


@dataclass(frozen=True, kw_only=True)
class WordsSystem(Table):
    """The cards: of the nodes, and of what connects them."""

    VARIED: ClassVar[bool] = True

    link: Annotated[CardField | None, Field(description="kind words or vortex")] = None
    host: Annotated[CardField | None, Field(description="kind node")] = None


@dataclass(frozen=True, kw_only=True)
class IrregularScenario(Spec):
    """One question about irregular programs."""

    KIND: ClassVar[str] = "irregular"
    LENGTH: ClassVar[str] = "words"
    LENGTHS: ClassVar[tuple[str, ...]] = ()  # words are the size of a program, too

    workload: WordsTable
    system: WordsSystem
    vary: Annotated[Varied, Vary(WordsTable, WordsSystem)] = ()
    tolerance: Tolerances = field(default_factory=dict)
