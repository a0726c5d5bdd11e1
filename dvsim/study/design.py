"""Designs: which runs a question needs, and what they say to it.

A design asks for trials, gets their results, and goes on until it has its answer. One
run is a design of one trial, a campaign of many at once; a bisection and a fit choose the next
trial by what they know so far. `dvsim.study.execute` runs what any design asks for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from dvsim.scenario.spec import Spec
from dvsim.study.precision import PILOT


@dataclass(frozen=True, eq=False)
class Trial:
    """One scenario to be run.

    Attributes:
        scenario: As long as it is run.
        replications: The last one: replications 1 .. `replications` are asked for.
        seed: None takes that of the study.
        pilot: Run a pilot of it, see `dvsim.study.precision`, whose seed is another.
        begun: The result of fewer replications, to go on from.
        whole: The scenario before it was made shorter, where that is told.
    """

    scenario: Spec
    replications: int
    seed: int | None = None
    pilot: bool = False
    begun: Any = None
    whole: Spec | None = None


T = TypeVar("T")
X = TypeVar("X")
Y = TypeVar("Y")
Answer = TypeVar("Answer")
Plan = Generator[Sequence[T], list[Any], Answer]
"""Yields trials, gets their results in the same order, and returns the answer."""


class Design(ABC, Generic[T, Answer]):
    """A question that needs runs: a subclass writes `plan`, which reads like one function.

    Attributes:
        answer: There when `ask` returns no more trials.
    """

    answer: Answer
    _running: Plan[T, Answer] | None = None
    _asked: Sequence[T] = ()
    _told: dict[int, Any]

    @abstractmethod
    def plan(self) -> Plan[T, Answer]:
        """Yield the trials that are needed next, as often as it takes, and return the answer."""

    def ask(self) -> Sequence[T]:
        """Return the trials that are needed next, none when the answer is there.

        The results of all that were asked for before have been told by then.
        """
        try:
            if self._running is None:
                self._running = self.plan()
                self._asked = next(self._running)
            else:
                self._asked = self._running.send([self._told[id(trial)] for trial in self._asked])
            while not self._asked:
                self._asked = self._running.send([])
        except StopIteration as end:
            self.answer, self._asked = end.value, ()
        self._told = {}
        return self._asked

    def close(self) -> None:
        """End the plan, answer or not; the next `ask` begins anew."""
        if self._running is not None:
            self._running.close()
            self._running = None

    def tell(self, trial: T, result: Any) -> None:  # noqa: ANN401 - whatever the executor gives
        """Take the result of a trial."""
        self._told[id(trial)] = result


def planned(
    search: Callable[[Callable[[X], Y]], Answer], plan: Callable[[X], Plan[T, Y]]
) -> Plan[T, Answer]:
    """Run a search that calls a function, such as one of SciPy; each call is answered by a plan.

    The search runs in a thread of its own and waits there while what it has called for is run.
    """
    calls, values = SimpleQueue[X | None](), SimpleQueue[Y | None]()

    def call(at: X) -> Y:
        calls.put(at)
        value = values.get()
        if value is None:
            raise CancelledError
        return value

    with ThreadPoolExecutor(1) as pool:
        searching = pool.submit(search, call)
        searching.add_done_callback(lambda _: calls.put(None))
        try:
            while (at := calls.get()) is not None:
                values.put((yield from plan(at)))
        finally:
            values.put(None)  # a search that is still waiting ends
    return searching.result()


class Variants(Design[Trial, list[Any]]):
    """Scenarios beside each other: one, a campaign, or a what-if with its baselines.

    Args:
        trials: Of equally many replications; the answer has their results in this order.
        times: From the results of a pilot to how many replications each gets; None makes none.
        more: From the results so far to whether each needs more replications; None never asks it.
        steps: Replications of the second look, of the third, …; after the last nothing is asked.
    """

    def __init__(
        self,
        trials: Sequence[Trial],
        *,
        times: Callable[[Sequence[Any]], Sequence[int]] | None = None,
        more: Callable[[Sequence[Any]], Sequence[bool]] | None = None,
        steps: Sequence[int] = (),
    ) -> None:
        self.trials, self.times, self.more, self.steps = list(trials), times, more, steps

    def plan(self) -> Plan[Trial, list[Any]]:
        """Ask for all trials, as often as a pilot says, then for more where it is not enough.

        How many replications that are depends on the results alone: never on the number of workers,
        nor on what is kept.
        """
        if self.times is not None:
            pilots = [replace(trial, replications=PILOT, pilot=True) for trial in self.trials]
            numbers = self.times((yield pilots))
            self.trials = [
                replace(trial, replications=number)
                for trial, number in zip(self.trials, numbers, strict=True)
            ]
        results = yield self.trials
        for times in self.steps if self.more else ():
            assert self.more is not None
            needed = [position for position, wanted in enumerate(self.more(results)) if wanted]
            if not needed:
                break
            again = [
                replace(self.trials[position], replications=times, begun=results[position])
                for position in needed
            ]
            for position, result in zip(needed, (yield again), strict=True):
                results[position] = result
        return results
