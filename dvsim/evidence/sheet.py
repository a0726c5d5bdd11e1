"""A file or table as text: headings and rows, each with its line for the errors."""

from __future__ import annotations

import csv
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dvsim.errors import Fault, ScenarioError
from dvsim.evidence.dialect import dialect_in, encoding_fault
from dvsim.scenario.find import is_file, nearest_beside, why_not
from dvsim.scenario.units import UnitError, parse

if TYPE_CHECKING:
    import pandas as pd

ENDINGS = (".csv", ".parquet")
UNNAMED = "has numbers where the names of the columns are expected"
_NUMBER = re.compile(r"[+-]?(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?|[+-]?()\.(\d+)")


@dataclass(frozen=True)
class Printed:
    """A number as it stood in a text.

    Args:
        value: The number.
        decimals: Digits after the point, without zeros at the end; negative for a multiple of 10,
            100, …
    """

    value: float
    decimals: int

    @property
    def digits(self) -> int:
        """Significant digits, without zeros at the end; none of zero."""
        if not self.value:
            return 0
        return math.floor(math.log10(abs(self.value)) + 1e-12) + 1 + self.decimals


@dataclass(frozen=True)
class Sheet:
    """Headings and rows of text.

    Args:
        name: Path as it was given, for the errors.
        headings: Different and not empty.
        rows: Line and cells of each row, as many cells as headings; an empty text is a missing
            number.
    """

    name: str
    headings: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]

    @property
    def stem(self) -> str:
        """Name without folder and ending."""
        return Path(self.name).stem

    @property
    def cells(self) -> list[tuple[int, dict[str, str]]]:
        """The line and the cells by heading of each row."""
        return [(line, dict(zip(self.headings, row, strict=True))) for line, row in self.rows]

    def fault(self, line: int | None, key: str, message: str, hint: str | None = None) -> Fault:
        """Return a fault of this file."""
        return Fault(self.name, line, key, message, hint)


def open_sheet(source: Any) -> Sheet:  # noqa: ANN401 - a path or a DataFrame, told apart here
    """Return a CSV or Parquet file, or a pandas table, as headings and rows of text.

    Raises:
        ScenarioError: If it cannot be read, has no rows, or a row has another number of cells than
            the first.
    """
    if hasattr(source, "columns"):
        return _of_frame("table", source)
    path = Path(source)
    if not is_file(path):
        near = nearest_beside(path, lambda other: other.suffix in ENDINGS and is_file(other))
        raise ScenarioError.at(path, why_not(path, "a table"), hint=near)
    if path.suffix == ".parquet":
        return _of_parquet(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            numbered = dialect_in(path).rows(file)
            rows = [(line, tuple(map(_stripped, row))) for line, row in numbered]
    except UnicodeDecodeError:
        fault = encoding_fault(path)
        message = f"cannot be read: line {fault.line}: {fault.message}"
        raise ScenarioError.at(path, message) from None
    except (OSError, csv.Error) as error:
        raise ScenarioError.at(path, f"cannot be read: {error}") from error
    if path.suffix != ".csv" and (len(rows) < 2 or len({len(row) for _, row in rows}) > 1):
        message = (
            "is no table: its lines have different numbers of cells; CSV or Parquet is examined"
        )
        raise ScenarioError.at(path, message)
    headings = rows[0][1] if rows else ()
    if headings and all(number_of(heading) for heading in headings):
        raise ScenarioError([Fault(str(path), rows[0][0], "", UNNAMED)])
    return _checked(str(path), headings, rows[1:])


def number_of(text: str) -> Printed | None:
    """Return a plain decimal number with its printed places; None if a text is none.

    >>> number_of("12.3400"), number_of("1200"), number_of("1,200")
    (Printed(value=12.34, decimals=2), Printed(value=1200.0, decimals=-2), None)
    """
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    whole, fraction, exponent = match[1] or "", match[2] or match[5] or "", match[3]
    value = float(text)
    if not math.isfinite(value):
        return None
    digits = (whole + fraction).rstrip("0")
    decimals = len(digits) - len(whole) - int(exponent or 0) if digits.strip("0") else 0
    return Printed(value, decimals)


def whole_number(text: str) -> int | None:
    """Return a whole number above 0; None if a text is none."""
    number = number_of(text)
    if number is None or number.decimals > 0 or number.value < 1:
        return None
    return int(number.value)


def size_number(text: str) -> int | None:
    """Return a size in bytes, with a unit or without; None if a text is none.

    >>> size_number("4096"), size_number("4 KiB"), size_number("4 kb"), size_number("four")
    (4096, 4096, None, None)
    """
    if whole_number(text) is not None or not re.search(r"\d\s*[kKMG]?i?B$", text):
        return whole_number(text)
    try:
        return int(parse(text, "size")) or None
    except UnitError:
        return None


def _stripped(cell: str) -> str:
    text = cell.strip()
    return "" if text.lower() == "nan" else text


def _of_parquet(path: Path) -> Sheet:
    import pandas as pd

    try:
        frame = pd.read_parquet(path)
    except (OSError, ValueError) as error:  # pyarrow's errors are ValueErrors
        raise ScenarioError.at(path, f"cannot be read: {error}") from error
    return _of_frame(str(path), frame)


def _of_frame(name: str, frame: pd.DataFrame) -> Sheet:
    """Return a pandas table as text; line 1 is the first row, as there is no heading line."""
    columns = []
    for at in range(frame.shape[1]):
        column = frame.iloc[:, at]
        absent = column.isna().tolist()
        values = column.tolist()
        columns.append(
            ["" if gone else str(value) for gone, value in zip(absent, values, strict=True)]
        )
    rows = [(line, row) for line, row in enumerate(zip(*columns, strict=True), 1)]
    return _checked(name, tuple(map(str, frame.columns)), rows)


def _checked(
    name: str, headings: tuple[str, ...], rows: list[tuple[int, tuple[str, ...]]]
) -> Sheet:
    faults = []
    if not rows:
        faults.append(Fault(name, None, "", "has no rows: it needs headings and at least one row"))
    for heading in dict.fromkeys(headings):
        if not heading or headings.count(heading) > 1:
            message = "a column has no heading" if not heading else "two columns have this heading"
            faults.append(Fault(name, 1, heading, message))
    for line, row in rows:
        if len(row) != len(headings):
            message = f"has {len(row)} cells; there are {len(headings)} headings"
            faults.append(Fault(name, line, "", message))
    if faults:
        raise ScenarioError(faults)
    return Sheet(name, headings, tuple(rows))
