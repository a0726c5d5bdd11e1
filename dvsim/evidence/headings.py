"""Units and statistics as people write them in the headings of a table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from dvsim.errors import nearest
from dvsim.evidence.statistics import SYNONYMS, share_of
from dvsim.scenario.quantity import UNITS, UnitError, show

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
