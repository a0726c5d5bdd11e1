"""Progress of a run on stderr: iterations, events/s, simulated seconds per second, time left."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dvsim.scenario.types import Scenario
    from dvsim.system.iteration import Iteration

QUIET_S = 5.0  # between two lines when stderr is not a terminal
BUSY_S = 0.1  # between two updates of the line of a terminal


class Progress:
    """One line that is rewritten on a terminal, and a line every few seconds elsewhere.

    Parameters
    ----------
    tasks
        Iterations to do, over all scenarios and replications.
    visible
        False keeps quiet.
    """

    def __init__(self, tasks: int, *, visible: bool) -> None:
        self._tasks, self._visible = tasks, visible
        self._terminal = visible and sys.stderr.isatty()
        self._done = 0
        self._events = self._simulated = 0.0
        self._started = self._shown = time.monotonic()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
        elif self._visible and kind is None:
            print(self.line("done"), file=sys.stderr, flush=True)

    def task_done(self, scenario: Scenario, iteration: Iteration) -> None:
        """Count one finished iteration and show it if it is time."""
        self._done += 1
        for counter in iteration.counters:
            if counter.component == "run":
                self._events += counter.value if counter.metric == "events" else 0
                self._simulated += counter.value if counter.metric == "simulated_s" else 0
        now = time.monotonic()
        if self._visible and now - self._shown > (BUSY_S if self._terminal else QUIET_S):
            self._shown = now
            end = "\r" if self._terminal else "\n"
            clear = "\033[K" if self._terminal else ""
            print(self.line(scenario.name) + clear, end=end, file=sys.stderr, flush=True)

    def line(self, what: str) -> str:
        """Return the line to show."""
        elapsed = max(time.monotonic() - self._started, 1e-9)
        left = elapsed / self._done * (self._tasks - self._done) if self._done else 0.0
        return (
            f"{what}: {self._done}/{self._tasks} iterations, "
            f"{self._events / elapsed:,.0f} events/s, "
            f"{self._simulated / elapsed:,.0f} simulated s per s, {left:,.0f} s left"
        )
