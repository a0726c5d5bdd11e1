"""Who may look on while a system runs, for a timeline; nothing that happens depends on it."""

from __future__ import annotations

from typing import Protocol


class Observer(Protocol):
    """Told what the processes of a `dvsim.core.stage.Clock` do; times are in picoseconds.

    `who` is the object itself: of several with one name each has its own place in a timeline.
    """

    def arrow(self) -> int:
        """Return the number of a new arrow, above 0: from what sends to what gets it."""

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
        """Show that `who` works on a batch; batches of one object follow each other.

        `sends` and `gets` are the arrows that begin and end with the batch; 0 for none.
        """

    def arrived(self, name: str, what: str, at_ps: int, messages: int, gets: int) -> None:
        """Show the moment at which something arrives, and with it the end of an arrow."""

    def level(self, who: object, name: str, what: str, at_ps: int, value: float) -> None:
        """Show how much there is of something from now on."""

    def passed(self, name: str, what: str, begin_ps: int, end_ps: int, messages: int) -> None:
        """Show something that is over, and may have overlapped with others of its kind."""
