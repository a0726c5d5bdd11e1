"""Metrics of a study or a sweep as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dvsim.study.number_text import amount_text, estimate_text, number_text

if TYPE_CHECKING:
    from dvsim.table.result import Result

SLOTS = "slots"
PS_PER_NS = 1000


def name_of(study: Result, metric: str) -> str:
    """Name a metric, or the result of a sweep, as people do."""
    return study.metric(metric).label or metric.replace("_", " ")


def unit_of(study: Result, metric: str) -> str:
    """Return the unit of a metric on an axis; empty of a plain number."""
    metric_of = study.metric(metric)
    unit = metric_of.axis or metric_of.unit
    return "" if unit == "1" else unit


def metric_text(study: Result, metric: str, value: float, half: float = 0.0) -> str:
    """Write a metric with its interval and unit; slots in time too, where a slot has one."""
    known = study.metric(metric)
    unit = known.unit if known.written is None else known.written
    if unit != SLOTS:
        return amount_text(value, half, "" if unit == "1" else unit, signed=known.signed)
    text = f"{estimate_text(value, half)} slots"
    if study.slot_ps is None:
        return text
    return f"{text} ({number_text(value * study.slot_ps / PS_PER_NS)} ns)"
