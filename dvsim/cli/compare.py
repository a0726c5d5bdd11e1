"""`dvsim compare`: kept runs side by side, whatever backend made them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dvsim.cli.options import Output, Page, json_option
from dvsim.cli.terminal import say

if TYPE_CHECKING:
    from dvsim.results.beside import Comparison, Row, Value
    from dvsim.results.run import Run

INDENT = "  "
NAME, VALUE, SPREAD, RATIO = 20, 15, 12, 9  # widths


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="RUN...")
@click.option(
    "--runs",
    "root",
    type=Output("folder", file_okay=False),
    default=Path("runs"),
    show_default=True,
    help="Where kept runs are looked for by name.",
)
@click.option("--out", type=Page(), help="An HTML page with distributions and series, overlaid.")
@json_option
def compare(names: tuple[str, ...], root: Path, out: Path | None, as_json: bool) -> None:
    """Put kept runs side by side: rates, quantiles, ratios to the first, and what differs.

    RUN is the folder of a run, or the name of a scenario that was run: that is the newest kept
    run of each backend. What was asked differently is said; rates are compared where they count
    the same thing.

    Example: dvsim run h3/dv-256, dvsim run h3/dv-256 --backend emu, then dvsim compare h3/dv-256
    """
    from dvsim.results.beside import compare as put_side_by_side

    runs = _runs(names, root)
    found = put_side_by_side(runs)
    if out is not None:
        from dvsim.report import write_comparison

        write_comparison(out, found, _command())
    if as_json:
        click.echo(json.dumps(_as_json(found), allow_nan=False))
        return
    for line in _lines(found):
        say(line.rstrip())
    if out is not None:
        say(f"report: {out}")


def _command() -> str:
    import shlex

    return shlex.join(["dvsim", *sys.argv[1:]])


def _runs(names: Sequence[str], root: Path) -> list[Run]:
    """Return the runs that are meant, each once.

    Raises
    ------
    ScenarioError
        If something is not a run of a system, or there are not two.
    """
    from dvsim.errors import Fault, ScenarioError
    from dvsim.results.load import load_result
    from dvsim.results.run import Run

    folders = dict.fromkeys(folder for name in names for folder in _folders(name, root))
    runs = []
    for folder in folders:
        result = load_result(folder)
        if not isinstance(result, Run):
            message = "is of a switch or network alone, whose points are not compared"
            raise ScenarioError([Fault(str(folder), None, "", message)])
        runs.append(result)
    if len(runs) < 2:
        message = f"a comparison needs two runs; here is one: {next(iter(folders))}"
        raise ScenarioError([Fault(" ".join(names), None, "", message)])
    return runs


def _folders(name: str, root: Path) -> list[Path]:
    """Return the folder of a run, or of the newest run of each backend that a name has."""
    from dvsim.errors import Fault, ScenarioError
    from dvsim.results.kept import MANIFEST
    from dvsim.scenario.find import list_scenarios, nearest

    if (Path(name) / MANIFEST).is_file():
        return [Path(name)]
    inside = root.joinpath(*(part for part in name.split("/") if part not in {"", ".", ".."}))
    for place in (inside, Path(name)):
        found = _newest(place)
        if found:
            return found
    if Path(name).is_dir():
        raise ScenarioError([Fault(name, None, "", "is a folder without a run")])
    if any(entry.name == name for entry in list_scenarios()):
        message = f"no kept run of it in {root}; 'dvsim run {name}' makes one"
        raise ScenarioError([Fault(name, None, "", message)])
    known = (path.parents[1].relative_to(root).as_posix() for path in root.rglob(MANIFEST))
    message = f"no such folder, and no kept run of that name in {root}"
    raise ScenarioError([Fault(name, None, "", message, nearest(name, known))])


def _newest(place: Path) -> list[Path]:
    """Return the newest run of each backend among the folders in a place; sim comes first."""
    from dvsim.results.kept import MANIFEST, read_manifest

    newest: dict[str, tuple[str, Path]] = {}
    for path in sorted(place.glob(f"*/{MANIFEST}")):
        if path.parent.name.startswith("."):  # of a run that is being written
            continue
        manifest = read_manifest(path.parent)
        backend, started = str(manifest.get("backend")), str(manifest.get("started"))
        if backend not in newest or newest[backend][0] <= started:
            newest[backend] = (started, path.parent)
    return [newest[backend][1] for backend in sorted(newest, key=lambda name: name != "sim")]


def _lines(found: Comparison) -> Iterator[str]:
    """Yield the comparison as text: the runs, what differs, and a table for each column."""
    from dvsim.results.beside import ALL

    for number, run in enumerate(found.runs, start=1):
        yield f"{number}  {run.backend}  {run.scenario.name}: {run.scenario.title}"
        yield f"   {run.folder}"
    yield ""
    yield from _differences(found)
    yield ""
    yield "± is half of the 95 % interval over replications, - where there is only one"
    before, printed = "", ""
    for row in found.rows:
        if row.column != before:
            name = "all receivers" if row.column == ALL else f"{row.column}, {row.reading}/s"
            yield ""
            yield f"{name:<{NAME + 2}}{_heads(len(found.runs))}"
            printed = row.reading
        before = row.column
        yield f"{INDENT}{_name(row, printed):<{NAME}}{_cells(row, found)}"


def _differences(found: Comparison) -> Iterator[str]:
    if not found.differences:
        yield "nothing differs in what was asked"
        return
    heads = [str(number) for number in range(1, len(found.runs) + 1)]
    lines = [("what differs", heads), *((one.what, one.values) for one in found.differences)]
    first = max(NAME + len(INDENT), *(len(what) + len(INDENT) for what, _ in lines))
    widths = [
        max(len(value) for value in column) for column in zip(*(v for _, v in lines), strict=True)
    ]
    for place, (what, values) in enumerate(lines):
        name = f"{INDENT if place else ''}{what}"
        cells = (f"  {value:<{width}}" for value, width in zip(values, widths, strict=True))
        yield f"{name:<{first}}{''.join(cells)}"


def _name(row: Row, printed: str) -> str:
    from dvsim.results.beside import ALL

    if row.column != ALL:
        return row.statistic + f", in {row.reading}" * (row.reading != printed)
    return "messages/s" if row.reading == "messages" else "MB/s"


def _heads(runs: int) -> str:
    text = ""
    for number in range(1, runs + 1):
        text += f"{number:>{VALUE}}{'±':>{SPREAD}}"
        text += f"{f'{number}/1':>{RATIO}}" if number > 1 else ""
    return text


def _cells(row: Row, found: Comparison) -> str:
    text = ""
    places = 4 if row.statistic == "empty" else 1
    unit = 1e6 if row.unit == "B/s" else 1.0
    for number, (run, value, ratio) in enumerate(
        zip(found.runs, row.values, row.ratios, strict=True)
    ):
        text += _value(value, unit, places, run.replications)
        if number:
            text += f"{'' if ratio is None else f'{ratio:.3g}':>{RATIO}}"
    return text


def _value(value: Value | None, unit: float, places: int, replications: int) -> str:
    if value is None:
        return " " * (VALUE + SPREAD)
    half = f"{(value.high - value.value) / unit:,.{places}f}" if replications > 1 else "-"
    return f"{value.value / unit:>{VALUE},.{places}f}{half:>{SPREAD}}"


def _as_json(found: Comparison) -> dict[str, object]:
    """Return the comparison as JSON types."""
    return {
        "runs": [
            {
                "scenario": run.scenario.name,
                "backend": run.backend,
                "folder": str(run.folder),
                "seed": run.seed,
                "replications": run.replications,
                "manifest": run.manifest,
            }
            for run in found.runs
        ],
        "differences": [
            {"what": item.what, "values": list(item.values)} for item in found.differences
        ],
        "rows": [
            {
                "column": row.column,
                "reading": row.reading,
                "statistic": row.statistic,
                "unit": row.unit,
                "values": [None if one is None else one._asdict() for one in row.values],
                "ratios": list(row.ratios),
            }
            for row in found.rows
        ],
    }
