"""Progress on stderr: what is done, how fast, and the time left."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dvsim.scenario.types import Scenario
    from dvsim.system.iteration import Iteration

QUIET_S = 5.0  # between two lines when stderr is not a terminal
BUSY_S = 0.1  # between two updates of the line of a terminal
IDLE_S = 1.0  # after which the line of a terminal is updated even if no iteration has ended


class Progress:
    """One line that is rewritten on a terminal, and a line every few seconds elsewhere.

    A thread shows it when nothing has ended for a while, so that a long iteration is seen to run.
    That nobody can read it, because stderr is closed or its disk is full, does not end a run.

    Parameters
    ----------
    tasks
        Iterations (of systems) or runs (of switches) to do, over all scenarios and replications.
    visible
        False keeps quiet.
    what
        What a task is called, in the plural.
    """

    def __init__(self, tasks: int, *, visible: bool, what: str = "iterations") -> None:
        self._unit = what
        self._tasks, self._visible = tasks, visible and sys.stderr is not None
        self._terminal = self._visible and sys.stderr.isatty()
        self._done = 0
        self._what = "starting"
        self._amounts: dict[str, float] = {}  # by the words that stand behind the rate
        self._share = 0.0  # of the task under way
        self._rate = 0.0  # messages per second, of the task under way
        self._started = self._began = self._shown = time.monotonic()
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._watch = threading.Thread(target=self._idle, name="progress", daemon=True)

    def __enter__(self) -> Progress:
        if self._visible:
            self._watch.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        if self._watch.is_alive():
            self._watch.join()
        if self._terminal:
            self._print("\r\033[K", end="")
        elif kind is None:
            self._print(self.line("done"))

    def task_done(self, scenario: Scenario, iteration: Iteration) -> None:
        """Count one finished iteration and show it if it is time."""
        own = {item.metric: item.value for item in iteration.counters if item.component == "run"}
        amounts = {"events/s": own.get("events", 0), "simulated s per s": own.get("simulated_s", 0)}
        self._add(scenario.name, 1, amounts)

    def runs_done(self, name: str, runs: int, node_updates: int) -> None:
        """Count finished runs of a switch and show them if it is time."""
        self._add(name, runs, {"node updates/s": node_updates})

    def points_done(self, name: str, runs: int, events: int) -> None:
        """Count finished runs of messaging over hosts and show them if it is time."""
        self._add(name, runs, {"events/s": events})

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
            self._print(f"\r\033[K{text}" if self._terminal else text)

    def _add(self, name: str, tasks: int, amounts: Mapping[str, float]) -> None:
        with self._lock:
            self._done += tasks
            self._what = name
            self._share = self._rate = 0.0
            for unit, amount in amounts.items():
                self._amounts[unit] = self._amounts.get(unit, 0) + amount
            self._show(BUSY_S if self._terminal else QUIET_S)

    def line(self, what: str) -> str:
        """Return the line to show."""
        elapsed = max(time.monotonic() - self._started, 1e-9)
        head = f"{what}: {self._done}/{self._tasks} {self._unit}, "
        done = self._done + self._share
        now = [f"{self._rate:,.0f} messages/s"] if self._rate else []
        if not done:
            return f"{head}{', '.join([*now, f'running for {elapsed:,.0f} s'])}"
        left = (time.monotonic() - self._began) / done * (self._tasks - done)
        rates = now + [
            f"{amount / elapsed:,.0f} {unit}" for unit, amount in self._amounts.items() if amount
        ]
        return f"{head}{', '.join([*rates, f'{left:,.0f} s left'])}"

    def _idle(self) -> None:
        """Show the line now and then until all is over."""
        period = IDLE_S if self._terminal else QUIET_S
        while not self._over.wait(period):
            with self._lock:
                self._show(period)

    def _show(self, period: float) -> None:
        """Show the line unless it was shown within `period` seconds."""
        now = time.monotonic()
        if now - self._shown >= period:
            self._shown = now
            ending = "\033[K\r" if self._terminal else "\n"
            self._print(self.line(self._what), end=ending)

    def _print(self, text: str, end: str = "\n") -> None:
        if not self._visible:
            return
        try:
            print(text, end=end, file=sys.stderr, flush=True)
        except (OSError, ValueError):  # a full disk, a closed stream
            self._visible = False
