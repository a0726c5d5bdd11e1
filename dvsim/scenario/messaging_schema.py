"""The shape of scenario files of messaging over hosts: ``kind = "messaging"``."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from dvsim.scenario import bounds
from dvsim.scenario.kinds import Spec
from dvsim.scenario.messaging_types import ROLES
from dvsim.scenario.schema import (
    CardTable,
    Load,
    ManyTable,
    MessageSize,
    Name,
    Share,
    Table,
    Text,
    bounded,
)

MOST_CLIENTS = 64
MOST_MESSAGES = 10**6

Mode = Literal["ping", "flow"]
Pattern = Literal["peer", "broker"]
Exchange = Literal["queue", "direct", "topic", "fanout"]
Delivery = Literal["fast", "round-robin", "proportional"]
Durability = Literal["none", "log-first", "batched"]
Clients = Annotated[int, Field(ge=1, le=MOST_CLIENTS)]
Brokers = Annotated[int, Field(ge=1, le=16)]
Messages = Annotated[int, Field(ge=1, le=MOST_MESSAGES)]
Held = Annotated[int, Field(ge=1, le=MOST_MESSAGES)]
Slowdown = Annotated[float, Field(ge=1, le=1000)]


def _buffer(value: object) -> int:
    """Read the size of a buffer."""
    read = bounded(value, Spec("size", above=True, most=bounds.SIZE))
    assert isinstance(read, int)  # a size
    return read


Buffer = Annotated[
    int, BeforeValidator(_buffer), WithJsonSchema({"type": "string", "examples": ["8 KiB"]})
]
Bytes = Annotated[MessageSize, Field(ge=1)]


class FlowFileTable(Table):
    """What is sent."""

    mode: Mode | None = None
    message_bytes: Bytes | None = None
    messages: Messages | None = None
    streams: Clients = 1
    publishers: Clients = 1
    consumers: Clients = 1
    window: Held | None = Field(None, description="messages on the way, of each publisher")
    rate: Load | None = Field(None, description="of a flow: messages per second, in all")
    connection: Held | None = Field(None, description="of a ping: messages on a connection")


class SystemFileTable(Table):
    """What carries it."""

    pattern: Pattern | None = None
    buffer: Buffer | None = Field(None, description="bytes in one call of the socket")
    exchange: Exchange = "direct"
    delivery: Delivery = "round-robin"
    durability: Durability = "none"
    brokers: Brokers = 1
    prefetch: Held | None = None
    acknowledge: Held | None = None
    slowdown: Slowdown = 1.0
    client: CardTable | None = Field(None, description="kind engine")
    link: CardTable | None = Field(None, description="kind port")
    host: CardTable | None = Field(None, description="kind machine")
    broker: CardTable | None = Field(None, description="kind queue-server")
    storage: CardTable | None = Field(None, description="kind storage")


class VaryTable(ManyTable):
    """What may be varied of messaging over hosts."""

    mode: list[Mode] | None = Field(None, min_length=1)
    message_bytes: list[Bytes] | None = Field(None, min_length=1)
    messages: list[Messages] | None = Field(None, min_length=1)
    streams: list[Clients] | None = Field(None, min_length=1)
    publishers: list[Clients] | None = Field(None, min_length=1)
    consumers: list[Clients] | None = Field(None, min_length=1)
    window: list[Held] | None = Field(None, min_length=1)
    rate: list[Load] | None = Field(None, min_length=1)
    connection: list[Held] | None = Field(None, min_length=1)
    pattern: list[Pattern] | None = Field(None, min_length=1)
    buffer: list[Buffer] | None = Field(None, min_length=1)
    exchange: list[Exchange] | None = Field(None, min_length=1)
    delivery: list[Delivery] | None = Field(None, min_length=1)
    durability: list[Durability] | None = Field(None, min_length=1)
    brokers: list[Brokers] | None = Field(None, min_length=1)
    prefetch: list[Held] | None = Field(None, min_length=1)
    acknowledge: list[Held] | None = Field(None, min_length=1)
    slowdown: list[Slowdown] | None = Field(None, min_length=1)
    client: list[CardTable] | None = Field(None, min_length=1)
    link: list[CardTable] | None = Field(None, min_length=1)
    host: list[CardTable] | None = Field(None, min_length=1)
    broker: list[CardTable] | None = Field(None, min_length=1)
    storage: list[CardTable] | None = Field(None, min_length=1)


class MessagingFile(Table):
    """A scenario of messaging over hosts."""

    kind: Literal["messaging"]
    name: Name | None = Field(None, description="by default the file's own")
    extends: Text | None = Field(
        None, description="a file beside this one, or a scenario, to build on"
    )
    abstract: bool = Field(False, description="true for a part that other files extend")
    title: Text
    question: Text = Field(description="what the run answers")
    source: Text = Field(description="where the system is described")
    workload: FlowFileTable
    system: SystemFileTable
    vary: list[VaryTable] = Field(default_factory=list)
    tolerance: dict[str, Share] = Field(
        default_factory=dict, description="numbers by which the source's sentences are decided"
    )


NEEDED = {"workload": ("mode", "message_bytes", "messages"), "system": ("pattern", "buffer")}
"""Keys that a table must have, unless they are varied; and the cards of its pattern."""

assert set(ROLES) < set(SystemFileTable.model_fields)
