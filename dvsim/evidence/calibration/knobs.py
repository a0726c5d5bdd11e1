"""The numbers of a card that a search may turn, as logarithms within bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from dvsim.errors import Argument, ScenarioError, nearest
from dvsim.evidence.affine import short
from dvsim.scenario import bounds
from dvsim.scenario.card_kinds import KINDS
from dvsim.scenario.types import Card, Parameter
from dvsim.scenario.units import Law, format_value

REACH = 16.0  # how far a search may go from where the card is, as a factor
PARTS = ("fixed", "per_byte")


class Knob(NamedTuple):
    """A number of a card."""

    # parameter, part: which: `part` of a law, ``fixed`` or ``per_byte``, else empty
    parameter: str
    part: str
    # start, low, high: in base units: picoseconds, femtoseconds per byte, bytes, a plain number
    start: float
    low: float
    high: float

    @property
    def name(self) -> str:
        """``push.per_byte``, ``threads``."""
        return f"{self.parameter}.{self.part}" if self.part else self.parameter

    def text(self, card: Card, value: float) -> str:
        """Return a value with its unit."""
        dimension = card.parameters[self.parameter].dimension
        if self.part:
            value_ = Law(round(value), 0) if self.part == "fixed" else Law(0, round(value))
            return format_value(value_, "law")
        whole = dimension in ("time", "size", "count")
        return format_value(round(value) if whole else value, dimension)


def knobs_of(card: Card, names: Sequence[str] = ()) -> list[Knob]:
    """Return the knobs of a card.

    Args:
        card: Where they start.
        names: Parameters, or one part of a law: ``push``, ``push.fixed``. None takes all that the
            card calls calibrated.

    Raises:
        ScenarioError: If there is no such parameter, or it is 0, from where no logarithm leads
            away.
    """
    known = _known(card)
    fitted = [name for name, old in card.parameters.items() if old.confidence == "calibrated"]
    chosen = [name for name, knob in known.items() if knob.parameter in fitted and knob.start > 0]
    if names:
        chosen = []
        for name in names:
            results = [known_ for known_ in known if name in (known_, known_.partition(".")[0])]
            if not results:
                whole = dict.fromkeys(known_.partition(".")[0] for known_ in known)
                near = nearest(name, [*whole, *known])
                there = "" if near else f"; there are {', '.join(whole)}"
                message = f"{card.name} has no parameter '{name}'{there}"
                raise ScenarioError.at(Argument("parameters"), message, hint=near)
            chosen += results
    zero = [name for name in chosen if known[name].start <= 0]
    if zero or not chosen:
        message = f"{zero[0]} of {card.name} is 0; set it to what it may be, and search from there"
        if not zero:
            message = f"{card.name} has no calibrated parameter; name some"
        raise ScenarioError.at(Argument("parameters"), message)
    return [known[name] for name in dict.fromkeys(chosen)]


def with_values(
    card: Card, knobs: Sequence[Knob], values: Sequence[float], fitted: str, source: str
) -> Card:
    """Return a card with other values, which are calibrated ones."""
    known = {"confidence": "calibrated", "fitted": fitted, "source": source}
    for knob, value in zip(knobs, values, strict=True):
        old = card.parameters[knob.parameter]
        new = _changed(old, knob, short(min(max(value, knob.low), knob.high)))
        card = card.having({knob.parameter: new}, **known)
    return card


def _changed(old: Parameter, knob: Knob, value: float) -> float | Law:
    if isinstance(old.value, Law):
        field = "fixed_ps" if knob.part == "fixed" else "per_byte_fs"
        return replace(old.value, **{field: round(value)})
    if old.dimension in ("time", "size", "count"):
        least = {name: spec.least for specs in KINDS.values() for name, spec in specs.items()}
        return max(least.get(old.name, 0), round(value))
    return value


def _known(card: Card) -> dict[str, Knob]:
    results = {}
    for name, parameter in card.parameters.items():
        spec = KINDS[card.kind][name]
        value = parameter.value
        if isinstance(value, str):
            continue
        if isinstance(value, Law):
            numbers = zip(PARTS, (value.fixed_ps, value.per_byte_fs), strict=True)
            most = {"fixed": bounds.TIME, "per_byte": bounds.SLOPE}
            knobs = [_knob(name, part, number, 0, most[part]) for part, number in numbers]
        else:
            knobs = [_knob(name, "", value, spec.least, spec.most)]
        results.update({knob.name: knob for knob in knobs})
    return results


def _knob(name: str, part: str, start: float, least: float, most: float) -> Knob:
    return Knob(name, part, float(start), max(least, start / REACH), min(most, start * REACH))
