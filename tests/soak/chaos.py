"""What is done to whom and when: drawn from a seed, told in an event log."""

from __future__ import annotations

import heapq
import json
import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from account import Fault
from actors import Broker, Program
from health import Table

BROKER_EVERY_S = 15.0
PROGRAM_EVERY_S = 0.7
KINDS = {"broker": (("kill", 4), ("term", 3), ("stop", 3)),
         "program": (("kill", 6), ("term", 3), ("stop", 3), ("kill-join", 1))}  # fmt: skip
LONGEST_STOP_S = {"broker": 6.0, "bridge": 6.0, "program": 2.5}
"""Bridges and brokers longer than two heartbeats: then the connection is lost."""


class Blow(NamedTuple):
    """One thing that is to happen, seconds after the beginning."""

    at_s: float
    target: str
    kind: str
    for_s: float


def plan(seed: int, programs: Sequence[str], brokers: Sequence[str],
         survivors: Sequence[str]) -> Iterator[Blow]:  # fmt: skip
    """Return what happens, the same for the same seed, without end. Survivors are only stopped."""
    return heapq.merge(
        _blows(random.Random(f"{seed} programs"), "program", programs, survivors, PROGRAM_EVERY_S),
        _blows(random.Random(f"{seed} brokers"), "broker", brokers, (), BROKER_EVERY_S),
    )


def _blows(drawn: random.Random, what: str, targets: Sequence[str], survivors: Sequence[str],
           every_s: float) -> Iterator[Blow]:  # fmt: skip
    at_s = 0.0
    kinds, weights = zip(*KINDS[what], strict=True)
    while True:
        at_s += every_s * drawn.uniform(0.2, 1.8)
        target = drawn.choice(targets)
        kind = drawn.choices(kinds, weights)[0]
        longest = LONGEST_STOP_S.get(target.rstrip("0123456789"), LONGEST_STOP_S[what])
        for_s = drawn.uniform(0.05, longest)
        yield Blow(at_s, target, "stop" if target in survivors else kind, for_s)


class Chaos:
    """Deals the blows of a plan to programs and brokers, and knows when each was over."""

    def __init__(self, seed: int, blows: Iterator[Blow], programs: Mapping[str, Program],
                 brokers: Mapping[str, Broker], log: Path) -> None:  # fmt: skip
        self.programs, self.brokers = programs, brokers
        self.faults: list[Fault] = []
        self.dealt: Counter[tuple[str, str]] = Counter()
        self.late: dict[str, Blow] = {}
        self._blows, self._next = blows, next(blows)
        self._pauses = random.Random(f"{seed} pauses")
        self._open: dict[str, tuple[str, int, float]] = {}
        self._log = log.open("w", encoding="utf-8")
        self._begin_s, self._until_s = time.monotonic(), 0.0

    def begin(self, seconds: float) -> None:
        """Let the plan begin now, and last so long; one blow for each target may be late."""
        self._begin_s, self._until_s = time.monotonic(), seconds

    @property
    def over(self) -> bool:
        """Whether all of the plan has been dealt."""
        return time.monotonic() > self._begin_s + self._until_s and not self.late

    def tend(self, table: Table, dealing: bool) -> None:
        """Deal what is due, end what is over, and bring back who has gone."""
        now_s = time.monotonic() - self._begin_s
        while dealing and self._next.at_s <= min(now_s, self._until_s):
            self.late.setdefault(self._next.target, self._next)
            self._next = next(self._blows)
        for blow in list(self.late.values()) if dealing else ():
            self._deal(blow)
        for program in self.programs.values():
            program.tend(table, self._pauses)
        for broker in self.brokers.values():
            broker.tend(self._pauses)
        for target, (kind, begin_ns, until_s) in list(self._open.items()):
            actor = self.programs.get(target) or self.brokers[target]
            if kind == "stop" and (now_s >= until_s or not dealing):
                actor.go_on()
            elif kind == "stop" or not actor.here:
                continue
            del self._open[target]
            self.faults.append(Fault(target, kind, begin_ns, time.monotonic_ns()))
            self.note("over", target=target, kind=kind)

    @property
    def calm(self) -> bool:
        """Whether nothing that was dealt still lasts, and all that should be here is."""
        actors = [*self.programs.values(), *self.brokers.values()]
        return not self._open and all(a.here or not getattr(a, "wanted", True) for a in actors)

    def note(self, what: str, **more: object) -> None:
        """Write a line into the event log."""
        line = {"at_s": round(time.monotonic() - self._begin_s, 3), "what": what, **more}
        self._log.write(json.dumps(line) + "\n")
        self._log.flush()

    def close(self) -> None:
        self._log.close()

    def _deal(self, blow: Blow) -> None:
        actor = self.programs.get(blow.target) or self.brokers[blow.target]
        if blow.target in self._open or not actor.here:
            return  # later: it is down from the blow before
        del self.late[blow.target]
        now_s = time.monotonic() - self._begin_s
        self._open[blow.target] = (blow.kind, time.monotonic_ns(), now_s + blow.for_s)
        self.dealt[blow.target.rstrip("0123456789"), blow.kind] += 1
        actor.hurt(blow.kind)
        self.note(blow.kind, target=blow.target)
