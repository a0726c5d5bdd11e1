"""Rates that no machine of this kind carries: rate x size against the limit of a port.

The limit itself is known badly: it is taken to be right within a factor of exp(`SPREAD`), one
standard deviation of a normal law of its logarithm. So the strength of a rate that is a factor F
above it is the tail of that law beyond ``ln F / SPREAD``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from dvsim.consistency.types import Column, Finding

SPREAD = 0.25


def find_above(columns: Sequence[Column], limits: Mapping[str, float]) -> Iterator[Finding]:
    """Yield the columns whose rates, times the size of a message, are above a limit.

    Args:
        columns: Those without a size are left out, and those of a group without a limit.
        limits: Bytes per second by group.
    """
    from scipy.special import log_ndtr

    looks = sum(column.message_bytes is not None and column.group in limits for column in columns)
    for column in columns:
        limit, size = limits.get(column.group), column.message_bytes
        if limit is None or size is None:
            continue
        rates = {
            name: number.value * size
            for name, number in column.statistics.items()
            if name not in {"count", "std"} and number.value * size > limit
        }
        if not rates:
            continue
        most = max(rates.values())
        shown = (f"{name} {rate / 1e9:.3g} GB/s" for name, rate in rates.items())
        yield Finding(
            "limit",
            f"{column.group} {column.name}",
            f"rates of {size} B messages are up to {most / limit:.3g} times the limit of "
            f"{limit / 1e9:.3g} GB/s",
            (f"rate x size: {', '.join(shown)}",),
            -float(log_ndtr(-math.log(most / limit) / SPREAD)) / math.log(10) - math.log10(looks),
            f"the limit is right within a factor of {math.exp(SPREAD):.2f} "
            "(one standard deviation of its logarithm)",
            "what is counted is not a message of this size, or not in the interval that is assumed",
        )
