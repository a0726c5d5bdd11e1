"""Nodes of Chakra execution traces, from protocol buffers and from JSON.

JSON is what ``chakra_jsonizer`` writes, objects one after the other, with names in either spelling
of protocol buffers; or what ASTRA-sim reads, ``{"workload_graph": [{"Id": 0, "NodeType": 4, …}]}``.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dvsim.kinds.workload.readers.protobuf import Wire, numbers, real, signed, zigzag
from dvsim.kinds.workload.readers.text import data_of, refuse

METADATA, LOAD, STORE, COMPUTE, SEND, RECV, COLLECTIVE = range(1, 8)
TYPES = (
    "INVALID_NODE", "METADATA_NODE", "MEM_LOAD_NODE", "MEM_STORE_NODE", "COMP_NODE",
    "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE",
)  # fmt: skip
"""Types of nodes by their numbers, as JSON has them."""

GRAPHS = ("workload_graph", "nodes", "node")
"""Keys under which JSON may have all nodes."""

GZIP = b"\x1f\x8b"

Attribute = int | float | str


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
    """Yield the nodes of a file in their order; it may be compressed, as Chakra's own tools allow.

    Raises:
        ScenarioError: If it is empty, truncated, or neither protocol buffers nor JSON.
    """
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
    """Yield the objects of nodes: those of one list, or one behind the other."""
    decoder, at, first = json.JSONDecoder(), 0, True
    while (at := _begins(text, at)) < len(text):
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


def _begins(text: str, at: int) -> int:
    """Return where the next object begins, behind blanks and commas."""
    while at < len(text) and text[at] in " \t\r\n,":
        at += 1
    return at


def _from_json(given: Mapping[str, Any], path: Path) -> Node:
    def first(*names: str) -> object:
        return next((given[name] for name in names if given.get(name) is not None), 0)

    kind = given.get("type", given.get("NodeType", 0))
    node = Node(
        number=_whole(first("id", "Id"), path, "id"),
        kind=TYPES.index(kind) if kind in TYPES else _whole(kind, path, "type"),
        duration=_time(first("durationMicros", "duration_micros", "runtime"), path),
    )
    for key in ("ctrlDeps", "ctrl_deps", "dataDeps", "data_deps"):
        found = given.get(key, [])
        if not isinstance(found, list):
            refuse(path, None, f"{key} must be a list, is {str(found)[:40]!r}")
        node.after += [_whole(number, path, key) for number in found]
    node.attributes = {key: value for key, value in given.items() if _plain(value)}
    listed = given.get("attr") or []
    for entry in listed if isinstance(listed, list) else []:
        if isinstance(entry, dict):
            values = [value for key, value in entry.items() if key.lower().endswith("val")]
            node.attributes[str(entry.get("name", ""))] = _number(values[0]) if values else 0
    return node


def _plain(value: object) -> bool:
    return isinstance(value, int | float | str)


def _number(value: object) -> Attribute:
    """Return an attribute: JSON has whole numbers of 64 bits as texts."""
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
    """Return a time in microseconds, which need not be whole."""
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
    """Return the name and value of an attribute; lists count as 0."""
    name, found = "", 0
    given: Attribute = found
    for number, value in message.fields():
        if isinstance(value, int):
            given = signed(value) if number in SIGNED else value
            given = zigzag(value) if number in ZIGZAG else given
        elif number == 1:
            name = value.decode("utf-8", "replace")
        elif number == TEXT:
            given = value.decode("utf-8", "replace")
        elif number in REAL:
            given = real(value) if len(value) in (4, 8) else 0.0
        elif len(value) in (4, 8) and number in (19, 21, 23, 25):
            given = int.from_bytes(value, "little", signed=number > 21)
    return name, given
