"""Private nodes that are killed while clients are at work, and started again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from dvsim.broker.reserve import greets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dvsim.broker import Brokers


class Death(NamedTuple):
    """Nodes that die together."""

    # Seconds from the first publish to SIGKILL, and to the start of the same nodes.
    begin: float
    end: float
    victims: range  # their numbers, from 0


class Down(NamedTuple):
    """A node that was down: its name, when it died and when it answered again, in seconds."""

    node: str
    died: float
    back: float


class Deaths:
    """The deaths of one run.

    Args:
        brokers: Whose nodes die.
        deaths: Which nodes die, and when.

    Attributes:
        downs: Nodes that are back.
        pending: Whether a node has to die, to be started or to answer.
    """

    def __init__(self, brokers: Brokers, deaths: Sequence[Death]) -> None:
        self.brokers, self.downs = brokers, list[Down]()
        self._died: dict[int, float] = {}
        self._starting: set[int] = set()
        self._left = {number for death in deaths for number in death.victims}
        self._deaths = deaths

    @property
    def pending(self) -> bool:
        """Whether a node has to die, to be started or to answer."""
        return bool(self._left)

    def begin(self, loop: Any) -> None:  # noqa: ANN401 - pika has no types
        """Schedule all kills and starts in the loop of the clients."""
        self._begun = time.monotonic()
        for death in self._deaths:
            loop.call_later(death.begin, lambda death=death: self._kill(death.victims))
            loop.call_later(death.end, lambda death=death: self._start(death.victims))

    def look(self) -> None:
        """Note which nodes answer again."""
        for number in sorted(self._starting):
            node = self.brokers.nodes[number]
            if not node.alive:
                node.wait_ready()  # raises, with the end of its log
            if greets(node.port):
                self.downs.append(Down(node.name, self._died[number], self._now()))
                self._starting.discard(number)
                self._left.discard(number)

    def _now(self) -> float:
        return time.monotonic() - self._begun

    def _kill(self, victims: range) -> None:
        for number in victims:
            self._died[number] = self._now()
            self.brokers.nodes[number].kill()

    def _start(self, victims: range) -> None:
        for number in victims:
            self.brokers.nodes[number].start(wait=False)
            self._starting.add(number)
