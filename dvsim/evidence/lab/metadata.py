"""The ``[lab]`` table: what a file of measurements does not say of itself.

It stands in a TOML file of the same name beside the data, or in the one that `meta` names.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from dvsim.errors import Fault, ScenarioError, nearest
from dvsim.evidence.headings import unit_of
from dvsim.evidence.lab.data import METRICS, About, Tolerances, parse_sample
from dvsim.scenario.document import Document, KeyPath, read
from dvsim.scenario.find import is_file, nearest_beside, why_not
from dvsim.scenario.quantity import UnitError, show

WORDS: Mapping[str, tuple[str, ...]] = {
    "loop": ("open", "closed"),
    "origin": ("measured", "quoted", "digitised"),
    "metric": tuple(METRICS),
}
TEXTS = ("source", "page", "hardware", "versions", "column", "warmup")
COUNTS = ("messages", "pieces")
KEYS = (*TEXTS, *WORDS, "unit", "message_bytes", "rounding", "sample", "counts", "fitted")
TOLERANCES = tuple(field.name for field in fields(Tolerances))


def about(data: Path, named: Path | None) -> About:
    """Return what is known of a file of measurements.

    Args:
        data: The file.
        named: A TOML file that speaks of it; None takes the one of the same name, if it has
            ``[lab]``.

    Raises:
        ScenarioError: With every fault of the table: file, line, key, nearest valid word.
    """
    path = named or data.with_suffix(".toml")
    if named is None and not is_file(path):
        return About()
    if not is_file(path):
        near = nearest_beside(path, lambda other: other.suffix == ".toml" and is_file(other))
        raise ScenarioError.at(path, why_not(path, "a file with [lab]"), hint=near)
    document = read(path)
    table = document.data.get("lab")
    if not isinstance(table, dict):
        if named is None:
            return About()  # some other file that happens to be there
        message = "has no table [lab]"
        near = nearest("lab", document.data)
        raise ScenarioError.at(path, message, near or "", line=1, hint=near and "lab")
    return _Reader(document).about(path, table)


class _Reader:
    """Reads one table and gathers what is wrong with it."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._faults: list[Fault] = []

    def about(self, path: Path, table: Mapping[str, Any]) -> About:
        given: dict[str, Any] = {"file": path}
        for key, value in table.items():
            if key == "tolerance":
                given["tolerances"], given["declared"] = self._tolerances(value)
            elif key not in KEYS:
                self._wrong((key,), "unknown key", nearest(key, (*KEYS, "tolerance")))
            else:
                given[key] = self._value(key, value)
        if self._faults:
            raise ScenarioError(sorted(self._faults, key=lambda fault: fault.line or 0))
        return About(**given)

    def _wrong(self, path: KeyPath, message: str, hint: str | None = None) -> None:
        self._faults.append(self._document.fault(("lab", *path), message, hint))

    def _value(self, key: str, value: Any) -> Any:  # noqa: ANN401 - any TOML value
        readers: dict[str, Callable[[Any], Any]] = {
            **dict.fromkeys(TEXTS, lambda item: self._text(key, item)),
            **dict.fromkeys(WORDS, lambda item: self._word((key,), item, WORDS[key])),
            "sample": lambda item: self._by_transport(key, item, self._sample),
            "counts": lambda item: self._by_transport(key, item, self._counted),
            "unit": lambda item: self._parsed((key,), item, unit_of),
            "fitted": self._fitted,
            "message_bytes": lambda item: int(self._number((key,), item)),
            "rounding": lambda item: self._number((key,), item),
        }
        return readers[key](value)

    def _parsed(self, path: KeyPath, value: object, parse: Callable[[str], object]) -> str:
        """Return a text that can be read by `parse`."""
        try:
            parse(str(value))
        except UnitError as error:
            self._wrong(path, error.message, error.hint)
        return str(value)

    def _sample(self, path: KeyPath, value: object) -> str:
        return self._parsed(path, value, parse_sample)

    def _counted(self, path: KeyPath, value: object) -> str:
        return self._word(path, value, COUNTS) or ""

    def _text(self, key: str, value: object) -> str | None:
        if not isinstance(value, str) or not value.strip():
            self._wrong((key,), f"must be text, not {show(value)}")
            return None
        return value

    def _word(self, path: KeyPath, value: object, known: tuple[str, ...]) -> str | None:
        if value in known:
            return str(value)
        one_of = ", ".join(known)
        self._wrong(path, f"must be one of {one_of}, not {show(value)}", nearest(str(value), known))
        return None

    def _number(self, path: KeyPath, value: object) -> float:
        most = sys.float_info.max
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= most:
            return float(value)
        self._wrong(path, f"must be a number above 0, not {show(value)}")
        return 1.0

    def _by_transport(
        self, key: str, value: object, check: Callable[[KeyPath, object], str]
    ) -> dict[str, str]:
        """Return a text for all, or a table of texts by transport."""
        if isinstance(value, dict):
            return {name: check((key, name), item) for name, item in value.items()}
        return {"": check((key,), value)}

    def _tolerances(self, table: object) -> tuple[Tolerances, tuple[str, ...]]:
        given: dict[str, float] = {}
        if not isinstance(table, dict):
            self._wrong(("tolerance",), f"must be a table, not {show(table)}")
            return Tolerances(), ()
        for key, value in table.items():
            if key not in TOLERANCES:
                self._wrong(("tolerance", key), "unknown key", nearest(key, TOLERANCES))
            else:
                given[key] = self._number(("tolerance", key), value)
        return Tolerances(**given), tuple(given)

    def _fitted(self, value: object) -> tuple[tuple[str, int], ...]:
        """Return the pairs of ``[8, 2048]`` or ``["r1:8", "r1:2048"]``."""
        pairs = []
        for item in value if isinstance(value, list) else [value]:
            match = re.fullmatch(r"(?:(.*):)?(\d+)", str(item))
            if match is None or isinstance(item, bool):
                self._wrong(("fitted",), f"{show(item)} is not of the form 8 or 'r1:8'")
            else:
                pairs.append((match[1] or "", int(match[2])))
        return tuple(pairs)
