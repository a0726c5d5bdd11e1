"""What a metric is, described once for tables, pages and figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from dvsim.scenario.find import natural

VALUES: Mapping[str, str] = {
    "point": "int32",  # 0.., as in the points of the scenario
    "replication": "int16",  # 1..
    "iteration": "int16",  # 1.., 0 of what spans iterations
    "component": "str",  # that counted it; empty of the whole
    "instance": "int16",  # 1.., 0 where there is only one
    "metric": "str",
    "value": "float64",
}
"""The columns of the table of values of any result; units stand with the metrics."""


class Metric(NamedTuple):
    """A number of a result, described once for tables, pages and figures.

    Attributes:
        unit: ``1`` of a plain number, ``%`` of a share that is written in per cent.
        label: As people call it; empty takes its name.
        reading: What it is, to begin a sentence on how to read a figure; empty takes the label.
        axis: Its unit on an axis, where that needs other words than `unit`.
        written: Its unit behind a figure in a text; None takes `unit`.
        shown: Whether a table for people has it.
        signed: Whether it may be negative. The interval of one that may not ends at 0.
        of: The formula, from a result to its mean; None of what `replicate` gives by its name.
    """

    unit: str
    label: str = ""
    reading: str = ""
    axis: str = ""
    written: str | None = None
    shown: bool = False
    signed: bool = True
    of: Callable[[Any], float] | None = None


def unsigned(metrics: Mapping[str, Metric]) -> dict[str, Metric]:
    """Return metrics of which none may be negative."""
    return {name: metric._replace(signed=False) for name, metric in metrics.items()}


def in_order(names: Iterable[str], first: Sequence[str]) -> list[str]:
    """Return names of metrics in the order of tables: those that their kind has `first` lead."""
    place = {name: position for position, name in enumerate(first)}
    return sorted(set(names), key=lambda name: (place.get(name, len(place)), natural(name)))
