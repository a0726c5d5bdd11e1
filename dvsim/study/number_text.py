"""Amounts as people read them: digits by the interval, a unit with its prefix, nothing below 0.

The one place that writes numbers for a reader: whatever prints two of them of one run prints the
same text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dvsim.table.estimate import Change, Estimate

MISSING = "–"
ROUNDING = 1e-12
"""Intervals that are this share of a value come from rounding, and say nothing of replications."""
_STEPS = (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")
_SMALL = (1.0, ""), (1e-3, "m"), (1e-6, "u"), (1e-9, "n")
_SCALED = {"B": _STEPS, "B/s": _STEPS, "s": _SMALL}


@dataclass(frozen=True, repr=False)
class Amount:
    """A mean over replications with its unit and the ends of its 95 % interval.

    The ends are the value itself of one replication, which says nothing about the spread.

    >>> Amount(76050.2, 75474.1, 76626.3, "msg/s")
    76,050 ± 576 msg/s
    >>> float(Amount(684e6, 684e6, 684e6, "B/s"))
    684000000.0
    """

    value: float
    low: float
    high: float
    unit: str

    @property
    def half(self) -> float:
        """Half of the interval, as far as it reaches up."""
        return self.high - self.value

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return amount_text(self.value, self.half, self.unit)

    __repr__ = __str__


def amount_text(value: float, half: float = 0.0, unit: str = "", *, signed: bool = False) -> str:
    """Return a value with half of its interval and its unit; bytes and seconds get a prefix.

    A share with the unit ``%`` is written in per cent.

    >>> amount_text(76050.2, 576.3, "msg/s"), amount_text(684.2e6, 5.2e6, "B/s")
    ('76,050 ± 576 msg/s', '684.2 ± 5.2 MB/s')
    >>> amount_text(684.2e6, unit="B/s"), amount_text(2.33e-7, unit="s"), amount_text(812, unit="B")
    ('684 MB/s', '233 ns', '812 B')
    >>> amount_text(1658335.0, 1318850.1, "pieces/s"), amount_text(266.6, 1147.1, "1/s")
    ('1,660,000 ± 1,320,000 pieces/s', '270 (0 to 1,410) 1/s')
    >>> amount_text(0.69, unit="%")
    '69 %'
    """
    if unit == "%":
        return share_text(value)
    factor, prefixed = scale_of(value, unit)
    return f"{estimate_text(value / factor, half / factor, signed=signed)} {prefixed}".rstrip()


def scale_of(value: float, unit: str) -> tuple[float, str]:
    """Return what to divide by, and the unit with the prefix that says so.

    A column of a table takes that of its largest value.

    >>> scale_of(684e6, "B/s"), scale_of(684e6, "msg/s")
    ((1000000.0, 'MB/s'), (1.0, 'msg/s'))
    """
    rounded = float(f"{value:.3g}")
    for step, prefix in _SCALED.get(unit, ()):
        if rounded >= step:
            return step, f"{prefix}{unit}"
    return 1.0, unit


def estimate_text(value: float, half: float, *, signed: bool = False) -> str:
    """Return a value with half of its interval, or its ends where that reaches below 0.

    >>> estimate_text(0.66713, 0.01927), estimate_text(85.12, 0.0), estimate_text(20595.2, 310.0)
    ('0.667 ± 0.019', '85.1', '20,595 ± 310')
    """
    text, spread = estimate_texts(value, half, signed=signed)
    if not spread:
        return text
    return f"{text} ({spread})" if " to " in spread else f"{text} ± {spread}"


def estimate_texts(value: float, half: float, *, signed: bool = False) -> tuple[str, str]:
    """Return a value and half of its interval, without digits that the interval makes meaningless.

    Half of an interval has two digits, three from 100 on, and the value ends where it does. Of
    what is not `signed`, so cannot be negative, and may be 0 the second text has both ends,
    ``0 to 1,410``; of a value without interval it is empty.

    >>> estimate_texts(35644.0, 448.3), estimate_texts(18655.7, 5045.8), estimate_texts(266.6, 1147)
    (('35,644', '448'), ('18,660', '5,050'), ('270', '0 to 1,410'))
    """
    if not half > ROUNDING * abs(value):
        return number_text(value), ""
    digits = (2 if half >= 100 else 1) - math.floor(math.log10(half))
    if half > value > 0 and not signed:
        return _rounded(value, digits), f"0 to {_rounded(value + half, digits)}"
    return _rounded(value, digits), _rounded(half, digits)


def _rounded(value: float, digits: int) -> str:
    return f"{round(value, digits):,.{max(0, digits)}f}"


def share_text(value: float) -> str:
    """Return a share in per cent.

    >>> [share_text(share) for share in (0.692, 0.06, 0.00042, 0.0)]
    ['69 %', '6.0 %', '0.042 %', '0 %']
    """
    percent = 100 * value
    form = ".0f" if percent >= 10 or percent == 0 else ".1f" if percent >= 1 else ".2g"
    return f"{percent:{form}} %"


def number_text(value: float | None) -> str:
    """Return a number with the digits that a reader can use.

    >>> [number_text(v) for v in (24367.1122, 0.0, 0.9671, 36.984, None)]
    ['24,367', '0', '0.967', '37', '–']
    """
    if value is None or math.isnan(value):
        return MISSING
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    if size >= 100:
        text = f"{value:,.0f}"
    elif size >= 1e-3:
        text = f"{value:.3g}"
    else:
        text = f"{value:.2e}"
    return text.replace("-", "−") if value < 0 else text


def fixed_text(value: float, places: int) -> str:
    """Return a number with so many places; a dash where there is none."""
    return "-" if math.isnan(value) else f"{value:,.{places}f}"


def four_digits(value: float | None) -> str:
    """Return a number with about four digits, as claims have it.

    >>> [four_digits(x) for x in (43404.0, 1.2751, 0.95, 32.0, 0.0)]
    ['43,404', '1.275', '0.95', '32', '0']
    """
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def log_text(error: float | None) -> str:
    """Return a logarithmic error for people: ``+0.120``, ``-`` where there is none."""
    return "-" if error is None or math.isnan(error) else f"{error:+.3f}"


def ratio_text(value: float | None) -> str:
    """Write a ratio with a times sign.

    >>> [ratio_text(v) for v in (0.3, 1.0, 12.94, 3870, None)]
    ['0.300×', '1.00×', '12.9×', '3,870×', '–']
    """
    if value is None or not math.isfinite(value):
        return MISSING
    if value >= 100:
        return f"{value:,.0f}×"
    return f"{value:#.3g}×" if value >= 10 or value < 0.995 else f"{value:.2f}×"


def times_text(times: Estimate | Change) -> str:
    """Write a ratio with half of its interval, in as many digits as that has.

    >>> from dvsim.table.estimate import Estimate
    >>> times_text(Estimate.around(3.968, 0.021)), times_text(Estimate.around(1.0, 0.0))
    ('x 3.97 ± 0.02', 'x 1.00')
    """
    decimals = 2 if times.half >= 0.005 or not times.half else 3
    spread = f" ± {times.half:.{decimals}f}" if times.half >= 0.0005 else ""
    return f"x {times.value:.{decimals if spread else 2}f}{spread}"


def counted(least: int, most: int | None = None) -> str:
    """Return how many replications there are: ``1 replication``, ``3 to 8 replications``."""
    if most in (None, least):
        return f"{least} replication{'s' * (least != 1)}"
    return f"{least} to {most} replications"


def joined(parts: Sequence[str], word: str = "and") -> str:
    """Return texts as a list in a sentence.

    >>> joined(["a", "b", "c"])
    'a, b and c'
    """
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {word} {parts[-1]}"
