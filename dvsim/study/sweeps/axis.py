"""``KEY=VALUES``: the values of one key.

=========================  ===================================================
``a,b,c``                  these values; text or numbers, with units
``lo..hi*factor``          from `lo` up to `hi`, each `factor` times the last
``lo..hi+step``            from `lo` up to `hi`, in steps
``lo..hi/n``               `n` values evenly over the logarithm, ends included
``lo..hi``                 all between, for samples and sensitivities
=========================  ===================================================

Lists and ranges mix: ``8..128*2,1 KiB``. A text with a comma in it stands in quotes or brackets.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import exp, log, log1p

from dvsim.errors import Advice, Argument, ScenarioError
from dvsim.scenario.override import read_python
from dvsim.study.sweeps.values import Given, Number, number_of, text_of

MOST = 100_000  # values of one range
BITS = 200  # of a value within a range
DIGITS = 4  # of a value between two ends
SAMPLE = Advice("take a sample with ", Argument("sample"), " sobol:64")
HELP = "write KEY=a,b,c or KEY=lo..hi*factor, lo..hi+step, lo..hi/n"
_RANGE = re.compile(r"(?P<low>.+?)\.\.(?P<high>.+?)(?:(?P<sign>[*+/])(?P<step>[^*+/]+))?")
_RATE_RANGE = re.compile(r"(?P<low>.+?/s)\s*\.\.(?P<high>.+?/s)\s*(?:(?P<sign>[*+/])(?P<step>.+))?")


@dataclass(frozen=True)
class Between:
    """All values from one number to another, ends included; both are of one dimension."""

    low: Number
    high: Number
    whole: bool

    def at(self, share: float) -> str:
        """Return the value at a share of the way, over the logarithm where both are positive."""
        low, high = float(self.low.value), float(self.high.value)
        value = exp(log(low) + share * (log(high) - log(low))) if low > 0 else 0.0
        value = value if low > 0 else low + share * (high - low)
        near = Fraction(f"{value:.{DIGITS}g}")  # nobody typed it: it should be easy to read
        near = min(max(near, self.low.value), self.high.value)
        return text_of(Number(near, self.low.dimension), whole=self.whole)


@dataclass(frozen=True)
class Axis:
    """A key and its values as they will be set; `between` where it is a range without steps."""

    key: str
    values: tuple[str, ...]
    between: Between | None = None

    def at(self, share: float) -> str:
        """Return the value at a share from 0 to below 1 of all there is."""
        if self.between is not None:
            return self.between.at(share)
        return self.values[int(share * len(self.values))]


def parse_axis(text: str) -> Axis:
    """Read ``KEY=VALUES``.

    >>> parse_axis("workload.message_bytes=8..131072*16").values
    ('8', '128', '2048', '32768')
    >>> parse_axis("system.card.sram=1 MiB..4 MiB*2,1 GiB").values
    ('1 MiB', '2 MiB', '4 MiB', '1 GiB')
    """
    key, equals, given = text.partition("=")
    key = key.strip()
    if not equals or not key or not given.strip():
        raise _wrong(text, HELP)
    parts = [part.strip() for part in _split(given)]
    if len(parts) == 1 and (between := _between(key, parts[0])):
        return Axis(key, (), between)
    return _axis(key, (value for part in parts for value in _values(key, part)))


def given_axis(key: str, values: Iterable[object]) -> Axis:
    """Return the axis of values of Python, which are used as they are."""
    try:
        return _axis(key, [Given(read_python(value)) for value in values])
    except TypeError as error:
        raise _wrong(key, str(error)) from None


def _axis(key: str, given: Iterable[str]) -> Axis:
    values = tuple(given)
    if not values:
        raise _wrong(key, HELP)
    twice = next((value for value, count in Counter(values).items() if count > 1), None)
    if twice is not None:
        raise _wrong(key, f"'{twice}' is there twice")
    return Axis(key, values)


def _split(text: str) -> Iterator[str]:
    depth, quote, start = 0, "", 0
    for position, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign in "[{(":
            depth += 1
        elif sign in "]})":
            depth -= 1
        elif sign == "," and depth == 0:
            yield text[start:position]
            start = position + 1
    yield text[start:]


def _match(part: str) -> re.Match[str] | None:
    if part[:1] in "\"'[{":
        return None
    return _RATE_RANGE.fullmatch(part) or _RANGE.fullmatch(part)


def _between(key: str, part: str) -> Between | None:
    match = _match(part)
    if match is None or match["sign"]:
        return None
    low, high = _ends(key, match)
    return Between(low, high, low.value.denominator == 1 and high.value.denominator == 1)


def _values(key: str, part: str) -> Iterator[str]:
    if not part:
        raise _wrong(key, f"a value is empty; {HELP}")
    match = _match(part)
    if match is None:
        yield part
        return
    low, high = _ends(key, match)
    sign, text = match["sign"], (match["step"] or "").strip()
    if not sign:
        fault = f"'{part}' does not say how far apart its values are; write {part}*2, or "
        raise _wrong(key, Advice(fault, SAMPLE))
    step = number_of(text)
    if step is None:
        raise _wrong(key, f"'{text}' is no number; {HELP}")
    whole = low.value.denominator == 1 and (sign != "+" or step.value.denominator == 1)
    if sign == "/":
        yield from _logarithmic(key, part, Between(low, high, whole), step)
        return
    if sign == "*" and (step.dimension or step.value <= 1 or low.value <= 0):
        raise _wrong(key, f"'{part}': a factor is a plain number above 1, from a value above 0")
    if sign == "+" and (step.dimension != low.dimension or step.value <= 0):
        raise _wrong(key, f"'{part}': a step is above 0 and in the unit of its ends")
    if _steps(low.value, high.value, step.value, sign) > MOST:
        raise _wrong(key, f"'{part}' has more than {MOST:,} values")
    value = low.value
    while value <= high.value:
        yield text_of(Number(value, low.dimension), whole=whole and value.denominator == 1)
        value = value * step.value if sign == "*" else value + step.value
        value = _shortened(value)


def _shortened(value: Fraction) -> Fraction:
    above, below = value.numerator.bit_length(), value.denominator.bit_length()
    if min(above, below) <= BITS:
        return value
    scale = 1 << max(0, BITS + below - above)
    return Fraction(round(value * scale), scale)


def _steps(low: Fraction, high: Fraction, step: Fraction, sign: str) -> float:
    if sign == "+":
        return float((high - low) / step)
    return (_log(high) - _log(low)) / _log(step)


def _log(number: Fraction) -> float:
    if abs(number - 1) < Fraction(1, 2):
        return log1p(number - 1)
    return log(number.numerator) - log(number.denominator)


def _logarithmic(key: str, part: str, between: Between, count: Number) -> Iterator[str]:
    number = int(count.value)
    if count.dimension or count.value != number or not 2 <= number <= MOST:
        raise _wrong(key, f"'{part}': '/' takes how many values there are, 2 at least")
    if between.low.value <= 0:
        raise _wrong(key, f"'{part}': '/' goes over the logarithm, from a value above 0")
    steps = (between.at(step / (number - 1)) for step in range(number))
    yield from dict.fromkeys(steps)  # whole numbers near each other may meet


def _ends(key: str, match: re.Match[str]) -> tuple[Number, Number]:
    low, high = (number_of(match[name]) for name in ("low", "high"))
    if low is not None and high is not None and high.dimension and not low.dimension:
        unit = re.sub(r"^[^A-Za-z%]*", "", match["high"].strip())  # that of both: 32..128 MiB
        low = number_of(f"{match['low'].strip()} {unit}")
    for name, end in (("low", low), ("high", high)):
        if end is None:
            raise _wrong(
                key, f"'{match[name].strip()}' is too large, or no number with a unit that is known"
            )
    assert low is not None
    assert high is not None
    if low.dimension != high.dimension:
        raise _wrong(key, f"'{match[0]}': its ends are of two kinds, {low.unit} and {high.unit}")
    if low.value >= high.value:
        raise _wrong(key, f"'{match[0]}' goes down; write the smaller end first")
    return low, high


def _wrong(key: str, message: str) -> ScenarioError:
    return ScenarioError.at(Argument("vary"), message, key)
