"""Where the compiled part of the emulator is: vic.h, libvic and vicrun."""

from __future__ import annotations

from pathlib import Path

from dvsim.errors import DvsimError


def emulator_prefix() -> Path:
    """Return the folder with ``include/vic.h``, ``lib/libvic.so`` and ``bin/vicrun``."""
    prefix = Path(__file__).resolve().parent / "_emulator"
    if not (prefix / "bin" / "vicrun").is_file():
        raise DvsimError(f"no emulator in {prefix}: install dvsim again, with a C compiler")
    return prefix
