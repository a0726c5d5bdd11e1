"""Who may look on while a system runs, for a timeline; nothing that happens depends on it."""

from __future__ import annotations

from typing import Protocol


class Observer(Protocol):
    """Told what the processes of a `dvsim.system.stage.Clock` do; times are in picoseconds.

    `who` is the object itself: of several with one name each has its own place in a timeline.
    """

    def worked(self, who: object, name: str, begin_ps: int, end_ps: int, messages: int) -> None:
        """Show that `who` works on a batch; batches of one object follow each other."""

    def level(self, who: object, name: str, what: str, at_ps: int, value: float) -> None:
        """Show how much there is of something from now on."""

    def passed(self, name: str, what: str, begin_ps: int, end_ps: int, messages: int) -> None:
        """Show something that is over, and may have overlapped with others of its kind."""
