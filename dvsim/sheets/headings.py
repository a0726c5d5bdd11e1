"""Units and statistics as people write them in the headings of a table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeVar

from dvsim.errors import nearest
from dvsim.scenario.quantity import UNITS, UnitError, show

Number = TypeVar("Number")

STATISTICS = ("count", "mean", "std", "min", "25%", "50%", "75%", "90%", "95%", "99%", "max")
SYNONYMS = {"median": "50%", "average": "mean", "avg": "mean", "n": "count"}
SYNONYMS |= {"sd": "std", "stddev": "std", "minimum": "min", "maximum": "max"}

Metric = Literal["rate", "sent rate", "latency", "confirm latency"]
METRICS: Mapping[str, str] = {
    "rate": "1/s",  # taken by those who receive
    "sent rate": "1/s",
    "latency": "s",  # from the one who sends to the one who receives
    "confirm latency": "s",  # from sending to the broker's answer
}
"""What can be measured, with the unit in which it is kept here."""

SIZES = ("message_bytes", "size", "message_size", "bytes")
_MESSAGES = ("msg/s", "msgs/s", "messages/s", "1/s", "/s")
_THOUSANDS = {"": 1.0, "k": 1e3, "M": 1e6}
RATES = {prefix + word: x for word in _MESSAGES for prefix, x in _THOUSANDS.items()}
_ENDS = {f"{prefix}sec" for prefix in ("", "n", "u", "m")} | {"seconds"}
_LONG = {"micro": "u", "milli": "m", "nano": "n"}
_WORDS: Mapping[Metric, set[str]] = {
    "rate": {"rate", "throughput", "received", "consumed"},
    "sent rate": {"sent", "published"},
    "confirm latency": {"confirm", "ack"},
    "latency": {"latency", "time"},
}
"""What is measured, by a word in its name; the first that has one."""


class Unit(NamedTuple):
    """What a number is: ``rate`` in messages, ``bytes`` in bytes per second, or ``time``.

    `factor` leads to 1/s, B/s or s.
    """

    dimension: str
    factor: float


def unit_of(text: str) -> Unit:
    """Return a unit of a rate or a time.

    Raises:
        UnitError: If it is none; with the nearest.

    >>> unit_of("kmsg/s"), unit_of("µs"), unit_of("MB/s")
    (Unit(dimension='rate', factor=1000.0), Unit(dimension='time', factor=1e-06), \
Unit(dimension='bytes', factor=1000000.0))
    >>> {unit_of(text) for text in ("us", "\u00b5s", "\u03bcs", "micro-s", "usec", "microseconds")}
    {Unit(dimension='time', factor=1e-06)}
    """
    word = re.sub(r"(?<![a-z])(micro|milli|nano)-?(?=s)", lambda m: _LONG[m[1]], text)
    word = re.sub(r"s(?:ec(?:ond)?s?)$", "s", word)
    if word in RATES:
        return Unit("rate", RATES[word])
    if word in UNITS["time"]:
        return Unit("time", float(UNITS["time"][word]) / 1e12)
    if word in UNITS["rate"]:
        return Unit("bytes", float(UNITS["rate"][word]))
    known = [*RATES, *UNITS["time"], *UNITS["rate"]]
    near = next((word for word in known if word.lower() == text.lower()), None)
    near = near or nearest(word, known)
    message = f"{show(text)} is no unit of a rate or a time, such as msg/s, MB/s or us"
    raise UnitError(message, near)


def split_heading(heading: str) -> tuple[str, str | None]:
    """Return the name in a heading and the unit that stands behind it.

    >>> split_heading("mean latency (µs)"), split_heading("rate [msg/s]"), split_heading("p99_ms")
    (('mean latency', 'µs'), ('rate', 'msg/s'), ('p99', 'ms'))
    >>> split_heading("message_bytes")
    ('message_bytes', None)
    """
    match = re.fullmatch(r"(.*?)\s*[(\[]([^()\[\]]+)[)\]]", heading)
    if match:
        return match[1], match[2].strip()
    name, bar, end = heading.rpartition("_")
    return (name, end) if bar and (end in UNITS["time"] or end in _ENDS) else (heading, None)


def metric_word(name: str) -> Metric | None:
    """Return what a name says of what was measured; None if it says nothing."""
    words = set(re.findall("[a-z]+", name.lower()))
    return next((metric for metric, known in _WORDS.items() if words & known), None)


def metric_of(name: str, dimension: str) -> Metric | None:
    """Return what a name and a dimension say of what was measured; None if they disagree.

    >>> metric_of("confirm latency", "time"), metric_of("value", "rate"), metric_of("rate", "time")
    ('confirm latency', 'rate', None)
    """
    meant = metric_word(name)
    timed = dimension == "time"
    if meant is None:
        return "latency" if timed else "rate"
    return meant if timed == meant.endswith("latency") else None


def statistic_of(text: str) -> str | None:
    """Return a statistic by any of its usual names.

    >>> [statistic_of(word) for word in ("p99", "Median", "95th", "99.9%", "avg", "p999", "client")]
    ['99%', '50%', '95%', '99.9%', 'mean', '99.9%', None]
    """
    word = text.strip().lower()
    word = SYNONYMS.get(word, word)
    if word in {"count", "mean", "std"} or share_of(word) is not None:
        return word
    match = re.fullmatch(r"p(\d{1,2}(?:\.\d+)?|99(9+))|(\d{1,2}(?:\.\d+)?)(?:th|pct)", word)
    if not match:
        return None
    number = f"99.{match[2]}" if match[2] else match[1] or match[3]
    return f"{number}%" if share_of(f"{number}%") is not None else None


def share_of(statistic: str) -> float | None:
    """Return the share of samples below an order statistic; None for what is none.

    >>> share_of("25%"), share_of("99.9%"), share_of("max"), share_of("mean")
    (0.25, 0.999, 1.0, None)
    """
    if statistic in {"min", "max"}:
        return 0.0 if statistic == "min" else 1.0
    try:
        percent = float(statistic.removesuffix("%")) if statistic.endswith("%") else -1.0
    except ValueError:
        return None
    return round(percent / 100, 12) if 0 < percent < 100 else None


def quantiles_of(statistics: Mapping[str, Number]) -> dict[float, Number]:
    """Return order statistics by share, ascending: 0 for the minimum, 1 for the maximum."""
    shares = {share_of(name): value for name, value in statistics.items()}
    return {share: shares[share] for share in sorted(key for key in shares if key is not None)}
