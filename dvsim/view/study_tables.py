"""Tables of studies: every point with its intervals, what was asked, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields

from dvsim.scenario import spec
from dvsim.scenario.spec import Spec, plain
from dvsim.scenario.units import is_number, value_text
from dvsim.study.number_text import MISSING, counted, estimate_texts, number_text
from dvsim.study.table import Cell, Table, number
from dvsim.table.result import Result
from dvsim.view.axes import Mark, Sweep
from dvsim.view.metrics import name_of, unit_of

MOST_ITEMS = 12  # of a list; the folder of the study has all


def points_table(study: Result, sweep: Sweep, name: str) -> Table:
    """Tabulate the metrics of every point; the CSV has all of them with all digits."""
    metrics = study.drawn
    if "mean_latency" in study.METRICS:  # its quantile stands beside it
        index = metrics.index("mean_latency") + 1 if "mean_latency" in metrics else len(metrics)
        metrics.insert(index, "p99")
    marks = {
        metric: {mark.point: mark for group in sweep.groups for mark in sweep.marks(group, metric)}
        for metric in metrics
    }
    keys, flow = study.points, study.flow_errors()
    rows = []
    for point in range(len(study.scenario.points)):
        row: list[str] = [setting_cell(value) for value in keys.iloc[point].tolist()]
        scatters = study.replications > 1 and point not in flow
        for metric in metrics:
            mark = marks[metric].get(point)
            row += [number(None)] * 2 if mark is None else mark_cells(mark, scatters=scatters)
        stage = study.bottleneck(point)
        row.append(
            standing_cell(sweep.notes.get(point), flow.get(point))
            if stage is None
            else f"{stage[0]} {stage[1]:.0%}"
        )
        rows.append(row)
    estimates = study.estimates()
    return Table(
        name=name,
        caption=(
            f"Every point: means over {counted(study.replications)}, ± half of the 95 % interval. "
            "Units: "
            + "; ".join(
                f"{name_of(study, metric)} in {unit_of(study, metric) or 1}" for metric in metrics
            )
            + "."
        ),
        head=[
            *map(str, keys.columns),
            *(text for metric in metrics for text in (name_of(study, metric), "±")),
            "busiest stage" if "stages" in sweep.tables else "settled?",
        ],
        rows=rows,
        csv_head=[str(column) for column in estimates.columns],
        csv_rows=estimates.astype(object).where(estimates.notna(), "").to_numpy().tolist(),
    )


def mark_cells(mark: Mark, *, scatters: bool) -> list[Cell]:
    """Make cells of a value and of half of its interval; what does not scatter has none."""
    value, half = estimate_texts(mark.value, mark.half, signed=mark.low < 0)
    return [
        Cell(value, "number", raw=mark.value),
        Cell(half or MISSING, "number", raw=mark.half) if scatters else number(None),
    ]


def standing_cell(note: str | None, error: tuple[float, float] | None) -> Cell:
    """Make the cell that says whether a point has settled, and its error at flow fidelity."""
    flow = ""
    if error is not None:
        flow = f"; flow: mean latency within {error[0]:.1%}, throughput within {error[1]:.1%}"
    if note is None:
        return Cell(f"settled{flow}", status="info")
    return Cell(f"{note}{flow}", status="fail")


def setting_cell(value: object) -> str:
    """Make a cell of the value of a key."""
    if is_number(value):
        return Cell(value_text(value), "number", raw=float(value))  # type: ignore[arg-type]
    return value_text(value)


def settings_table(studies: Sequence[Result]) -> Table:
    """Tabulate everything that was asked, by study; what a key leaves open is not listed."""
    rows = []
    for study in studies:
        varied = {key: value for table in study.scenario.vary for key, value in table.items()}
        for key, value in settings_of(study.scenario):
            if key.rpartition(".")[2] not in varied and value is not None:
                rows.append([study.scenario.name, Cell(key, "code"), items_text(value)])
        rows += [
            [
                study.scenario.name,
                Cell(key, "code"),
                Cell(f"{items_text(value)} (varied)", status="strong"),
            ]
            for key, value in varied.items()
        ]
        rows += [
            [study.scenario.name, Cell(key, "code"), number_text(value)]
            for key, value in (("seed", study.seed), ("replications", study.replications))
        ]
    return Table(
        name="settings",
        caption="What was asked. Values of keys that were varied together stand in one order.",
        head=["scenario", "key", "value"],
        rows=rows,
    )


def settings_of(scenario: Spec) -> Iterator[tuple[str, object]]:
    """Give the values of the tables of a scenario, with dotted names."""
    for path, table in scenario.tables():
        for field in fields(table):
            value = getattr(table, field.name)
            if not isinstance(value, spec.Table):
                yield ".".join((*path, field.name)), value


def items_text(value: object) -> str:
    """Write a value, or the first of a long list of them."""
    if not isinstance(value, tuple | list):
        return value_text(plain(value))
    texts = [items_text(item) for item in value[:MOST_ITEMS]]
    more = f", … ({len(value):,} in all)" if len(value) > MOST_ITEMS else ""
    return ", ".join(texts) + more if texts else "none"
