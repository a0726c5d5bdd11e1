"""Texts of the library."""

from __future__ import annotations

from dvsim.vic.binding import libvic


def strerror(status: int) -> str:
    """Return the text of a status; there is one for any number."""
    ffi, lib = libvic()
    return str(ffi.string(lib.vic_strerror(status)).decode())


def error_detail() -> str:
    """Return what the last failing call of this thread found wrong; "" if none has failed."""
    ffi, lib = libvic()
    return str(ffi.string(lib.vic_error_detail()).decode("utf-8", "replace"))


def version() -> str:
    """Return the version of the library, ``major.minor.patch``."""
    ffi, lib = libvic()
    return str(ffi.string(lib.vic_version()).decode())
