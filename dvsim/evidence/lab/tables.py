"""Tables of a laboratory: summaries in any form, and samples, one a row.

Samples in plain CSV and in Parquet are read in blocks by Arrow, so that ten million of them are no
burden. What Arrow refuses is read again as text, by the rules of all tables, for the numbers of
other countries, and for errors that name each place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dvsim.errors import Fault, ScenarioError, nearest
from dvsim.evidence.lab.data import About, Case, Sample, contradictions
from dvsim.evidence.statistics import Floats, statistics_of
from dvsim.scenario.quantity import UNITS, UnitError
from dvsim.sheets.headings import METRICS, SIZES, Unit, metric_of, split_heading, unit_of
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

HEAD = 65_536  # bytes that tell how numbers are written
BYTES_NEED = "the size of a message: a column 'message_bytes'"
NOWHERE = "its unit is nowhere stated; write it into the heading"
CELL = ("case", "statistic", "value", "half", "factor", "line")
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
    faults: list[Fault] = [] if form else _no_table(sheet, own)
    if form:
        cases = _summaries(sheet, form, about, own, faults)
    else:
        cases = [] if faults else list(_samples(sheet, quick, about, faults))
    if faults:
        raise ScenarioError(sorted(faults, key=lambda fault: fault.line or 0))
    return FORMS[form], cases


def _no_table(sheet: Sheet, own: Mapping[str, str]) -> list[Fault]:
    names = {split_heading(name)[0]: name for name in sheet.headings}
    wanted: list[str] = [*own] or ([] if _values(sheet) else [*SAMPLES])
    if "statistic" in names:
        wanted = ["value"]
    elif "value" in names and nearest("statistic", names):
        wanted = ["statistic"]
    close = ((nearest(word, names), word) for word in wanted)
    near, meant = next(((name, word) for name, word in close if name), ("", None))
    said = f"no column is one of {', '.join(wanted)}"
    said = said if len(wanted) > 1 else f"there is no column '{''.join(wanted)}'"
    heading = "" if wanted == [*own] else names.get(near or "", "")
    return [sheet.fault(1, heading, said, meant)] if wanted else []


def _add(faults: list[Fault], error: ScenarioError) -> None:
    """Add each fault once, and what every row would repeat for the first row alone."""
    told = [fault.message for fault in faults if fault.message.startswith(NOWHERE)]
    faults += [one for one in error.faults if one not in faults and one.message not in told]


def _summaries(
    sheet: Sheet, form: str, about: About, own: Mapping[str, str], faults: list[Fault]
) -> list[Case]:
    rows, cases = [], []
    for number in numbers(sheet, form, faults, own):
        try:
            rows.append(_cell(sheet, number, about, own))
        except ScenarioError as error:
            _add(faults, error)
    if not rows and not faults:
        faults.append(sheet.fault(None, "", "has no number"))
    groups: list[Any] = list(pd.DataFrame(rows, columns=CELL).groupby("case", sort=False))
    for (label, size, metric, keys), group in groups:
        before = group.groupby("statistic")["line"].shift().dropna()
        for name, line, first in zip(
            *group.loc[before.index, ["statistic", "line"]].T.to_numpy(), before, strict=True
        ):
            said = f"{name} of the same case stands in line {first:.0f} already"
            faults.append(sheet.fault(int(line), name, said))
        cells = group.drop_duplicates("statistic", keep="last").set_index("statistic")
        lines = cells["line"].to_dict()
        values = cells["value"].to_dict()
        count = values.pop("count", None)
        for high, low in contradictions(values, cells["half"].to_dict()):
            said = f"is smaller than the {low} of the same case"
            faults.append(sheet.fault(lines[high], high, said))
        others = [name for name in values if name != "mean" and metric in own]
        for name in others[:1]:
            said = f"of a {metric} there are means only, no {name}"
            faults.append(sheet.fault(lines[name], name, said))
        transport = dict(keys).get("transport", "")
        factor = cells["factor"][next(iter(values))] if values else 1.0
        cases.append(
            Case(
                where=f"{sheet.name}:{min(lines.values())}",
                label=label,
                keys=dict(keys),
                message_bytes=size,
                metric=metric,
                sample=Sample("run") if metric in own else about.sample_of(transport, metric),
                count=None if count is None else round(count),
                statistics=values,
                half=(about.rounding or 0.0) * factor,
                own_unit=own.get(metric),
            )
        )
    return cases


def _cell(sheet: Sheet, number: Number, about: About, own: Mapping[str, str]) -> tuple[Any, ...]:
    """Return a row of `CELL`; the error is that of this cell."""
    line, heading, row = number.line, number.heading, number.row
    printed, in_cell = quantity_of(number.text)
    if printed is None:
        raise ScenarioError([sheet.no_number(line, heading, number.text)])
    if printed.value < 0:
        said = f"{number.statistic} is not negative, this is {number.text}"
        raise ScenarioError([sheet.fault(line, heading, said)])
    sized, size = next((name for name in SIZES if name in row), None), about.message_bytes
    if sized is not None and number.name not in own:
        size = _size(sheet, line, sized, row[sized])
    known, name = [*METRICS, *own], row.get("metric", "")
    if name and name not in known:
        said = f"'{name}' is no metric; they are {', '.join(known)}"
        raise ScenarioError([sheet.fault(line, "metric", said, nearest(name, known))])
    unit = number.unit or about.unit
    if number.name in own:
        metric, factor = number.name, _own_factor(sheet, number, in_cell, own[number.name])
    else:
        if number.statistic == "count":
            unit = unit or "msg/s"  # a count has none of its own
        found = _unit(sheet, line, heading, in_cell, unit)
        factor = _factor(sheet, line, heading, found, in_cell or unit, size)
        name = number.name or about.metric or split_heading(heading)[0]
        meant = metric_of(name, found.dimension)
        if meant is None:
            said = f"a {name} is not measured in a unit of {found.dimension}"
            raise ScenarioError([sheet.fault(line, heading, said)])
        metric = meant
    apart = {*LABELS, *OF_NUMBERS, *(() if metric in own else SIZES)}
    keys = tuple((name, text) for name, text in row.items() if text and name not in apart)
    factor = 1.0 if number.statistic == "count" else factor
    half = 0.5 * 10.0 ** -max(printed.decimals, 0) * factor
    case = (_label(row), size, metric, keys)
    return case, number.statistic, printed.value * factor, half, factor, line


def _own_factor(sheet: Sheet, number: Number, in_cell: str | None, unit: str) -> float:
    times, written = UNITS["time"], in_cell or number.unit or unit
    if written == unit:
        return 1.0
    if written in times and unit in times:
        return float(times[written] / times[unit])
    said = f"'{written}' is not the unit of {number.name}"
    raise ScenarioError([sheet.fault(number.line, number.heading, said, unit)])


def _factor(
    sheet: Sheet, line: int, heading: str, unit: Unit, written: str | None, size: int | None
) -> float:
    if unit.dimension != "bytes":
        return unit.factor
    if not size:
        raise ScenarioError([sheet.fault(line, heading, f"{written} needs {BYTES_NEED}")])
    return unit.factor / size


def _unit(
    sheet: Sheet, line: int, heading: str, in_cell: str | None, of_column: str | None
) -> Unit:
    if in_cell is None and of_column is None:
        said = f"{NOWHERE}, such as '{heading} (msg/s)', or unit = \"msg/s\" into [lab] of a TOML "
        raise ScenarioError([sheet.fault(line, heading, f"{said}file beside it")])
    of_heading = 1 if of_column == split_heading(heading)[1] else line
    units = []
    for text, at in ((of_column, of_heading), (in_cell, line)):
        try:
            units += [unit_of(text)] if text is not None else []
        except UnitError as error:
            raise ScenarioError([sheet.fault(at, heading, error.message, error.hint)]) from None
    if len({unit.dimension == "time" for unit in units}) > 1:
        said = f"is in {in_cell}, and its column in {of_column}"
        raise ScenarioError([sheet.fault(line, heading, said)])
    return units[-1]


def _size(sheet: Sheet, line: int, heading: str, text: str) -> int:
    number = size_number(text)
    if number is None:
        said = f"must be a whole number of bytes above 0, is '{text}'"
        if isinstance(text, Unclear):
            said = sheet.no_number(line, heading, text).message
        raise ScenarioError([sheet.fault(line, heading, said)])
    return number


def _label(row: Mapping[str, str]) -> str:
    run = row.get("run", "")
    return (f"r{run}" if run.isdigit() else run) or next(filter(None, map(row.get, NAMES)), "")


def _samples(
    sheet: Sheet, quick: pd.DataFrame | None, about: About, faults: list[Fault]
) -> Iterator[Case]:
    grouped = _grouped(sheet)
    for value in _values(sheet):
        plain, written = split_heading(value)
        in_cells = (quantity_of(cells[value])[1] for _, cells in sheet.cells)
        written = written or about.unit or next(filter(None, in_cells), None)
        try:
            unit = _unit(sheet, 1, value, None, written)
            metric = metric_of(about.metric or plain, unit.dimension)
            if metric is None:
                raise ScenarioError([sheet.fault(1, value, f"is not measured in {written}")])
            frame = _parsed(sheet, value, unit, written, faults) if quick is None else quick
            known = frame.dropna(subset=[value])
            if known.empty:
                empty = [sheet.fault(None, value, "has no samples")]
                raise ScenarioError([] if faults else empty)
            missing = len(frame) - len(known)
            groups: Any = [((), known)]
            if grouped:
                groups = known.groupby(grouped, sort=False, observed=True)
            for key, part in groups:
                row, size = dict(zip(grouped, map(str, key), strict=True)), about.message_bytes
                if grouped and grouped[0] in SIZES:
                    text = row[grouped[0]]
                    lines = (line for line, cells in sheet.cells if cells[grouped[0]] == text)
                    size = _size(sheet, next(lines, 1), grouped[0], text)
                factor = _factor(sheet, 1, value, unit, written, size)
                samples: Floats = np.sort(part[value].to_numpy(np.float64)) * factor
                transport = row.get("transport", "")
                yield Case(
                    where=sheet.name,
                    label=_label(row),
                    keys={"transport": transport} if transport else {},
                    message_bytes=size,
                    metric=metric,
                    sample=about.sample_of(transport, metric),
                    count=samples.size,
                    statistics=statistics_of(samples),
                    values=samples,
                    half=(about.rounding or 0.0) * factor,
                    notes=(f"{missing} cells without a number are left out",) * bool(missing),
                )
        except ScenarioError as error:
            _add(faults, error)


def _values(sheet: Sheet) -> list[str]:
    return [name for name in sheet.headings if split_heading(name)[0].lower() in SAMPLES]


def _grouped(sheet: Sheet) -> list[str]:
    size = next((name for name in SIZES if name in sheet.headings), None)
    label = next((name for name in LABELS if name in sheet.headings), None)
    return [name for name in (size, label, "transport") if name in sheet.headings]


def _parsed(
    sheet: Sheet, value: str, unit: Unit, written: str | None, faults: list[Fault]
) -> pd.DataFrame:
    factors, found, grouped = {"": 1.0}, [], _grouped(sheet)
    last = sheet.rows[-1][0]
    for line, cells in sheet.cells:
        printed, in_cell = quantity_of(cells[value])
        if in_cell and in_cell not in factors:
            factors[in_cell] = np.nan
            try:
                factors[in_cell] = _unit(sheet, line, value, in_cell, written).factor / unit.factor
            except ScenarioError as error:
                _add(faults, error)
        if printed is None and cells[value]:
            faults.append(sheet.no_number(line, value, cells[value]))
        elif printed is not None and printed.value < 0:
            faults.append(sheet.fault(line, value, f"is negative: {cells[value]}"))
        faults += [sheet.fault(line, name, "is empty") for name in grouped if not cells[name]]
        if line == last and not cells[value] and sheet.cut:
            faults.append(sheet.fault(line, value, "is empty; was the file cut here?"))
        number = np.nan if printed is None else printed.value * factors[in_cell or ""]
        found.append((number, *(cells[name] for name in grouped)))
    return pd.DataFrame(found, columns=[value, *grouped])


def _in_blocks(path: Path, own: Collection[str]) -> tuple[Sheet, pd.DataFrame] | None:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    try:
        if path.suffix == ".parquet":
            names = tuple(pyarrow.parquet.ParquetFile(path).schema_arrow.names)
            sheet = Sheet(str(path), names, ())
            columns = [*_values(sheet), *_grouped(sheet)]
            frame = pyarrow.parquet.read_table(path, columns=columns).to_pandas()
        else:
            with path.open("rb") as file:
                head = file.read(HEAD).decode("utf-8-sig").rpartition("\n")[0]
            separator, rows = rows_of(path, head)
            sheet = Sheet(str(path), rows[0][1], ())
            values = _values(sheet)
            cells = [row[sheet.headings.index(name)] for name in values for _, row in rows[1:]]
            signs = proven(cells) or ({"."} if separator == "," else set())
            texts = dict.fromkeys(_grouped(sheet), pa.dictionary(pa.int32(), pa.string()))
            (decimal,) = signs
            options = pyarrow.csv.ConvertOptions(
                column_types={**dict.fromkeys(values, pa.float64()), **texts},
                include_columns=[*values, *texts],
                null_values=sorted(MISSING | {word.upper() for word in MISSING} | {"NaN"}),
                decimal_point=decimal,
            )
            frame = pyarrow.csv.read_csv(
                path,
                read_options=pyarrow.csv.ReadOptions(skip_rows=layout_of(head)[1]),
                parse_options=pyarrow.csv.ParseOptions(delimiter=separator),
                convert_options=options,
            ).to_pandas()
    except (pa.ArrowException, OSError, ValueError, IndexError, ScenarioError):
        return None
    numeric = frame[_values(sheet)].select_dtypes("number")
    grouped = frame[_grouped(sheet)]
    right = (
        not form_of(sheet, own)
        and list(numeric) == _values(sheet) != []
        and not ((numeric < 0) | np.isinf(numeric)).any(axis=None)
        and not grouped.isna().any(axis=None)
        and all(
            size_number(str(text)) for name in {*grouped} & {*SIZES} for text in set(grouped[name])
        )
    )
    return (sheet, frame) if right else None
