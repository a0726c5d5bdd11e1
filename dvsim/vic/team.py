"""Calls that many cards make together: those of vic_collective.h, with NumPy arrays.

>>> import numpy as np
>>> from dvsim import vic
>>> with vic.open() as card, card.team() as team:  # alone: a team of one card
...     team.allreduce(np.arange(3, dtype=np.uint64)).tolist()
[0, 1, 2]

All cards of a team make the same calls in the same order. vic_collective.h is the manual.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dvsim.vic.binding import (
    AnyWords,
    Reduction,
    Status,
    VicError,
    Words,
    error_detail,
    error_of,
    given,
    libvic,
    taken,
    told,
)
from dvsim.vic.waiting import Closing, in_slices


def _name(op: int) -> str:
    return op.name if isinstance(op, Reduction) else str(op)


class Team(Closing):
    """A team that is open on a card, made by `Card.team`. Threads may be at work with several.

    Words are arrays of uint64; of other arrays of 8-byte elements the bits are taken. Timeouts are
    seconds; None waits for ever. Waits leave the interpreter to others and answer Ctrl-C. Every
    method raises a `VicError` if the call of vic_collective.h fails. After `TimedOut` the call is
    not finished: `resume` goes on with it.
    """

    def __init__(
        self,
        card: Any,  # noqa: ANN401 - a C pointer
        timed: bool,
        me: int,
        cards: Sequence[int],
        timeout: float | None,
    ) -> None:
        self._ffi, self._lib = libvic()
        self._timed = timed
        self.cards = tuple(int(number) for number in cards)
        """The cards, in the order of the team."""
        self._unfinished: tuple[str, Callable[[int], int], Words | None] | None = None
        handle = self._ffi.new("vic_team_t **")
        shown = f"vic_team_open({list(self.cards)})"
        try:
            numbers = self._ffi.new("uint32_t[]", [*self.cards, 0])  # C takes NULL for all cards
        except OverflowError:
            raise error_of(Status.ERANGE, f"{shown}: a card is no number 0 .. 2**32 - 1") from None
        call = self._lib.vic_team_open
        status = in_slices(
            lambda ns: int(call(card, numbers, len(self.cards), handle, ns)), timeout, timed
        )
        if status != Status.OK:
            why = error_detail() if status == Status.ERANGE else told(status)
            raise error_of(status, f"{shown}: {why}")
        self._team = handle[0]
        self.index = self.cards.index(me)
        """This card's place among them."""

    def __len__(self) -> int:
        """Return how many cards the team has."""
        return len(self.cards)

    def barrier(self, timeout: float | None = None) -> None:
        """Wait until all cards of the team have called."""
        call = self._lib.vic_team_barrier
        self._run("vic_team_barrier()", lambda ns: int(call(self._team, ns)), None, timeout)

    def broadcast(self, root: int, words: npt.NDArray[Any], timeout: float | None = None) -> None:
        """Fill an array with that of card `root` of the team; there it is only read."""
        array = given(words) if root == self.index else taken(words)
        data, call, n = self._pointer(array), self._lib.vic_broadcast, len(array)
        self._run(
            f"vic_broadcast(root={root}, n={n})",
            lambda ns: int(call(self._team, root, data, n, ns)), array, timeout,
        )  # fmt: skip

    def reduce(
        self,
        root: int,
        words: AnyWords,
        op: Reduction = Reduction.SUM,
        timeout: float | None = None,
    ) -> Words | None:
        """Return the words of all cards, reduced, on card `root` of the team; None on others."""
        array = given(words)
        out = np.empty(len(array), dtype=np.uint64) if root == self.index else None
        n, call = len(array), self._lib.vic_reduce
        data, to = self._pointer(array), self._pointer(out)
        return self._run(
            f"vic_reduce(root={root}, op={_name(op)}, n={n})",
            lambda ns: int(call(self._team, root, op, data, to, n, ns)), out, timeout,
        )  # fmt: skip

    def allreduce(
        self, words: AnyWords, op: Reduction = Reduction.SUM, timeout: float | None = None
    ) -> Words:
        """Return the words of all cards, reduced, on all of them."""
        array = given(words)
        out = np.empty(len(array), dtype=np.uint64)
        n, call = len(array), self._lib.vic_allreduce
        data, to = self._pointer(array), self._pointer(out)
        self._run(
            f"vic_allreduce(op={_name(op)}, n={n})",
            lambda ns: int(call(self._team, op, data, to, n, ns)), out, timeout,
        )  # fmt: skip
        return out

    def gather(self, root: int, words: AnyWords, timeout: float | None = None) -> Words | None:
        """Return a row of words from each card, on card `root` of the team; None on others."""
        array = given(words)
        n = len(array)
        out = np.empty((len(self), n), dtype=np.uint64) if root == self.index else None
        data, to, call = self._pointer(array), self._pointer(out), self._lib.vic_gather
        return self._run(
            f"vic_gather(root={root}, n={n})",
            lambda ns: int(call(self._team, root, data, n, to, ns)), out, timeout,
        )  # fmt: skip

    def alltoall(self, words: AnyWords, timeout: float | None = None) -> Words:
        """Return a row of words from each card: row i of what it gave went to card i of the team.

        Raises:
            InvalidArgument: If the words are not as many for each card.
        """
        array = given(words)
        if len(array) % len(self) != 0:
            raise error_of(
                Status.EINVAL,
                f"vic_alltoall: {len(array)} words are not rows for {len(self)} cards; "
                f"{len(array) // len(self) * len(self)} are",
            )
        n = len(array) // len(self)
        out = np.empty((len(self), n), dtype=np.uint64)
        data, to, call = self._pointer(array), self._pointer(out), self._lib.vic_alltoall
        self._run(
            f"vic_alltoall(n={n})",
            lambda ns: int(call(self._team, data, to, n, ns)), out, timeout,
        )  # fmt: skip
        return out

    def resume(self, timeout: float | None = None) -> Words | None:
        """Go on with the call that timed out, and return what it returns."""
        if self._unfinished is None:
            raise error_of(Status.EINVAL, "no call on this team has timed out")
        name, call, out = self._unfinished
        self._unfinished = None
        return self._run(name, call, out, timeout)

    def close(self) -> None:
        """Close; a second time does nothing. Calls of other threads raise `Closed`."""
        self._lib.vic_team_close(self._team)

    def _run(
        self, name: str, call: Callable[[int], int], out: Words | None, timeout: float | None
    ) -> Words | None:
        if self._unfinished is not None:
            text = (
                f"{name}: {self._unfinished[0]} is not finished; if it timed out, resume() goes on"
            )
            raise error_of(Status.EBUSY, text)
        self._unfinished = name, call, out
        status: int = Status.ERANGE
        with contextlib.suppress(OverflowError):  # a number that C does not have
            status = in_slices(call, timeout, self._timed)
        if status not in (Status.ETIMEDOUT, Status.EBUSY):
            self._unfinished = None
        if status != Status.OK:
            raise self._error(name, status, timeout)
        return out

    def _pointer(self, array: Words | None) -> Any:  # noqa: ANN401 - a C pointer
        return self._ffi.NULL if array is None else self._ffi.from_buffer("uint64_t[]", array)

    def _error(self, name: str, status: int, timeout: float | None) -> VicError:
        text = f"{name}: {told(status)}"
        if status == Status.ETIMEDOUT:
            text += f"; timeout={timeout}, resume() goes on"
        if status == Status.ERANGE:
            text += f"; the team has cards 0 .. {len(self) - 1}"
        return error_of(status, text)
