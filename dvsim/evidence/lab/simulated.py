"""What a run has of the kind that was measured, one set of samples for each replication."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
        runs: The value of each replication, in 1/s or s, by name of the statistic.
        statistics: Their estimates: statistic, value, low, high.
        replications: Independent runs.
        loop: ``open`` or ``closed``; empty of systems without messages.
        model: All samples of all replications, ascending; None where none are kept.
        per_message: What is counted, for each message: pieces, or 1.
        notes: What was done to it.
    """

    scenario: str
    what: str
    message_bytes: int
    sample: Sample
    runs: Mapping[str, Floats]
    statistics: pd.DataFrame
    replications: int
    loop: str
    model: Floats | None = None
    per_message: float = 1.0
    notes: tuple[str, ...] = ()


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


def _rates(
    run: Result, labels: Sequence[str], counted: str, interval_s: float | None
) -> tuple[list[Floats], float]:
    """Return the rates of columns, ascending, of each replication, and counts per message."""
    columns, samples = run.scenario.probe.columns, run.sides["samples"]
    if list(labels) == [SUM]:
        used = {number for column in columns.values() for number in column.iterations}
        found: list[Any] = list(samples[samples["iteration"].isin(used)].groupby("replication"))
    else:
        found = [item for label in labels for item in column_samples(samples, columns[label])]
    parts: dict[int, list[Floats]] = {}
    counts = np.zeros(2)
    for replication, rows in found:
        counts += [rows[counted].sum(), rows["messages"].sum()]
        values = [column_rates(rows, counted)]
        if interval_s is not None:
            iterations = rows.groupby("iteration", sort=False)
            values = [_again(part, counted, interval_s) for _, part in iterations]
        parts.setdefault(replication, []).extend(values)
    per_message = float(counts[0] / counts[1]) if counts[1] else 1.0
    return [np.sort(np.concatenate(values)) for values in parts.values()], per_message


def _again(rows: pd.DataFrame, counted: str, interval_s: float) -> Floats:
    times = rows.assign(start=rows["start_ps"] / PS_PER_S, lasts=rows["duration_ps"] / PS_PER_S)
    end = (rows["start_ps"] + rows["duration_ps"]).max() / PS_PER_S
    span, parts = (float(times["start"].min()), float(end)), []
    for _, part in times.sort_values("start_ps", kind="stable").groupby("receiver"):
        start, lasts, counts = part[["start", "lasts", counted]].to_numpy(np.float64).T
        parts.append(in_intervals(start, lasts, counts, interval_s, span))
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
    """Return what a run of a system has beside a case.

    Args:
        run: Of a system.
        case: What was measured.
        labels: Columns of its probe; several are put together. `SUM` alone adds all receivers up.
        counted: ``pieces`` or ``messages``.
        interval_s: Count again in intervals of so many seconds; None takes the samples as they are.
    """
    scenario, notes = run.scenario, list[str]()
    sample, columns = probe_sample(scenario), scenario.probe.columns
    if list(labels) == [SUM] and interval_s is None and sample.kind == "interval":
        interval_s = sample.size  # in which receivers are added up
    replications, per_message = _rates(run, labels, counted, interval_s)
    if interval_s is not None:
        if interval_s != sample.size:
            notes = [f"samples of {sample} were counted again in intervals of {interval_s:g} s"]
        sample = Sample("interval", interval_s)
    names = (
        "all receivers together" if label == SUM else _column_text(label, columns[label])
        for label in labels
    )
    kept = [values for values in replications if values.size]
    each = {name: np.array([statistic(one, name) for one in kept]) for name in case.statistics}
    rows = [
        (name, *estimate(values.tolist(), signed=False)) for name, values in each.items() if kept
    ]
    return Simulated(
        scenario=scenario.name,
        what=f"{counted}/s of {' and '.join(names)}",
        message_bytes=scenario.workload.message_bytes,
        sample=sample,
        runs=each,
        statistics=pd.DataFrame(rows, columns=["statistic", *Estimate._fields]),
        replications=len(kept),
        loop=scenario.loop,
        model=np.sort(np.concatenate(kept)) if kept else None,
        per_message=per_message,
        notes=tuple(notes),
    )


def of_study(study: Result, point: int, case: Case) -> Simulated:
    """Return what a point of a study has beside a case."""
    shown = {"mean": (case.metric, 1.0)} if case.own_unit is not None else SHOWN[case.metric]
    table, own = (one[one["point"] == point] for one in (study.estimates(), study.wide))
    known = set(table.loc[np.isfinite(table["value"]), "metric"])
    shown = {name: at for name, at in shown.items() if name in case.statistics and at[0] in known}
    rows = [
        (
            name,
            *(
                table.loc[table["metric"] == metric, [*Estimate._fields]].to_numpy(float)[0]
                * factor
            ),
        )
        for name, (metric, factor) in shown.items()
    ]
    setting = study.scenario.at(point)
    loop = "closed" if setting.get("rate") is None else "open"
    return Simulated(
        scenario=study.scenario.name,
        what=f"point {point}: {', '.join(metric for metric, _ in shown.values())}",
        message_bytes=int(setting.get("message_bytes") or 0),
        sample=study_sample(case),
        runs={
            name: own[metric].dropna().to_numpy(np.float64) * factor
            for name, (metric, factor) in shown.items()
        },
        statistics=pd.DataFrame(rows, columns=["statistic", *Estimate._fields]),
        replications=study.replications,
        loop=loop if case.own_unit is None else "",
        notes=("studies keep no samples: no bands and no distances",),
    )


def _column_text(label: str, column: Column) -> str:
    receiver = f"receiver {column.receiver}" if column.receiver else "the whole system"
    return f"{label} ({receiver}, iteration {', '.join(map(str, column.iterations))})"
