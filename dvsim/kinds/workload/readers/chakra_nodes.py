"""Nodes of Chakra execution traces, from protocol buffers and from JSON.

JSON is what ``chakra_jsonizer`` writes, objects one after the other, with names in either spelling
of protocol buffers; or what ASTRA-sim reads, ``{"workload_graph": [{"Id": 0, "NodeType": 4, …}]}``.

The package ``protobuf`` would need code that is generated for each of its versions; what a trace
needs of protocol buffers is `Wire`, which gets along without a schema.
"""

from __future__ import annotations

import gzip
import json
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dvsim.kinds.workload.readers.text import data_of, refuse

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

Value = int | bytes


METADATA, LOAD, STORE, COMPUTE, SEND, RECV, COLLECTIVE = range(1, 8)
TYPES = (
    "INVALID_NODE", "METADATA_NODE", "MEM_LOAD_NODE", "MEM_STORE_NODE", "COMP_NODE",
    "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE",
)  # fmt: skip
"""Types of nodes by their numbers, as JSON has them."""

GRAPHS = ("workload_graph", "nodes", "node")
"""Keys under which JSON may have all nodes."""

BETWEEN = re.compile(r"[ \t\r\n,]*")  # what stands between two objects
GZIP = b"\x1f\x8b"

Attribute = int | float | str


class Wire:
    """Bytes of messages with the place that has been read."""

    def __init__(self, data: bytes, path: Path, begin: int = 0) -> None:
        self.data, self.path, self.begin = data, path, begin
        self.at = 0

    def varint(self) -> int:
        """Take a number of which each byte has seven bits."""
        number = shift = 0
        while True:
            if self.at >= len(self.data) or shift > 63:
                self.refuse()
            byte = self.data[self.at]
            self.at += 1
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number & ((1 << 64) - 1)
            shift += 7

    def take(self, count: int) -> bytes:
        """Take some bytes."""
        end = self.at + count
        if end > len(self.data):
            self.refuse()
        data = self.data[self.at : end]
        self.at = end
        return data

    def refuse(self) -> None:
        """Raise that a message ends too early."""
        refuse(
            self.path, None, f"is truncated or no protocol buffer, at byte {self.begin + self.at}"
        )

    def messages(self) -> Iterator[Wire]:
        """Yield messages that each follow their length."""
        while self.at < len(self.data):
            length = self.varint()
            begin = self.begin + self.at
            yield Wire(self.take(length), self.path, begin)

    def fields(self) -> Iterator[tuple[int, Value]]:
        """Yield the fields of a message: the number of each and its value."""
        while self.at < len(self.data):
            tag = self.varint()
            kind, number = tag & 7, tag >> 3
            if kind == VARINT:
                yield number, self.varint()
            elif kind == FIXED64:
                yield number, self.take(8)
            elif kind == BYTES:
                yield number, self.take(self.varint())
            elif kind == FIXED32:
                yield number, self.take(4)
            else:
                self.refuse()


def numbers(value: Value, path: Path) -> list[int]:
    """Return the numbers of a field that may be repeated: one, or all of a packed list."""
    if isinstance(value, int):
        return [value]
    wire, numbers = Wire(value, path), []
    while wire.at < len(value):
        numbers.append(wire.varint())
    return numbers


def signed(value: int) -> int:
    """Return a number of 64 bits with its sign."""
    return value - (1 << 64) if value >> 63 else value


def zigzag(value: int) -> int:
    """Return a number whose sign is its lowest bit."""
    return (value >> 1) ^ -(value & 1)


def real(value: bytes) -> float:
    """Return a floating-point number of four or eight bytes."""
    decimal: float = struct.unpack("<f" if len(value) == 4 else "<d", value)[0]
    return decimal


@dataclass
class Node:
    """One node: what it is, what it waits for, and its attributes by name."""

    number: int = 0
    kind: int = 0
    after: list[int] = field(default_factory=list)
    duration: float = 0  # µs
    attributes: dict[str, Attribute] = field(default_factory=dict)

    def whole(self, name: str, missing: int = 0) -> int:
        """Return an attribute that is a number."""
        value = self.attributes.get(name, missing)
        return int(value) if isinstance(value, int | float) and abs(value) < 1 << 63 else missing


def nodes_of(path: Path) -> Iterator[Node]:
    """Yield the nodes of a file in order; it may be compressed, as Chakra's own tools allow."""
    data = data_of(path)
    if data.startswith(GZIP):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            refuse(path, None, f"cannot be unpacked: {error}")
    if data.lstrip()[:1] in (b"{", b"["):
        for given in _objects(data.decode("utf-8", "replace"), path):
            yield _from_json(given, path)
        return
    messages = Wire(data, path).messages()
    if next(messages, None) is None:
        refuse(path, None, "is empty")
    for message in messages:
        yield _from_wire(message)


def _objects(text: str, path: Path) -> Iterator[Mapping[str, Any]]:
    decoder, at, first = json.JSONDecoder(), 0, True
    while (begin := BETWEEN.match(text, at)) and (at := begin.end()) < len(text):
        try:
            given, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            line = text.count("\n", 0, getattr(error, "pos", at)) + 1
            refuse(path, line, f"is truncated or no JSON: {getattr(error, 'msg', error)}")
        if isinstance(given, dict):
            key = next((name for name in GRAPHS if isinstance(given.get(name), list)), None)
            metadata = first and key is None and not {"id", "Id", "type", "name"} & given.keys()
            given = given[key] if key else [] if metadata else [given]
        first = False
        if not isinstance(given, list) or not all(isinstance(entry, dict) for entry in given):
            refuse(path, text.count("\n", 0, at) + 1, "must have objects for nodes")
        yield from given


def _from_json(given: Mapping[str, Any], path: Path) -> Node:
    def first(*names: str) -> object:
        return next((given[name] for name in names if given.get(name) is not None), 0)

    given = {_spelt(key): value for key, value in given.items()}
    kind = given.get("type", given.get("node_type", 0))
    node = Node(
        number=_whole(first("id"), path, "id"),
        kind=TYPES.index(kind) if kind in TYPES else _whole(kind, path, "type"),
        duration=_time(first("duration_micros", "runtime"), path),
    )
    for key in ("ctrl_deps", "data_deps"):
        before = given.get(key) or []
        if not isinstance(before, list):
            refuse(path, None, f"{key} must be a list, is {str(before)[:40]!r}")
        node.after += [_whole(number, path, key) for number in before]
    node.attributes = {
        key: _number(value) for key, value in given.items() if isinstance(value, Attribute)
    }
    listed = given.get("attr") or []
    for entry in listed if isinstance(listed, list) else []:
        if isinstance(entry, dict):
            values = [value for key, value in entry.items() if key.lower().endswith("val")]
            node.attributes[_spelt(str(entry.get("name", "")))] = (
                _number(values[0]) if values else 0
            )
    return node


def _spelt(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])|-", "_", name).lower()


def _number(value: object) -> Attribute:
    if isinstance(value, str):
        digits = value.removeprefix("-")
        return int(value) if digits.isascii() and digits.isdigit() and len(digits) < 20 else value
    return value if isinstance(value, int | float) else 0


def _whole(value: object, path: Path, key: str) -> int:
    number = _number(value)
    if not isinstance(number, int) or not 0 <= number < 1 << 64:
        refuse(path, None, f"{key} must be a whole number, is {str(value)[:40]!r}")
    return number


def _time(value: object, path: Path) -> float:
    number = _number(value)
    if isinstance(number, float) and 0 <= number < 1 << 64:
        return number
    return _whole(value, path, "durationMicros")


def _from_wire(message: Wire) -> Node:
    node = Node()
    for number, value in message.fields():
        if number in (4, 5):
            node.after += numbers(value, message.path)
        elif number == 10 and isinstance(value, bytes):
            name, attribute = _attribute(Wire(value, message.path, message.begin))
            node.attributes[name] = attribute
        elif isinstance(value, int):
            if number == 1:
                node.number = value
            elif number == 3:
                node.kind = value
            elif number == 7:
                node.duration = value
    return node


SIGNED, ZIGZAG, REAL, TEXT = (7, 9), (15, 17), (3, 5), 29


def _attribute(message: Wire) -> tuple[str, Attribute]:
    name, whole = "", 0
    given: Attribute = whole
    for number, value in message.fields():
        if isinstance(value, int):
            given = signed(value) if number in SIGNED else value
            given = zigzag(value) if number in ZIGZAG else given
        elif number == 1:
            name = _spelt(value.decode("utf-8", "replace"))
        elif number == TEXT:
            given = value.decode("utf-8", "replace")
        elif number in REAL:
            given = real(value) if len(value) in (4, 8) else 0.0
        elif len(value) in (4, 8) and number in (19, 21, 23, 25):
            given = int.from_bytes(value, "little", signed=number > 21)
    return name, given
