"""A number and its unit, read exactly: the closed table of units and its error messages.

``B`` is a byte, ``b`` and ``bit`` a bit; ``k`` = ``K`` = 1000, ``M``, ``G``, ``T`` follow in
thousands; ``Ki``, ``Mi``, ``Gi`` are powers of 1024. A number without a unit is refused, so is a
unit of another dimension: "4.4 GHz" is no bandwidth.
"""

from __future__ import annotations

import re
from fractions import Fraction

from dvsim.errors import DvsimError, nearest

_PREFIXES = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_PREFIXES |= {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
_BASES = {"B": Fraction(1), "b": Fraction(1, 8), "bit": Fraction(1, 8)}
_SECONDS = {"ps": 1, "ns": 10**3, "us": 10**6, "µs": 10**6, "μs": 10**6, "ms": 10**9, "s": 10**12}

_SIZES = {p + b: f * x for p, x in _PREFIXES.items() for b, f in _BASES.items()}
UNITS: dict[str, dict[str, Fraction]] = {
    "size": _SIZES,  # in bytes
    "time": {unit: Fraction(x) for unit, x in _SECONDS.items()},  # in picoseconds
    "rate": {f"{unit}/s": x for unit, x in _SIZES.items()},  # in bytes per second
    # in femtoseconds per byte: whole picoseconds would be too coarse, 0.1 ns/B is 10 GB/s
    "slope": {"fs/B": Fraction(1)} | {f"{u}/B": Fraction(x * 1000) for u, x in _SECONDS.items()},
}
EXAMPLES = {"size": "128 KiB", "time": "46 us", "rate": "4.4 GB/s", "slope": "3.3 ns/B"}
NAMES = {"slope": "time per byte"}
BASE_UNITS = {"size": "bytes", "time": "picoseconds", "slope": "femtoseconds per byte"}

# At most three digits of exponent: "1e999999999 s" must not become a number of that many digits.
# Nor more digits than can be of use: Python refuses to read thousands of them.
NUMBER = r"[+-]?(?:[0-9]{1,400}\.?[0-9]{0,400}|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,3})?"
_QUANTITY = re.compile(rf"\s*({NUMBER}|[+-]?(?:nan|inf)(?![a-z]))\s*([^\W\d]\S*)?\s*")
_LARGEST = 2**63 - 1  # what a 64-bit column of a result can hold


class UnitError(DvsimError, ValueError):
    """A text that is no quantity of the wanted dimension; `hint` is the nearest valid text."""

    exit_code = 2

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """Return the message with its hint."""
        return self.message + (f"; did you mean '{self.hint}'?" if self.hint else "")


def read(text: object, dimension: str) -> Fraction:
    """Read a number and its unit exactly, in the base unit of the dimension.

    Args:
        text: Such as ``"4.4 GB/s"``; anything but text is refused.
        dimension: A key of `UNITS`.

    Raises:
        UnitError: Without a unit, with one of another dimension, negative or not finite.
    """
    name, example = NAMES.get(dimension, dimension), EXAMPLES[dimension]
    if not isinstance(text, str):
        if isinstance(text, int | float) and not isinstance(text, bool):
            raise UnitError(f"{show(text)} has no unit of {name}; write for example '{example}'")
        raise UnitError(f"must be a {name} such as '{example}', not {show(text)}")
    match = _QUANTITY.fullmatch(text)
    if not match:
        raise UnitError(f"{show(text)} is not a {name}; write for example '{example}'")
    number, unit = match.groups()
    if unit not in UNITS[dimension]:
        fault = f"{show(unit)} is not a" if unit else f"{show(text)} has no"
        fault += f" unit of {name}"
        near = nearest_unit(unit, dimension) if unit else None
        if near:
            raise UnitError(fault, f"{number} {near}")
        raise UnitError(f"{fault}; write for example '{example}'")
    if number.lstrip("+-") in ("nan", "inf"):
        raise UnitError(f"must be finite, not {show(text)}")
    value = Fraction(number) * UNITS[dimension][unit]
    if value < 0:
        raise UnitError(f"must not be negative, is {show(text)}")
    return value


def nearest_unit(unit: str, dimension: str) -> str | None:
    """Return the unit of this dimension that was probably meant, if one is near.

    >>> [nearest_unit(*pair) for pair in (("nsec", "time"), ("Gbps", "rate"), ("GHz", "rate"))]
    ['ns', 'Gb/s', 'GB/s']
    """
    units = list(UNITS[dimension])
    spelled = re.sub(r"sec(onds?)?", "s", re.sub(r"[Bb]ytes?", "B", unit))
    if dimension == "rate":
        spelled = re.sub(r"ps$", "/s", spelled)
    folded = [known for known in units if known.lower() == spelled.lower()]
    close = spelled if spelled in units else next(iter(folded), None) or nearest(spelled, units)
    same_prefix = (known for known in units if known in (unit[:1] + "B", unit[:1] + "B/s"))
    return close or next(same_prefix, None)


def whole(value: Fraction, text: object, dimension: str) -> int:
    """Return a value that must be whole in its base unit and fit into 64 bits.

    Raises:
        UnitError: If it is or does not.
    """
    if value.denominator != 1:
        raise UnitError(f"{show(text)} is not a whole number of {BASE_UNITS[dimension]}")
    if value > _LARGEST:
        raise UnitError(f"{show(text)} is too large")
    return value.numerator


def nearest_float(value: Fraction, text: object) -> float:
    """Return the nearest float.

    Raises:
        UnitError: If there is none.
    """
    try:
        return float(value)
    except OverflowError:
        raise UnitError(f"{show(text)} is too large") from None


def show(value: object) -> str:
    """Return a value of a TOML file for use in a message: short, on one line."""
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and abs(value) > _LARGEST:
        return "a number of more than 63 bits"
    if not isinstance(value, str):
        return str(value)
    return "'" + (value if len(value) <= 60 else value[:59] + "…").replace("\n", "\\n") + "'"
