"""What is examined and what is found, as frozen data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from dvsim.sheets.headings import quantiles_of
from dvsim.sheets.sheet import Printed

Floats = npt.NDArray[np.float64]

REPORTED = 3.0
"""A finding is reported from one accident in 10**3 data sets on."""

GOOD, OVERWHELMING = 4.0, 8.0

SINGLE = 2.0**-24
"""Half of the last place of a 32-bit float, relative: samples are often kept in those."""


@dataclass(frozen=True)
class Column:
    """One column of statistics, or of raw samples.

    Args:
        group: What was measured in the same way: a transport; for raw samples the file.
        name: As the source calls it.
        message_bytes: Size of a message; None if unknown.
        statistics: By name: ``count``, ``mean``, ``std``, ``min``, ``25%`` …, ``max``; empty for
            raw samples.
        samples: Distinct non-zero values of raw samples, at most `read.KEPT` of them.
        decimals: Digits after the point to which single values are given; see `read`.
    """

    group: str
    name: str
    message_bytes: int | None
    statistics: Mapping[str, Printed]
    samples: tuple[Printed, ...] = ()
    decimals: int = 0

    @property
    def quantiles(self) -> dict[float, Printed]:
        """Order statistics by share, ascending: 0 for the minimum, 1 for the maximum."""
        return quantiles_of(self.statistics)

    @property
    def count(self) -> int | None:
        """Number of samples, if it is printed."""
        number = self.statistics.get("count")
        return None if number is None else round(number.value)

    @property
    def kind(self) -> int | str:
        """What columns of counts must have in common to share a factor: size, else they are one."""
        return self.name if self.message_bytes is None else self.message_bytes

    def single_values(self) -> list[Printed]:
        """Return what one sample can have been: order statistics or samples, not zero."""
        numbers = self.samples or tuple(self.quantiles.values())
        return [number for number in numbers if number.value > 0]

    @cached_property
    def digits(self) -> int:
        """The most significant digits that a number of the column has, but its count."""
        numbers = [number for name, number in self.statistics.items() if name != "count"]
        return max((number.digits for number in (*numbers, *self.samples)), default=1)

    def place(self, value: float) -> float:
        """Return the last place of a value: of its decimals, or of its significant digits.

        A column that is printed with three digits has 12,300 and 12,400, which are multiples of
        100 for that reason only.
        """
        first = math.floor(math.log10(abs(value))) if value else -math.inf
        return float(10.0 ** max(-self.decimals, first - self.digits + 1))


@dataclass(frozen=True)
class Line:
    """One row of a table that has several numbers side by side.

    Args:
        label: How a text names it, such as ``256 mean``.
        message_bytes: Size of a message; None if there is no such column.
        statistic: What the numbers are; empty if there is no such column.
        cells: The numbers by heading.
    """

    label: str
    message_bytes: int | None
    statistic: str
    cells: Mapping[str, Printed]


@dataclass(frozen=True)
class Data:
    """All that is examined together.

    Args:
        columns: Columns of statistics or samples.
        tables: Tables by file name, row by row.
        numbers: How many statistics, cells and samples were read.
    """

    columns: tuple[Column, ...]
    tables: Mapping[str, tuple[Line, ...]]
    numbers: int


@dataclass(frozen=True)
class Workload:
    """What was sent for one size: messages per iteration over all receivers, and iterations."""

    messages: int
    iterations: int


@dataclass(frozen=True)
class Finding:
    """One thing that the data say.

    Attributes:
        kind: Which test: ``grid``, ``pieces``, ``batches``, ``factor``, ``limit``, ``order``,
            ``mean``, ``max``, ``std``, ``average``, ``relation``, ``repeated``, ``copied`` or
            ``single``.
        where: What it is about: a transport, a column, a row.
        what: The finding, one sentence.
        evidence: The numbers it rests on.
        log10_odds: -log10 of the chance that the test says so by accident, all its looks counted;
            infinite for a contradiction in arithmetic.
        null: The model under which that is the chance.
        meaning: What it would mean.
    """

    kind: str
    where: str
    what: str
    evidence: tuple[str, ...]
    log10_odds: float
    null: str
    meaning: str

    @property
    def strength(self) -> str:
        """`log10_odds` in a word: weak, good, overwhelming, or certain."""
        if math.isinf(self.log10_odds):
            return "certain"
        if self.log10_odds >= OVERWHELMING:
            return "overwhelming"
        return "good" if self.log10_odds >= GOOD else "weak"


@dataclass(frozen=True)
class Examination:
    """What was looked at, and what it says.

    Attributes:
        findings: The strongest first.
        columns, numbers: How many columns of statistics or samples were read, and how many numbers
            in all.
        checks: What was looked for.
        left_out: What was not looked for, each with the reason.
    """

    findings: tuple[Finding, ...]
    columns: int
    numbers: int
    checks: tuple[str, ...]
    left_out: tuple[str, ...]
