"""Results of the OpenMessaging Benchmark: the JSON that it writes for each workload.

Fields from openmessaging/benchmark, ``TestResult``; ``WorkloadGenerator`` fills them: rates over
intervals of 10 s, latencies in milliseconds, the aggregated ones of all messages (an HdrHistogram).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dvsim.errors import ScenarioError, nearest
from dvsim.evidence.lab.data import About, Case, Sample, contradictions
from dvsim.evidence.statistics import Floats, statistics_of
from dvsim.sheets.headings import Metric
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
    result, cases = _result(path), []
    size = result.get("messageSize") or about.message_bytes
    if size is not None and (type(size) is not int or size < 1):
        raise ScenarioError.at(path, f"must be bytes above 0, not {size}", "messageSize")
    keys = {name: str(result[name]) for name in KEYS if result.get(name)}
    for name, metric in RATES.items():
        numbers = result.get(name) or []
        if not isinstance(numbers, list):
            raise ScenarioError.at(path, "must be a list of numbers", name)
        rates = [_number(path, f"{name}[{index}]", each) for index, each in enumerate(numbers)]
        if rates:
            samples: Floats = np.sort(rates)
            measured = (samples.size, statistics_of(samples), samples)
            sample = Sample("interval", INTERVAL_S)
            cases.append(Case(str(path), "", keys, size, metric, sample, *measured))
    for name, metric in LATENCIES.items():
        places = {statistic: f"{name}{end}" for end, statistic in QUANTILES.items()}
        there = {word: key for word, key in places.items() if result.get(key) is not None}
        found = {word: _number(path, key, result[key]) * MS for word, key in there.items()}
        for high, low in contradictions(found):
            raise ScenarioError.at(path, f"is smaller than the {low}", places[high])
        if any(found.values()):
            cases.append(Case(str(path), "", keys, size, metric, Sample("message"), None, found))
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


def _number(path: Path, key: str, number: object) -> float:
    if type(number) not in (int, float) or not np.isfinite(value := float(str(number))):
        raise ScenarioError.at(path, f"'{number}' is not a number", key)
    if value < 0:
        raise ScenarioError.at(path, f"is negative: {number}", key)
    return value
