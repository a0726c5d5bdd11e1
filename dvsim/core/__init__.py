"""Binding of the C core under models/: the hardware's behaviour, written once, seen from Python."""

from dvsim.core._core import ffi, lib
from dvsim.core.card import Arrival, Burst, VortexCard, words_of
from dvsim.core.host import DramRing, Window
from dvsim.core.receiver import WordArrival, WordCard, WordRing

__all__ = [
    "Arrival",
    "Burst",
    "DramRing",
    "VortexCard",
    "Window",
    "WordArrival",
    "WordCard",
    "WordRing",
    "source_digest",
    "words_of",
]


def source_digest() -> bytes:
    """Return the digest of the C sources that the core was built from, as hex digits."""
    digest: bytes = ffi.string(lib.dvsim_source_digest)
    return digest
