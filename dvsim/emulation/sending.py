"""What the sending phase of an iteration gives, over either path."""

from __future__ import annotations

from typing import NamedTuple

from dvsim.emulation.drain import Sent
from dvsim.system.iteration import Counter
from dvsim.system.probe import Record


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
