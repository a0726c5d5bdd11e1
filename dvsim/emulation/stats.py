"""What a bridge counted, interval by interval: its CSV becomes a record of the probe."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd

from dvsim.core.probe import Counter, Record
from dvsim.errors import RunFailed

COLUMNS = (
    *("start_ns", "duration_ns", "pieces", "messages", "bytes", "published", "confirmed"),
    *("returned", "nacked", "republished", "delivered", "acked"),
    *("in_flight", "blocked", "connected"),
)
TOTALS = ("messages", "published", "confirmed", "returned", "nacked", "republished")


class Stats:
    """The statistics of one bridge; `first_ns` is when its first interval began, by the clock.

    Args:
        path: What ``vicbridge --stats`` has written: comments, one with the clock, a head, and
            rows.
    """

    def __init__(self, path: Path) -> None:
        try:
            lines = path.read_text(encoding="ascii").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise RunFailed(f"statistics of a bridge: {error}") from error
        comments = [line for line in lines if line.startswith("#")]
        rows = [line for line in lines if line and not line.startswith("#")]
        if not rows or tuple(rows[0].split(",")) != COLUMNS:
            head = rows[0] if rows else "nothing"
            raise RunFailed(
                f"statistics of a bridge begin with {head}; expected {','.join(COLUMNS)}"
            )
        self.first_ns = _clock(comments)
        try:
            with np.errstate(invalid="ignore"):  # a fraction or 1e999 is refused with its name
                self.table = pd.read_csv(io.StringIO("\n".join(rows)), dtype="int64")
        except ValueError as error:
            raise RunFailed(f"statistics of a bridge: {error}") from error

    @property
    def traffic(self) -> pd.DataFrame:
        """The rows from the first message off the card to the last that went to the broker."""
        table = self.table
        moving = (table["messages"] + table["published"] + table["republished"]).to_numpy() > 0
        (places,) = np.nonzero(moving)
        return table.iloc[places[0] : places[-1] + 1] if places.size else table.iloc[:0]

    def begin_ns(self) -> int:
        """Return when the traffic began, by the clock."""
        rows = self.traffic
        return self.first_ns + (int(rows["start_ns"].iloc[0]) if len(rows) else 0)

    def record(self, zero_ns: int) -> Record:
        """Return the traffic as a record of an iteration that began at `zero_ns` of the clock."""
        rows = self.traffic
        start = (rows["start_ns"].to_numpy() + self.first_ns - zero_ns) * 1000
        duration = np.maximum(rows["duration_ns"].to_numpy() * 1000, 1)
        return Record(start, duration, rows["pieces"].to_numpy(), rows["messages"].to_numpy())

    def counters(self, name: str) -> list[Counter]:
        """Return what it counted in all, and its states at their highest."""
        table = self.table
        counters = [Counter(name, metric, int(table[metric].sum()), "1") for metric in TOTALS]
        peak = int(table["in_flight"].max()) if len(table) else 0
        blocked_ns = int(table.loc[table["blocked"] > 0, "duration_ns"].sum())
        return [
            *counters,
            Counter(name, "in_flight_peak", peak, "1"),
            Counter(name, "blocked_s", blocked_ns / 1e9, "s"),
        ]


def _clock(comments: list[str]) -> int:
    for line in comments:
        for word in line.replace("=", " ").replace(":", " ").split():
            if word.isdigit():
                return int(word)
    raise RunFailed("statistics of a bridge: no line says when its first interval began")
