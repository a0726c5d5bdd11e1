"""Mean rates in the two readings: what the paper prints, and what reaches the broker as messages.

A published Data Vortex rate counts pieces of a message in the poll intervals of one receiver; a
published TCP rate counts messages in the batches of the whole system. The page shows them side by
side as the paper does, and then again counted alike: whole messages over all receivers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dvsim.report.prepare import Entry, Group, size_text
from dvsim.report.table import Cell, Table, ratio, times
from dvsim.study.amounts import number_text


@dataclass(frozen=True)
class Rates:
    """Mean rates of one run, in counts per second; None where nothing was sampled.

    Attributes
    ----------
    printed : float or None
        Mean over the run's columns of the mean that the paper prints: pieces/s on the Data Vortex.
    active : float or None
        The same over the samples that are not empty.
    messages : float or None
        The rate of the run: whole messages per second over all receivers.
    """

    printed: float | None
    active: float | None
    messages: float | None


def rates_of(entry: Entry) -> Rates:
    """Average the columns of a run in every reading."""
    printed: list[float] = []
    active: list[float] = []
    for name in entry.run.scenario.probe.columns:
        mean = entry.value(name, entry.reading, "mean")
        empty = entry.value(name, entry.reading, "empty")
        if mean is not None:
            printed.append(mean)
            if empty is not None and empty < 1:
                active.append(mean / (1 - empty))
    return Rates(
        printed=average(printed),
        active=average(active),
        messages=average(list(entry.run.rates.values())),
    )


def average(values: Sequence[float]) -> float | None:
    """Give the mean, or None of nothing."""
    return sum(values) / len(values) if values else None


@dataclass(frozen=True)
class Contest:
    """Data Vortex against TCP at one message size as the paper prints them.

    Like for like: `dvsim.study.transports`.
    """

    message_bytes: int
    vortex: Rates
    tcp: Rates

    @property
    def printed(self) -> float | None:
        """Ratio of the rates as the paper prints them."""
        return ratio(self.vortex.printed, self.tcp.printed)

    @property
    def active(self) -> float | None:
        """The same over samples that are not empty."""
        return ratio(self.vortex.active, self.tcp.active)


def contests_as_printed(groups: Sequence[Group]) -> list[Contest]:
    """Give each message size that has runs of both transports; the first of each counts.

    A model and a measurement are no contest: `dvsim compare` is for those.
    """
    found = []
    for group in groups:
        vortex = next((entry for entry in group.entries if entry.is_vortex), None)
        tcp = next((entry for entry in group.entries if not entry.is_vortex), None)
        if vortex is not None and tcp is not None and vortex.made == tcp.made:
            found.append(Contest(group.message_bytes, rates_of(vortex), rates_of(tcp)))
    return found


def rates_table(groups: Sequence[Group]) -> Table:
    """Tabulate the mean rates of every run, in every reading, and their ratio to TCP."""
    rows = []
    compared = bool(contests_as_printed(groups))
    for group in groups:
        base = next((rates_of(entry) for entry in group.entries if not entry.is_vortex), None)
        for entry in group.entries:
            rates = rates_of(entry)
            row = [Cell(size_text(group.message_bytes), raw=group.message_bytes), Cell(entry.label)]
            for reading, unit in (
                ("printed", f"{entry.reading}/s"),
                ("active", f"{entry.reading}/s"),
                ("messages", "messages/s"),
            ):
                value: float | None = getattr(rates, reading)
                row.append(rate_cell(value, unit))
                if compared:
                    against = (
                        None if base is None or not entry.is_vortex else getattr(base, reading)
                    )
                    row.append(times(ratio(value, against)))
            rows.append(row)
    step = ["× TCP"] if compared else []
    return Table(
        name="mean-rates",
        caption=(
            "Mean rates. As printed: average over the published columns, on the Data "
            "Vortex in pieces per receiver. Whole messages: the rate over all receivers."
        ),
        head=[
            "message",
            "run",
            "as printed",
            *step,
            "non-empty samples only",
            *step,
            "whole messages",
            *step,
        ],
        rows=rows,
    )


def rate_cell(value: float | None, unit: str) -> Cell:
    """Make a cell of a rate with its unit; the CSV keeps all digits and no unit."""
    if value is None:
        return Cell(number_text(None), "number", raw="")
    return Cell(f"{number_text(value)} {unit}", "number", raw=value)
