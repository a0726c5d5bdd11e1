"""How a CSV file is written: its separator, its decimal sign, and remarks before its headings."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from dvsim.errors import Fault

HEAD = 65_536  # characters that tell how a file is written
_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+")


@dataclass(frozen=True)
class Dialect:
    """How a file is written.

    Attributes:
        separator: Comma, semicolon or tabulator.
        comma: Whether numbers have a decimal comma.
        skipped: Lines before the headings: remarks that begin with ``#``, and empty ones.
    """

    separator: str = ","
    comma: bool = False
    skipped: int = 0

    def rows(self, file: TextIO) -> Iterator[tuple[int, list[str]]]:
        """Yield the line and the cells of each row that is not empty, the headings first.

        Raises:
            csv.Error: If a row cannot be read.
        """
        for _ in range(self.skipped):
            file.readline()
        reader = csv.reader(file, delimiter=self.separator, strict=True)
        for row in reader:
            if row:
                yield self.skipped + reader.line_num, [self.plain(cell.strip()) for cell in row]

    def plain(self, cell: str) -> str:
        """Return a cell with a point where a number has a decimal comma."""
        return cell.replace(",", ".") if self.comma and _COMMA.fullmatch(cell) else cell


def dialect_of(text: str) -> Dialect:
    r"""Return how the text of a file is written, from its beginning.

    A comma in numbers is decimal only where it cannot be one of thousands: what is ambiguous
    stays as it is, and is refused as no number.

    >>> dialect_of("# bench 3\nsize;mean (msg/s)\n500;14365,25\n")
    Dialect(separator=';', comma=True, skipped=1)
    >>> dialect_of("size;mean (msg/s)\n500;14,365\n")
    Dialect(separator=';', comma=False, skipped=0)
    """
    lines = text[:HEAD].removeprefix("\ufeff").splitlines()
    skipped = next(
        (at for at, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#")),
        0,
    )
    first = lines[skipped] if lines else ""
    separator = max(",;\t", key=first.count)
    if separator == ",":
        return Dialect(skipped=skipped)
    cells = {
        cell.strip().strip('"') for line in lines[skipped + 1 :] for cell in line.split(separator)
    }
    commas = [cell for cell in cells if _COMMA.fullmatch(cell)]
    decimal = any(not _THOUSANDS.fullmatch(cell) for cell in commas)
    return Dialect(separator, decimal, skipped)


def dialect_in(path: Path) -> Dialect:
    """Return how a file is written.

    Raises:
        OSError, UnicodeDecodeError: If it cannot be read.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        return dialect_of(file.read(HEAD))


def encoding_fault(path: Path) -> Fault:
    """Return the first line of a file that is not UTF-8."""
    with path.open("rb") as file:
        for line, raw in enumerate(file, 1):
            try:
                raw.decode("utf-8")
            except UnicodeDecodeError as error:
                wide = line == 1 and raw[:2] in (b"\xff\xfe", b"\xfe\xff")
                guess = "it is UTF-16" if wide else "it may be Latin-1"
                message = f"byte 0x{raw[error.start]:02x} is not UTF-8; {guess}: save it as UTF-8"
                return Fault(str(path), line, "", message)
    return Fault(str(path), None, "", "is not UTF-8")
