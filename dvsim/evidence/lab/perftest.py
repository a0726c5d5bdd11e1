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
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from dvsim.errors import ScenarioError
from dvsim.evidence.lab.data import SUM, About, Case, Sample
from dvsim.evidence.statistics import Floats, statistics_of
from dvsim.scenario.quantity import UnitError
from dvsim.sheets.headings import Metric, quantiles_of, statistic_of, unit_of
from dvsim.sheets.sheet import readings

RESERVOIR = 1028
SIX = "min/median/75th/95th/99th/max"
NAMES = {3: "min/avg/max", 5: SIX.removesuffix("/max"), 6: SIX}
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
_RATES: Mapping[str, Metric] = {
    **{"received": "rate", "sent": "sent rate", "published": "sent rate"},
    **{"receiving": "rate", "sending": "sent rate"},
}
_TIMES: Mapping[str, Metric] = {
    "consumer latency": "latency",
    "latency": "latency",
    "confirm latency": "confirm latency",
}


def is_perftest(text: str) -> bool:
    """Return whether a text is a log or a CSV file of PerfTest, or begins as one."""
    if text.lower().startswith("id,time (s),published (msg/s)"):
        return True
    return any(
        _AVERAGE.search(line) or _LATENCY.search(line) or _TIME.search(line) or _elapsed(line)
        for line in text.splitlines()
        if "msg/s" in line or "latency" in line
    )


@dataclass
class _Log:
    began: bool = False  # whether the log has the lines of its start
    times: list[float] = field(default_factory=list)
    rates: dict[Metric, list[float]] = field(default_factory=dict)
    latencies: dict[Metric, list[dict[str, float]]] = field(default_factory=dict)
    totals: dict[Metric, dict[str, float]] = field(default_factory=dict)
    averages: dict[Metric, float] = field(default_factory=dict)
    known: tuple[list[str], list[str]] | None = None  # rates and latencies of the first line

    def add(
        self,
        wrong: Callable[..., ScenarioError],
        line: str,
        at: float,
        rates: list[tuple[str, str]],
        latencies: list[tuple[str, ...]],
    ) -> None:
        names = [word for word, _ in rates], [word for _, word, *_ in latencies]
        known = self.known or names
        known = known[0], known[1] or names[1]
        if names[0] != known[0] or names[1] != (known[1] if "min/" in line or names[1] else []):
            raise wrong("the line is cut")
        if "min/" in line and not latencies:
            raise wrong("the line is cut")
        self.known = known
        self.times.append(at)
        for word, cell in rates:
            if word in _RATES:
                self.rates.setdefault(_RATES[word], []).append(_number(wrong, word, cell))
        stated = ""
        for groups in latencies:
            stated = groups[0] or groups[2] or stated
            for metric, found in _latency(wrong, groups, stated).items():
                self.latencies.setdefault(metric, []).append(found)

    @property
    def interval(self) -> float | None:
        whole = self.began or (self.times and self.times[0] < SECOND)
        steps = np.diff([0.0, *self.times] if whole else self.times)
        return round(float(np.median(steps)), 1) if steps.size else None


def perftest_cases(path: Path, about: About) -> tuple[str, list[Case]]:
    """Return what kind of file it is, and a case for each rate and latency of each run in it.

    Raises:
        ScenarioError: If a line is cut, a number is none, quantiles fall, there is no number, or
            programs of one id cannot be told apart.
    """
    raw = path.read_bytes()
    wide = raw[:2] in (b"\xff\xfe", b"\xfe\xff")
    text = raw.decode("utf-16" if wide else "utf-8-sig", errors="replace")
    table = text.lower().startswith("id,time (s)")
    logs: dict[tuple[str, str], list[_Log]] = {}
    (_read_csv if table else _read_log)(path, text, logs)
    ids = [own or before for before, own in logs]
    runs = {
        " ".join(filter(None, [name, str(number) if len(some) > 1 else ""])): log
        for own, some in logs.items()
        for name in [own[1] or own[0] if ids.count(own[1] or own[0]) == 1 else " ".join(own)]
        for number, log in enumerate(some, 1)
        if log.times or log.totals or log.averages
    }
    if not any(log.rates or log.averages or log.totals for log in runs.values()):
        raise ScenarioError.at(path, "has no interval with rates")
    cases: list[Case] = []
    for name, log in runs.items():
        case = partial(Case, str(path), name if len(runs) > 1 else "", {}, about.message_bytes)
        together = about.column == SUM and len(runs) > 1
        cases += [] if together else _rate_cases(log, case)
        cases += _latency_cases(log, case)
    if about.column == SUM and len(runs) > 1:
        cases += _rate_cases(
            _summed(path, runs), partial(Case, str(path), SUM, {}, about.message_bytes)
        )
    many = sum(len(log.times) for log in runs.values())
    said = f", {len(runs)} programs or runs" if len(runs) > 1 else ""
    return f"RabbitMQ PerfTest, {'CSV' if table else 'log'}, {many} intervals{said}", cases


def _read_log(path: Path, text: str, logs: dict[tuple[str, str], list[_Log]]) -> None:
    heads = list[str]()
    steps: dict[tuple[str, str], list[float]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        name, own = _program(line), line.rpartition("|")[2]
        wrong = partial(ScenarioError.at, path, line=number)
        if own.split()[:1] == ["time"] and not re.search(r"\d", own):
            heads = own.split()[1:]
            continue
        if _beside(line, logs, name, wrong):
            continue
        if (time := _TIME.search(line)) is not None:
            if "msg/s" not in line:
                raise wrong("the line is cut: no rate")
            interval = _seconds(time[1], wrong), _RATE.findall(line), _LATENCY.findall(line)
        elif (elapsed := _elapsed(line)) is not None:
            interval = elapsed[0], *_compact(elapsed[1], heads, wrong)
        else:
            continue
        runs = logs.setdefault(name, [_Log()])
        if runs[-1].times:
            steps.setdefault(name, []).append(interval[0] - runs[-1].times[-1])
            if steps[name][-1] < 0:
                runs.append(_Log())
        runs[-1].add(wrong, line, *interval)
    for name, apart in steps.items():
        if sum(step < SECOND / 3 for step in apart) > max(1, len(apart) / 4):
            said = "the lines of several programs are mixed here, and nothing tells them apart"
            key = " ".join(name).strip()
            raise ScenarioError.at(path, f"{said}; give each an id of its own", key)


def _beside(
    line: str,
    logs: dict[tuple[str, str], list[_Log]],
    name: tuple[str, str],
    wrong: Callable[..., ScenarioError],
) -> bool:
    begins = re.search(r"starting (consumer|producer)", line) is not None
    average, total = _AVERAGE.search(line), _LATENCY.search(line)
    if "min/" not in line or "msg/s" in line:
        total = None
    if not (begins or average or total):
        return False
    runs = logs.setdefault(name, [_Log()])
    if begins and runs[-1].times:
        runs.append(_Log())
    runs[-1].began |= begins
    if average is not None:
        runs[-1].averages[_RATES[average[1]]] = _number(wrong, average[1], average[2])
    elif total is not None:
        runs[-1].totals |= _latency(wrong, total.groups(default=""), "")
    return True


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


def _read_csv(path: Path, text: str, logs: dict[tuple[str, str], list[_Log]]) -> None:
    lines = [(at, line) for at, line in enumerate(text.splitlines(), 1) if line.strip()]
    heads, *rows = (next(csv.reader([line])) for _, line in lines)
    for (number, _), cells in zip(lines[1:], rows, strict=True):
        wrong = partial(ScenarioError.at, path, line=number)
        if len(cells) != len(heads):
            raise wrong(f"has {len(cells)} cells; there are {len(heads)} headings")
        row = dict(zip(heads, cells, strict=True))
        runs = logs.setdefault(("", row["id"]), [_Log()])
        at = _seconds(row["time (s)"], wrong)
        if runs[-1].times and at <= runs[-1].times[-1]:
            runs.append(_Log())
        log = runs[-1]
        log.times.append(at)
        groups: dict[str, list[tuple[str, str, str]]] = {}
        for name, cell in row.items():
            match = _COLUMN.fullmatch(name)
            if match and cell:
                _number(wrong, name, cell)
                groups.setdefault(f"{match[2] or ''}latency", []).append(
                    (match[1][:4], cell, match[3])
                )
            elif name.endswith("(msg/s)") and cell and name.split()[0] in _RATES:
                metric = _RATES[name.split()[0]]
                log.rates.setdefault(metric, []).append(_number(wrong, name, cell))
        for whole, texts in groups.items():
            names = "/".join({"medi": "median"}.get(name, name).strip() for name, *_ in texts)
            quantities = (names, whole, "", "/".join(cell for _, cell, _ in texts), texts[0][2])
            for metric, found in _latency(wrong, quantities, "").items():
                log.latencies.setdefault(metric, []).append(found)


def _seconds(text: str, wrong: Callable[..., ScenarioError] | None = None) -> float:
    plain = re.sub(r"[.,](?=.*[.,])", "", text).replace(",", ".")
    if wrong is not None and not re.fullmatch(r"[0-9]+(\.[0-9]+)?", plain):
        raise wrong(f"'{text}' is not a number of 0 or more", "time (s)")
    return float(plain)


def _number(wrong: Callable[..., ScenarioError], key: str, text: str) -> float:
    text = text.strip()
    known = readings(text)
    if not known or text.startswith("-"):
        raise wrong(f"'{text}' is not a number of 0 or more", key)
    return max(map(float, known.values()))


def _latency(
    wrong: Callable[..., ScenarioError], quantity: tuple[str, ...], names: str
) -> dict[Metric, dict[str, float]]:
    before, kind, behind, text, unit = quantity
    values = [_signed(wrong, kind, cell.strip()) for cell in text.split("/")]
    words = (before or behind or names or NAMES.get(len(values), "")).split("/")
    if len(words) != len(values):
        words = NAMES.get(len(values), "").split("/")
    statistics = [statistic_of(word) for word in words]
    if len(statistics) != len(values) or None in statistics:
        raise wrong("the line is cut")
    try:
        factor = 1e-6 if _MICRO.fullmatch(unit) else unit_of(unit).factor
    except UnitError as error:
        raise wrong(error.message, kind, hint=error.hint) from None
    result = {str(name): value * factor for name, value in zip(statistics, values, strict=True)}
    order = quantiles_of({name: name for name in result})
    for low, high in pairwise(order[share] for share in sorted(order)):
        if result[high] < result[low]:
            raise wrong(f"its {high} is smaller than its {low}", kind)
    return {_TIMES[kind]: result} if any(values) else {}


def _signed(wrong: Callable[..., ScenarioError], key: str, text: str) -> float:
    return -_number(wrong, key, text[1:]) if text.startswith("-") else _number(wrong, key, text)


def _summed(path: Path, runs: Mapping[str, _Log]) -> _Log:
    step = next((log.interval for log in runs.values() if log.interval), 1.0)
    total = _Log()
    for metric in dict.fromkeys(metric for log in runs.values() for metric in log.rates):
        by_time = [
            dict(zip((round(at / step) for at in log.times), log.rates[metric], strict=True))
            for log in runs.values()
            if metric in log.rates
        ]
        common = sorted(set.intersection(*map(set, by_time)))
        if not common:
            raise ScenarioError.at(path, f"no interval of the {metric}s is that of all programs")
        total.times = [at * step for at in common]
        total.rates[metric] = [sum(some[at] for some in by_time) for at in common]
    return total


def _rate_cases(log: _Log, case: Callable[..., Case]) -> Iterable[Case]:
    interval = log.interval
    start = "the first interval is part of it: connections and queues are still set up"
    cut = "the log was cut from the middle of a run: its first interval is taken as long as others"
    note = start if log.began or (log.times and log.times[0] < SECOND) else cut
    if interval is None:
        note = "one interval from the middle of a run: how long it was, is not known"
    for metric, rates in log.rates.items():
        samples: Floats = np.sort(np.array(rates))
        measured = (samples.size, statistics_of(samples), samples)
        sample = Sample() if interval is None else Sample("interval", interval)
        yield case(metric, sample, *measured, half=0.5, notes=(note,))
    for metric, mean in log.averages.items():
        if metric not in log.rates:
            note = "the average of the whole run: its intervals are not in this file"
            yield case(metric, Sample("run"), None, {"mean": mean}, half=0.5, notes=(note,))


def _latency_cases(log: _Log, case: Callable[..., Case]) -> Iterator[Case]:
    for metric in dict.fromkeys((*log.latencies, *log.totals)):
        intervals, total = log.latencies.get(metric, []), log.totals.get(metric)
        count, notes = None, ["quantiles of each interval are there, the samples are not"]
        if total:
            count = RESERVOIR
            notes = [f"quantiles of a reservoir of {RESERVOIR} messages that favours the last ones"]
        else:
            total = _middle(intervals)
            notes.append(
                f"no total in this file: each quantile is the median of {len(intervals)} "
                "intervals, which is no quantile of all messages"
            )
        half = 0.5e-6 if min(total.values()) < 1 else 0.0
        yield case(metric, Sample("message"), count, total, half=half, notes=tuple(notes))


def _middle(intervals: list[dict[str, float]]) -> dict[str, float]:
    of_all = {"min": np.min, "max": np.max}
    return {
        name: float(of_all.get(name, np.median)([item[name] for item in intervals if name in item]))
        for name in dict.fromkeys(name for item in intervals for name in item)
    }
