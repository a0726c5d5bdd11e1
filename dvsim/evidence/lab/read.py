"""Which kind of file it is, by what stands in it, and the cases that it gives."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dvsim.errors import ScenarioError, nearest
from dvsim.evidence.dialect import dialect_in, encoding_fault
from dvsim.evidence.headings import split_heading
from dvsim.evidence.lab.data import About, Case, Lab, LabData
from dvsim.evidence.lab.openmessaging import openmessaging_cases
from dvsim.evidence.lab.perftest import is_perftest, perftest_cases
from dvsim.evidence.lab.samples import raw_cases
from dvsim.evidence.lab.summaries import is_long, is_wide, summary_cases
from dvsim.evidence.sheet import UNNAMED, number_of, open_sheet
from dvsim.scenario.document import read
from dvsim.scenario.find import is_file, is_folder, nearest_beside, reference_root, why_not
from dvsim.scenario.input_errors import in_order, validate
from dvsim.scenario.spec import Table

HEAD = 4096  # bytes that tell what a file is
PARQUET = b"PAR1"


def read_lab(
    file: str | Path, meta: Path | None = None, own: Mapping[str, str] | None = None
) -> LabData:
    """Return the cases of a file of measurements, whatever kind it is of.

    Args:
        file: A path, or the name of a packaged table of published statistics.
        meta: A TOML file with ``[lab]``; None takes the one of the same name beside the file.
        own: Metrics that kinds of scenario have beside rates and latencies of messages, with units.

    Raises:
        ScenarioError: With file, line, column and the nearest valid name.
    """
    path = _existing(Path(file))
    about = _about(path, meta)
    try:
        with path.open("rb") as opened:
            head = opened.read(HEAD)
    except OSError as error:
        raise ScenarioError.at(path, f"cannot be read: {error.strerror}") from error
    if not head.strip():
        raise ScenarioError.at(path, "is empty")
    form, cases = _cases(path, head, about, own or {})
    return LabData(path, form, tuple(cases), about)


def _cases(path: Path, head: bytes, about: About, own: Mapping[str, str]) -> tuple[str, list[Case]]:
    if head[:4] == PARQUET or path.suffix == ".parquet":
        return _parquet(path, about, own)
    if b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ScenarioError.at(path, "is no text: it has a byte 0x00", line=1)
    text = head.decode("utf-8-sig", errors="replace")
    if text.lstrip()[:1] in "{[":
        return openmessaging_cases(path, about)
    if is_perftest(text) or _later(path):
        return perftest_cases(path, about)
    return _table(path, _headings(path), about, own)


def _later(path: Path) -> bool:
    """Return whether a log has its first interval further down, after what came before it."""
    if path.suffix not in {".log", ".txt", ".out"}:
        return False
    return is_perftest(path.read_text(encoding="utf-8", errors="replace"))


def _headings(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            _, names = next(dialect_in(path).rows(file), (1, [""]))
    except UnicodeDecodeError:
        raise ScenarioError([encoding_fault(path)]) from None
    except csv.Error as error:
        raise ScenarioError.at(path, f"is not CSV: {error}", line=1) from None
    return names


def _table(
    path: Path, headings: list[str], about: About, own: Mapping[str, str]
) -> tuple[str, list[Case]]:
    if len(headings) < 2 and path.suffix not in {".csv", ".parquet"}:
        message = (
            "is no file of measurements: not CSV, Parquet, a PerfTest log or OpenMessaging JSON"
        )
        raise ScenarioError.at(path, message, line=1)
    if all(map(number_of, headings)):
        raise ScenarioError.at(path, UNNAMED, line=1)
    near = nearest("statistic", [name for name in headings if name != "statistic"])
    if near and "value" in {split_heading(name)[0] for name in headings}:
        message = f"'{near}' is no heading that is known"
        raise ScenarioError.at(path, message, near, line=1, hint="statistic")
    if own and not (is_long(headings) or is_wide(headings, own)):
        meant = (nearest(split_heading(name)[0], own) for name in headings)
        message = f"no column is one of {', '.join(own)}"
        raise ScenarioError.at(path, message, line=1, hint=next(filter(None, meant), None))
    if not (is_long(headings) or is_wide(headings, own)):
        return "raw samples", raw_cases(path, headings, about)
    form = "summary, one statistic a row" if is_long(headings) else "summary, one case a row"
    try:
        path.suffix == ".parquet" or path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ScenarioError([encoding_fault(path)]) from None
    return form, summary_cases(open_sheet(path), about, own)


def _parquet(path: Path, about: About, own: Mapping[str, str]) -> tuple[str, list[Case]]:
    import pyarrow as pa
    import pyarrow.parquet

    try:
        headings = pyarrow.parquet.ParquetFile(path).schema_arrow.names
    except (pa.ArrowException, OSError) as error:
        message = f"is no whole Parquet file, it may have been cut: {error}"
        raise ScenarioError.at(path, message) from None
    return _table(path, list(headings), about, own)


def _existing(path: Path) -> Path:
    packaged = reference_root() / path.name
    if is_file(path):
        return path
    if path.parent == Path() and is_file(packaged):
        return packaged
    message = why_not(path, "a file of measurements")
    folder = path.parent if is_folder(path.parent) else Path()
    names = [item.name for item in folder.glob("*") if is_file(item)]
    names += [item.name for item in reference_root().glob("*.csv")]
    raise ScenarioError.at(path, message, hint=nearest(path.name, names))


@dataclass(frozen=True)
class _Meta(Table):
    lab: Lab


def _about(data: Path, named: Path | None) -> About:
    """Return what ``[lab]`` of a TOML file says: of `named`, or of the one beside the data."""
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
    checked, faults = validate(_Meta, document, {"lab": table})
    if faults:
        raise ScenarioError(in_order(faults, document))
    return About(**vars(checked.lab), file=path, declared=tuple(table.get("tolerance", ())))
