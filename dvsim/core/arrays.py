"""Lists of the C core as NumPy arrays of their own, and the memory that there is for more."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from dvsim.core._core import ffi

Ints = npt.NDArray[np.int64]
C = TypeVar("C", bound=tuple[Any, ...])


def kept_pointer(alive: list[Any], values: npt.ArrayLike, kind: type[np.generic], name: str) -> Any:  # noqa: ANN401 - a C pointer
    """Return a pointer to values of a type; `alive` gets the array, which must outlive it."""
    array = np.ascontiguousarray(values, dtype=kind)
    alive.append(array)
    return ffi.cast(name, array.ctypes.data)


def available_bytes() -> int | None:
    """Return the memory that Linux says a new program can have, None where it does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    kibibytes = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(kibibytes[0]) * 1024 if kibibytes else None


def check_memory(name: str, needed: int) -> None:
    """Raise MemoryError, before anything is allocated, if `name` needs more than there is."""
    available = available_bytes()
    if available is not None and needed > available:
        raise MemoryError(f"{name} needs {needed:,} B of memory, {available:,} B are available")


def copied(first: Any, length: int) -> Ints:  # noqa: ANN401 - a C pointer
    """Return a copy of so many int64_t."""
    if length <= 0:
        return np.zeros(0, dtype=np.int64)
    return np.frombuffer(ffi.buffer(first, length * 8), dtype=np.int64).copy()


def counted(kind: type[C], now: Any, shapes: Mapping[str, tuple[int, ...]]) -> C:  # noqa: ANN401 - a C struct
    """Return the counts of a C struct: those with a shape as copies of its arrays."""
    values = {name: getattr(now, name) for name in kind._fields}  # type: ignore[attr-defined]
    for name, shape in shapes.items():
        values[name] = copied(values[name], math.prod(shape)).reshape(shape)
    return kind(**values)


def records(first: Any, length: int, kind: np.dtype[Any]) -> npt.NDArray[Any]:  # noqa: ANN401
    """Return a copy of the structs to whose first one `first` points; `kind` is their layout."""
    if length <= 0:
        return np.zeros(0, dtype=kind)
    return np.frombuffer(ffi.buffer(first[0], length * kind.itemsize), dtype=kind).copy()
