"""What the sessions of a page take for granted, made in their folder before they run."""

from __future__ import annotations

from pathlib import Path

from sessions import ROOT, shell

EXAMPLES = 'make -s -C emulator/examples VIC="$(dvsim emulate --cflags --libs)" OUT=$PWD >/dev/null'
SETUPS = {
    "docs/emulator.md": f"{EXAMPLES}; cp first_bridge program",
    "docs/emulator-figures.md": f"{EXAMPLES}; cp first_bridge program",
    "docs/emulator-timed.md": EXAMPLES,
}


def prepare(page: Path, folder: Path, environment: dict[str, str]) -> str:
    """Make the folder of a page look like a clone, and what it asks for; return what was said."""
    for name in ("bench", "emulator", "models", "scenarios"):
        (folder / name).symlink_to(ROOT / name)
    return shell(SETUPS.get(page.relative_to(ROOT).as_posix(), "true"), folder, environment)
