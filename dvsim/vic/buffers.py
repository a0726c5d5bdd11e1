"""What users give as bytes, as C can read or fill it in place."""

from __future__ import annotations

from typing import Any

from dvsim.vic.binding import libvic
from dvsim.vic.constants import Status
from dvsim.vic.errors import InvalidArgument

AnyBytes = Any
"""bytes, bytearray, memoryview, a NumPy array: whatever is contiguous and offers its memory."""


def given(data: AnyBytes) -> Any:  # noqa: ANN401 - a C pointer
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
