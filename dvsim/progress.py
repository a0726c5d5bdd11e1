"""Progress on stderr: what is done, how fast, and the time left."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import NamedTuple, Protocol

QUIET_S = 5.0  # between two lines when stderr is not a terminal
BUSY_S = 0.1  # between two updates of the line of a terminal
IDLE_S = 1.0  # after which the line of a terminal is updated even if no iteration has ended


class Shown(NamedTuple):
    """How far it is: what is done, tasks done and in all, what they are called, rates, seconds.

    `done` counts the share of the task under way; `left_s` is None before anything is done, and
    when a task takes longer than all that was left.
    """

    what: str
    done: float
    tasks: int
    unit: str
    rates: list[str]
    elapsed_s: float
    left_s: float | None

    def line(self) -> str:
        """Return it as one line."""
        head = f"{self.what}: {int(self.done)}/{self.tasks} {self.unit}, "
        if self.left_s is None:
            return f"{head}{', '.join([*self.rates, f'running for {self.elapsed_s:,.0f} s'])}"
        return f"{head}{', '.join([*self.rates, f'{self.left_s:,.0f} s left'])}"


class Part:
    """Tasks that are alike: how many, about how long each takes, and what they did take.

    Args:
        tasks: Of them.
        expected_s: About how long each takes; only how it compares with that of other parts counts.
    """

    def __init__(self, tasks: int, expected_s: float = 1.0) -> None:
        self.tasks, self.expected_s = tasks, max(expected_s, 1e-9)
        self.done, self.work_s = 0.0, 0.0

    def left_s(self, slower: float) -> float:
        """Return how much work is left; `slower` is measured over expected of what was done."""
        each = self.work_s / self.done if self.done else self.expected_s * slower
        return each * max(self.tasks - self.done, 0)


class Painter(Protocol):
    """What shows progress on a terminal, and other things beside it."""

    def paint(self, shown: Shown) -> None:
        """Show how far it is."""

    def note(self, text: str) -> None:
        """Say something that stays."""

    def close(self) -> None:
        """Take away what shows how far it is."""


painter: Callable[[], Painter] | None = None
"""Makes the painter of a terminal; the command line sets it. Without one it is a plain line."""


def is_terminal() -> bool:
    """Return whether stderr is a terminal on which a line can be written anew."""
    dumb = os.environ.get("TERM", "dumb") == "dumb"
    return sys.stderr is not None and sys.stderr.isatty() and not dumb


class Progress:
    """One line that is rewritten on a terminal, and a line every few seconds elsewhere.

    A thread shows it when nothing has ended for a while, so that a long iteration is seen to run.
    That nobody can read it, because stderr is closed or its disk is full, does not end a run.

    Args:
        tasks: Iterations (of systems) or runs (of switches) to do, over all scenarios and
            replications.
        visible: False keeps quiet.
        what: What a task is called, in the plural.
        parts: The same tasks in parts, by any key, if they do not all take equally long.
    """

    def __init__(
        self,
        tasks: int,
        *,
        visible: bool,
        what: str = "iterations",
        parts: Mapping[Hashable, Part] | None = None,
    ) -> None:
        self._unit = what
        self._parts: dict[Hashable, Part] = dict(parts or {None: Part(tasks)})
        self._tasks, self._visible = tasks, visible and sys.stderr is not None
        self._terminal = self._visible and is_terminal()
        self._painter = painter() if painter is not None and self._terminal else None
        self._done = 0
        self._what = "starting"
        self._amounts: dict[str, float] = {}  # by the words that stand behind the rate
        self._share = 0.0  # of the task under way
        self._rate = 0.0  # messages per second, of the task under way
        self._started = self._began = self._ended = self._shown = time.monotonic()
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._watch = threading.Thread(target=self._idle, name="progress", daemon=True)

    def __enter__(self) -> Progress:
        if self._visible:
            self._watch.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self._over.set()
        if self._watch.is_alive():
            self._watch.join()
        if self._painter is not None:
            self._try(self._painter.close)
        elif self._terminal:
            self._print("\r\033[K", end="")
        elif kind is None:
            self._print(self.shown("done").line())

    def done(
        self,
        name: str,
        tasks: int,
        amounts: Mapping[str, float],
        part: Hashable = None,
        work_s: float | None = None,
    ) -> None:
        """Count finished tasks, and show it in time.

        Args:
            name: What they belong to, for people.
            tasks: How many.
            amounts: What they did, by the words behind its rate.
            part, work_s: Their part, and the time that they took in their process; None takes what
                was expected.
        """
        with self._lock:
            self._done += tasks
            own = self._parts[part]
            own.done += tasks
            own.work_s += tasks * own.expected_s if work_s is None else work_s
            self._ended = time.monotonic()
            self._what = name
            self._share = self._rate = 0.0
            for unit, amount in amounts.items():
                self._amounts[unit] = self._amounts.get(unit, 0) + amount
            self._show(BUSY_S if self._terminal else QUIET_S)

    def under_way(self, what: str, share: float, rate: float) -> None:
        """Say what is done, how much of a task is, and at how many messages per second."""
        with self._lock:
            self._what, self._share, self._rate = what, min(max(share, 0.0), 1.0), rate
            if not self._done and not share:
                self._began = time.monotonic()  # what is prepared once does not come again
            self._show(BUSY_S if self._terminal else QUIET_S)

    def note(self, text: str) -> None:
        """Say something that stays."""
        with self._lock:
            if self._painter is not None:
                self._try(partial(self._painter.note, text))
            else:
                self._print(f"\r\033[K{text}" if self._terminal else text)

    def shown(self, what: str) -> Shown:
        """Return what is to be shown now."""
        elapsed = max(time.monotonic() - self._started, 1e-9)
        done = self._done + self._share
        rates = [f"{self._rate:,.0f} messages/s"] if self._rate else []
        remaining_s = None
        if done:
            remaining_s = self._left_s(time.monotonic())
            amounts = self._amounts.items()
            rates += [f"{amount / elapsed:,.0f} {unit}" for unit, amount in amounts if amount]
        return Shown(what, done, self._tasks, self._unit, rates, elapsed, remaining_s)

    def _left_s(self, now: float) -> float | None:
        """Return the time left: the work left, at the pace of the work that was done.

        Of a task under way that does not say its share, what is done is unknown: the pace is that
        of the time until the last one ended, and what went by since is taken off.
        """
        parts = self._parts.values()
        done = [part for part in parts if part.done]
        work = sum(part.work_s for part in done)
        expected = sum(part.done * part.expected_s for part in done)
        slower = work / expected if work and expected else 1.0
        left = sum(part.left_s(slower) for part in parts)
        under_way = self._share * left / max(self._tasks - self._done, 1)
        if self._done >= self._tasks:
            return 0.0
        then = now if self._share else self._ended
        pace = (then - self._began) / max(work + under_way, 1e-9)
        seconds = pace * max(left - under_way, 0.0) - (now - then)
        return seconds if seconds > 0 else None

    def _idle(self) -> None:
        period = IDLE_S if self._terminal else QUIET_S
        while not self._over.wait(period):
            with self._lock:
                self._show(period)

    def _show(self, period: float) -> None:
        now = time.monotonic()
        if now - self._shown >= period:
            self._shown = now
            if self._painter is not None:
                self._try(partial(self._painter.paint, self.shown(self._what)))
                return
            ending = "\033[K\r" if self._terminal else "\n"
            self._print(self.shown(self._what).line(), end=ending)

    def _print(self, text: str, end: str = "\n") -> None:
        self._try(partial(print, text, end=end, file=sys.stderr, flush=True))

    def _try(self, write: Callable[[], None]) -> None:
        if not self._visible:
            return
        try:
            write()
        except (OSError, ValueError):  # a full disk, a closed stream
            self._visible = False
