"""What a value of a scenario or card can be, and how it is read and written.

====== ============================ ======================== =====================
name   in memory                    read from                example
====== ============================ ======================== =====================
size   int, bytes                   text                     ``"2 MiB"``
time   int, picoseconds             text                     ``"5.001 ms"``
rate   float, bytes per second      text                     ``"56 Gb/s"``
count  int                          a whole number           ``20_000_000``
ratio  float, >= 0                  a number                 ``0.15``
law    `Law`                        text or a table          ``"46 us + 3.3 ns/B"``
word   str                          text                     ``"quorum"``
====== ============================ ======================== =====================

`parse` and `format_value` are inverse: ``parse(format_value(x, d), d) == x`` for every value.
The units themselves are in `dvsim.scenario.quantity`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from numbers import Real
from typing import Literal, get_args, overload

from dvsim.errors import nearest
from dvsim.scenario.quantity import NUMBER, UNITS, UnitError, nearest_float, read, show, whole

__all__ = [
    "DIMENSIONS",
    "Dimension",
    "Law",
    "UnitError",
    "format_value",
    "is_number",
    "parse",
    "value_text",
]

Dimension = Literal["size", "time", "rate", "count", "ratio", "law", "word"]
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)


@dataclass(frozen=True)
class Law:
    """An affine cost: so much per message and so much per byte of it.

    >>> Law(46_000_000, 3_300_000).ps(8)
    46026400
    """

    fixed_ps: int  # picoseconds per message, >= 0
    per_byte_fs: int  # femtoseconds per byte, >= 0

    def ps(self, message_bytes: int) -> int:
        """Return the cost of a message in picoseconds, halves rounded up."""
        return self.fixed_ps + (self.per_byte_fs * message_bytes + 500) // 1000


@overload
def parse(text: object, dimension: Literal["size", "time", "count"]) -> int: ...
@overload
def parse(text: object, dimension: Literal["rate", "ratio"]) -> float: ...
@overload
def parse(text: object, dimension: Literal["law"]) -> Law: ...
@overload
def parse(text: object, dimension: Literal["word"]) -> str: ...
@overload
def parse(text: object, dimension: Dimension) -> int | float | Law | str: ...
def parse(text: object, dimension: Dimension) -> int | float | Law | str:
    """Read a value.

    Args:
        text: What stood in the file: text with a unit; a number (or its digits) for counts and
            ratios; for a law also a table ``{fixed = "46 us", per_byte = "3.3 ns/B"}``, a missing
            part is 0.
        dimension: What it must be.

    Returns:
        int, float, Law or str: In the units of the table above; never negative, never infinite.

    Raises:
        UnitError: If it is anything else.

    >>> parse("5.001 ms", "time"), parse("2 MiB", "size"), parse("56 Gb/s", "rate")
    (5001000000, 2097152, 7000000000.0)
    >>> parse("4.4 GHz", "rate")
    Traceback (most recent call last):
    dvsim.scenario.quantity.UnitError: 'GHz' is not a unit of rate; did you mean '4.4 GB/s'?
    """
    if dimension == "law":
        return _law(text)
    if dimension == "word":
        if not isinstance(text, str):
            raise UnitError(f"must be text, not {show(text)}")
        return text
    if dimension in ("count", "ratio"):
        return _plain(text, dimension)
    value = read(text, dimension)
    return nearest_float(value, text) if dimension == "rate" else whole(value, text, dimension)


def _plain(given: object, dimension: str) -> int | float:
    number = given
    if isinstance(given, str) and re.fullmatch(NUMBER, given) and len(given) <= 400:
        number = int(given) if given.isdigit() else float(given)
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise UnitError(f"must be a plain number, not {show(given)}")
    if isinstance(number, float) and not math.isfinite(number):
        raise UnitError(f"must be finite, not {show(given)}")
    if number < 0:
        raise UnitError(f"must not be negative, is {show(given)}")
    if dimension == "ratio":
        return nearest_float(Fraction(number), given)
    if isinstance(number, float) and not number.is_integer():
        raise UnitError(f"must be a whole number, not {show(given)}")
    return whole(Fraction(number), given, dimension)


def _law(text: object) -> Law:
    if isinstance(text, dict):
        for key in text:
            if key not in ("fixed", "per_byte"):
                near = nearest(str(key), ["fixed", "per_byte"])
                raise UnitError(f"unknown key '{key}' in a law", near)
        fixed, slope = text.get("fixed", "0 s"), text.get("per_byte", "0 ns/B")
        return Law(
            whole(read(fixed, "time"), fixed, "time"),
            whole(read(slope, "slope"), slope, "slope"),
        )
    if not isinstance(text, str):
        read(text, "time")  # refuses all but text, and says why
    parts: dict[str, object] = {}
    for term in re.split(r"(?<!\d[eE])\+", str(text)):  # the sign of an exponent is no sum
        key = "per_byte" if "/" in term else "fixed"
        if key in parts:
            raise UnitError(f"{show(text)} is not a law; write for example '46 us + 3.3 ns/B'")
        parts[key] = term.strip()
    return _law(parts)


def format_value(value: float | Law | str, dimension: Dimension) -> str:
    """Write a value so that `parse` gives it back exactly, in the unit that needs fewest digits.

    Args:
        value: In the units of the table above.
        dimension: What it is.

    >>> format_value(5_001_000_000, "time"), format_value(131_072, "size")
    ('5.001 ms', '128 KiB')
    >>> format_value(Law(46_000_000, 3_300_000), "law")
    '46 us + 3.3 ns/B'
    """
    if isinstance(value, Law):
        slope = _shortest(value.per_byte_fs, "slope") if value.per_byte_fs else ""
        fixed = _shortest(value.fixed_ps, "time") if value.fixed_ps or not slope else ""
        return " + ".join(filter(None, (fixed, slope)))
    if isinstance(value, str):
        return value
    if dimension == "count":
        return str(int(value))
    if dimension == "ratio":
        return repr(float(value))
    return _shortest(float(value) if dimension == "rate" else int(value), dimension)


_BASE = {"size": "B", "time": "ps", "rate": "B/s", "slope": "fs/B"}
_PLAIN = re.compile("[KMGT]?i?B|[KMGT]?B/s|[a-z]*s(/B)?")  # one spelling of each: no bits, k or µ


@lru_cache(maxsize=4096, typed=True)  # the cards of a campaign or sweep are written again and again
def _shortest(value: float, dimension: str) -> str:
    if not value:
        return {"size": "0 B", "time": "0 s", "rate": "0 B/s", "slope": "0 ns/B"}[dimension]
    best = f"{value!r} {_BASE[dimension]}"
    units = [(size, unit) for unit, size in UNITS[dimension].items() if _PLAIN.fullmatch(unit)]
    for size, unit in sorted(units):
        text = _decimal(Fraction(value) / size if dimension != "rate" else value / float(size))
        if text and Fraction(text) >= 1 and _digits(text) <= _digits(best.split(maxsplit=1)[0]):
            exact = read(f"{text} {unit}", dimension)
            if (float(exact) if dimension == "rate" else exact) == value:
                best = f"{text} {unit}"
    return best


def _decimal(value: float | Fraction) -> str | None:
    if isinstance(value, float):
        text = repr(value).removesuffix(".0")
        return None if "e" in text else text
    thousandths = value * 1000  # three decimals are enough for people, and always exact here
    if thousandths.denominator != 1:
        return None
    units, rest = divmod(thousandths.numerator, 1000)
    return f"{units}.{rest:03}".rstrip("0").rstrip(".")


def _digits(text: str) -> int:
    return len(text.replace(".", ""))


_OF_UNIT: Mapping[str, tuple[Dimension, float]] = {
    "B": ("size", 1),
    "s": ("time", 1e12),
    "B/s": ("rate", 1),
}


def value_text(value: object, unit: str = "") -> str:
    """Write the value of a key as people do, in its unit if it has one.

    >>> value_text(0.30), value_text(1048576.0), value_text("brc"), value_text(None)
    ('0.3', '1,048,576', 'brc', 'none')
    >>> value_text(2048.0, "B"), value_text(5e-3, "s")
    ('2 KiB', '5 ms')
    """
    if value in (None, "") or value != value:  # noqa: PLR0124 - not a number
        return "none"
    if not is_number(value):
        return str(value)
    number = float(value)  # type: ignore[arg-type]
    if unit in _OF_UNIT:
        dimension, size = _OF_UNIT[unit]
        return format_value(number if unit == "B/s" else round(number * size), dimension)
    return f"{int(number):,}" if number.is_integer() else f"{number:g}"


def is_number(value: object) -> bool:
    """Whether a value is a number; a truth is none, and nor is what is not a number."""
    return isinstance(value, Real) and not isinstance(value, bool) and value == value  # noqa: PLR0124
