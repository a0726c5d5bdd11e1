"""Results of the OpenMessaging Benchmark: the JSON that it writes for each workload.

Fields from openmessaging/benchmark, ``TestResult``; ``WorkloadGenerator`` fills them: rates over
intervals of 10 s, latencies in milliseconds, the aggregated ones of all messages (an HdrHistogram).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from dvsim.errors import ScenarioError, nearest
from dvsim.evidence.lab.data import About, Case, Sample
from dvsim.evidence.statistics import statistics_of
from dvsim.sheets.headings import Metric, quantiles_of
from dvsim.sheets.sheet import text_of

INTERVAL_S = 10.0
MS = 1e-3
RATES: Mapping[str, Metric] = {"consumeRate": "rate", "publishRate": "sent rate"}
LATENCIES: Mapping[str, Metric] = {
    "aggregatedEndToEndLatency": "latency",
    "aggregatedPublishLatency": "confirm latency",
}
QUANTILES = {"Avg": "mean", "50pct": "50%", "75pct": "75%", "95pct": "95%", "99pct": "99%"}
QUANTILES |= {"999pct": "99.9%", "9999pct": "99.99%", "99999pct": "99.999%", "Max": "max"}
KEYS = ("workload", "driver")


def openmessaging_cases(path: Path, about: About) -> tuple[str, list[Case]]:
    """Return what kind of file it is, and its cases.

    Raises:
        ScenarioError: If it is no JSON or no result, or a number is none, or negative.
    """
    result = _result(path)
    size = result.get("messageSize") or about.message_bytes
    if size is not None and (not isinstance(size, int) or isinstance(size, bool) or size < 1):
        raise ScenarioError.at(path, f"must be bytes above 0, not {size}", "messageSize")
    keys = {name: str(result[name]) for name in KEYS if result.get(name)}
    cases = [*_rates(path, result, size, keys), *_latencies(path, result, size, keys)]
    if not cases:
        raise ScenarioError.at(path, "has neither rates nor aggregated latencies")
    return "OpenMessaging Benchmark, JSON", cases


def _result(path: Path) -> dict[str, Any]:
    try:
        result = json.loads(text_of(path))
        json.dumps(result, ensure_ascii=False).encode()  # JSON can spell what is no text
    except json.JSONDecodeError as error:
        raise ScenarioError.at(path, f"is not JSON: {error.msg}", line=error.lineno) from None
    except UnicodeEncodeError:
        raise ScenarioError.at(path, "has a text with half a character, a lone surrogate") from None
    except (ValueError, RecursionError):  # what Python refuses to read
        raise ScenarioError.at(
            path, "is nested too deeply, or has a number of too many digits"
        ) from None
    known = [*RATES, *(f"{name}{end}" for name in LATENCIES for end in QUANTILES)]
    if not isinstance(result, dict) or not any(name in result for name in known):
        there = list(result) if isinstance(result, dict) else []
        near = next((name for name in there if nearest(name, known)), None)
        hint = nearest(near, known) if near else None
        message = "is no result of the OpenMessaging Benchmark: it has neither rates nor latencies"
        raise ScenarioError.at(path, message, near or "", hint=hint)
    return result


def _rates(
    path: Path, result: Mapping[str, Any], size: int | None, keys: Mapping[str, str]
) -> Iterable[Case]:
    for name, metric in RATES.items():
        numbers = result.get(name)
        if not numbers:
            continue
        if not isinstance(numbers, list):
            raise ScenarioError.at(path, "must be a list of numbers", name)
        for index, number in enumerate(numbers):
            _check(path, f"{name}[{index}]", number)
        samples = np.sort(np.array(numbers, dtype=np.float64))
        measured = (samples.size, statistics_of(samples), samples)
        yield Case(str(path), "", keys, size, metric, Sample("interval", INTERVAL_S), *measured)


def _latencies(
    path: Path, result: Mapping[str, Any], size: int | None, keys: Mapping[str, str]
) -> Iterable[Case]:
    for name, metric in LATENCIES.items():
        results = {}
        for end, statistic in QUANTILES.items():
            number = result.get(f"{name}{end}")
            if number is not None:
                _check(path, f"{name}{end}", number)
                results[statistic] = float(number) * MS
        names = {statistic: f"{name}{end}" for end, statistic in QUANTILES.items()}
        ordered = [
            word for _, word in sorted(quantiles_of({word: word for word in results}).items())
        ]
        pairs = [
            *pairwise(ordered),
            *([("mean", "max")] if {"mean", "max"} <= set(results) else []),
        ]
        for low, high in pairs:
            if results[high] < results[low]:
                raise ScenarioError.at(path, f"is smaller than the {low}", names[high])
        if any(results.values()):
            yield Case(str(path), "", keys, size, metric, Sample("message"), None, results)


def _check(path: Path, key: str, number: object) -> None:
    good = isinstance(number, int | float) and not isinstance(number, bool)
    if not good or not np.isfinite(float(str(number))):
        raise ScenarioError.at(path, f"'{number}' is not a number", key)
    if float(str(number)) < 0:
        raise ScenarioError.at(path, f"is negative: {number}", key)
