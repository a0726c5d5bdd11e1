"""The books of a soak: what publishers were told against what consumers got, message by message.

Publishers and consumers keep journals (programs/*.c). A message is known by session and number, as
in its AMQP message id. What bridge and client promise (docs/bridge.md, vic_client.h) is judged
here; `Faults` are what may excuse a message that came twice.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

GRACE_NS = 5_000_000_000
"""After the end of a fault: a peer notices a lost connection, and what it had is sent again."""
SHOWN = 10
"""Messages that a breach names."""


@dataclass(frozen=True)
class Fault:
    """Something that was done to a program or broker, from its beginning until that was over."""

    target: str
    kind: str
    begin_ns: int
    end_ns: int


class Faults:
    """What happened when, and to whom."""

    def __init__(self, faults: Iterable[Fault], brokers_of: Mapping[int, Sequence[str]]) -> None:
        self._of: dict[str, list[Fault]] = {}
        self._brokers = brokers_of
        for fault in faults:
            self._of.setdefault(fault.target, []).append(fault)

    def lost_connection(self, bridge: int, begin_ns: int, end_ns: int) -> bool:
        """Say whether a bridge may have lost a broker meanwhile, and published again."""
        own = (f for f in self._of.get(f"bridge{bridge}", ()) if f.kind in ("stop", "lost"))
        return _any([*self._at_brokers(bridge), *own], begin_ns, end_ns)

    def lost_ack(self, bridge: int, consumer: str, begin_ns: int, end_ns: int) -> bool:
        """Say whether an acknowledgement may have been lost meanwhile."""
        own = (f for f in self._of.get(consumer, ()) if f.kind in ("kill", "kill-join"))
        at = [*self._at_brokers(bridge), *self._of.get(f"bridge{bridge}", ()), *own]
        return _any(at, begin_ns, end_ns)

    def moved(self, bridge: int, begin_ns: int, end_ns: int) -> bool:
        """Say whether a bridge may consume from another broker than before, or anew."""
        at = [*self._at_brokers(bridge), *self._of.get(f"bridge{bridge}", ())]
        return _any(at, begin_ns, end_ns)

    def _at_brokers(self, bridge: int) -> list[Fault]:
        return [f for name in self._brokers.get(bridge, ()) for f in self._of.get(name, ())]


def _any(faults: Iterable[Fault], begin_ns: int, end_ns: int) -> bool:
    return any(f.begin_ns <= end_ns and begin_ns <= f.end_ns + GRACE_NS for f in faults)


@dataclass
class Batch:
    """Messages that a publisher began to publish together; `end_ns` when all were answered."""

    first: int
    last: int
    bridge: int
    begin_ns: int
    end_ns: int | None = None
    repeated: bool = False
    may_repeat: bool = True  # any of it may be published twice; known when all is judged


@dataclass
class Session:
    """One life of a publisher."""

    batches: list[Batch] = field(default_factory=list)
    refused: set[int] = field(default_factory=set)
    confirmed_to: int = 0
    repeated: int = 0
    seen: bytearray = field(default_factory=bytearray)

    def batch(self, number: int) -> Batch:
        return self.batches[bisect_right(self.batches, number, key=lambda b: b.first) - 1]

    def missing(self) -> list[int]:
        """Return what was confirmed and has not come."""
        return [n for n in range(1, self.confirmed_to + 1)
                if not self.seen[n] and n not in self.refused]  # fmt: skip


@dataclass
class Life:
    """What one life of a consumer got, in its order."""

    consumer: str
    bridge: int
    sessions: array[int] = field(default_factory=lambda: array("Q"))
    numbers: array[int] = field(default_factory=lambda: array("Q"))
    again: array[int] = field(default_factory=lambda: array("B"))
    at_ns: array[int] = field(default_factory=lambda: array("Q"))


class Tail:
    """A journal that grows: whole lines that have not been read yet."""

    def __init__(self, path: Path) -> None:
        self.path, self.at, self.torn = path, 0, 0

    def lines(self) -> list[list[str]]:
        with self.path.open("rb") as file:
            file.seek(self.at)
            text = file.read()
        text = text[: text.rfind(b"\n") + 1]
        self.at += len(text)
        rows = [line.split() for line in text.decode("ascii").splitlines() if line]
        self.torn += sum(row[-1:] != ["."] for row in rows)
        return [row[:-1] for row in rows if row[-1:] == ["."]]


class Books:
    """All that was said by publishers and consumers so far."""

    def __init__(self) -> None:
        self.sessions: dict[int, Session] = {}
        self.lives: dict[str, Life] = {}
        self.altered: list[str] = []
        self.invented: list[str] = []
        self.refusals = 0

    def published(self, rows: Iterable[Sequence[str]]) -> None:
        """Add what a publisher's journal says."""
        for kind, session, *rest in rows:
            books = self.sessions.setdefault(int(session, 16), Session())
            if kind == "B":
                first, last, bridge, at = map(int, rest)
                books.batches.append(Batch(first, last, bridge, at))
                books.seen.extend(bytes(last + 1 - len(books.seen)))
            elif kind == "R":
                books.refused.add(int(rest[0]))
            elif kind == "C":
                last, at, repeated, refused = map(int, rest)
                batch = books.batches[-1]
                batch.end_ns, batch.repeated = at, repeated > books.repeated
                books.confirmed_to, books.repeated = last, repeated
                if refused != len(books.refused):
                    raise ValueError(f"{session}: {refused} refused, {len(books.refused)} named")

    def consumed(self, rows: Iterable[Sequence[str]]) -> None:
        """Add what a consumer's journal says; its publishers' journals have been read before."""
        for kind, life, *rest in rows:
            if kind == "O":
                self.lives.setdefault(life, Life(f"consumer{rest[0]}", int(rest[1])))
            elif kind == "D":
                self._delivered(self.lives[life], *rest)
            elif kind == "X":
                self.refusals += 1

    def _delivered(
        self, life: Life, session: str, number: str, again: str, good: str, _by: str, at: str
    ) -> None:
        name = f"{session}-{int(number):016x}"
        if good != "1":
            self.altered.append(name)
            return
        books = self.sessions.get(int(session, 16))
        if books is None or not 0 < int(number) < len(books.seen):
            self.invented.append(name)
            return
        books.seen[int(number)] = min(255, books.seen[int(number)] + 1)
        life.sessions.append(int(session, 16))
        life.numbers.append(int(number))
        life.again.append(int(again))
        life.at_ns.append(int(at))

    def missing(self) -> list[str]:
        """Return the ids of what was confirmed and has not come."""
        return [f"{session:016x}-{number:016x}" for session, books in self.sessions.items()
                for number in books.missing()]  # fmt: skip

    @property
    def confirmed(self) -> int:
        return sum(s.confirmed_to - len(s.refused) for s in self.sessions.values())

    @property
    def consumed_once(self) -> int:
        return sum(len(s.seen) - s.seen.count(0) for s in self.sessions.values())

    def judge(self, faults: Faults) -> Verdict:
        """Hold everything against what is promised."""
        verdict = Verdict()
        count = verdict.count
        for books in self.sessions.values():
            for batch in books.batches:
                batch.may_repeat = (
                    batch.end_ns is None
                    or batch.repeated
                    or (faults.lost_connection(batch.bridge, batch.begin_ns, batch.end_ns))
                )
            begun = books.batches[-1].last if books.batches else 0
            came = len(books.seen) - books.seen.count(0)
            sure = books.confirmed_to - len(books.refused)
            sure_came = sum(1 for n in range(1, books.confirmed_to + 1)
                            if books.seen[n] and n not in books.refused)  # fmt: skip
            count["begun"] += begun
            count["confirmed"] += sure
            count["returned or refused"] += len(books.refused)
            count["not answered"] += begun - books.confirmed_to
            count["consumed"] += came
            count["consumed, not confirmed"] += came - sure_came
        verdict.add("lost", self.missing())
        verdict.add("altered", self.altered)
        verdict.add("invented", self.invented)
        self._judge_duplicates(faults, verdict)
        self._judge_order(faults, verdict)
        return verdict

    def _judge_duplicates(self, faults: Faults, verdict: Verdict) -> None:
        came: dict[tuple[int, int], list[tuple[int, int, Life]]] = {}
        for life in self.lives.values():
            for session, number, again, at in zip(
                life.sessions, life.numbers, life.again, life.at_ns, strict=True
            ):
                if self.sessions[session].seen[number] > 1:
                    came.setdefault((session, number), []).append((at, again, life))
        without_reason = []
        for (session, number), times in came.items():
            times.sort(key=lambda each: each[0])
            batch = self.sessions[session].batch(number)
            twice = sum(not again for _, again, _ in times) > 1
            verdict.count["duplicates"] += len(times) - 1
            verdict.count["of them published twice"] += twice
            begin, end = times[0][0], times[-1][0]
            excused = batch.may_repeat or (
                not twice
                and any(
                    faults.lost_ack(life.bridge, life.consumer, begin, end) for _, _, life in times
                )
            )
            if not excused:
                without_reason.append(f"{session:016x}-{number:016x}")
        verdict.add("twice without a reason", without_reason)

    def _judge_order(self, faults: Faults, verdict: Verdict) -> None:
        """Messages that nobody sent again come in the order of their publishing."""
        late = []
        for life in self.lives.values():
            before: dict[int, tuple[int, int]] = {}
            for session, number, again, at in zip(
                life.sessions, life.numbers, life.again, life.at_ns, strict=True
            ):
                if again or self.sessions[session].batch(number).may_repeat:
                    continue
                last, last_at = before.get(session, (0, at))
                if number < last and not faults.moved(life.bridge, last_at, at):
                    late.append(f"{session:016x}-{number:016x}")
                verdict.count["order looked at"] += 1
                before[session] = (number, at)
        verdict.add("out of order", late)


@dataclass
class Verdict:
    """Numbers for the table, and what breaks a promise, with ids."""

    count: Counter[str] = field(default_factory=Counter)
    breaches: list[str] = field(default_factory=list)

    def add(self, what: str, ids: Sequence[str]) -> None:
        self.count[what] += len(ids)
        if ids:
            more = f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
            self.breaches.append(f"{what}: {', '.join(ids[:SHOWN])}{more}")
