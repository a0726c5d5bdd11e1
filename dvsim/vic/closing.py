"""What messages, clients and teams have in common as context managers."""

from __future__ import annotations

from typing import Self


class Closing:
    """Closes at the end of a ``with`` block."""

    def close(self) -> None:
        """Close; a second time does nothing."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        """Close after a block that raised nothing.

        After an exception it stays open, so that the death of the program reaches the other cards;
        see `Card.__exit__`.
        """
        if kind is None:
            self.close()
