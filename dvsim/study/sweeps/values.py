"""Values as they are typed, as numbers that can be compared and drawn, and back.

A size becomes bytes, a time seconds, a rate bytes per second; a number without a unit stays what it
is. Everything else, such as the name of a card, is a text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dvsim.scenario.quantity import NUMBER, UNITS, UnitError, read
from dvsim.scenario.units import Dimension, format_value

BASES: dict[str, tuple[str, int]] = {"size": ("B", 1), "time": ("s", 10**12), "rate": ("B/s", 1)}
"""By dimension: the unit of the number, and how many of dvsim's own base unit it has."""

PLAIN = "1"
_PLAIN = re.compile(rf"\s*{NUMBER}\s*")
LARGEST = 10**300  # number of all that are told from texts; floats hold a little more
_DIGITS = 6  # of a value that nobody typed


@dataclass(frozen=True)
class Number:
    """A number in the unit of its dimension."""

    value: Fraction  # exact
    dimension: str = ""  # ``size``, ``time``, ``rate``, or empty for a plain number

    @property
    def unit(self) -> str:
        """``B``, ``s``, ``B/s``, or ``1`` for a plain number."""
        return BASES[self.dimension][0] if self.dimension else PLAIN


class Given(str):
    """The text of a value that was given in Python, with the value."""

    value: Any

    def __new__(cls, value: Any) -> Given:  # noqa: ANN401 - as TOML has it
        """Return the text that shows a value."""
        plain = value is not None and not isinstance(value, bool)
        text = super().__new__(cls, str(value) if plain else str(value).lower())
        text.value = value
        return text


def number_of(text: str) -> Number | None:
    """Return what a text says, None where it is no single number, with or without a unit.

    >>> number_of("16 MiB")
    Number(value=Fraction(16777216, 1), dimension='size')
    >>> number_of("0.5")
    Number(value=Fraction(1, 2), dimension='')
    >>> number_of("46 us + 3 ns/B") is None
    True
    """
    stripped = text.strip().strip("\"'")
    number: Number | None = None
    if _PLAIN.fullmatch(stripped.replace("_", "")):
        number = Number(Fraction(stripped.replace("_", "").strip()))
    for dimension, (_, size) in BASES.items():
        unit = re.sub(rf"^\s*{NUMBER}\s*", "", stripped)
        if unit in UNITS[dimension]:
            try:
                number = Number(read(stripped, dimension) / size, dimension)
            except UnitError:
                return None
    return number if number is None or abs(number.value) <= LARGEST else None


def text_of(number: Number, *, whole: bool) -> str:
    """Write a number so that it can be set.

    Args:
        number: Its value is rounded: a size to whole bytes, a time to whole picoseconds, anything
            else to six digits.
        whole: Round a plain number to a whole one.

    >>> text_of(Number(Fraction(1 << 24), "size"), whole=False)
    '16 MiB'
    >>> text_of(Number(Fraction(1, 3)), whole=False), text_of(Number(Fraction(7, 3)), whole=True)
    ('0.333333', '2')
    """
    if number.dimension in ("size", "time"):
        base = round(number.value * BASES[number.dimension][1])
        dimension: Dimension = "size" if number.dimension == "size" else "time"
        return format_value(base, dimension)
    if number.dimension == "rate":
        return format_value(float(f"{float(number.value):.{_DIGITS}g}"), "rate")
    if whole or number.value.denominator == 1:
        return str(round(number.value))
    return f"{float(number.value):.{_DIGITS}g}"
