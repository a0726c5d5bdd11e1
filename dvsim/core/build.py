"""Builds `dvsim.core._core`, the compiled form of models/, with cffi in API mode.

The declarations are the C headers themselves, so that the header stays the one place where the
interface is written.
"""

import re
from pathlib import Path

from cffi import FFI

ROOT = Path(__file__).resolve().parents[2]
HEADERS = ("engine/law.h", "card/card.h", "host/host.h", "vortex/vortex.h")
SOURCES = (
    "models/engine/law.c",
    "models/card/card.c",
    "models/host/host.c",
    "models/vortex/frame.c",
    "models/vortex/kernel.c",
    "models/vortex/traffic.c",
    "models/vortex/inject.c",
    "models/vortex/slot.c",
    "models/vortex/careful.c",
    "models/vortex/counts.c",
    "models/vortex/check.c",
    "models/vortex/run.c",
    "models/vortex/inside.c",
    "models/vortex/vortex.c",
)


def declarations(header: str) -> str:
    """Return the text of a header without preprocessor lines and comments, as cffi wants it."""
    text = (ROOT / "models" / header).read_text(encoding="utf-8")
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return re.sub(r"^#.*$", "", text, flags=re.MULTILINE)


ffi = FFI()
for name in HEADERS:
    ffi.cdef(declarations(name))
ffi.set_source(
    "dvsim.core._core",
    "".join(f'#include "{name}"\n' for name in HEADERS),
    sources=list(SOURCES),
    include_dirs=["models"],
    extra_compile_args=["-std=c11", "-O3", "-pthread", "-Wall", "-Wextra"],
    extra_link_args=["-pthread"],
)
