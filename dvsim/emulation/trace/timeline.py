"""A timeline while it is made: rows of events, thinned when there are too many.

A row of a component holds events of one kind: what it worked on, one after the other; what passed
it, overlapping; a level; or moments. When all rows together have more events than there is room
for, the longest loses every second event and from then on keeps only every second, then every
fourth: the whole run stays covered, rare events stay whole, and each row knows how dense it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

PS_PER_NS = 1000

PATH = ("sender", "fabric", "card", "ring", "bridge", "socket", "broker")
"""The components of the Data Vortex path, in its order."""

Kind = Literal["work", "span", "level", "moment"]


class Event(NamedTuple):
    """Something on a timeline, in nanoseconds; a level lasts until the next."""

    # When it was, and what.
    begin_ns: int
    end_ns: int
    name: str
    facts: Mapping[str, float | int | str]
    # The arrows that begin in it: the number of each, and when it begins.
    sends: tuple[tuple[int, int], ...] = ()
    gets: int = 0  # the number of the arrow that ends where it begins; 0 for none


@dataclass
class Row:
    """The events of one kind of a component, every `stride`-th of those `seen`."""

    component: str
    name: str
    kind: Kind
    stride: int = 1
    seen: int = 0
    events: list[Event] = field(default_factory=list)

    def add(self, event: Event) -> bool:
        """Keep an event if it is its turn; return whether it was."""
        kept = self.seen % self.stride == 0
        self.seen += 1
        if kept:
            self.events.append(event)
        return kept

    def thin(self) -> None:
        """Drop every second event."""
        del self.events[1::2]
        self.stride *= 2


class Timeline:
    """What a run did when; an observer of the simulator, see `dvsim.core.observer`.

    Args:
        capacity: Events that are kept at most.

    Attributes:
        notes: How densely its programs had kept what they left, in words.
    """

    def __init__(self, capacity: int) -> None:
        self.notes: list[str] = []
        self._capacity = max(1, capacity)
        self._rows: dict[tuple[str, str], Row] = {}
        self._kept = 0
        self._who: dict[tuple[str, int], str] = {}
        self._names: dict[str, int] = {}
        self._arrows = 0
        self._objects: list[object] = []  # held, so that no other gets the identity of one

    @property
    def rows(self) -> list[Row]:
        """All rows by component: by number (``card.2``), along the path, then as they began."""
        order = {row.component: index for index, row in reversed([*enumerate(self._rows.values())])}

        def key(row: Row) -> tuple[int, int, int]:
            kind, _, number = row.component.partition(".")
            position = PATH.index(kind) if kind in PATH else len(PATH)
            digits = re.match(r"\d+", number)
            return int(digits[0]) if digits else 0, position, order[row.component]

        return sorted(self._rows.values(), key=key)

    def sampled(self) -> Iterator[str]:
        """Yield the notes, and of each row that was thinned how densely it is kept."""
        yield from self.notes
        for row in self.rows:
            if row.stride > 1:
                yield f"{row.component}, {row.name}: every {ordinal(row.stride)}"

    @property
    def arrows(self) -> dict[int, tuple[int, int]]:
        """By number when an arrow begins and ends; only those of which both ends are kept."""
        events = [event for row in self._rows.values() for event in row.events]
        begun = dict(send for event in events for send in event.sends)
        ended = {event.gets: event.begin_ns for event in events if event.gets in begun}
        return {n: (begun[n], at) for n, at in ended.items() if begun[n] <= at}

    def arrow(self) -> int:
        """See `dvsim.core.observer.Observer.arrow`."""
        self._arrows += 1
        return self._arrows

    def worked(
        self,
        who: object,
        name: str,
        begin_ps: int,
        end_ps: int,
        messages: int,
        sends: int = 0,
        gets: int = 0,
    ) -> None:
        """See `dvsim.core.observer.Observer.worked`."""
        begin, end = begin_ps // PS_PER_NS, end_ps // PS_PER_NS
        text, sent = f"{messages:,} messages", ((sends, begin),) if sends else ()
        event = Event(begin, end, text, {"messages": messages}, sent, gets)
        self.add(self._component(who, name), "work", "work", event)

    def level(self, who: object, name: str, what: str, at_ps: int, value: float) -> None:
        """See `dvsim.core.observer.Observer.level`."""
        at = at_ps // PS_PER_NS
        self.add(self._component(who, name), what, "level", Event(at, at, what, {"value": value}))

    def passed(self, name: str, what: str, begin_ps: int, end_ps: int, messages: int) -> None:
        """See `dvsim.core.observer.Observer.passed`."""
        times = (begin_ps // PS_PER_NS, end_ps // PS_PER_NS)
        self.add(name, what, "span", Event(*times, what, {"messages": messages}))

    def arrived(self, name: str, what: str, at_ps: int, messages: int, gets: int) -> None:
        """See `dvsim.core.observer.Observer.arrived`."""
        at, facts = at_ps // PS_PER_NS, {"messages": messages}
        self.add(name, what, "moment", Event(at, at, f"{messages:,} messages", facts, (), gets))

    def add(self, component: str, name: str, kind: Kind, event: Event) -> None:
        """Add an event to a row, which is made if there is none."""
        row = self._rows.get((component, name))
        if row is None:
            row = self._rows[component, name] = Row(component, name, kind)
        self._kept += row.add(event)
        if self._kept > self._capacity:
            longest = max(self._rows.values(), key=lambda row: len(row.events))
            self._kept -= len(longest.events) // 2
            longest.thin()

    def _component(self, who: object, name: str) -> str:
        known = self._who.get((name, id(who)))
        if known is None:
            self._objects.append(who)
            number = self._names[name] = self._names.get(name, 0) + 1
            known = self._who[name, id(who)] = name if number == 1 else f"{name} {number}"
        return known


def ordinal(number: int) -> str:
    """Return a power of two as an ordinal number.

    >>> ordinal(2), ordinal(16), ordinal(1_024)
    ('2nd', '16th', '1,024th')
    """
    last = number % 10 if number % 100 not in (11, 12, 13) else 0
    return f"{number:,}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(last, 'th') }"
