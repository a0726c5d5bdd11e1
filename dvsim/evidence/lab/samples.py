"""Raw samples, one row each, read in blocks so that ten million of them are no burden.

Arrow reads; what it refuses is looked for again line by line, for an error that names the place.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dvsim.errors import Fault, ScenarioError, nearest
from dvsim.evidence.dialect import dialect_in, encoding_fault
from dvsim.evidence.headings import Unit, metric_of, split_heading, unit_of
from dvsim.evidence.lab.data import About, Case, sample_of
from dvsim.evidence.lab.summaries import NAMES, RUNS, SIZES
from dvsim.evidence.sheet import number_of, size_number
from dvsim.evidence.statistics import Floats, statistics_of
from dvsim.scenario.quantity import UnitError, show

VALUES = ("rate", "latency", "value", "throughput", "received", "sent", "confirm latency")
Group = tuple[str, ...]


def raw_cases(path: Path, headings: Sequence[str], about: About) -> list[Case]:
    """Return a case for each size and run of a file of samples.

    Args:
        path: CSV or Parquet.
        headings: Its columns: one of `VALUES` with its unit, and those that tell cases apart.
        about: Unit, metric, size and sample, where the file does not say.

    Raises:
        ScenarioError: If a column is missing or has no unit, or a sample is no number, or negative.
    """
    value, texts = _value_column(path, headings, about)
    unit = _unit(path, value, texts)
    size = next((name for name in SIZES if name in headings), None)
    label = next((name for name in (*RUNS, *NAMES) if name in headings), None)
    keys = ["transport"] if "transport" in headings else []
    grouped = [name for name in (size, label, *keys) if name]
    parts: dict[Group, list[Floats]] = {}
    for block in _blocks(path, value, grouped):
        for group, values in block:
            parts.setdefault(group, []).append(values)
    metric = metric_of(about.metric or split_heading(value)[0], unit.dimension)
    if metric is None:
        raise ScenarioError.at(path, f"is not measured in {texts}", value, line=1)
    if not parts:
        raise ScenarioError.at(path, "has no samples", value)
    cases = []
    for group, result in parts.items():
        cells = dict(zip(grouped, group, strict=True))
        bytes_ = _bytes(path, size, cells[size]) if size else about.message_bytes
        factor = _factor(path, value, unit, bytes_)
        samples = np.sort(np.concatenate(result)) * factor
        transport = cells.get("transport", "")
        declared = about.of(about.sample, transport)
        cases.append(
            Case(
                where=str(path),
                label=_label(cells[label]) if label else "",
                keys={"transport": transport} if transport else {},
                message_bytes=bytes_,
                metric=metric,
                sample=sample_of(declared, metric),
                count=samples.size,
                statistics=statistics_of(samples),
                values=samples,
                half=(about.rounding or 0.0) * factor,
            )
        )
    return cases


def _bytes(path: Path, heading: str, text: str) -> int:
    number = size_number(text.strip())
    if number is not None:
        return number
    message = f"must be a whole number of bytes above 0, is {show(text)}"
    raise ScenarioError.at(path, message, heading, line=_line_of(path, heading, text))


def _line_of(path: Path, heading: str, text: str) -> int | None:
    """Return the first line of a CSV file with a text in a column."""
    if path.suffix == ".parquet":
        return None
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = dialect_in(path).rows(file)
        at = next(rows)[1].index(heading)
        return next((line for line, row in rows if row[at] == text), None)


def _label(text: str) -> str:
    return f"r{text}" if text.isdigit() else text


def _value_column(path: Path, headings: Sequence[str], about: About) -> tuple[str, str | None]:
    named = {name: split_heading(name) for name in headings}
    for name, (plain, unit) in named.items():
        if plain.lower() in VALUES:
            return name, unit or about.unit
    plain_names = {plain: name for name, (plain, _) in named.items()}
    close = ((nearest(word, plain_names), word) for word in VALUES)
    near, meant = next(((plain, word) for plain, word in close if plain), ("", None))
    message = f"there is no column of samples; it is called one of {', '.join(VALUES)}"
    raise ScenarioError.at(path, message, plain_names.get(near, ""), line=1, hint=meant)


def _unit(path: Path, value: str, unit_text: str | None) -> Unit:
    if unit_text is None:
        message = f"its unit is nowhere stated; write '{value} (msg/s)' or '{value} (us)', or"
        message += ' unit = "…" into [lab] of a TOML file beside it'
        raise ScenarioError.at(path, message, value, line=1)
    try:
        return unit_of(unit_text)
    except UnitError as error:
        raise ScenarioError.at(path, error.message, value, line=1, hint=error.hint) from None


def _factor(path: Path, value: str, unit: Unit, size: int | None) -> float:
    if unit.dimension != "bytes":
        return unit.factor
    if not size:
        message = "bytes per second need the size of a message: a column 'message_bytes'"
        raise ScenarioError.at(path, message, value, line=1)
    return unit.factor / size


def _blocks(path: Path, value: str, grouped: Sequence[str]) -> Iterator[list[tuple[Group, Floats]]]:
    """Yield the samples of each block by group."""
    import pyarrow as pa

    try:
        for batch in _batches(path, value, grouped):
            yield _by_group(path, batch, value, grouped)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise ScenarioError([_place(path, value, grouped, str(error))]) from error


def _batches(path: Path, value: str, grouped: Sequence[str]) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    columns = [value, *grouped]
    if path.suffix == ".parquet":
        yield from pyarrow.parquet.ParquetFile(path).iter_batches(columns=columns)
        return
    types = {value: pa.float64(), **dict.fromkeys(grouped, pa.string())}
    dialect = dialect_in(path)
    convert = pyarrow.csv.ConvertOptions(
        include_columns=columns,
        column_types=types,
        null_values=["", "nan", "NaN", "NA"],
        decimal_point="," if dialect.comma else ".",
    )
    parse = pyarrow.csv.ParseOptions(delimiter=dialect.separator)
    read = pyarrow.csv.ReadOptions(skip_rows=dialect.skipped)
    with pyarrow.csv.open_csv(
        path, read_options=read, parse_options=parse, convert_options=convert
    ) as reader:
        yield from reader


def _by_group(
    path: Path,
    batch: Any,  # noqa: ANN401 - of Arrow
    value: str,
    grouped: Sequence[str],
) -> list[tuple[Group, Floats]]:
    import pyarrow as pa

    for field in batch.schema:
        if pa.types.is_nested(field.type):
            raise ScenarioError.at(path, f"is of type {field.type}", field.name)
    frame = batch.to_pandas()
    values = frame[value].to_numpy()
    if not np.issubdtype(values.dtype, np.number):
        message = f"is of type {batch.schema.field(value).type}, not a number"
        raise ScenarioError.at(path, message, value)
    samples = values.astype(np.float64)
    if not (np.isfinite(samples) & (samples >= 0)).all() or frame[list(grouped)].isna().any().any():
        raise ScenarioError([_place(path, value, grouped, "is no number of 0 or more")])
    if not grouped:
        return [((), samples)] if samples.size else []
    return [
        (tuple(map(str, key)), samples[rows])
        for key, rows in frame.groupby(list(grouped), sort=False).indices.items()
        for key in [key if isinstance(key, tuple) else (key,)]
    ]


def _place(path: Path, value: str, grouped: Sequence[str], message: str) -> Fault:
    """Return the first line that cannot be: reads a file again, slowly, that was refused."""
    if path.suffix == ".parquet":
        return _parquet_place(path, value, message)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            result = next(_wrong_lines(path, dialect_in(path).rows(file), value, grouped), None)
    except UnicodeDecodeError:
        return encoding_fault(path)
    except csv.Error as error:
        return Fault(str(path), None, "", f"is not CSV: {error}")
    return result or Fault(str(path), None, value, f"cannot be read: {message}")


def _wrong_lines(
    path: Path, rows: Iterator[tuple[int, list[str]]], value: str, grouped: Sequence[str]
) -> Iterator[Fault]:
    """Yield what is wrong with a file, line by line."""
    headings = next(rows, (1, []))[1]
    if not {value, *grouped} <= set(headings):
        yield Fault(str(path), 1, value, "the first line is not the headings alone")
        return
    at = headings.index(value)
    for line, row in rows:
        if len(row) != len(headings):
            message = f"has {len(row)} cells; there are {len(headings)} headings"
            yield Fault(str(path), line, "", message)
        wrong = _wrong_cell(row[at])
        if wrong:
            yield Fault(str(path), line, value, wrong[0], wrong[1])
        empty = [name for name in grouped if not row[headings.index(name)]]
        if empty:
            yield Fault(str(path), line, empty[0], "is empty")


def _wrong_cell(text: str) -> tuple[str, str | None] | None:
    try:
        if 0 <= float(text) < math.inf:  # nearly all of them: the rest is slower
            return None
    except ValueError:
        pass
    number = number_of(text)
    if number is None:
        plain = text.split(" ", maxsplit=1)[0].replace(",", "")
        message = f"'{text}' is not a number" if text else "is empty; was the file cut here?"
        message += "; the unit stands in the heading" * (" " in text)
        return message, plain if plain != text and number_of(plain) else None
    return (f"is negative: {text}", None) if number.value < 0 else None


def _parquet_place(path: Path, value: str, message: str) -> Fault:
    import pyarrow as pa
    import pyarrow.parquet

    try:
        column = pyarrow.parquet.read_table(path, columns=[value]).column(0).to_numpy()
        bad = np.flatnonzero(~(np.isfinite(column) & (column >= 0)))
    except (pa.ArrowException, OSError, TypeError):
        return Fault(str(path), None, "", f"cannot be read: {message}")
    if not bad.size:
        return Fault(str(path), None, value, message)
    problem = f"is {column[bad[0]]}, not a number of 0 or more"
    return Fault(str(path), int(bad[0]) + 1, value, problem)
