"""What a laboratory measured, and what is known of it, as frozen data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, StringConstraints

from dvsim.evidence.statistics import Floats
from dvsim.scenario.quantity import UnitError, show
from dvsim.scenario.spec import Table
from dvsim.scenario.units import parse
from dvsim.sheets.headings import METRICS, Metric, quantiles_of, unit_of

_SHOWN = {"1/s": (1.0, "msg/s"), "s": (1e-6, "us")}


def shown(unit: str) -> tuple[float, str]:
    """Return in which unit numbers of one of `METRICS` are shown, and that in the unit itself."""
    return _SHOWN.get(unit, (1.0, unit))


NOT_STATED = "not stated"
SUM = "sum"  # as a column: all receivers of a run, or all programs of a log, together
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


def _samples(value: object) -> object:
    if isinstance(value, dict):
        return {name: parse_sample(str(text)) for name, text in value.items()}
    return {"": parse_sample(str(value))}


def _unit(value: object) -> str:
    unit_of(str(value))
    return str(value)


def _pairs(value: object) -> list[tuple[str, int]]:
    pairs = []
    for item in value if isinstance(value, list) else [value]:
        match = re.fullmatch(r"(?:(.*):)?(\d+)", str(item))
        if match is None or isinstance(item, bool):
            raise UnitError(f"{show(item)} is not of the form 8 or 'r1:8'")
        pairs.append((match[1] or "", int(match[2])))
    return pairs


Said = Annotated[str, StringConstraints(strict=True, strip_whitespace=True, min_length=1)]
Above = Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)]


@dataclass(frozen=True)
class Tolerances(Table):
    """How far a simulated number may lie from a measured one, relative: |ln ratio| <= ln(1 + x).

    Args:
        mean, median: Of a rate or latency.
        quantile, tail: Below and from 99 %; minimum, maximum and standard deviation are not judged.
        ratio: Between cases. Where the measured one is nearer to 1, it is not asked which is
            larger.
        empty: Where one of two numbers is zero: how far the share of zeros may lie from it.
    """

    mean: Above = 0.10
    median: Above = 0.10
    quantile: Above = 0.15
    tail: Above = 0.25
    ratio: Above = 0.10
    empty: Above = 0.05


@dataclass(frozen=True)
class Lab(Table):
    """The table ``[lab]``: what a file of measurements does not say of itself.

    Args:
        source, page, hardware, versions, warmup: Free text.
        metric, unit, message_bytes, column: Where the file does not say them; `column` is that of
            the run to compare with, or `SUM`.
        rounding: Half of the last place, in the unit of the file.
        sample: By transport; an empty key is all of them.
        counts: What is compared of a run over cards.
        tolerance: By what is judged.
        fitted: Pairs of a label and a size that were used to choose parameters; an empty label is
            any.
    """

    source: Said | None = None
    page: Said | None = None
    hardware: Said | None = None
    versions: Said | None = None
    column: Said | None = None
    warmup: Said | None = None
    loop: Literal["open", "closed"] | None = None
    origin: Literal["measured", "quoted", "digitised"] | None = None
    metric: Metric | None = None
    unit: Annotated[str | None, BeforeValidator(_unit)] = None
    message_bytes: Annotated[int, Field(gt=0, strict=True)] | None = None
    rounding: Above | None = None
    sample: Annotated[Mapping[str, Sample], BeforeValidator(_samples)] = field(default_factory=dict)
    counts: Literal["messages", "pieces"] | None = None
    tolerance: Tolerances = Tolerances()
    fitted: Annotated[tuple[tuple[str, int], ...] | None, BeforeValidator(_pairs)] = None


@dataclass(frozen=True)
class About(Lab):
    """What is known of a measurement.

    Args:
        file: Where this was read; None if there is no such file.
        declared: Which of the tolerances are written there and not the default.
        lines: The line of each key there.
    """

    file: Path | None = None
    declared: tuple[str, ...] = ()
    lines: Mapping[str, int | None] = field(default_factory=dict)

    def sample_of(self, transport: str, metric: str) -> Sample:
        """Return what one sample is; a latency is one message's unless somebody says otherwise."""
        own = Sample("message") if metric.endswith("latency") else Sample()
        return self.sample.get(transport, self.sample.get("", own))


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


def contradictions(
    statistics: Mapping[str, float], halves: Mapping[str, float] | None = None
) -> Iterator[tuple[str, str]]:
    """Yield pairs of statistics of one case of which the first must not be smaller, and is.

    Quantiles do not fall; a mean lies between the extremes, by `halves` of their last place.

    >>> list(contradictions({"25%": 5, "mean": 9, "75%": 4, "max": 8}))
    [('75%', '25%'), ('max', 'mean')]
    """
    order = list(quantiles_of({name: name for name in statistics}).values())
    pairs = [(low, high, 0.0) for low, high in pairwise(order)]
    room = halves or {}
    pairs += [("min", "mean", room.get("min", 0.0)), ("mean", "max", room.get("max", 0.0))]
    for low, high, half in pairs:
        if {low, high} <= set(statistics) and statistics[high] + half < statistics[low]:
            yield high, low


@dataclass(frozen=True)
class LabData:
    """One file of measurements: what kind it is, its cases, what is known of it."""

    path: Path
    form: str
    cases: tuple[Case, ...]
    about: About
