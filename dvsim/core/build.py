"""Builds `dvsim.core._core`, the compiled form of models/, with cffi in API mode.

The declarations are the C headers themselves, so that the header stays the one place where the
interface is written.
"""

import hashlib
import re
from pathlib import Path

from cffi import FFI

ROOT = Path(__file__).resolve().parents[2]
HEADERS = (
    "engine/law.h",
    "host/pcie.h",
    "card/card.h",
    "host/host.h",
    "host/ring.h",
    "host/receiver.h",
    "vortex/traffic.h",
    "vortex/vortex.h",
    "network/network.h",
    "workload/fabric.h",
    "workload/replay.h",
    "workload/ports.h",
    "workload/cycle.h",
    "workload/faulty.h",
)
SOURCES = (
    "models/engine/law.c",
    "models/card/card.c",
    "models/card/vic.c",
    "models/card/engines.c",
    "models/host/host.c",
    "models/host/pcie.c",
    "models/host/mirror.c",
    "models/host/ring.c",
    "models/host/receiver.c",
    "models/host/landing.c",
    "models/vortex/frame.c",
    "models/vortex/kernel.c",
    "models/vortex/traffic.c",
    "models/vortex/draws.c",
    "models/vortex/inject.c",
    "models/vortex/slot.c",
    "models/vortex/slices.c",
    "models/vortex/slices_slot.c",
    "models/vortex/sparse.c",
    "models/vortex/pools.c",
    "models/vortex/pools_slot.c",
    "models/vortex/packetwise.c",
    "models/vortex/counts.c",
    "models/vortex/state.c",
    "models/vortex/check.c",
    "models/vortex/run.c",
    "models/vortex/caller.c",
    "models/vortex/vortex.c",
    "models/vortex/carried.c",
    "models/network/tree.c",
    "models/network/create.c",
    "models/network/links.c",
    "models/network/hosts.c",
    "models/network/bursts.c",
    "models/network/flights.c",
    "models/network/dead_cables.c",
    "models/network/slot.c",
    "models/network/counts.c",
    "models/network/run.c",
    "models/workload/heap.c",
    "models/workload/agenda.c",
    "models/workload/fresh.c",
    "models/workload/match.c",
    "models/workload/steps.c",
    "models/workload/replay.c",
    "models/workload/path.c",
    "models/workload/card_ends.c",
    "models/workload/ports.c",
    "models/workload/cycle.c",
    "models/workload/cycle_card.c",
    "models/workload/cycle_queue.c",
    "models/workload/faulty.c",
)


def declarations(header: str) -> str:
    """Return the text of a header without preprocessor lines and comments, as cffi wants it."""
    text = (ROOT / "models" / header).read_text(encoding="utf-8")
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return re.sub(r"^#.*$", "", text, flags=re.MULTILINE)


def source_digest() -> str:
    """Return 16 hex digits that change with any file of models/ but the cards."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted((ROOT / "models").glob("*/*.[chi]*")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


ffi = FFI()
for name in HEADERS:
    ffi.cdef(declarations(name))
ffi.cdef("extern const char *const dvsim_source_digest;")
ffi.set_source(
    "dvsim.core._core",
    "".join(f'#include "{name}"\n' for name in HEADERS)
    + f'const char *const dvsim_source_digest = "{source_digest()}";\n',
    sources=list(SOURCES),
    include_dirs=["models"],
    extra_compile_args=["-std=c11", "-O3", "-pthread", "-Wall", "-Wextra"],
    extra_link_args=["-pthread"],
)
