"""What a sensitivity varies: ranges that were given, or every weak parameter by some share."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from dvsim.errors import Argument, ScenarioError
from dvsim.scenario.card_kinds import KINDS, Limits
from dvsim.scenario.spec import Spec
from dvsim.scenario.types import Parameter
from dvsim.scenario.units import Law, format_value
from dvsim.study.sweeps.axis import DIGITS, Between, parse_axis
from dvsim.study.sweeps.values import BASES, Number

WEAK = ("unverified", "assumed")


class Along(Protocol):
    """Values from one end to another."""

    def at(self, share: float) -> str:
        """Return the value at a share of the way, as it is set."""


@dataclass(frozen=True)
class LawAlong:
    """A cost whose two parts grow together, from a share below to a share above."""

    law: Law
    spread: float

    def at(self, share: float) -> str:
        """Return the law at a share of the way."""
        factor = 1 - self.spread + 2 * self.spread * share
        scaled = Law(round(self.law.fixed_ps * factor), round(self.law.per_byte_fs * factor))
        return format_value(scaled, "law")


@dataclass(frozen=True)
class Range:
    """A key and what it is varied over, in words too."""

    key: str
    along: Along
    text: str


def ranges(scenario: Spec, vary: Sequence[str], spread: float) -> list[Range]:
    """Return what is varied.

    Args:
        scenario: Before anything is varied.
        vary: ``KEY=lo..hi``, or ``KEY=a,b,c``, of which each is as likely. Without any it is every
            parameter of the cards that is unverified or assumed, and no zero.
        spread: Share by which these go down and up.
    """
    if math.isnan(spread):
        raise ScenarioError.at(Argument("spread"), f"{spread} is not a share")
    keys = [*_given(vary)] if vary else [*_weak(scenario, spread)]
    if len(keys) < 2:
        fault = "one key alone explains everything" if keys else "no parameter here is weak"
        raise ScenarioError.at(Argument("vary"), f"{fault}; vary two or more: KEY=lo..hi")
    return keys


def _given(vary: Sequence[str]) -> Iterator[Range]:
    for text in vary:
        axis = parse_axis(text)
        yield Range(axis.key, axis, text.partition("=")[2].strip())


def _weak(scenario: Spec, spread: float) -> Iterator[Range]:
    for role, card in scenario.cards.items():
        for name, parameter in card.parameters.items():
            if parameter.confidence in WEAK:
                along = _around(parameter, KINDS[card.kind][name], spread)
                if along is not None:
                    text = f"{along.at(0.0)} .. {along.at(1.0)}"
                    yield Range(f"system.{role}.{name}", along, text)


def _around(parameter: Parameter, limits: Limits, spread: float) -> Along | None:
    value = parameter.value
    if isinstance(value, Law):
        return LawAlong(value, spread) if value != Law(0, 0) else None
    whole = parameter.dimension == "count"
    ends = (float(value) * (1 + sign * spread) for sign in (-1, 1))
    low, high = (Fraction(f"{end:.{DIGITS}g}") for end in ends)
    low, high = max(low, Fraction(limits.least)), min(high, Fraction(limits.most))
    if whole:
        low, high = Fraction(round(low)), Fraction(round(high))
    if low == high:
        return None
    dimension = parameter.dimension if parameter.dimension in BASES else ""
    size = BASES[dimension][1] if dimension else 1
    return Between(Number(low / size, dimension), Number(high / size, dimension), whole)
