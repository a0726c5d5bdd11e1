"""The few numbers that a result comes down to, by name: what a sweep tabulates and draws."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dvsim.contract import OWN
from dvsim.contract.find import kind_named, kind_of
from dvsim.scenario.find import natural
from dvsim.scenario.spec import Spec, plain
from dvsim.table.estimate import Each, Estimate, estimate


@dataclass(frozen=True)
class PointNumbers:
    """The numbers of one run, or of one point of a study.

    Attributes:
        inner: The keys that the scenario itself varies, with their values; empty for a system.
        each: By name, the value in each replication; what is not a number is absent.
        bottleneck: What limits it, `dvsim.table.stages.Limit` in words; empty of a study.
        note: Why the figures depend on how long it ran; empty if they do not.
        signed: The names of those that may be negative.
        fidelity: ``flow`` where replications are equal, since they are at that.
    """

    inner: Mapping[str, float | str]
    each: Mapping[str, Each]
    bottleneck: str = ""
    note: str = ""
    signed: Collection[str] = ()
    fidelity: str = ""

    @cached_property
    def results(self) -> Mapping[str, Estimate]:
        """The means with their intervals, by name."""
        return {
            name: estimate(values.values(), signed=name in self.signed)
            for name, values in self.each.items()
        }


def in_order(names: Sequence[str], first: Sequence[str] = ()) -> list[str]:
    """Return names of results in the order of tables: it depends on the names alone.

    Those that their kind has `first` lead, then come those of the kind of dvsim that has most of
    them; what no kind has is last. Where none has any, they stand as they came.
    """
    asked, orders = set(names), [kind_named(own).first for own in OWN]
    orders.sort(key=lambda order: -len(asked.intersection(order)))
    every = dict.fromkeys(name for order in (first, *orders) for name in order)
    known = {name: position for position, name in enumerate(every)}
    if asked.isdisjoint(known):
        return list(dict.fromkeys(names))
    return sorted(asked, key=lambda name: (known.get(name, len(known)), natural(name)))


def of_points(
    scenario: Spec, tables: Mapping[str, Any], metrics: Collection[str]
) -> list[PointNumbers]:
    """Return the numbers of each point of a result.

    Args:
        scenario: What was asked, resolved.
        tables: Its values, and of some kinds ``runs``, whose ``notes`` say why it has not settled.
        metrics: Which of them are the numbers.
    """
    signed = [name for name in metrics if kind_of(scenario).metric(name).signed]
    each: list[dict[str, dict[int, float]]] = [
        {name: {} for name in metrics} for _ in scenario.points
    ]
    columns = ("point", "replication", "metric", "value")
    for point, replication, metric, value in zip(
        *(tables["values"][name].tolist() for name in columns), strict=True
    ):
        if value == value:  # noqa: PLR0124 - not a number
            each[point][metric][replication] = value
    notes: list[list[str]] = [[] for _ in scenario.points]
    flow: set[int] = set()
    if "runs" in tables:
        for point, fidelity, note in zip(
            *(tables["runs"][n].tolist() for n in ("point", "fidelity", "notes")), strict=True
        ):
            notes[point].append(note)
            if fidelity == "flow":
                flow.add(point)
    return [
        PointNumbers(
            {key: text_or_number(value) for key, value in keys.items()},
            own,
            note=note_of(of),
            signed=signed,
            fidelity="flow" if number in flow else "",
        )
        for number, (keys, own, of) in enumerate(zip(scenario.points, each, notes, strict=True))
    ]


def note_of(notes: Sequence[str]) -> str:
    """Return why some replications of a point have not settled; empty if all have.

    Their texts differ in their figures: the first is given, and how many there are.
    """
    texts = [note for note in notes if note]
    count = f" (in {len(texts)} of {len(notes)} replications)" if len(notes) > 1 else ""
    return f"{texts[0]}{count}" if texts else ""


def text_or_number(value: object) -> float | str:
    """Return a value of a scenario as a table of points has it."""
    converted = plain(value)
    if converted is None:
        return "none"
    return float(converted) if isinstance(converted, bool | int) else converted
