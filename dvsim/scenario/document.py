"""Layers of TOML, one over the other, that remember where each value was written.

A scenario file, the files it extends and the overrides are layers of the same kind: a
tree of tables and, for each path in it, an `Origin`. What comes later wins, key by key.
"""

from __future__ import annotations

import re
import tomllib
from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from dvsim.errors import Argument, Fault, ScenarioError
from dvsim.scenario import locate

KeyPath = tuple[str | int, ...]

CARD_ROLES = (
    "card",
    "bridge",
    "publisher",
    "broker",
    "client",
    "link",
    "host",
    "storage",
    "rabbit",
)
"""The keys of ``[system]`` that hold a card, its name or a table, in any kind of scenario."""


class Origin(NamedTuple):
    """Where a value was written: a file and a line, or ``overrides`` and none.

    `inside` leads to the key in that file, where the tree is only a part of it; what `fixes` a key
    ends that it is varied.
    """

    file: str
    line: int | None = None
    inside: KeyPath = ()
    fixes: bool = False

    def __str__(self) -> str:
        """Return the short form, without folders."""
        name = Path(self.file).name
        return name if self.line is None else f"{name}:{self.line}"

    def fault(self, path: KeyPath, message: str, hint: str | None = None) -> Fault:
        """Return a fault of a key that stands here."""
        return Fault(self.file, self.line, dotted(self.inside + path), message, hint)


OVERRIDES = Origin(Argument("overrides"), fixes=True)


@dataclass
class Document:
    """A tree of tables with the origin of every path in it."""

    data: dict[str, Any]  # the tables
    # By path from the root; a path that is missing has the origin of the table around it.
    origins: dict[KeyPath, Origin]
    # It was read from, the file itself first; its cards may lie beside each.
    files: list[Path] = field(default_factory=list)

    @property
    def folders(self) -> list[Path]:
        """The folders of its files."""
        return [file.parent for file in self.files]

    def origin(self, path: KeyPath) -> Origin:
        """Return where a path, or the nearest table around it, was written."""
        while path and path not in self.origins:
            path = path[:-1]
        return self.origins[path]

    def fault(self, path: KeyPath, message: str, hint: str | None = None) -> Fault:
        """Return a fault of one key of this document."""
        return self.origin(path).fault(path, message, hint)

    def copy(self) -> Document:
        """Return a document of its own with the same content; origins do not change."""
        return Document(deepcopy(self.data), dict(self.origins), list(self.files))

    def at(self, path: KeyPath) -> Any:  # noqa: ANN401 - any TOML value
        """Return the value of a path, None where it is missing."""
        value: Any = self.data
        for key in path:
            try:
                value = value[key]
            except (KeyError, IndexError, TypeError):
                return None
        return value

    def remove(self, path: KeyPath, origin: Origin) -> None:
        """Take a key out of its table, if it is there; `origin` is where that was asked for."""
        table = self.at(path[:-1])
        if isinstance(table, dict):
            table.pop(path[-1], None)
        for known in [known for known in self.origins if known[: len(path)] == path]:
            del self.origins[known]
        self.origins[path] = origin

    def merge(self, layer: Document) -> None:
        """Put another layer over this one; its values win, tables merge key by key."""
        self._merge((), self.data, layer.data, layer)

    def _merge(
        self, path: KeyPath, into: dict[str, Any], table: dict[str, Any], layer: Document
    ) -> None:
        for key, value in table.items():
            here = (*path, key)
            old = into.get(key)
            if is_card(here) and isinstance(old, str) and isinstance(value, dict):
                old = into[key] = {"name": old}
                self.origins[(*here, "name")] = self.origin(here)
            if isinstance(old, dict) and isinstance(value, dict) and not _is_whole(here, value):
                self._merge(here, old, value, layer)
                continue
            for known in [known for known in self.origins if known[: len(here)] == here]:
                del self.origins[known]
            into[key] = value
            self.origins[here] = layer.origin(here)
            for known, origin in layer.origins.items():
                if known[: len(here)] == here:
                    self.origins[known] = origin


def is_card(path: KeyPath) -> bool:
    """Say whether a path of a scenario holds a card."""
    return len(path) == 2 and path[0] == "system" and path[1] in CARD_ROLES


def _is_whole(path: KeyPath, value: dict[str, Any]) -> bool:
    """Say whether a table replaces the one below instead of merging.

    A table that names a card is another card; and a parameter is one statement: a new value under
    the old confidence and source would be a false one.
    """
    return (is_card(path) and "name" in value) or is_card(path[:-1])


def read(path: Path) -> Document:
    """Read one TOML file."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ScenarioError.at(path, f"cannot be read: {error.strerror}") from None
    return _parsed(path, raw).copy()


@lru_cache(maxsize=64)  # a sweep reads the same few cards for each of its points
def _parsed(path: Path, raw: bytes) -> Document:
    try:
        text = raw.decode("utf-8-sig").replace("\r\n", "\n")
        data = tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise ScenarioError([_not_text(path, raw, error.start)]) from None
    except RecursionError:
        raise ScenarioError.at(path, "nested too deeply") from None
    except ValueError as error:  # TOMLDecodeError, or a number of thousands of digits
        nul = raw.find(b"\0")
        fault = _not_toml(path, text, str(error)) if nul < 0 else _not_text(path, raw, nul)
        raise ScenarioError([fault]) from None
    origins = {key: Origin(str(path), line) for key, line in locate.locate(text).items()}
    return Document(data, {(): Origin(str(path), 1)} | origins, [path])


def _not_text(path: Path, raw: bytes, at: int) -> Fault:
    message = f"not a text file: byte 0x{raw[at]:02x} has no place in it"
    return Fault(str(path), raw.count(b"\n", 0, at) + 1, "", message)


def _not_toml(path: Path, text: str, message: str) -> Fault:
    match = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", message)
    if match and match[2]:
        return Fault(str(path), int(match[2]), "", f"not TOML: {match[1]} (column {match[3]})")
    last = text.rstrip("\n").count("\n") + 1
    if match:
        return Fault(str(path), last, "", f"not TOML: {match[1]} (the file ends here)")
    return Fault(str(path), None, "", "not TOML: a number of too many digits")


def dotted(path: KeyPath) -> str:
    """Return a path as it is typed: ``system.card.sram``."""
    return ".".join(map(str, path))
