"""What a laboratory measured, and what is known of it, as frozen data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from dvsim.evidence.statistics import Floats, quantiles_of
from dvsim.scenario.units import UnitError, parse

Metric = Literal["rate", "sent rate", "latency", "confirm latency"]
METRICS: Mapping[str, str] = {
    "rate": "1/s",  # taken by those who receive
    "sent rate": "1/s",
    "latency": "s",  # from the one who sends to the one who receives
    "confirm latency": "s",  # from sending to the broker's answer
}
"""What can be measured, with the unit in which it is kept here."""

_SHOWN = {"1/s": (1.0, "msg/s"), "s": (1e-6, "us")}


def shown(unit: str) -> tuple[float, str]:
    """Return in which unit numbers of one of `METRICS` are shown, and that in the unit itself."""
    return _SHOWN.get(unit, (1.0, unit))


NOT_STATED = "not stated"
SAME = 0.01  # intervals and batches that differ by less are the same


@dataclass(frozen=True)
class Sample:
    """What one sample is.

    Args:
        kind: ``interval`` (what came in a time), ``batch`` (how long so many messages took),
            ``message`` (one of them), ``run`` (one number for all), or ``not stated``.
        size: Seconds of an interval, messages of a batch; else 0.
    """

    kind: Literal["interval", "batch", "message", "run", "not stated"] = "not stated"
    size: float = 0.0

    def alike(self, other: Sample) -> bool:
        """Return whether samples are of the same kind and size."""
        if self.kind != other.kind or self.kind == NOT_STATED:
            return False
        return self.size == other.size or abs(self.size - other.size) <= SAME * self.size

    def __str__(self) -> str:
        """Return the text that `parse_sample` reads."""
        if self.kind == "interval":
            text = f"{self.size:.6g} s" if self.size >= 1 else f"{self.size * 1000:.6g} ms"
            return f"interval {text}"
        return f"batch {self.size:,.0f}" if self.kind == "batch" else self.kind


def sample_of(text: str | None, metric: str) -> Sample:
    """Return what one sample is; a latency is one message's unless somebody says otherwise."""
    if text:
        return parse_sample(text)
    return Sample("message") if metric.endswith("latency") else Sample()


def parse_sample(text: str) -> Sample:
    """Return what one sample is, from its text.

    Raises:
        UnitError: If it is none of ``interval TIME``, ``batch MESSAGES``, ``message``, ``run``.

    >>> parse_sample("interval 5.001 ms"), parse_sample("batch 10_000")
    (Sample(kind='interval', size=0.005001), Sample(kind='batch', size=10000.0))
    """
    kind, _, size = text.strip().partition(" ")
    if kind == "interval":
        return Sample("interval", parse(size, "time") / 1e12)
    if kind == "batch" and re.fullmatch(r"\d[\d_,]*", size.strip()):
        return Sample("batch", float(re.sub("[_,]", "", size)))
    if kind == "message" and not size:
        return Sample("message")
    if kind == "run" and not size:
        return Sample("run")
    message = f"'{text}' is no sample; they are 'interval 1 s', 'batch 10000', 'message' and 'run'"
    raise UnitError(message)


@dataclass(frozen=True)
class Tolerances:
    """How far a simulated number may lie from a measured one, relative: |ln ratio| <= ln(1 + x).

    Args:
        mean, median: Of a rate or latency.
        quantile, tail: Below and from 99 %; minimum, maximum and standard deviation are not judged.
        ratio: Between cases. Where the measured one is nearer to 1, it is not asked which is
            larger.
        empty: Where one of two numbers is zero: how far the share of zeros may lie from it.
    """

    mean: float = 0.10
    median: float = 0.10
    quantile: float = 0.15
    tail: float = 0.25
    ratio: float = 0.10
    empty: float = 0.05


@dataclass(frozen=True)
class About:
    """What is known of a measurement; None where it is not stated.

    Args:
        file: Where this was read; None if there is no such file.
        source, page, hardware, versions: Free text.
        loop: ``open`` or ``closed``.
        origin: ``measured``, ``quoted`` or ``digitised``.
        rounding: Half of the last place, in the unit of the file.
        tolerances, declared: By what is judged, and which of it is written there and not the
            default.
        fitted: Pairs of a label and a size that were used to choose parameters; an empty label is
            any.
    """

    file: Path | None = None
    source: str | None = None
    page: str | None = None
    hardware: str | None = None
    versions: str | None = None
    loop: str | None = None
    origin: str | None = None
    metric: Metric | None = None
    unit: str | None = None
    message_bytes: int | None = None
    column: str | None = None
    rounding: float | None = None
    warmup: str | None = None
    sample: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, str] = field(default_factory=dict)
    tolerances: Tolerances = Tolerances()
    declared: tuple[str, ...] = ()
    fitted: tuple[tuple[str, int], ...] | None = None

    def of(self, table: Mapping[str, str], transport: str) -> str | None:
        """Return what a table says of a transport; an empty key is all of them."""
        return table.get(transport, table.get(""))


@dataclass(frozen=True, eq=False)
class Case:
    """What was measured at one point.

    Args:
        where: File and line, for people.
        label: Which run or column; empty if there is one only.
        keys: What else tells it from others, as text: transport, client, link.
        message_bytes: Size of a message; None if not stated.
        metric, sample: What was measured, and what one sample is.
        own_unit: Of a metric that only the kind of scenario knows; None of one of `METRICS`.
        count: How many samples; None if not stated.
        statistics: ``mean``, ``std``, ``min``, ``25%`` …, ``max``, in the unit of `METRICS`.
        values: All samples, ascending, if the file has them.
        half: Half of the last place, in that unit.
        notes: What the file makes of its numbers.
    """

    where: str
    label: str
    keys: Mapping[str, str]
    message_bytes: int | None
    metric: str
    sample: Sample
    count: int | None
    statistics: Mapping[str, float]
    values: Floats | None = None
    half: float = 0.0
    notes: tuple[str, ...] = ()
    own_unit: str | None = None

    @property
    def name(self) -> str:
        """How a text names it."""
        size = f"{self.message_bytes:,} B" if self.message_bytes else "size not stated"
        keys = list(self.keys.values())
        if self.own_unit is not None:
            size, keys = "", [f"{key} {text}" for key, text in self.keys.items()]
        return ", ".join(filter(None, [self.metric, size, *keys, self.label]))

    @property
    def unit(self) -> str:
        """The unit of its statistics."""
        return next(unit for unit in (self.own_unit, METRICS.get(self.metric)) if unit is not None)

    @property
    def series(self) -> tuple[str, ...]:
        """What it has in common with cases of other sizes."""
        return (self.metric, *self.keys.values(), self.label)

    @property
    def quantiles(self) -> dict[float, float]:
        """Order statistics by share, ascending: 0 for the minimum, 1 for the maximum."""
        return quantiles_of(self.statistics)


@dataclass(frozen=True)
class LabData:
    """One file of measurements: what kind it is, its cases, what is known of it."""

    path: Path
    form: str
    cases: tuple[Case, ...]
    about: About
