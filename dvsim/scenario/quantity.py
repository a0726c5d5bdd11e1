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
        point = re.sub(r"^(\s*[0-9]+),([0-9]{1,2}(?![0-9]))", r"\1.\2", text)
        known = point != text and _QUANTITY.fullmatch(point)
        hint = point.strip() if known and known[2] in UNITS[dimension] else None
        said = f"{show(text)} is not a {name}"
        raise UnitError(said if hint else f"{said}; write for example '{example}'", hint)
    number, unit = match.groups()
    if unit not in UNITS[dimension]:
        fault = f"{show(unit)} is not a" if unit else f"{show(text)} has no"
        fault += f" unit of {name}"
        hint = _meant(number, unit, dimension) if unit else None
        if hint:
            raise UnitError(fault, hint)
        raise UnitError(f"{fault}; write for example '{example}'")
    if number.lstrip("+-") in ("nan", "inf"):
        raise UnitError(f"must be finite, not {show(text)}")
    value = Fraction(number) * UNITS[dimension][unit]
    if value < 0:
        raise UnitError(f"must not be negative, is {show(text)}")
    return value


def nearest_unit(unit: str, dimension: str) -> str | None:
    """Return the unit of this dimension that was probably meant, if one is near.

    A prefix alone is of bytes, or of seconds; what has no capital B, and is not called bits, is
    meant in bytes, too.

    >>> [nearest_unit(*pair) for pair in (("nsec", "time"), ("Gbps", "rate"), ("GHz", "rate"))]
    ['ns', 'Gb/s', 'GB/s']
    >>> nearest_unit("M", "size"), nearest_unit("mb", "size"), nearest_unit("m", "time")
    ('MiB', 'MB', 'ms')
    """
    units = list(UNITS[dimension])
    spelled = unit.strip(".")
    for long, short in _SPELLED.items():
        spelled = re.sub(long, short, spelled, flags=re.IGNORECASE)
    if dimension == "rate":
        spelled = re.sub(r"/?ps$", "/s", spelled)
        spelled += "" if spelled.endswith("/s") else "/s"
    elif dimension == "size":
        spelled = re.sub(r"(/|p)s$", "", spelled)
    elif dimension == "slope":
        spelled += "" if spelled.endswith("/B") else "/B"
    end = {"time": "s", "size": "B", "rate": "B/s", "slope": "s/B"}[dimension]
    prefix = spelled.removesuffix("/s") if dimension == "rate" else spelled
    prefix = prefix.removesuffix("/B") if dimension == "slope" else prefix
    if len(prefix) <= 2 and (bare := _prefixed(prefix, end, dimension)) in units:
        return bare
    if spelled in units:
        return spelled
    folded = [known for known in units if known.lower() == spelled.lower()]
    of_bits = unit.lower().endswith("bps") and "Bps" not in unit
    folded.sort(key=lambda known: ("b" in known) != of_bits)  # else rather bytes than bits
    same_prefix = [known for known in units if known in (unit[:1] + "B", unit[:1] + "B/s")]
    bytes_ = [known for known in units if "b" not in known]
    return next(iter((*folded, *same_prefix)), None) or nearest(
        spelled, bytes_ if "b" not in spelled else units
    )


_SPELLED = {
    "kilo": "k",
    "mega": "M",
    "giga": "G",
    "tera": "T",
    "kibi": "Ki",
    "mebi": "Mi",
    "gibi": "Gi",
    "micro-?": "u",
    "milli-?": "m",
    "nano-?": "n",
    "pico-?": "p",
    r"per ?(?=s|b)|p(?=sec)": "/",
    r"(?<![a-z])sec(onds?|s)?|sec(onds?|s)?$|seconds?": "s",
    "bytes?": "B",
    "bits?": "bit",
}
_OTHER_TIMES = {"m(in(ute)?s?)?": 60, "h((ou)?rs?|ours?)?": 3600, "d(ays?)?": 86400}


def _prefixed(prefix: str, end: str, dimension: str) -> str:
    if dimension in ("time", "slope"):
        return prefix.lower().replace("μ", "µ") + end
    letter = prefix[:1].upper()
    binary = dimension == "size" or prefix[1:].lower() == "i"
    return letter + ("i" if binary and prefix[1:].lower() in ("", "i") else prefix[1:]) + end


def _meant(number: str, unit: str, dimension: str) -> str | None:
    if dimension in ("size", "rate") and re.match("ti", unit, re.IGNORECASE):  # no unit here
        unit, number = f"Gi{unit[2:]}", f"{float(number) * 1024:.15g}"
        if unit in UNITS[dimension]:
            return f"{number} {unit}"
    for word, seconds in _OTHER_TIMES.items() if dimension == "time" and unit not in "mM" else ():
        if re.fullmatch(word, unit, re.IGNORECASE):
            return f"{float(number) * seconds:.15g} s"
    near = nearest_unit(unit, dimension)
    return f"{number} {near}" if near else None


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
