"""What a run has of the kind that was measured, one set of samples for each replication."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from dvsim.evidence.lab.data import SUM, Case, Sample
from dvsim.evidence.statistics import Floats, statistic
from dvsim.scenario.sampled import Column, Sampled
from dvsim.table.estimate import Estimate, estimate
from dvsim.table.result import Result
from dvsim.table.samples import column_rates, column_samples

PS_PER_S = 10**12
US = 1e-6
SHOWN: Mapping[str, Mapping[str, tuple[str, float]]] = {
    "rate": {"mean": ("rate_out", 1.0)},
    "sent rate": {"mean": ("rate_in", 1.0)},
    "latency": {
        "mean": ("latency", US),
        "50%": ("p50", US),
        "99%": ("p99", US),
        "max": ("max", US),
    },
    "confirm latency": {"mean": ("ack_mean", US), "99%": ("ack_p99", US)},
}
"""Which metric of a study of messaging is which statistic, and the factor to 1/s or s."""


@dataclass(frozen=True, eq=False)
class Simulated:
    """The simulated side of a comparison.

    Args:
        scenario: Its name.
        what: What was taken of it, for people.
        message_bytes: Size of a message.
        sample: What one sample is.
        replications: Independent runs.
        statistics: A row for each: statistic, value, low, high; 1/s or s.
        model: All samples of all replications, ascending; None where none are kept.
        per_message: What is counted, for each message: pieces, or 1.
        loop: ``open`` or ``closed``; empty of systems without messages.
        notes: What was done to it.
        runs: The value of each replication, by name of the statistic.
    """

    scenario: str
    what: str
    message_bytes: int
    sample: Sample
    replications: int
    statistics: pd.DataFrame
    model: Floats | None
    per_message: float
    loop: str
    notes: tuple[str, ...] = ()
    runs: Mapping[str, Floats] = field(default_factory=dict)


def probe_sample(scenario: Sampled) -> Sample:
    """Return what one sample of a run is."""
    probe = scenario.probe
    if probe.interval_ps is not None:
        return Sample("interval", probe.interval_ps / PS_PER_S)
    return Sample("batch", float(probe.batch or 0))


def study_sample(case: Case) -> Sample:
    """Return what one sample of a study is, beside a case."""
    of_message = case.own_unit is None and case.metric.endswith("latency")
    return Sample("message" if of_message else "run")


def rates(
    run: Result, labels: Sequence[str], counted: str, interval_s: float | None
) -> tuple[list[Floats], float]:
    """Return the rates of some columns, ascending, for each replication, and counts per message.

    Args:
        run: Of a system.
        labels: Columns of its probe; several are put together. `SUM` alone adds all receivers up.
        counted: ``pieces`` or ``messages``.
        interval_s: Count again in intervals of so many seconds; None takes the samples as they are.
    """
    columns = run.scenario.probe.columns
    if list(labels) == [SUM]:
        used = {number for column in columns.values() for number in column.iterations}
        rows = run.sides["samples"][run.sides["samples"]["iteration"].isin(used)]
        found = [(int(str(number)), part) for number, part in rows.groupby("replication")]
    else:
        found = [
            item
            for label in labels
            for item in column_samples(run.sides["samples"], columns[label])
        ]
    results: dict[int, list[Floats]] = {}
    counts = np.zeros(2)
    for replication, rows in found:
        counts += [rows[counted].sum(), rows["messages"].sum()]
        values = (
            column_rates(rows, counted)
            if interval_s is None
            else np.concatenate(
                [
                    _again(part, counted, interval_s)
                    for _, part in rows.groupby("iteration", sort=False)
                ]
            )
        )
        results.setdefault(replication, []).append(values)
    per_message = float(counts[0] / counts[1]) if counts[1] else 1.0
    return [np.sort(np.concatenate(parts)) for parts in results.values()], per_message


def _again(rows: pd.DataFrame, counted: str, interval_s: float) -> Floats:
    begin = rows["start_ps"].min() / PS_PER_S
    end = (rows["start_ps"] + rows["duration_ps"]).max() / PS_PER_S
    parts = [
        in_intervals(
            part["start_ps"].to_numpy() / PS_PER_S,
            part["duration_ps"].to_numpy() / PS_PER_S,
            part[counted].to_numpy(dtype=np.float64),
            interval_s,
            (begin, end),
        )
        for _, part in rows.sort_values("start_ps", kind="stable").groupby("receiver")
    ]
    return np.asarray(np.sum(parts, axis=0), dtype=np.float64)


def in_intervals(
    start_s: Floats,
    duration_s: Floats,
    counts: Floats,
    interval_s: float,
    span_s: tuple[float, float] | None = None,
) -> Floats:
    """Return counts per second in equal intervals; what a sample has came evenly in it.

    A last part of an interval is left out. `span_s` is from when to when, else from the first
    sample to the end of the last.

    >>> import numpy as np
    >>> in_intervals(np.array([0.0, 1.0]), np.array([1.0, 3.0]), np.array([8.0, 6.0]), 2.0).tolist()
    [5.0, 2.0]
    """
    # whole picoseconds: the ends of samples and intervals that are the same must be so exactly,
    # or an interval in which nothing came has a trace of its neighbour
    start, step = np.rint(start_s * PS_PER_S), interval_s * PS_PER_S
    ends = start + np.rint(duration_s * PS_PER_S)
    first, last = (start[0], ends[-1]) if span_s is None else np.rint(np.array(span_s) * PS_PER_S)
    grid = first + np.rint(np.arange(int((last - first) / step * (1 + 1e-9)) + 1) * step)
    # between two samples nothing comes, so each has its own beginning
    times = np.column_stack([start, ends]).ravel()
    passed = np.cumsum(counts)
    sums = np.column_stack([passed - counts, passed]).ravel()
    steps: Floats = np.diff(np.interp(grid, times, sums)) / interval_s
    return steps


def of_run(
    run: Result, case: Case, labels: Sequence[str], counted: str, interval_s: float | None
) -> Simulated:
    """Return what a run of a system has beside a case."""
    sample = probe_sample(run.scenario)
    if list(labels) == [SUM] and interval_s is None and sample.kind == "interval":
        interval_s = sample.size  # in which receivers are added up
    replications, per_message = rates(run, labels, counted, interval_s)
    notes: tuple[str, ...] = ()
    if interval_s is not None:
        again = f"samples of {sample} were counted again in intervals of {interval_s:g} s"
        notes = () if interval_s == sample.size else (again,)
        sample = Sample("interval", interval_s)
    columns = run.scenario.probe.columns
    names = [
        "all receivers together" if label == SUM else _column_text(label, columns[label])
        for label in labels
    ]
    kept = [values for values in replications if values.size]
    runs = {
        name: np.array([statistic(values, name) for values in kept]) for name in case.statistics
    }
    return Simulated(
        scenario=run.scenario.name,
        what=f"{counted}/s of {' and '.join(names)}",
        message_bytes=run.scenario.workload.message_bytes,
        sample=sample,
        replications=len(kept),
        statistics=pd.DataFrame(
            [(name, *estimate(each.tolist(), signed=False)) for name, each in runs.items() if kept],
            columns=["statistic", *Estimate._fields],
        ),
        model=np.sort(np.concatenate(kept)) if kept else None,
        per_message=per_message,
        loop=run.scenario.loop,
        notes=notes,
        runs=runs,
    )


def of_study(study: Result, point: int, case: Case) -> Simulated:
    """Return what a point of a study has beside a case."""
    table = study.estimates()
    table = table[table["point"] == point].set_index("metric")[[*Estimate._fields]]
    runs, rows = {}, []
    shown = {"mean": (case.metric, 1.0)} if case.own_unit is not None else SHOWN[case.metric]
    own = study.wide[study.wide["point"] == point]
    for name, (metric, factor) in shown.items():
        row = table.loc[[metric]].to_numpy(np.float64)[0] * factor
        if name in case.statistics and np.isfinite(row[0]):
            rows.append((name, *row.tolist()))
            runs[name] = own[metric].dropna().to_numpy(np.float64) * factor
    setting = study.scenario.at(point)
    names = ", ".join(shown[name][0] for name in runs)
    loop = "closed" if setting.get("rate") is None else "open"
    return Simulated(
        scenario=study.scenario.name,
        what=f"point {point}: {names}",
        message_bytes=int(setting.get("message_bytes") or 0),
        sample=study_sample(case),
        replications=study.replications,
        statistics=pd.DataFrame(rows, columns=["statistic", *Estimate._fields]),
        model=None,
        per_message=1.0,
        loop=loop if case.own_unit is None else "",
        notes=("studies keep no samples: no bands and no distances",),
        runs=runs,
    )


def _column_text(label: str, column: Column) -> str:
    receiver = f"receiver {column.receiver}" if column.receiver else "the whole system"
    return f"{label} ({receiver}, iteration {', '.join(map(str, column.iterations))})"
