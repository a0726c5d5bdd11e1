"""The emulated Vortex Interface Card in Python: the calls of vic.h, with NumPy arrays.

>>> from dvsim import vic
>>> with vic.open() as card:  # alone: one card in loopback
...     card.counter_set(0, 3)
...     card.put(dest=0, addr=8, words=[5, 6, 7], counter=0)
...     card.counter_wait(0)
...     card.read(8, 3).tolist()
[5, 6, 7]

``dvsim emulate -n 4 -- python program.py`` runs a program on four cards. The names are those of
vic.h without ``vic_``; the header is the manual (``dvsim emulate --cflags`` says where it is).
What differs:

- a call that fails raises a `VicError`; what C returns through a pointer is the result;
- words are NumPy arrays: any contiguous array of 8-byte elements or of multiples goes in and out
  without a copy, its bits as they are. Lists and single numbers are turned into one first;
- waits give the interpreter to other threads and answer Ctrl-C. A send that waits for room in a
  full FIFO sees it when that wait has ended, and in timed mode so does every wait: it ends when
  the cards that it waits for go on or end;
- a call costs about a microsecond of Python, so send many packets at once: `header` takes arrays;
- ``await card.ready(...)`` is ``card.wait(...)``, for any of several counters and the FIFO, in
  asyncio;
- the with statement closes the card, unless an exception leaves it: the other cards are then told
  that this one failed (`PeerDied`), as they are of a C program that exits with an error.

``card.messages()`` opens messages of any length (`Messages`, vic_message.h), ``card.client()`` a
client of brokers and topics (`Client`, vic_client.h), ``card.team()`` a team of cards for barriers,
broadcasts, reductions and the like (`Team`, vic_collective.h).
"""

from __future__ import annotations

from dvsim.vic.binding import (
    FOREVER,
    NO_COUNTER,
    READY_FIFO,
    Busy,
    Closed,
    Flag,
    InvalidArgument,
    Kind,
    NoJob,
    NoSpace,
    Op,
    OutOfRange,
    PeerDied,
    Reduction,
    Refused,
    Status,
    SystemRefused,
    TimedOut,
    TryAgain,
    VicError,
    error_detail,
    strerror,
    version,
)
from dvsim.vic.card import Card, open
from dvsim.vic.client import Client, Counts, Delivery, Settings
from dvsim.vic.messages import Messages
from dvsim.vic.packets import Attr, Transfer, header
from dvsim.vic.team import Team

WRITE = Op.WRITE
FIFO = Op.FIFO
QUERY = Op.QUERY
COUNTER_SET = Op.COUNTER_SET
COUNTER_ADD = Op.COUNTER_ADD

__all__ = [
    "COUNTER_ADD",
    "COUNTER_SET",
    "FIFO",
    "FOREVER",
    "NO_COUNTER",
    "QUERY",
    "READY_FIFO",
    "WRITE",
    "Attr",
    "Busy",
    "Card",
    "Client",
    "Closed",
    "Counts",
    "Delivery",
    "Flag",
    "InvalidArgument",
    "Kind",
    "Messages",
    "NoJob",
    "NoSpace",
    "Op",
    "OutOfRange",
    "PeerDied",
    "Reduction",
    "Refused",
    "Settings",
    "Status",
    "SystemRefused",
    "Team",
    "TimedOut",
    "Transfer",
    "TryAgain",
    "VicError",
    "error_detail",
    "header",
    "open",
    "strerror",
    "version",
]
