"""Alarms of a cluster that is measured, and deaths of its nodes."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from dvsim.broker.process import greets

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from dvsim.broker import Brokers


LIMITS = {
    "memory": (
        "vm_memory_monitor:get_vm_memory_high_watermark()",
        "vm_memory_monitor:set_vm_memory_high_watermark",
        "1.0e-9",
    ),
    "disk": (
        "rabbit_disk_monitor:get_disk_free_limit()",
        "rabbit_disk_monitor:set_disk_free_limit",
        "1 bsl 60",
    ),
}
"""Erlang calls that read and set a limit of a node, and a value that every machine exceeds."""

BEGUN = "begun"
MARGIN_S = 0.5  # after the end of an alarm; its old limit is surely set by then


class Alarm(NamedTuple):
    """A limit of some nodes that is exceeded for a while."""

    what: Literal["memory", "disk"]  # which limit
    # Seconds after the first publish.
    begin: float
    end: float
    nodes: range  # their numbers, from 0. An alarm of one node stops the publishers of all.


class Alarms:
    """The alarms of one run; a context that ends with it.

    rabbitmqctl may take seconds to reach a node. So nodes get the alarms before the run, and wait
    for a file with the time at which it begins.
    """

    def __init__(self, brokers: Brokers, alarms: Sequence[Alarm]) -> None:
        self.brokers, self._alarms = brokers, alarms
        self._folder = tempfile.TemporaryDirectory(prefix="dvsim-alarms-")
        self._over = float("inf")

    def __enter__(self) -> Self:
        """Give the nodes their alarms."""
        folder = Path(self._folder.name)
        try:
            for alarm in self._alarms:
                for number in alarm.nodes:
                    node = self.brokers.nodes[number].name
                    self.brokers.control.run(node, "eval", script(alarm, folder))
        except BaseException:
            self._folder.cleanup()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the folder: nodes that still wait for the file stop waiting."""
        self._folder.cleanup()

    @property
    def pending(self) -> bool:
        """Whether there is an alarm now, or later."""
        return time.time() < self._over

    def begin(self) -> None:
        """Write the file: the run begins now."""
        now = time.time()
        self._over = now + max(alarm.end for alarm in self._alarms) + MARGIN_S
        folder = Path(self._folder.name)
        (folder / "now").write_text(str(round(1000 * now)))
        (folder / "now").rename(folder / BEGUN)


def script(alarm: Alarm, folder: Path) -> str:
    """Return the Erlang text that raises and ends an alarm on a node.

    The node waits for the run to begin: a file in the folder says when.
    """
    get, put, low = LIMITS[alarm.what]
    begin, end = (round(1000 * at) for at in (alarm.begin, alarm.end))
    there, file = (
        f"<<{','.join(map(str, os.fsencode(path)))}>>" for path in (folder, folder / BEGUN)
    )
    return (
        f"Was = {get}, "
        "Until = fun(Then) -> timer:sleep(max(0, Then - erlang:system_time(millisecond))) end, "
        "Wait = fun Again() -> "
        f"case {{file:read_file({file}), filelib:is_dir({there})}} of "
        "{{ok, Told}, _} -> binary_to_integer(Told); "
        "{_, true} -> timer:sleep(20), Again(); "
        "_ -> exit(normal) end end, "
        f"spawn(fun() -> At = Wait(), Until(At + {begin}), {put}({low}), "
        f"Until(At + {end}), {put}(Was) end), ok."
    )


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
