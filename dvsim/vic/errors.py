"""A status of vic.h as an exception, which also is the built-in one that Python users expect."""

# ruff: noqa: N818 - the names read as sentences where they are raised

from __future__ import annotations

from dvsim.errors import DvsimError
from dvsim.vic.constants import Status


class VicError(DvsimError):
    """A call of vic.h failed; it has done nothing. `status` is what it returned."""

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.status = status

    def __reduce__(self) -> tuple[type[VicError], tuple[str, int]]:
        """Pickle with the status."""
        return type(self), (str(self), self.status)


class InvalidArgument(VicError, ValueError):
    """VIC_EINVAL."""


class TimedOut(VicError, TimeoutError):
    """VIC_ETIMEDOUT; everything is as it was before the wait."""


class Busy(VicError):
    """VIC_EBUSY: the card is open, here or in another process."""


class NoSpace(VicError):
    """VIC_ENOSPC: SRAM, counters, the DMA table or a client's window are full; which is said."""


class PeerDied(VicError):
    """VIC_EPEER: a card of the job died or has ended, or all wait for each other."""


class Closed(VicError):
    """VIC_ECLOSED: the card is closed, or the job has ended."""


class NoJob(VicError):
    """VIC_ENOJOB: VIC_JOB names no job that can be joined, or did not reach a program of a job."""


class SystemRefused(VicError):
    """VIC_ESYS: the operating system refused something, most likely memory."""


class OutOfRange(VicError, IndexError):
    """VIC_ERANGE: no such card, counter or SRAM word."""


class TryAgain(VicError, BlockingIOError):
    """VIC_EAGAIN: a full FIFO keeps packets from leaving; `Card.try_send` returns how many left."""


class Refused(VicError):
    """A subscription has ended: its queue is not there, was deleted, or may not be read.

    `subscription` and `queue` are its, `reason` is what the broker or the bridge said.
    """

    def __init__(self, queue: str, reason: str, subscription: int) -> None:
        super().__init__(f"queue '{queue}' is not consumed: {reason}", Status.OK)
        self.queue, self.reason, self.subscription = queue, reason, subscription

    def __reduce__(self) -> tuple[type[Refused], tuple[str, str, int]]:  # type: ignore[override]
        """Pickle with what is known of the subscription."""
        return type(self), (self.queue, self.reason, self.subscription)


CLASSES: dict[int, type[VicError]] = {
    Status.EINVAL: InvalidArgument,
    Status.ETIMEDOUT: TimedOut,
    Status.EBUSY: Busy,
    Status.ENOSPC: NoSpace,
    Status.EPEER: PeerDied,
    Status.ECLOSED: Closed,
    Status.ENOJOB: NoJob,
    Status.ESYS: SystemRefused,
    Status.ERANGE: OutOfRange,
    Status.EAGAIN: TryAgain,
}


def error_of(status: int, text: str) -> VicError:
    """Return the exception of a status; of `VicError` itself if vic.h has no such status."""
    return CLASSES.get(status, VicError)(text, status)
