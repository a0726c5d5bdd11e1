"""Logs and CSV files of RabbitMQ PerfTest, of its versions 1.x and 2.x.

Formats from rabbitmq/rabbitmq-perf-test: ``PrintlnStats`` and ``PerfTest`` (before 2.19),
``DefaultPrintStreamMetricsFormatter``, ``CompactPrintStreamMetricsFormatter`` and
``CsvMetricsFormatter`` (since). A line of a log is one interval: rates, and quantiles of the
latencies of its messages, to which 2.24 adds the maximum. The lines at the end have the quantiles
of all messages, taken from a reservoir (``DefaultPerformanceMetrics``:
``ExponentiallyDecayingReservoir`` of Dropwizard Metrics) of `RESERVOIR` messages in which later
ones count for more.

A log may hold several programs, told apart by their ids and by what Docker Compose puts before
their lines, and several runs of one program, whose time begins again.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dvsim.errors import ScenarioError
from dvsim.evidence.lab.data import SUM, About, Case, Sample, contradictions
from dvsim.evidence.statistics import Floats, statistics_of
from dvsim.scenario.quantity import UnitError
from dvsim.sheets.headings import Metric, statistic_of, unit_of
from dvsim.sheets.sheet import readings

RESERVOIR = 1028
SIX = "min/median/75th/95th/99th/max"
NAMES = {3: "min/avg/max", 5: SIX.removesuffix("/max"), 6: SIX}
ROW = ("before", "own", "run", "at", "what", "metric", "statistic", "value")
"""A number of a file: of which program (what Docker puts before, and its id) and run; the time of
its line; what: began, interval (a line with a time), rate, latency, total or average."""

SECOND = 1.5  # the shortest interval is a second: a time below this is that of a first one

_N = r"-?[\d.,'’ \u00a0\u202f]*\d"
_TIME = re.compile(r"(?:^|[\s,])time:? ([\d.,]+) ?s\b")
_DATE = re.compile(r"(\d{4})[-/.](\d\d)[-/.](\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,6}))?")
_COMPACT = re.compile(rf"((?:\s+|^){_N} msg/s)((?:\s+\S+ msg/s)*)((?:\s+-?\d\S*/\S+ \S+)*)\s*$")
_ELAPSED = re.compile(r"(?:^|\s)([0-9]+[.,][0-9]+) ?s$")
_RATE = re.compile(r"\b(sent|received|published|confirmed|returned|nacked): (.*?) ?msg/s")
_LATENCY = re.compile(
    r"(?:(\w+(?:/[\w.]+)+) )?\b((?:consumer |confirm )?latency):?"
    rf"(?: (min/[\w./]+):?)? *({_N}(?: ?/ ?{_N})+) ?([^\s,\d]\S*?)(?:,|\s*$)"
)
_AVERAGE = re.compile(rf"\b(sending|receiving) rate avg: *({_N}) ?msg/s")
_COLUMN = re.compile(r"(min|median|\d\dth p\.|max) (consumer |confirm )?latency \((.*)\)")
_MICRO = re.compile(r"[^\w/]s")  # a micro sign that was lost on the way
_BEGINS = re.compile("starting (consumer|producer)")
_RATES: Mapping[str, Metric] = {
    **{"received": "rate", "sent": "sent rate", "published": "sent rate"},
    **{"receiving": "rate", "sending": "sent rate"},
}
_TIMES: Mapping[str, Metric] = {
    "consumer latency": "latency",
    "latency": "latency",
    "confirm latency": "confirm latency",
}


Line = tuple[int, tuple[str, str], str, Any]
"""Number, program, text; and of an interval its time, rates and latencies."""


def is_table(text: str) -> bool:
    """Return whether a text is what PerfTest writes as CSV."""
    return text.lower().startswith("id,time (s),published (msg/s)")


def is_perftest(text: str) -> bool:
    """Return whether a text is a log or a CSV file of PerfTest, or begins as one."""
    return is_table(text) or any(
        _AVERAGE.search(line) or _LATENCY.search(line) or _TIME.search(line) or _elapsed(line)
        for line in text.splitlines()
        if "msg/s" in line or "latency" in line
    )


def perftest_cases(path: Path, about: About) -> tuple[str, list[Case]]:
    """Return what kind of file it is, and a case for each rate and latency of each run in it.

    Raises:
        ScenarioError: If a line is cut, a number is none, quantiles fall, there is no number, or
            programs of one id cannot be told apart.
    """
    raw = path.read_bytes()
    wide = raw[:2] in (b"\xff\xfe", b"\xfe\xff")
    text = raw.decode("utf-16" if wide else "utf-8-sig", errors="replace")
    rows = pd.DataFrame(_rows(path, text), columns=ROW)
    if not rows["what"].isin(["rate", "average", "total"]).any():
        raise ScenarioError.at(path, "has no interval with rates")
    programs: list[Any] = list(rows.groupby(["before", "own"], sort=False))
    ids = [own or before for (before, own), _ in programs]
    runs = {
        " ".join(filter(None, [name, str(number) if some["run"].nunique() > 1 else ""])): log
        for (before, own), some in programs
        for name in [own or before if ids.count(own or before) == 1 else f"{before} {own}".strip()]
        for number, log in some.groupby("run")
        if (log["what"] != "began").any()
    }
    cases: list[Case] = []
    together = about.column == SUM and len(runs) > 1
    for name, log in runs.items():
        case = partial(Case, str(path), name if len(runs) > 1 else "", {}, about.message_bytes)
        cases += [] if together else _rate_cases(log, case)
        cases += _latency_cases(log, case)
    if together:
        case = partial(Case, str(path), SUM, {}, about.message_bytes)
        cases += _rate_cases(_summed(path, runs), case)
    said = f", {len(runs)} programs or runs" if len(runs) > 1 else ""
    many = (rows["what"] == "interval").sum()
    return f"RabbitMQ PerfTest, {'CSV' if is_table(text) else 'log'}, {many} intervals{said}", cases


def _rows(path: Path, text: str) -> Iterator[tuple[Any, ...]]:
    times: dict[tuple[str, str], list[list[float]]] = {}  # of each program, by run
    steps: dict[tuple[str, str], list[float]] = {}  # between its lines
    known: dict[tuple[Any, ...], tuple[list[str], list[str]]] = {}  # of the first line of a run
    table = is_table(text)
    for number, name, line, interval in (_csv_lines if table else _log_lines)(path, text):
        wrong = partial(ScenarioError.at, path, line=number)
        runs = times.setdefault(name, [[]])
        if interval is None:
            average, total = _AVERAGE.search(line), _LATENCY.search(line)
            if begins := _BEGINS.search(line):
                runs += [[]] if runs[-1] else []
                yield *name, len(runs), 0.0, "began", "", "", 0.0
            if average is not None:
                value = _number(wrong, average[1], average[2])
                yield *name, len(runs), 0.0, "average", _RATES[average[1]], "mean", value
            elif total is not None and not begins:
                for found in _latency(wrong, total.groups(default=""), ""):
                    yield *name, len(runs), 0.0, "total", *found
            continue
        at, rates, latencies = interval
        if runs[-1]:
            step = at - runs[-1][-1]
            steps.setdefault(name, []).append(step)
            runs += [[]] if step < 0 or (table and not step) else []
        runs[-1].append(at)
        key = (*name, len(runs), at)
        names = [word for word, _ in rates], [word for _, word, *_ in latencies]
        first = known.get(key[:3], names)
        known[key[:3]] = first = first[0], first[1] or names[1]
        timed = "min/" in line
        alike = names == (first[0], first[1] if timed or names[1] else [])
        if not table and (not alike or (timed and not latencies)):
            raise wrong("the line is cut")
        yield *key, "interval", "", "", at
        for word, cell in rates:
            if (metric := _RATES.get(word.split()[0])) is not None:
                yield *key, "rate", metric, "", _number(wrong, word, cell)
        stated = ""
        for groups in latencies:
            stated = groups[0] or groups[2] or stated
            for found in _latency(wrong, groups, stated):
                yield *key, "latency", *found
    for name, some in steps.items():
        if not table and sum(step < SECOND / 3 for step in some) > max(1, len(some) / 4):
            said = "the lines of several programs are mixed here, and nothing tells them apart"
            mixed = " ".join(name).strip()
            raise ScenarioError.at(path, f"{said}; give each an id of its own", mixed)


def _log_lines(path: Path, text: str) -> Iterator[Line]:
    heads: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        own = line.rpartition("|")[2]
        wrong = partial(ScenarioError.at, path, line=number)
        total = "min/" in line and "msg/s" not in line and _LATENCY.search(line)
        if own.split()[:1] == ["time"] and not re.search(r"\d", own):
            heads = own.split()[1:]
        elif _BEGINS.search(line) or _AVERAGE.search(line) or total:
            yield number, _program(line), line, None
        elif (time := _TIME.search(line)) is not None:
            if "msg/s" not in line:
                raise wrong("the line is cut: no rate")
            interval = _seconds(time[1], wrong), _RATE.findall(line), _LATENCY.findall(line)
            yield number, _program(line), line, interval
        elif (elapsed := _elapsed(line)) is not None:
            compact = _compact(elapsed[1], heads, wrong)
            yield number, _program(line), line, (elapsed[0], *compact)


def _program(line: str) -> tuple[str, str]:
    before = re.match(r"(?:\[pod/)?([\w./-]+?)\]?\s*\|", line)
    own = re.search(r"\bid: ([^,]+),", line)
    return before[1] if before else "", own[1] if own else ""


def _elapsed(line: str) -> tuple[float, str] | None:
    match = _COMPACT.search(line) if "msg/s" in line else None
    if match is None or ":" in match[0]:
        return None
    before, rest = line[: match.start()], match[0]
    if (elapsed := _ELAPSED.search(before)) is not None:
        return _seconds(elapsed[1]), rest
    date = _DATE.search(before)
    if date is None:
        return None
    *whole, part = date.groups(default="0")
    at = datetime.strptime(" ".join(whole), "%Y %m %d %H %M %S").replace(tzinfo=UTC)
    return at.timestamp() + float(f"0.{part}"), rest


def _compact(
    rest: str, heads: list[str], wrong: Callable[..., ScenarioError]
) -> tuple[list[tuple[str, str]], list[tuple[str, ...]]]:
    kinds = [word for word in heads if word in {"consumer", "confirm"}] or ["consumer"]
    names = [word for word in heads if word not in {"consumer", "confirm", "latency"}]
    rates = re.findall(rf"({_N}|\S+) msg/s", rest)
    cells = rest.rpartition("msg/s")[2].split()
    if len(rates) != len(names):
        raise wrong(f"has {len(rates)} rates; the line of names has {len(names)}")
    if len(cells) > 2 * len(kinds):
        raise wrong(f"has {len(cells) // 2} latencies; the line of names has {len(kinds)}")
    quantities = zip(kinds, cells[::2], cells[1::2], strict=False)
    return list(zip(names, rates, strict=True)), [
        ("", f"{kind} latency", "", values, unit) for kind, values, unit in quantities
    ]


def _csv_lines(path: Path, text: str) -> Iterator[Line]:
    lines = [(at, line) for at, line in enumerate(text.splitlines(), 1) if line.strip()]
    heads, *rows = (next(csv.reader([line])) for _, line in lines)
    for (number, line), cells in zip(lines[1:], rows, strict=True):
        wrong = partial(ScenarioError.at, path, line=number)
        if len(cells) != len(heads):
            raise wrong(f"has {len(cells)} cells; there are {len(heads)} headings")
        row = dict(zip(heads, cells, strict=True))
        at = _seconds(row["time (s)"], wrong)
        rates = [(name, cell) for name, cell in row.items() if name.endswith("(msg/s)") and cell]
        groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for name, cell in row.items():
            match = _COLUMN.fullmatch(name)
            if match and cell:
                _number(wrong, name, cell)
                word, whole = match[1].removesuffix(" p."), f"{match[2] or ''}latency"
                groups.setdefault((whole, match[3]), []).append((word, cell))
        latencies = [
            (
                "/".join(word for word, _ in found),
                whole,
                "",
                "/".join(cell for _, cell in found),
                unit,
            )
            for (whole, unit), found in groups.items()
        ]
        yield number, ("", row["id"]), line, (at, rates, latencies)


def _seconds(text: str, wrong: Callable[..., ScenarioError] | None = None) -> float:
    plain = re.sub(r"[.,](?=.*[.,])", "", text).replace(",", ".")
    if wrong is not None and not re.fullmatch(r"[0-9]+(\.[0-9]+)?", plain):
        raise wrong(f"'{text}' is not a number of 0 or more", "time (s)")
    return float(plain)


def _number(
    wrong: Callable[..., ScenarioError], key: str, text: str, *, signed: bool = False
) -> float:
    text = text.strip()
    minus = text.startswith("-")
    known = readings(text.removeprefix("-"))
    if not known or (minus and not signed):
        raise wrong(f"'{text}' is not a number of 0 or more", key)
    return max(map(float, known.values())) * (-1 if minus else 1)


def _latency(
    wrong: Callable[..., ScenarioError], quantity: tuple[str, ...], names: str
) -> list[tuple[Metric, str, float]]:
    before, kind, behind, text, unit = quantity
    values = [_number(wrong, kind, cell, signed=True) for cell in text.split("/")]
    words = (before or behind or names).split("/")
    if len(words) != len(values):
        words = NAMES.get(len(values), "").split("/")
    statistics = list(filter(None, map(statistic_of, words)))
    if len(statistics) != len(values):
        raise wrong("the line is cut")
    try:
        factor = 1e-6 if _MICRO.fullmatch(unit) else unit_of(unit).factor
    except UnitError as error:
        raise wrong(error.message, kind, hint=error.hint) from None
    for high, low in contradictions(dict(zip(statistics, values, strict=True))):
        raise wrong(f"its {high} is smaller than its {low}", kind)
    numbers = zip(statistics, values, strict=True)
    return [(_TIMES[kind], name, value * factor) for name, value in numbers if any(values)]


def _interval(log: pd.DataFrame) -> tuple[float | None, bool]:
    """Return how long an interval is, and whether the first is there from its start."""
    times = log.loc[log["what"] == "interval", "value"].to_numpy(np.float64)
    whole = bool((log["what"] == "began").any() or (times[:1] < SECOND).any())
    steps = np.diff(np.concatenate([[0.0] * whole * bool(times.size), times]))
    return (round(float(np.median(steps)), 1) if steps.size else None), whole


def _summed(path: Path, runs: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    step = next(filter(None, (_interval(log)[0] for log in runs.values())), 1.0)
    logs = pd.concat([log.assign(name=name) for name, log in runs.items()])
    rates = logs[logs["what"] == "rate"].assign(at=lambda table: (table["at"] / step).round())
    found = [rates[:0]]
    for metric, some in rates.groupby("metric", sort=False):
        each = some.pivot_table(index="at", columns="name", values="value", aggfunc="last")
        common = each.dropna().sum(axis=1).reset_index(name="value")
        if common.empty:
            raise ScenarioError.at(path, f"no interval of the {metric}s is that of all programs")
        found += [common.assign(what="rate", metric=metric)]
    times = found[-1].assign(what="interval", metric="", value=found[-1]["at"] * step)
    return pd.concat([*found, times])


def _rate_cases(log: pd.DataFrame, case: Callable[..., Case]) -> Iterator[Case]:
    interval, whole = _interval(log)
    note = "the log was cut from the middle of a run: its first interval is taken as long as others"
    if whole:
        note = "the first interval is part of it: connections and queues are still set up"
    if interval is None:
        note = "one interval from the middle of a run: how long it was, is not known"
    rates: list[Any] = list(log[log["what"] == "rate"].groupby("metric", sort=False)["value"])
    for metric, values in rates:
        samples: Floats = np.sort(values.to_numpy(np.float64))
        measured = (samples.size, statistics_of(samples), samples)
        sample = Sample() if interval is None else Sample("interval", interval)
        yield case(metric, sample, *measured, half=0.5, notes=(note,))
    averages = log[log["what"] == "average"].drop_duplicates("metric", keep="last")
    for metric, mean in zip(averages["metric"], averages["value"], strict=True):
        if metric not in dict(rates):
            note = "the average of the whole run: its intervals are not in this file"
            yield case(metric, Sample("run"), None, {"mean": mean}, half=0.5, notes=(note,))


def _latency_cases(log: pd.DataFrame, case: Callable[..., Case]) -> Iterator[Case]:
    groups: list[Any] = list(
        log[log["what"].isin(["latency", "total"])].groupby("metric", sort=False)
    )
    for metric, rows in groups:
        count, notes = None, ["quantiles of each interval are there, the samples are not"]
        totals = rows[rows["what"] == "total"]
        found = dict(zip(totals["statistic"], totals["value"], strict=True))
        if found:
            count = RESERVOIR
            notes = [f"quantiles of a reservoir of {RESERVOIR} messages that favours the last ones"]
        else:
            of_all = {"min": "min", "max": "max"}
            by = rows.groupby("statistic", sort=False)["value"]
            found = {name: float(each.agg(of_all.get(name, "median"))) for name, each in by}
            notes.append(
                f"no total in this file: each quantile is the median of {by.size().max()} "
                "intervals, which is no quantile of all messages"
            )
        half = 0.5e-6 if min(found.values()) < 1 else 0.0
        yield case(metric, Sample("message"), count, found, half=half, notes=tuple(notes))
