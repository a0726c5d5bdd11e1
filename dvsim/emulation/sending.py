"""What the sending phase of an iteration gives, over either path."""

from __future__ import annotations

from typing import NamedTuple

from dvsim.core.probe import Counter, Record
from dvsim.emulation.drain import Sent


class Sending(NamedTuple):
    """Records by receiver (0 = the whole system), what each receiver was sent, and the counters.

    `wall_s` is the time from the first message until all programs had done their part; `commands`
    are the programs that ran.
    """

    records: dict[int, Record]
    sent: list[Sent]
    counters: list[Counter]
    wall_s: float
    commands: list[list[str]]
