"""A study of any kind as text: a row for each point, its metrics with units and intervals.

Below stands what is to be said of some of the points, once for all of which it is true.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dvsim.study.changes import changes_of, titled
from dvsim.study.number_text import estimate_texts, scale_of
from dvsim.study.table import Table

if TYPE_CHECKING:
    from dvsim.table.result import Result


def question_lines(study: Result, length: str = "") -> Iterator[str]:
    """Yield the name with what was changed, the title, how long it was and how often.

    Args:
        study: Of any kind.
        length: Of a run, in words; by default its share of what the unchanged scenario has.
    """
    scenario, changes = study.scenario, changes_of(study.scenario)
    yield titled(scenario, changes.name + ("" if study.simulated else ", emulated"))
    if not length and changes.length != 1:
        length = f"{changes.length:.3g} of the {scenario.LENGTH} of {scenario.name}"
    times = f"{study.replications} replications; ± is half of the 95 % interval over replications"
    if study.replications == 1:
        times = "1 replication, which says nothing about the spread between runs"
    lines = [length] if length else []
    yield f"  {', '.join([*lines, f'seed {study.seed}', times])}"


MOST_NAMED = 3  # points of one note


def lines_of(study: Result) -> Iterator[str | Table]:
    """Yield a study: what was asked, and a row for each point."""
    yield from question_lines(study)
    table, keys = study.points, list(study.scenario.keys)
    known = study.estimates().set_index("metric")
    head, columns = list(keys), [table[key].map(key_text).tolist() for key in keys]
    groups = []
    for name in study.listed:
        values, halves = known.loc[[name], "value"], known.loc[[name], "high"]
        halves -= values
        signed = study.metric(name).signed
        factor, unit = scale_of(values.max(), study.METRICS[name])
        cells = [
            estimate_texts(v / factor, h / factor, signed=signed)
            for v, h in zip(values, halves, strict=True)
        ]
        spread = any(half for _, half in cells)
        head += [f"{name} {'' if unit == '1' else unit}".rstrip(), *["±"] * spread]
        columns.append([text for text, _ in cells])
        columns += [[half or "-" for _, half in cells]] * spread
        groups.append(1 + spread)
    right, stages = range(len(keys), len(head)), map(study.bottleneck, range(len(table)))
    busiest = [f"{stage[0]} {stage[1]:.0%}" for stage in stages if stage is not None]
    if busiest:
        head.append("bottleneck")
        columns.append(busiest)
    rows = [list(row) for row in zip(*columns, strict=True)]
    yield Table(head, rows, right, keys=len(keys), groups=groups)
    yield from _noted(study)
    if study.folder is not None:
        yield f"  kept in {study.folder}"


def key_text(value: object) -> str:
    """Return the value of a varied key for people."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _noted(study: Result) -> Iterator[str]:
    keys, names = study.points, dict[str, list[str]]()
    for number, note in study.notes().items():
        names.setdefault(note, []).append(" ".join(map(str, keys.iloc[number].tolist())))
    for note, points in names.items():
        if len(points) == len(study.scenario.points) > 1:
            yield f"  * at all points: {note}"
        elif len(study.scenario.points) > 1:
            more = f" and {len(points) - MOST_NAMED} more" if len(points) > MOST_NAMED else ""
            yield f"  * {', '.join(points[:MOST_NAMED])}{more}: {note}"
        else:
            yield f"  * {note}"
