"""Alarms of private nodes while clients are at work: memory above its mark, a disk without room."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

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
"""What reads a limit of a node, what sets it, and a value that no machine keeps."""

BEGUN = "begun"
MARGIN_S = 0.5  # after the end of an alarm, until its limit is surely back


class Alarm(NamedTuple):
    """A limit of nodes that cannot be kept for a while.

    Attributes:
        what: Whose limit it is.
        begin, end: Seconds after the first publish.
        nodes: Their numbers, from 0. An alarm of one node stops the publishers of all.
    """

    what: Literal["memory", "disk"]
    begin: float
    end: float
    nodes: range


class Alarms:
    """The alarms of one run; a context that ends with it.

    rabbitmqctl may take seconds to reach a node. So nodes are told before the run, and wait for a
    file that says when it began.
    """

    def __init__(self, brokers: Brokers, alarms: Sequence[Alarm]) -> None:
        self.brokers, self._alarms = brokers, alarms
        self._folder = tempfile.TemporaryDirectory(prefix="dvsim-alarms-")
        self._over = float("inf")

    def __enter__(self) -> Self:
        """Tell the nodes."""
        folder = Path(self._folder.name)
        try:
            for one in self._alarms:
                for number in one.nodes:
                    node = self.brokers.nodes[number].name
                    self.brokers.control.run(node, "eval", script(one, folder))
        except BaseException:
            self._folder.cleanup()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the folder: a node that still waits for a beginning does so no more."""
        self._folder.cleanup()

    @property
    def pending(self) -> bool:
        """Whether an alarm is to come or not yet over."""
        return time.time() < self._over

    def begin(self) -> None:
        """Let the run begin now."""
        now = time.time()
        self._over = now + max(one.end for one in self._alarms) + MARGIN_S
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
