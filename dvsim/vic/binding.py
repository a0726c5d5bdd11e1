"""libvic by cffi: declarations from vic.h, constants, errors, words and buffers."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from enum import IntEnum, IntFlag
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from cffi import FFI

from dvsim.errors import DvsimError
from dvsim.native import emulator_prefix

FOREVER = 2**64 - 1
"""A timeout that never comes, in nanoseconds."""

NO_COUNTER = 63
"""The scratch counter: nobody waits for it, and what it reads says nothing."""


READY_FIFO = 63
"""The bit of what `Card.wait` returns that stands for the FIFO."""


class Op(IntEnum):
    """What a packet does where it arrives."""

    WRITE = 0
    FIFO = 1
    QUERY = 2
    COUNTER_SET = 3
    COUNTER_ADD = 4


class Reduction(IntEnum):
    """How words of many cards become one. Sums are modulo 2**64."""

    SUM = 0
    MIN = 1
    MAX = 2
    AND = 3
    OR = 4
    XOR = 5


class Kind(IntEnum):
    """What a delivery of a client is: those of vic_envelope.h that a program receives."""

    PUBLISH = 1
    CONFIRM = 2
    REFUSAL = 5
    DELIVER = 6
    TOPIC = 10


class Flag(IntFlag):
    """Flags of deliveries: those of vic_envelope.h."""

    CONFIRM_WANTED = 1
    PERSISTENT = 2
    RETURNED = 4
    REFUSED = 8
    REDELIVERED = 16


class Status(IntEnum):
    """What a call of vic.h returns."""

    OK = 0
    EINVAL = -1
    ETIMEDOUT = -2
    EBUSY = -3
    ENOSPC = -4
    EPEER = -5
    ECLOSED = -6
    ENOJOB = -7
    ESYS = -8
    ERANGE = -9
    EAGAIN = -10


# ruff: noqa: N818 - the names read as sentences where they are raised


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


# Loads libvic. Its declarations are those of the headers beside it: they cannot drift apart.
#
# cffi in ABI mode: the library is the one that C programs use, and nothing is compiled for Python.

PREFIX = "VIC_PREFIX"
"""Environment variable: a folder with the include and lib of another libvic, such as one built
with a sanitizer, or one that drives cards."""


class Library(NamedTuple):
    """The library, and the cffi object that knows its types."""

    ffi: Any
    lib: Any


HEADERS = ("vic.h", "vic_message.h", "vic_envelope.h", "vic_client.h", "vic_collective.h")


def declarations(header: str) -> str:
    """Return the text of a header without what cffi does not read: comments, macros, bodies."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", header, flags=re.DOTALL)
    text = re.sub(r"^#(?:[^\n]*\\\n)*[^\n]*$", "", text, flags=re.MULTILINE)
    text = text.replace('extern "C" {', "", 1)
    text = re.sub(r"\binline\b([^{;]*)\{.*?^\}", r"\1;", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^\}\s*$", "", text, flags=re.MULTILINE)  # of extern "C"
    return text.replace("VIC_API", "")


@cache
def libvic() -> Library:
    """Return libvic, loaded once."""
    prefix = Path(os.environ.get(PREFIX) or emulator_prefix())
    path = prefix / "lib" / "libvic.so.0"
    ffi = FFI()
    try:
        for name in HEADERS:
            text = (prefix / "include" / name).read_text(encoding="utf-8")
            ffi.cdef(declarations(text))
        return Library(ffi, ffi.dlopen(str(path)))
    except OSError as error:
        raise DvsimError(f"the emulated card cannot be loaded: {error}") from error


def strerror(status: int) -> str:
    """Return the text of a status; there is one for any number."""
    ffi, lib = libvic()
    return str(ffi.string(lib.vic_strerror(status)).decode())


def error_detail() -> str:
    """Return what the last failing call of this thread found wrong; "" if none has failed."""
    ffi, lib = libvic()
    return str(ffi.string(lib.vic_error_detail()).decode("utf-8", "replace"))


def told(status: int) -> str:
    """Return the text of the status with which a call of this thread has just failed, and why.

    Not of those that Python finds itself, or that need no reason.
    """
    text, detail = strerror(status), error_detail()
    bare = status in (Status.ETIMEDOUT, Status.EAGAIN, Status.ERANGE)
    if bare or detail in ("", text):
        return text
    ended = status == Status.ECLOSED  # the text speaks of two ends, the reason of one
    return f"{detail} (VIC_ECLOSED)" if ended else f"{text}; {detail}"


def version() -> str:
    """Return the version of the library, ``major.minor.patch``."""
    ffi, lib = libvic()
    return str(ffi.string(lib.vic_version()).decode())


Words = npt.NDArray[np.uint64]
AnyWords = npt.NDArray[Any] | Sequence[int] | int
"""An array of 8-byte elements (or multiples, such as complex numbers), numbers, or one number."""


def _refuse(what: str) -> InvalidArgument:
    return InvalidArgument(what, Status.EINVAL)


def given(words: AnyWords) -> Words:
    """Return words to be read as a flat array: the same memory, if it is an array already.

    Raises:
        InvalidArgument: If it is no array of 8-byte elements, not contiguous, or a number is not in
            0 .. 2**64 - 1.
    """
    if isinstance(words, np.ndarray):
        if words.dtype == np.uint64 and words.ndim == 1 and words.flags.c_contiguous:
            return words
        return _viewed(words)
    if isinstance(words, bytes | bytearray | memoryview | str):
        kind = type(words).__name__
        raise _refuse(f"words are {kind}; numpy.frombuffer(…, numpy.uint64) makes words of them")
    try:
        return np.atleast_1d(np.asarray(words, dtype=np.uint64))
    except (OverflowError, TypeError, ValueError) as error:
        message = (
            f"words are not numbers 0 .. 2**64 - 1: {error}; negative ones go in an int64 array"
        )
        raise _refuse(message) from error


def taken(words: npt.NDArray[Any]) -> Words:
    """Return an array to be filled as a flat array of the same memory; raises as `given` does."""
    if not isinstance(words, np.ndarray):
        raise _refuse(f"there is a {type(words).__name__} to be filled; it has to be a NumPy array")
    if not words.flags.writeable:
        raise _refuse("the array to be filled is read-only")
    return _viewed(words)


def _viewed(words: npt.NDArray[Any]) -> Words:
    if words.dtype.itemsize % 8 or words.dtype.hasobject or words.dtype.itemsize == 0:
        raise _refuse(
            f"an array of {words.dtype} is not of 8-byte elements; use uint64, float64, …"
        )
    if not words.flags.c_contiguous:
        raise _refuse("the array is not contiguous; numpy.ascontiguousarray makes a copy that is")
    return words.reshape(-1).view(np.uint64)


AnyBytes = Any
"""bytes, bytearray, memoryview, a NumPy array: whatever is contiguous and offers its memory."""


def readable(data: AnyBytes) -> Any:  # noqa: ANN401 - a C pointer
    """Return bytes to be read: the same memory.

    Raises:
        InvalidArgument: If it is text, offers no memory, or is not contiguous.
    """
    try:
        return libvic().ffi.from_buffer(data)
    except (TypeError, ValueError, BufferError) as error:
        kind = type(data).__name__
        text = f"a message is bytes, an array or another contiguous buffer, not {kind}: {error}"
        raise InvalidArgument(text, Status.EINVAL) from error


def filled(buffer: AnyBytes) -> Any:  # noqa: ANN401 - a C pointer
    """Return memory to be filled; raises as `given` does, and if it is read-only."""
    try:
        return libvic().ffi.from_buffer(buffer, require_writable=True)
    except (TypeError, ValueError, BufferError) as error:
        kind = type(buffer).__name__
        text = f"a message goes into a writable contiguous buffer, not into {kind}: {error}"
        raise InvalidArgument(text, Status.EINVAL) from error
