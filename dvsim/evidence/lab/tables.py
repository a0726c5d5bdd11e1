"""Tables of a laboratory: summaries in any form, and samples, one a row.

Samples in plain CSV and in Parquet are read in blocks by Arrow, so that ten million of them are no
burden. What Arrow refuses is read again as text, by the rules of all tables, for the numbers of
other countries, and for errors that name each place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dvsim.errors import Fault, ScenarioError, nearest
from dvsim.evidence.lab.data import About, Case, Sample, sample_of
from dvsim.evidence.statistics import Floats, statistics_of
from dvsim.scenario.quantity import UNITS, UnitError
from dvsim.sheets.headings import (
    METRICS,
    SIZES,
    Unit,
    metric_of,
    quantiles_of,
    split_heading,
    unit_of,
)
from dvsim.sheets.sheet import (
    MISSING,
    Sheet,
    Unclear,
    layout_of,
    open_sheet,
    proven,
    quantity_of,
    rows_of,
    size_number,
)
from dvsim.sheets.summary import NAMES, OF_NUMBERS, Number, form_of, numbers

if TYPE_CHECKING:
    import pandas as pd

HEAD = 65_536  # bytes that tell how numbers are written
BYTES_NEED = "the size of a message: a column 'message_bytes'"
LABELS = ("run", *NAMES)
SAMPLES = ("rate", "latency", "value", "throughput", "received", "sent", "confirm latency")
FORMS = {
    "": "raw samples",
    "long": "summary, one statistic a row",
    "described": "summary, the output of describe()",
    "wide": "summary, one case a row",
}


def table_cases(path: Path, about: About, own: Mapping[str, str]) -> tuple[str, list[Case]]:
    """Return what kind of table a file is, and its cases.

    Raises:
        ScenarioError: With every fault: file, line, column, nearest valid word.
    """
    blocks = _in_blocks(path, own) if path.stat().st_size > HEAD else None
    sheet, quick = blocks or (open_sheet(path), None)
    form = form_of(sheet, own)
    faults: list[Fault] = []
    if form:
        cases = _summary_cases(sheet, list(numbers(sheet, form, faults, own)), about, own, faults)
        if not cases and not faults:
            faults.append(sheet.fault(None, "", "has no number"))
    else:
        plain_names = [split_heading(name)[0] for name in sheet.headings]
        near = nearest("statistic", [name for name in plain_names if name != "statistic"])
        if "value" in plain_names and near:
            faults.append(
                sheet.fault(1, near, f"'{near}' is no heading that is known", "statistic")
            )
        elif "statistic" in plain_names:
            near = nearest("value", plain_names)
            message = "there is no column 'value'"
            faults.append(sheet.fault(1, near or "", message, near and "value"))
        elif own:
            meant = (nearest(name, own) for name in plain_names)
            hint = next(filter(None, meant), None)
            faults.append(sheet.fault(1, "", f"no column is one of {', '.join(own)}", hint))
        cases = [] if faults else _sample_cases(sheet, quick, about, faults)
    if faults:
        raise ScenarioError(sorted(faults, key=lambda fault: fault.line or 0))
    return FORMS[form], cases


def _summary_cases(
    sheet: Sheet,
    given: Sequence[Number],
    about: About,
    own: Mapping[str, str],
    faults: list[Fault],
) -> list[Case]:
    found: dict[tuple[Any, ...], dict[str, tuple[float, float, float, Number]]] = {}
    for number in given:
        wrong = partial(sheet.fault, number.line)
        printed, in_cell = quantity_of(number.text)
        if printed is None:
            faults.append(sheet.no_number(number.line, number.heading, number.text))
            continue
        if printed.value < 0:
            said = f"{number.statistic} is not negative, this is {number.text}"
            faults.append(wrong(number.heading, said))
            continue
        key_size = next((name for name in SIZES if name in number.row), None)
        size = about.message_bytes
        if key_size is not None and number.name not in own:
            size = _size(sheet, number.line, key_size, number.row[key_size], faults)
            if size is None:
                continue
        known = _measured(sheet, number, in_cell, size, about, own, faults)
        if known is None:
            continue
        metric, unit = known
        apart = {*LABELS, *OF_NUMBERS, *(() if metric in own else SIZES)}
        keys = tuple(
            (name, text) for name, text in number.row.items() if text and name not in apart
        )
        case = found.setdefault((_label(number.row), size, metric, keys), {})
        if number.statistic in case:
            first = case[number.statistic][-1].line
            said = f"{number.statistic} of the same case stands in line {first} already"
            faults.append(wrong(number.statistic, said))
        factor = 1.0 if number.statistic == "count" else unit
        half = 0.5 * 10.0 ** -max(printed.decimals, 0) * factor
        case[number.statistic] = printed.value * factor, half, factor, number
    return [
        _summary_case(sheet, key, statistics, about, own, faults)
        for key, statistics in found.items()
    ]


def _summary_case(
    sheet: Sheet,
    key: tuple[Any, ...],
    cells: Mapping[str, tuple[float, float, float, Number]],
    about: About,
    own: Mapping[str, str],
    faults: list[Fault],
) -> Case:
    label, size, metric, keys = key
    values = {name: value for name, (value, *_) in cells.items() if name != "count"}
    factor = next((cell[2] for name, cell in cells.items() if name != "count"), 1.0)

    def refuse_below(name: str, other: str, room: float = 0.0) -> None:
        (low, *_, number), (high, *_) = cells[name], cells[other]
        if low + room < high:
            said = f"is smaller than the {other} of the same case"
            faults.append(sheet.fault(number.line, name, said))

    ordered = [name for _, name in sorted(quantiles_of({name: name for name in values}).items())]
    for low, high in pairwise(ordered):
        refuse_below(high, low)
    for low, high in (("min", "mean"), ("mean", "max")):
        if low in values and high in values:
            bound = cells["min" if low == "min" else "max"][1]
            refuse_below(high, low, bound)
    if metric in own and set(values) - {"mean"}:
        name = next(name for name in values if name != "mean")
        said = f"of a {metric} there are means only, no {name}"
        faults.append(sheet.fault(cells[name][-1].line, name, said))
    declared = about.of(about.sample, dict(keys).get("transport", ""))
    return Case(
        where=f"{sheet.name}:{min(cell[-1].line for cell in cells.values())}",
        label=label,
        keys=dict(keys),
        message_bytes=size,
        metric=metric,
        sample=Sample("run") if metric in own else sample_of(declared, metric),
        count=round(cells["count"][0]) if "count" in cells else None,
        statistics=values,
        half=(about.rounding or 0.0) * factor,
        own_unit=own.get(metric),
    )


def _measured(
    sheet: Sheet,
    number: Number,
    in_cell: str | None,
    size: int | None,
    about: About,
    own: Mapping[str, str],
    faults: list[Fault],
) -> tuple[str, float] | None:
    known, name, of_column = [*METRICS, *own], number.row.get("metric", ""), number.unit
    if name and name not in known:
        said = f"'{name}' is no metric; they are {', '.join(known)}"
        _once(faults, sheet.fault(number.line, "metric", said, nearest(name, known)))
        return None
    if number.name in own:
        return _own(sheet, number, in_cell or of_column, own[number.name], faults)
    if number.statistic == "count":
        of_column = of_column or about.unit or "msg/s"  # a count has none of its own
    found = _unit(sheet, number.line, number.heading, in_cell, of_column or about.unit, faults)
    if found is None:
        return None
    if found.dimension == "bytes" and not size:
        said = f"{in_cell or of_column or about.unit} needs {BYTES_NEED}"
        _once(faults, sheet.fault(number.line, number.heading, said))
        return None
    name = number.name or about.metric or split_heading(number.heading)[0]
    metric = metric_of(name, found.dimension)
    if metric is None:
        said = f"a {name} is not measured in a unit of {found.dimension}"
        _once(faults, sheet.fault(number.line, number.heading, said))
        return None
    return metric, found.factor / (size or 1) if found.dimension == "bytes" else found.factor


def _own(
    sheet: Sheet, number: Number, written: str | None, unit: str, faults: list[Fault]
) -> tuple[str, float] | None:
    times = UNITS["time"]
    if written in (None, unit):
        return number.name, 1.0
    if written in times and unit in times:
        return number.name, float(times[str(written)] / times[unit])
    said = f"'{written}' is not the unit of {number.name}"
    _once(faults, sheet.fault(number.line, number.heading, said, unit))
    return None


def _unit(
    sheet: Sheet,
    line: int,
    heading: str,
    in_cell: str | None,
    of_column: str | None,
    faults: list[Fault],
) -> Unit | None:
    if in_cell is None and of_column is None:
        said = "its unit is nowhere stated; write it into the heading, such as "
        said += f"'{heading} (msg/s)', or unit = \"msg/s\" into [lab] of a TOML file beside it"
        if not any(fault.message == said for fault in faults):  # once, not in each row
            faults.append(sheet.fault(line, heading, said))
        return None
    units = []
    for text, at in (
        (of_column, 1 if of_column == split_heading(heading)[1] else line),
        (in_cell, line),
    ):
        try:
            units += [unit_of(text)] if text is not None else []
        except UnitError as error:
            _once(faults, sheet.fault(at, heading, error.message, error.hint))
            return None
    if len({unit.dimension == "time" for unit in units}) > 1:
        faults.append(sheet.fault(line, heading, f"is in {in_cell}, and its column in {of_column}"))
        return None
    return units[-1]


def _size(sheet: Sheet, line: int, heading: str, text: str, faults: list[Fault]) -> int | None:
    number = size_number(text)
    if number is None:
        said = f"must be a whole number of bytes above 0, is '{text}'"
        if isinstance(text, Unclear):
            said = sheet.no_number(line, heading, text).message
        _once(faults, sheet.fault(line, heading, said))
    return number


def _once(faults: list[Fault], fault: Fault) -> None:
    if fault not in faults:
        faults.append(fault)


def _label(row: Mapping[str, str]) -> str:
    run = row.get("run", "")
    if run:
        return f"r{run}" if run.isdigit() else run
    return next((row[name] for name in NAMES if row.get(name)), "")


def _sample_cases(
    sheet: Sheet, quick: pd.DataFrame | None, about: About, faults: list[Fault]
) -> list[Case]:
    import pandas as pd

    named = {name: split_heading(name) for name in sheet.headings}
    values = _values(sheet)
    if not values:
        plain_names = {plain: name for name, (plain, _) in named.items()}
        close = ((nearest(word, plain_names), word) for word in SAMPLES)
        near, meant = next(((plain, word) for plain, word in close if plain), ("", None))
        said = f"there is no column of samples; it is called one of {', '.join(SAMPLES)}"
        faults.append(sheet.fault(1, plain_names.get(near, ""), said, meant))
    grouped = _grouped(sheet)
    cases = []
    for value in values:
        plain, written = named[value]
        in_cells = (quantity_of(cells[value])[1] for _, cells in sheet.cells)
        written = written or about.unit or next(filter(None, in_cells), None)
        unit = _unit(sheet, 1, value, None, written, faults)
        if unit is None:
            continue
        metric = metric_of(about.metric or plain, unit.dimension)
        if metric is None:
            faults.append(sheet.fault(1, value, f"is not measured in {written}"))
            continue
        frame = quick
        if frame is None:
            rows = _sample_rows(sheet, value, grouped, unit, written or "", faults)
            frame = pd.DataFrame(rows, columns=[value, *grouped])
        missing = int(frame[value].isna().sum())
        frame = frame.dropna(subset=[value])
        if frame.empty:
            faults += [] if faults else [sheet.fault(None, value, "has no samples")]
            continue
        groups = frame.groupby(grouped, sort=False, observed=True) if grouped else [((), frame)]
        for key, part in groups:
            row = dict(zip(grouped, map(str, key), strict=True))
            bytes_ = about.message_bytes
            for heading in grouped[:1] if grouped and grouped[0] in SIZES else ():
                text = row.pop(heading)
                lines = (line for line, cells in sheet.cells if cells[heading] == text)
                bytes_ = _size(sheet, next(lines, 1), heading, text, faults)
            if unit.dimension == "bytes" and not bytes_:
                _once(faults, sheet.fault(1, value, f"{written} needs {BYTES_NEED}"))
                continue
            factor = unit.factor / (bytes_ or 1) if unit.dimension == "bytes" else unit.factor
            samples: Floats = np.sort(part[value].to_numpy(np.float64)) * factor
            transport = row.pop("transport", "")
            cases.append(
                Case(
                    where=sheet.name,
                    label=_label(row),
                    keys={"transport": transport} if transport else {},
                    message_bytes=bytes_,
                    metric=metric,
                    sample=sample_of(about.of(about.sample, transport), metric),
                    count=samples.size,
                    statistics=statistics_of(samples),
                    values=samples,
                    half=(about.rounding or 0.0) * factor,
                    notes=(f"{missing} cells without a number are left out",) * bool(missing),
                )
            )
    return cases


def _values(sheet: Sheet) -> list[str]:
    return [name for name in sheet.headings if split_heading(name)[0].lower() in SAMPLES]


def _grouped(sheet: Sheet) -> list[str]:
    size = next((name for name in SIZES if name in sheet.headings), None)
    label = next((name for name in LABELS if name in sheet.headings), None)
    return [name for name in (size, label, "transport") if name in sheet.headings]


def _sample_rows(
    sheet: Sheet, value: str, grouped: Sequence[str], unit: Unit, written: str, faults: list[Fault]
) -> Iterator[tuple[float | str, ...]]:
    factors: dict[str, float | None] = {"": 1.0}
    last = sheet.rows[-1][0]
    for line, cells in sheet.cells:
        printed, in_cell = quantity_of(cells[value])
        if in_cell and in_cell not in factors:
            found = _unit(sheet, line, value, in_cell, written, faults)
            factors[in_cell] = None if found is None else found.factor / unit.factor
        factor = factors[in_cell or ""]
        if printed is None and cells[value]:
            faults.append(sheet.no_number(line, value, cells[value]))
        elif printed is not None and printed.value < 0:
            faults.append(sheet.fault(line, value, f"is negative: {cells[value]}"))
        faults += [sheet.fault(line, name, "is empty") for name in grouped if not cells[name]]
        if line == last and not cells[value] and sheet.cut:
            faults.append(sheet.fault(line, value, "is empty; was the file cut here?"))
        value_ = np.nan if printed is None or factor is None else printed.value * factor
        yield (value_, *(cells[name] for name in grouped))


def _in_blocks(path: Path, own: Collection[str]) -> tuple[Sheet, pd.DataFrame] | None:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    try:
        if path.suffix == ".parquet":
            sheet = Sheet(
                str(path), tuple(pyarrow.parquet.ParquetFile(path).schema_arrow.names), ()
            )
            columns = [*_values(sheet), *_grouped(sheet)]
            frame = pyarrow.parquet.read_table(path, columns=columns).to_pandas()
        else:
            with path.open("rb") as file:
                head = file.read(HEAD).decode("utf-8-sig").rpartition("\n")[0]
            separator, rows = rows_of(path, head)
            sheet = Sheet(str(path), rows[0][1], ())
            values = _values(sheet)
            cells = [
                row[at]
                for _, row in rows[1:]
                for at, name in enumerate(rows[0][1])
                if name in values
            ]
            signs = proven(cells) or ({"."} if separator == "," else set())
            if len(signs) > 1 or not signs:
                return None
            texts = dict.fromkeys(_grouped(sheet), pa.dictionary(pa.int32(), pa.string()))
            options = pyarrow.csv.ConvertOptions(
                column_types={**dict.fromkeys(values, pa.float64()), **texts},
                include_columns=[*values, *texts],
                null_values=sorted(MISSING | {word.upper() for word in MISSING} | {"NaN"}),
                decimal_point=signs.pop(),
            )
            frame = pyarrow.csv.read_csv(
                path,
                read_options=pyarrow.csv.ReadOptions(skip_rows=layout_of(head)[1]),
                parse_options=pyarrow.csv.ParseOptions(delimiter=separator),
                convert_options=options,
            ).to_pandas()
    except (pa.ArrowException, OSError, ValueError, IndexError, ScenarioError):
        return None
    numbers_ = frame[_values(sheet)]
    wrong = (
        form_of(sheet, own)
        or not _values(sheet)
        or numbers_.select_dtypes("number").shape != numbers_.shape
    )
    if wrong or (numbers_ < 0).any(axis=None) or np.isinf(numbers_).any(axis=None):
        return None
    sizes = [name for name in _grouped(sheet) if name in SIZES]
    if frame[_grouped(sheet)].isna().any(axis=None) or not all(
        size_number(str(text)) for name in sizes for text in frame[name].unique()
    ):
        return None
    return sheet, frame
