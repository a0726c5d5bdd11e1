"""What users give as words, as NumPy arrays that C can read or write in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dvsim.vic.constants import Status
from dvsim.vic.errors import InvalidArgument

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
