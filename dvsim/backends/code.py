"""Which code made a result: the version, and a digest of what decides the numbers.

A released version has one digest. In a checkout the digest changes with the model, so that a kept
run is not taken for the answer of code that has changed since.
"""

import hashlib
from functools import cache
from pathlib import Path

from dvsim._version import __version__
from dvsim.core import source_digest
from dvsim.scenario.find import find_card

ROOMS = ("core", "switch", "network", "system", "backends")
FILES = ("results/samples.py", "results/summary.py", "results/study.py", "scenario/slot.py")
CARD = "data-vortex-8"  # whose planes and links a network has that does not say


@cache
def code_version() -> str:
    """Return the version with eight hex digits of the code, such as ``0.1.0+3f9c21ab``."""
    package = Path(__file__).resolve().parents[1]
    files = [path for room in ROOMS for path in sorted((package / room).glob("*.py"))]
    files += [package / name for name in FILES]
    card = find_card(CARD)
    files += [] if card is None else [card]
    digest = hashlib.blake2b(source_digest(), digest_size=4)
    for path in files:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return f"{__version__}+{digest.hexdigest()}"
