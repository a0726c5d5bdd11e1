"""A study of messaging as text: one row per point, rates and latencies, and the bottleneck."""

from __future__ import annotations

from collections.abc import Iterator

from dvsim.kinds.hosts.result import MessagingStudy
from dvsim.kinds.study import halves_of, key_text
from dvsim.study.amounts import fixed_text
from dvsim.study.matching import matching_keys
from dvsim.study.measured import PointKeys
from dvsim.study.question_text import question_lines
from dvsim.study.table import Table

INDENT = "  "
COLUMNS = {
    "rate_in": ("in msg/s", 0),
    "rate_out": ("out msg/s", 0),
    "megabytes": ("MB/s", 2),
    "megabits": ("Mb/s", 1),
    "density": ("density ns", 1),
    "latency": ("latency us", 1),
    "p50": ("p50", 1),
    "p99": ("p99", 1),
    "setup": ("set-up", 2),
    "ack_mean": ("ack us", 1),
    "ack_p99": ("ack p99", 1),
    "fairness": ("fairness", 3),
}
"""The metrics that are shown where a study has them: heading and places."""
SPREAD = ("rate_out", "latency")  # whose half interval is shown too


def messaging_lines(study: MessagingStudy) -> Iterator[str | Table]:
    """Yield a study: what was asked, and the table of its points."""
    yield from question_lines(study)
    head, *rows = _rows(study)
    keys = len(matching_keys([PointKeys.of(study.scenario)]))
    spread = [2 if follower == "±" else 1 for follower in head[keys + 1 :]]
    groups = [size for size, name in zip(spread, head[keys:], strict=False) if name != "±"]
    yield Table(head, rows, range(keys, len(head) - 1), keys=keys, groups=groups)
    if study.folder is not None:
        yield f"{INDENT}kept in {study.folder}"


def _rows(study: MessagingStudy) -> Iterator[list[str]]:
    """Yield the heading and the row of each point."""
    shown = matching_keys([PointKeys.of(study.scenario)])
    names = [name for name in COLUMNS if study.points[name].notna().any()]
    names = [name for name in names if name != "setup" or study.points[name].gt(0).any()]
    spread = SPREAD if study.replications > 1 else ()
    head = list(shown)
    for name in names:
        head += [COLUMNS[name][0], *(["±"] if name in spread else [])]
    yield [*head, "bottleneck"]
    values = halves_of(study)
    keys = study.keys()[shown]
    for point in range(len(keys)):
        row = [key_text(value) for value in keys.iloc[point].tolist()]
        for name in names:
            value, half = values[point, name]
            places = COLUMNS[name][1]
            row.append(fixed_text(value, places))
            row += [fixed_text(half, places)] if name in spread else []
        stage, used = study.bottleneck(point)
        yield [*row, f"{stage} {used:.0%}"]
