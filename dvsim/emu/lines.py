"""What vicrun says of its cards while they work, line by line, for whoever watches."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable
from types import TracebackType

PIPE_BYTES = 1 << 20  # lines of about five thousand cards, for a reader that is busy


class CardLines:
    """The reading end of ``vicrun --stats-fd``; without anybody who listens it does nothing.

    Parameters
    ----------
    listener
        Called with each line.

    Attributes
    ----------
    options
        Of vicrun.
    keeps
        Descriptors that vicrun gets.
    """

    def __init__(self, listener: Callable[[str], None] | None) -> None:
        self.options: dict[str, str | int] = {}
        self.keeps: tuple[int, ...] = ()
        self._listener = listener
        self._from: int | None = None
        self._rest = b""
        if listener is not None:
            self._from, to = os.pipe()
            self.keeps, self.options = (to,), {"--stats-fd": to}
            os.set_blocking(self._from, False)
            with contextlib.suppress(OSError):  # a user may not have as much
                fcntl.fcntl(to, fcntl.F_SETPIPE_SZ, PIPE_BYTES)

    def __enter__(self) -> CardLines:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.started()
        if self._from is not None:
            os.close(self._from)
            self._from = None

    def fileno(self) -> int:
        """Return the descriptor that becomes readable; -1 if nobody listens or all was read."""
        return -1 if self._from is None else self._from

    def started(self) -> None:
        """Let go of the writing end: vicrun has it, and its end is the end of the lines."""
        for descriptor in self.keeps:
            os.close(descriptor)
        self.keeps = ()

    def read(self) -> bool:
        """Pass on the lines that are there; return whether more may come."""
        while self._from is not None and self._listener is not None:
            try:
                data = os.read(self._from, 1 << 16)
            except BlockingIOError:
                return True
            if not data:
                return False
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                self._listener(line.decode("ascii"))
        return False
