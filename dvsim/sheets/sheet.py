"""A file or table as text: headings and rows with their lines, every number in one spelling.

Spreadsheets of several countries write one number in many ways. A column is read with the decimal
sign that its own numbers prove, else with that of the other columns; where nothing proves one, a
number such as ``131.000`` stays `Unclear` and is refused where a number is needed.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dvsim.errors import Fault, ScenarioError
from dvsim.scenario.find import is_file, nearest_beside, why_not
from dvsim.scenario.units import UnitError, parse
from dvsim.sheets.headings import SIZES, statistic_of

if TYPE_CHECKING:
    import pandas as pd

ENDINGS = (".csv", ".parquet")
UNNAMED = "has numbers where the names of the columns are expected"
MISSING = {"", "nan", "na", "n/a", "#n/a", "#na", "null", "-", "--", "–", "—", "#div/0!", "#value!"}
WHOLE = {*SIZES, "count", "messages", "iterations"}
NO_SEPARATOR = "\x1f"

_NUMBER = re.compile(r"[+-]?(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?|[+-]?()\.(\d+)")
_WITH_UNIT = re.compile(r"(.*[\d.,])\s*((?!\d)[\w#%?/][^\d.,]*)")
_SPACES = "['’_ \u00a0\u202f]"


def _form(decimal: str, thousands: str) -> re.Pattern[str]:
    grouped = f"[1-9][0-9]{{0,2}}(?:{thousands}[0-9]{{2,3}})*{thousands}[0-9]{{3}}"
    spaced = f"[1-9][0-9]{{0,2}}(?:{_SPACES}[0-9]{{3}})+"
    whole = f"(?:[0-9]+|{grouped}|{spaced})(?:{decimal}[0-9]*)?"
    return re.compile(rf"[+-]?(?:{whole}|{decimal}[0-9]+)(?:[eE][+-]?[0-9]{{1,3}})?")


_FORMS = {".": _form(r"\.", ","), ",": _form(",", r"\.")}


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


class Unclear(str):
    """A number whose only sign may be decimal or of thousands; `readings` has both."""

    __slots__ = ("readings",)
    readings: tuple[str, ...]


@dataclass(frozen=True)
class Sheet:
    """Headings and rows of text.

    Args:
        name: Path as it was given, for the errors.
        headings: Different and not empty.
        rows: Line and cells of each row, as many cells as headings; an empty text is a missing
            number.
        cut: Whether the last line of a file has no end.
    """

    name: str
    headings: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    cut: bool = False

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

    def no_number(self, line: int, key: str, text: str) -> Fault:
        """Return the fault of a cell that should be a number, with what it may mean."""
        if isinstance(text, Unclear):
            first, other = text.readings
            message = f"'{text}' is {first} or {other}, and no other number here says which"
            return self.fault(line, key, f"{message}; write {first} or {other}")
        return self.fault(line, key, f"'{text}' is not a number" if text else "is empty")


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
    text = text_of(path)
    separator, rows = rows_of(path, text)
    if path.suffix != ".csv" and (len(rows) < 2 or len({len(row) for _, row in rows}) > 1):
        message = "is no table: its lines have different numbers of cells; CSV or Parquet is read"
        raise ScenarioError.at(path, message)
    headings = rows[0][1] if rows else ()
    if headings and all(number_of(heading) for heading in headings):
        raise ScenarioError([Fault(str(path), rows[0][0], "", UNNAMED)])
    sheet = _checked(str(path), headings, rows[1:], rows[0][0] if rows else 1, separator)
    return replace(sheet, cut=not text.endswith(("\n", "\r")))


def text_of(path: Path) -> str:
    """Return the text of a file, in UTF-8 or with the mark of UTF-16.

    Raises:
        ScenarioError: If it cannot be read; with the line of what is no UTF-8.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ScenarioError.at(path, f"cannot be read: {error.strerror}") from error
    try:
        return raw.decode("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        if error.encoding != "utf-8":
            raise ScenarioError.at(path, "cannot be read: begins as UTF-16, and is none") from None
        line = raw.count(b"\n", 0, error.start) + 1
        said = f"byte 0x{raw[error.start]:02x} is not UTF-8; it may be Latin-1: save it as UTF-8"
        raise ScenarioError.at(path, said, line=line) from None


def layout_of(text: str) -> tuple[str, int]:
    r"""Return the separator of a table, and how many lines stand before its headings.

    >>> layout_of("# bench 3\nsize;mean (msg/s)\n500;14365,25\n"), layout_of("SEP=;\na;b\n1;2\n")
    ((';', 1), (';', 1))
    """
    lines = text.removeprefix("\ufeff").splitlines()
    named = None
    for at, line in enumerate(lines):
        sign = re.fullmatch(r'"?sep=(.|\\t)"?', line.strip("\r\n ,;"), re.IGNORECASE)
        if re.match(r'\s*"?sep=', line, re.IGNORECASE) and at < 2:
            named = (
                sign[1].replace("\\t", "\t") if sign else next(iter(set(line) & set(",;\t")), None)
            )
        elif line.strip() and not line.lstrip().startswith("#"):
            separator = named or max(",;\t|", key=line.count)
            return separator if separator in line else NO_SEPARATOR, at
    return ",", 0


def rows_of(path: Path, text: str) -> tuple[str, list[tuple[int, tuple[str, ...]]]]:
    """Return the separator of a table, and the line and cells of each row, the headings first.

    Raises:
        ScenarioError: If it is not CSV.
    """
    separator, skipped = layout_of(text)
    file = io.StringIO(text, newline="")
    for _ in range(skipped):
        file.readline()
    reader = csv.reader(file, delimiter=separator, strict=True)
    rows = []
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                cells = tuple(map(str.strip, row))
                rows.append((skipped + reader.line_num, cells))
    except csv.Error as error:
        line = skipped + reader.line_num
        raise ScenarioError.at(path, f"cannot be read: is not CSV: {error}", line=line) from None
    return separator, rows


def number_of(text: str) -> Printed | None:
    """Return a plain decimal number with its printed places; None if a text is none.

    >>> number_of("12.3400"), number_of("1200"), number_of("1,200")
    (Printed(value=12.34, decimals=2), Printed(value=1200.0, decimals=-2), None)
    """
    match = None if isinstance(text, Unclear) else _NUMBER.fullmatch(text)
    if match is None:
        return None
    whole, fraction, exponent = match[1] or "", match[2] or match[5] or "", match[3]
    value = float(text)
    if not math.isfinite(value):
        return None
    digits = (whole + fraction).rstrip("0")
    decimals = len(digits) - len(whole) - int(exponent or 0) if digits.strip("0") else 0
    return Printed(value, decimals)


def quantity_of(text: str) -> tuple[Printed | None, str | None]:
    """Return the number of a cell and the unit that stands behind it, if one does.

    >>> quantity_of("12 kmsg/s"), quantity_of("1e5"), quantity_of("fast")
    ((Printed(value=12.0, decimals=0), 'kmsg/s'), (Printed(value=100000.0, decimals=-5), None), \
(None, None))
    """
    number = number_of(text)
    match = None if number or isinstance(text, Unclear) else _WITH_UNIT.fullmatch(text)
    if match is None:
        return number, None
    return number_of(match[1].strip()), match[2].strip()


def readings(text: str) -> dict[str, str]:
    """Return a number in one spelling, by each decimal sign with which it is one.

    >>> readings("131.000,5"), readings("0.125"), readings("49,000")
    ({',': '131000.5'}, {'.': '0.125'}, {'.': '49000', ',': '49.000'})
    """
    text = text.replace("−", "-")
    return {
        sign: re.sub(f"{_SPACES}|[{'.,'.replace(sign, '')}]", "", text).replace(sign, ".")
        for sign, form in _FORMS.items()
        if form.fullmatch(text)
    }


def proven(cells: Iterable[str], *, whole: bool = False) -> set[str]:
    """Return the decimal signs that some numbers can only have; `whole` ones have no fraction."""
    found = (_possible(_parts(cell)[0], whole=whole) for cell in dict.fromkeys(cells))
    return {next(iter(known)) for known in found if len(known) == 1}


def _possible(text: str, *, whole: bool) -> dict[str, str]:
    known = readings(text)
    if whole and any(float(plain).is_integer() for plain in known.values()):
        known = {sign: plain for sign, plain in known.items() if float(plain).is_integer()}
    return known


def _parts(cell: str) -> tuple[str, str]:
    match = None if readings(cell) else _WITH_UNIT.fullmatch(cell)
    return (match[1].strip(), f" {match[2].strip()}") if match else (cell, "")


def spelled(cell: str, signs: set[str], *, whole: bool = False) -> str:
    """Return a cell with its number in one spelling, if it is one and its decimal sign is known."""
    if cell.lower() in MISSING:
        return ""
    text, unit = _parts(cell)
    known = _possible(text, whole=whole)
    if len(set(known.values())) > 1 and len(signs) == 1:
        known = {sign: plain for sign, plain in known.items() if sign in signs}
    values = list(dict.fromkeys(known.values()))
    if len(values) > 1:
        unclear = Unclear(cell)
        # the plain spelling of both, without zeros that look like more thousands
        unclear.readings = tuple(f"{float(value):.15g}" for value in values)
        return unclear
    return values[0] + unit if values and values[0] != text else cell


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


def _of_parquet(path: Path) -> Sheet:
    import pandas as pd

    try:
        frame = pd.read_parquet(path)
    except (OSError, ValueError) as error:  # pyarrow's errors are ValueErrors
        raise ScenarioError.at(path, f"cannot be read: {error}") from error
    return _of_frame(str(path), frame)


def _of_frame(name: str, frame: pd.DataFrame) -> Sheet:
    if frame.index.dtype.kind not in "iu" or frame.index.names != [None]:  # no mere numbers
        frame = frame.reset_index(names=[str(name or "") for name in frame.index.names])
    columns = []
    for at in range(frame.shape[1]):
        column = frame.iloc[:, at]
        absent = column.isna().tolist()
        texts = ["" if gone else str(v) for gone, v in zip(absent, column.tolist(), strict=True)]
        if column.dtype.kind not in "iufb":
            texts = _one_spelling(str(frame.columns[at]), texts, set())
        columns.append(texts)
    rows = [(line, row) for line, row in enumerate(zip(*columns, strict=True), 1)]
    return _checked(name, tuple(map(str, frame.columns)), rows, 1, None)


def _one_spelling(heading: str, cells: list[str], others: set[str]) -> list[str]:
    whole = heading in WHOLE
    signs = proven(cells, whole=whole) or others
    return [spelled(cell, signs, whole=whole) for cell in cells]


def _checked(
    name: str,
    headings: tuple[str, ...],
    rows: list[tuple[int, tuple[str, ...]]],
    first: int,
    separator: str | None,
) -> Sheet:
    """Return a sheet without empty columns at its end, all numbers in one spelling.

    `separator` is None for a table whose cells were no text.
    """
    faults = []
    if not rows:
        faults.append(Fault(name, None, "", "has no rows: it needs headings and at least one row"))
    named = max((at for at, heading in enumerate(headings, 1) if heading), default=0)
    if all(not cell for _, row in rows for cell in row[named:]):  # separators at the ends of lines
        headings = headings[:named]
        rows = [(line, row[:named]) for line, row in rows]
    headings, rows = _without_index(headings, rows)
    for heading in dict.fromkeys(headings):
        if not heading or headings.count(heading) > 1:
            message = "a column has no heading" if not heading else "two columns have this heading"
            faults.append(Fault(name, first, heading, message))
    for line, row in rows:
        if len(row) != len(headings):
            message = f"has {len(row)} cells; there are {len(headings)} headings"
            faults.append(Fault(name, line, "", message))
    if faults:
        raise ScenarioError(faults)
    if separator is not None:
        columns = [list(cells) for cells in zip(*(row for _, row in rows), strict=True)]
        proofs = [
            proven(cells, whole=heading in WHOLE)
            for heading, cells in zip(headings, columns, strict=True)
            if all(cell.lower() in MISSING or readings(_parts(cell)[0]) for cell in cells)
        ]
        others = set().union(*proofs) or ({"."} if separator == "," else set())
        columns = list(map(_one_spelling, headings, columns, [others] * len(columns)))
        rows = [
            (line, row) for (line, _), row in zip(rows, zip(*columns, strict=True), strict=True)
        ]
    return Sheet(name, headings, tuple(rows))


def _without_index(
    headings: tuple[str, ...], rows: list[tuple[int, tuple[str, ...]]]
) -> tuple[tuple[str, ...], list[tuple[int, tuple[str, ...]]]]:
    """Name the index that pandas writes before the columns: of statistics, or names; or drop it.

    Under several statistics of one column, as ``groupby().describe()`` has them, the second line
    says which, and the third how the index is called.
    """
    if not headings or headings[0] not in ("", "index", "level_0", "Unnamed: 0"):
        return headings, rows
    if len(rows) > 1 and len(rows[0][1]) == len(headings) and not rows[0][1][0]:
        second = [statistic_of(cell) for cell in rows[0][1][1:]]
        if all(second):
            together = [
                re.sub(r"^(.*?)(\s*[(\[].*)?$", rf"\1 {word}\2", heading, count=1)
                for heading, word in zip(headings[1:], second, strict=True)
            ]
            index = "column"
            if rows[1][1][0] and not any(rows[1][1][1:]):
                index, rows = rows[1][1][0], rows[1:]
            return (index, *together), rows[1:]
    cells = [row[0] for _, row in rows if row]
    if cells and all(statistic_of(cell) or cell in ("unique", "top", "freq") for cell in cells):
        kept = [(line, row) for line, row in rows if row and statistic_of(row[0])]
        return ("statistic", *headings[1:]), kept
    if cells == [str(at) for at in range(len(cells))] and len(headings) > 1:
        return headings[1:], [(line, row[1:]) for line, row in rows]
    return ("index" if "column" in headings else "column", *headings[1:]), rows
