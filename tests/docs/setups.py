"""What the sessions of a page take for granted, made in their folder before they run."""

from __future__ import annotations

import shutil
from pathlib import Path

from sessions import ROOT, shell

EXAMPLES = f'make -s -C {ROOT}/emulator/examples VIC="$(dvsim emulate --cflags --libs)" OUT=$PWD'
WITH_EXAMPLES = ("docs/emulator.md", "docs/emulator-figures.md", "docs/emulator-timed.md")


def compile_examples(folder: Path) -> None:
    """Fill a folder with the example programs, and with one that is called ``program``."""
    print(shell(EXAMPLES, folder, {}))
    shutil.copy(folder / "first_bridge", folder / "program")


def prepare(page: Path, folder: Path, examples: Path | None = None) -> None:
    """Make the folder of a page look like a clone, and what it asks for; examples may be there."""
    for name in ("bench", "emulator", "models", "scenarios"):
        (folder / name).symlink_to(ROOT / name)
    if wants_examples(page):
        if examples is None:
            compile_examples(folder)
        else:
            shutil.copytree(examples, folder, dirs_exist_ok=True)


def wants_examples(page: Path) -> bool:
    """Whether the commands of a page run example programs."""
    return page.relative_to(ROOT).as_posix() in WITH_EXAMPLES
