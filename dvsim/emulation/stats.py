"""What a bridge counted, interval by interval: its table becomes a record of the probe."""

from __future__ import annotations

import io
import time
from pathlib import Path

import numpy as np
import pandas as pd

from dvsim.core.probe import Counter, Record
from dvsim.emulation.amqp import Queue
from dvsim.errors import RunFailed

COLUMNS = (
    *("start_ns", "duration_ns", "pieces", "messages", "bytes", "published", "confirmed"),
    *("returned", "nacked", "republished", "delivered", "acked"),
    *("in_flight", "blocked", "connected"),
)
NEEDED = ("start_ns", "duration_ns", "messages")
TOTALS = ("messages", "published", "confirmed", "returned", "nacked", "republished")


class Stats:
    """The statistics of one bridge; `first_ns` is when its first interval began, by the clock.

    Args:
        source: What a bridge has written: comments, one of which may have the clock of the first
            row, a head, and rows. Or its table. Of the columns, those in `NEEDED` must be there.
        pieces: Of a message, where no column counts them.
    """

    def __init__(self, source: Path | pd.DataFrame, pieces: int = 1) -> None:
        self.first_ns, table = (0, source) if isinstance(source, pd.DataFrame) else _read(source)
        others = dict.fromkeys(COLUMNS, 0) | {"pieces": table["messages"] * pieces}
        self.table = table.assign(**{n: some for n, some in others.items() if n not in table})

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


class Growth:
    """What a bridge took, by how its queue grew: where it writes no statistics.

    Args:
        messages: How many shall come; those that come twice are not counted.
    """

    def __init__(self, messages: int) -> None:
        self._messages = messages
        self._seen = [(time.monotonic_ns(), 0)]

    def look(self, queue: Queue) -> None:
        """Note how many messages the queue has."""
        depth = min(queue.depth(), self._messages)
        self._seen.append((time.monotonic_ns(), depth))

    @property
    def table(self) -> pd.DataFrame:
        """An interval between two looks a row: start_ns by the clock, duration_ns, messages."""
        seen = pd.DataFrame(self._seen, columns=["start_ns", "depth"])
        grown = seen["depth"].cummax().diff(-1).abs()
        took = seen["start_ns"].diff(-1).abs()
        table = seen[["start_ns"]].assign(duration_ns=took, messages=grown, published=grown)
        return table[:-1].astype("int64")


def _read(path: Path) -> tuple[int, pd.DataFrame]:
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise RunFailed(f"statistics of a bridge: {error}") from error
    rows = [line for line in lines if line and not line.startswith("#")]
    head = rows[0] if rows else "nothing"
    if not {*NEEDED} <= {*head.split(",")}:
        expected = f"expected {','.join(COLUMNS)}, of which {', '.join(NEEDED)} must be there"
        raise RunFailed(f"statistics of a bridge begin with {head}; {expected}")
    words = " ".join(line for line in lines if line.startswith("#")).replace("=", " ").split()
    clock = next((int(word) for word in words if word.isdigit()), 0)
    try:
        with np.errstate(invalid="ignore"):  # a fraction or 1e999 is refused with its name
            return clock, pd.read_csv(io.StringIO("\n".join(rows)), dtype="int64")
    except ValueError as error:
        raise RunFailed(f"statistics of a bridge: {error}") from error
