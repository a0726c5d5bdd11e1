"""Loads libvic. Its declarations are those of the headers beside it: they cannot drift apart.

cffi in ABI mode: the library is the one that C programs use, and nothing is compiled for Python.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from cffi import FFI

from dvsim.errors import DvsimError
from dvsim.native import emulator_prefix
from dvsim.vic.constants import Status

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
