"""Builds `dvsim.core._core`, the compiled form of models/, with cffi in API mode.

The declarations are the C headers themselves, so that the header stays the one place where the
interface is written.
"""

import re
from pathlib import Path

from cffi import FFI

ROOT = Path(__file__).resolve().parents[2]
HEADERS = ("engine/law.h", "card/card.h", "host/host.h")
SOURCES = ("models/engine/law.c", "models/card/card.c", "models/host/host.c")


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
    extra_compile_args=["-std=c11", "-O2", "-Wall", "-Wextra"],
)
