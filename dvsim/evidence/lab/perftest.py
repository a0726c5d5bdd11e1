"""Logs and CSV files of RabbitMQ PerfTest, of its versions 1.x and 2.x.

Formats from rabbitmq/rabbitmq-perf-test: ``PrintlnStats`` and ``PerfTest`` (before 2.19),
``DefaultPrintStreamMetricsFormatter``, ``CompactPrintStreamMetricsFormatter`` and
``CsvMetricsFormatter`` (since). A line of a log is one interval: rates, and quantiles of the
latencies of its messages. The lines at the end have the quantiles of all messages, taken from a
reservoir (``DefaultPerformanceMetrics``: ``ExponentiallyDecayingReservoir`` of Dropwizard Metrics)
of `RESERVOIR` messages in which later ones count for more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from dvsim.errors import ScenarioError
from dvsim.evidence.headings import Metric, unit_of
from dvsim.evidence.lab.data import About, Case, Sample
from dvsim.evidence.statistics import Floats, statistics_of
from dvsim.scenario.quantity import UnitError

RESERVOIR = 1028
ORDER = ("min", "50%", "75%", "95%", "99%")
LEGACY = ("min", "mean", "max")
FIVE = "min/median/75th/95th/99th"

_TIME = re.compile(r"(?:^|, )time:? (\d+(?:\.\d+)?) ?s\b")
_COMPACT = re.compile(r"(\d+\.\d+)s((?: +\S+ msg/s)+)((?: +[\d/]+ \S+)*)\s*$")
_RATE = re.compile(r"\b(sent|received|confirmed): (\S+) msg/s")
_LATENCY = re.compile(r"(consumer latency|confirm latency|latency): (-?\d+(?:/-?\d+)+) ([^\s,]+)")
_TOTAL = re.compile(
    r"(?:^|, )(consumer|confirm) latency " + FIVE + r" (-?\d+(?:/-?\d+){4}) (\S+)\s*$"
)
_COLUMN = re.compile(
    r"(min|median|75th p\.|95th p\.|99th p\.) (consumer |confirm )?latency \((.*)\)"
)
_MICRO = re.compile(r"microseconds|[^\w/]s|[\u00b5\u03bc?\ufffd]s|us")
_RATES: Mapping[str, Metric] = {"received": "rate", "sent": "sent rate", "published": "sent rate"}
_TIMES: Mapping[str, Metric] = {
    "consumer latency": "latency",
    "latency": "latency",
    "confirm latency": "confirm latency",
}


def is_perftest(head: str) -> bool:
    """Return whether a text begins as a log or a CSV file of PerfTest."""
    lines = head.splitlines()
    csv = bool(lines) and lines[0].lower().startswith("id,time (s),published (msg/s)")
    return (
        csv
        or any(_TIME.search(line) and "msg/s" in line for line in lines)
        or any(_COMPACT.match(line) for line in lines)
    )


class _Log:
    """What was read so far: seconds, rates, and latencies of intervals and of all messages."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.rates: dict[Metric, list[float]] = {}
        self.latencies: dict[Metric, list[dict[str, float]]] = {}
        self.totals: dict[Metric, dict[str, float]] = {}

    def rate(self, name: str, text: str) -> None:
        """Take a rate, of those that are compared."""
        if name in _RATES and text:
            self.rates.setdefault(_RATES[name], []).append(float(text))

    def latency(self, name: str, numbers: str, unit: str) -> None:
        """Take the quantiles of the latencies of one interval."""
        result = _quantiles(numbers, unit)
        if result:
            self.latencies.setdefault(_TIMES[name], []).append(result)


def perftest_cases(path: Path, about: About) -> tuple[str, list[Case]]:
    """Return what kind of file it is, and a case for each rate and latency in it.

    Raises:
        ScenarioError: If a line is cut, a number is none, or there is no interval.
    """
    text = path.read_text(encoding="utf-8", errors="replace")
    csv = text.lower().startswith("id,time (s)")
    log = _read_csv(path, text) if csv else _read_log(path, text)
    if not log.times:
        raise ScenarioError.at(path, "has no interval with rates")
    case = partial(Case, str(path), "", {}, about.message_bytes)
    cases = [*_rate_cases(log, case), *_latency_cases(log, case)]
    return f"RabbitMQ PerfTest, {'CSV' if csv else 'log'}, {len(log.times)} intervals", cases


def _read_log(path: Path, text: str) -> _Log:
    log, heads = _Log(), list[str]()
    known: list[list[str]] = [[], []]  # names of rates and of latencies, of the first line
    for number, line in enumerate(text.splitlines(), 1):
        total = _TOTAL.search(line)
        if total:
            log.totals[_TIMES[f"{total[1]} latency"]] = _quantiles(total[2], total[3])
        elif line.startswith("time ") and ":" not in line:
            heads = line.split()[1:]
        elif (compact := _COMPACT.match(line)) is not None:
            _compact(path, number, compact, heads, log)
        elif (time := _TIME.search(line)) is not None:
            if "msg/s" not in line:
                raise ScenarioError.at(path, "the line is cut: no rate", line=number)
            texts, latencies = _RATE.findall(line), _LATENCY.findall(line)
            names = [[name for name, _ in texts], [name for name, *_ in latencies]]
            known = [old or new for old, new in zip(known, names, strict=True)]
            empty = not latencies and "min/" not in line  # an interval without messages
            if names[0] != known[0] or not (empty or names[1] == known[1] != []):
                raise ScenarioError.at(path, "the line is cut", line=number)
            log.times.append(float(time[1]))
            for name, rate in texts:
                log.rate(name, _number(path, number, name, rate))
            for name, numbers, unit in latencies:
                _take(path, number, log, (name, numbers, unit))
    return log


def _compact(path: Path, number: int, match: re.Match[str], heads: list[str], log: _Log) -> None:
    """Take a line of the compact format, whose names stand in a line above."""
    names = [name for name in heads if name not in {"consumer", "confirm", "latency"}]
    rates = match[2].replace("msg/s", "").split()
    if len(rates) != len(names):
        message = f"has {len(rates)} rates; the line of names has {len(names)}"
        raise ScenarioError.at(path, message, line=number)
    log.times.append(float(match[1]))
    for name, rate in zip(names, rates, strict=True):
        log.rate(name, _number(path, number, name, rate))
    latencies = [f"{name} latency" for name in heads if name in {"consumer", "confirm"}]
    cells = match[3].split()
    if len(cells) > 2 * len(latencies):
        message = f"has {len(cells) // 2} latencies; the line of names has {len(latencies)}"
        raise ScenarioError.at(path, message, line=number)
    for index, (numbers, unit) in enumerate(zip(cells[::2], cells[1::2], strict=False)):
        _take(path, number, log, (latencies[index], numbers, unit))


def _take(path: Path, line: int, log: _Log, quantity: tuple[str, str, str]) -> None:
    try:
        log.latency(*quantity)
    except UnitError as error:
        raise ScenarioError.at(
            path, error.message, quantity[0], line=line, hint=error.hint
        ) from None


def _read_csv(path: Path, text: str) -> _Log:
    log, lines = _Log(), text.splitlines()
    heads = lines[0].split(",")
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        cells = line.split(",")
        if len(cells) != len(heads):
            message = f"has {len(cells)} cells; there are {len(heads)} headings"
            raise ScenarioError.at(path, message, line=number)
        row = dict(zip(heads, cells, strict=True))
        log.times.append(float(_number(path, number, "time (s)", row["time (s)"])))
        groups: dict[str, list[tuple[str, str]]] = {}
        for name, cell in row.items():
            match = _COLUMN.fullmatch(name)
            if match and cell:
                whole = f"{match[2] or ''}latency"
                groups.setdefault(whole, []).append((_number(path, number, name, cell), match[3]))
            elif name.endswith("(msg/s)") and cell:
                log.rate(name.split()[0], _number(path, number, name, cell))
        for whole, texts in groups.items():
            quantiles = "/".join(cell for cell, _ in texts)
            _take(path, number, log, (whole, quantiles, texts[0][1]))
    return log


def _number(path: Path, line: int, key: str, text: str) -> str:
    if not re.fullmatch(r"\d+(\.\d+)?", text.replace(",", ".", 1)):
        raise ScenarioError.at(path, f"'{text}' is not a number of 0 or more", key, line=line)
    return text.replace(",", ".", 1)  # a Java in another locale writes a decimal comma


def _quantiles(numbers: str, unit: str) -> dict[str, float]:
    """Return the quantiles of one interval in seconds; nothing if it had no messages."""
    values = [float(text) for text in numbers.split("/")]
    factor = 1e-6 if _MICRO.fullmatch(unit) else unit_of(unit).factor
    names = {len(ORDER): ORDER, len(LEGACY): LEGACY}.get(len(values))
    if names is None or not any(values):
        return {}
    return {name: value * factor for name, value in zip(names, values, strict=True)}


def _rate_cases(log: _Log, case: Callable[..., Case]) -> Iterable[Case]:
    interval = float(np.median(np.diff([0.0, *log.times])))
    start = "the first interval is part of it: connections and queues are still set up"
    for metric, rates in log.rates.items():
        samples: Floats = np.sort(np.array(rates))
        measured = (samples.size, statistics_of(samples), samples)
        sample = Sample("interval", round(interval, 1))
        yield case(metric, sample, *measured, half=0.5, notes=(start,))


def _latency_cases(log: _Log, case: Callable[..., Case]) -> Iterable[Case]:
    for metric, result in log.latencies.items():
        total = log.totals.get(metric)
        count, notes = None, [f"{FIVE} of each interval is there, the samples are not"]
        if total:
            count = RESERVOIR
            notes = [f"quantiles of a reservoir of {RESERVOIR} messages that favours the last ones"]
        else:
            total = _middle(result)
            notes.append(
                f"no total in this file: each quantile is the median of {len(result)} "
                "intervals, which is no quantile of all messages"
            )
        half = 0.5e-6 if min(total.values()) < 1 else 0.0
        yield case(metric, Sample("message"), count, total, half=half, notes=tuple(notes))


def _middle(intervals: list[dict[str, float]]) -> dict[str, float]:
    """Return the median over intervals of each statistic; minimum and maximum are those of all."""
    of_all = {"min": np.min, "max": np.max}
    return {
        name: float(of_all.get(name, np.median)([item[name] for item in intervals]))
        for name in intervals[0]
    }
