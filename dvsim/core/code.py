"""Which code made a result: the version, and a digest of what decides the numbers.

A released version has one digest. In a checkout the digest changes with the model, so that a kept
run is not taken for the answer of code that has changed since.
"""

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from dvsim._version import __version__
from dvsim.core import source_digest
from dvsim.scenario.find import FABRIC_CARD, find_card

PACKAGE = Path(__file__).resolve().parents[1]
FOLDERS = ("contract", "core", "fabric", "kinds")
EMULATED = ("emulation", "broker")
PROGRAMS = ("_emulator/lib/*.so", "_emulator/bin/*", "_emulator/share/bridge/*.[ch]")
FILES = (
    "table/samples.py",
    "scenario/types.py",
)


@cache
def code_version() -> str:
    """Return the version with eight hex digits of the code, such as ``0.1.0+3f9c21ab``."""
    card = find_card(FABRIC_CARD)
    rest = [] if card is None else [card]
    return _version(source_digest(), FOLDERS, rest)


@cache
def emulated_version() -> str:
    """Return the same of emulated runs: of the harness, and of the programs that run in it."""
    programs = [path for pattern in PROGRAMS for path in sorted(PACKAGE.glob(pattern))]
    return _version(b"", EMULATED, [path for path in programs if path.is_file()])


def _version(first: bytes, folders: Iterable[str], rest: Iterable[Path]) -> str:
    files = [path for folder in folders for path in sorted((PACKAGE / folder).rglob("*.py"))]
    digest = hashlib.blake2b(first, digest_size=4)
    for path in [*files, *(PACKAGE / name for name in FILES), *rest]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return f"{__version__}+{digest.hexdigest()}"
