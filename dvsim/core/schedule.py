"""When messages are due: at once in a closed loop, at a constant rate in an open one."""

from __future__ import annotations

from dvsim.core.stage import PS_PER_S


class Schedule:
    """Due times of an iteration's messages, counted from 0.

    Args:
        messages_per_second: Offered load of an open loop; None for a closed one, in which
            everything is due at once.
    """

    def __init__(self, messages_per_second: float | None) -> None:
        self.open = messages_per_second is not None
        self._gap_ps = PS_PER_S / messages_per_second if messages_per_second else 0.0

    def wait_ps(self, message: int, now_ps: int) -> int:
        """Return how long until a message is due, 0 if it already is."""
        return max(0, round(message * self._gap_ps) - now_ps) if self.open else 0

    def late_ps(self, message: int, now_ps: int) -> int:
        """Return for how long a message has been due, 0 in a closed loop."""
        return max(0, now_ps - round(message * self._gap_ps)) if self.open else 0

    def due(self, now_ps: int, messages: int) -> int:
        """Return how many of `messages` are due by now."""
        if not self.open:
            return messages
        return min(messages, int(now_ps / self._gap_ps) + 1)


def share(total: int, parts: int, index: int) -> int:
    """Return part `index` of `total` divided as evenly as integers allow."""
    return total // parts + (index < total % parts)
