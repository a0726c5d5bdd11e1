"""Which kind of file it is, by what stands in it, and the cases that it gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dvsim.errors import ScenarioError, nearest
from dvsim.evidence.lab.data import About, Case, Lab, LabData
from dvsim.evidence.lab.openmessaging import openmessaging_cases
from dvsim.evidence.lab.perftest import is_perftest, perftest_cases
from dvsim.evidence.lab.tables import table_cases
from dvsim.scenario.document import read
from dvsim.scenario.find import is_file, is_folder, nearest_beside, reference_root, why_not
from dvsim.scenario.input_errors import in_order, validate
from dvsim.scenario.spec import Table
from dvsim.sheets.sheet import text_of

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
        return table_cases(path, about, own)
    wide = head.startswith((b"\xff\xfe", b"\xfe\xff"))
    if b"\0" in head and not wide:
        raise ScenarioError.at(path, "is no text: it has a byte 0x00", line=1)
    text = text_of(path)[:HEAD] if wide else head.decode("utf-8-sig", errors="replace")
    if text.lstrip()[:1] in "{[":
        return openmessaging_cases(path, about)
    log = path.suffix in {".log", ".txt", ".out"}  # what came before may be long
    whole = (
        path.read_text(encoding="utf-16" if wide else "utf-8-sig", errors="replace")
        if log
        else text
    )
    if is_perftest(whole):
        return perftest_cases(path, about)
    return table_cases(path, about, own)


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
    lines = {key: document.origin(("lab", key)).line for key in table}
    declared = tuple(table.get("tolerance", ()))
    return About(**vars(checked.lab), file=path, declared=declared, lines=lines)
