"""What the sessions of a page take for granted, made in their folder before they run."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from harness.once import once
from harness.patience import patience
from sessions import ROOT, shell

EXAMPLES = f'make -s -C {ROOT}/emulator/examples VIC="$(dvsim emulate --cflags --libs)" OUT=$PWD'
WITH_EXAMPLES = ("docs/emulator.md", "docs/emulator-figures.md", "docs/emulator-timed.md",
                 "docs/emulator-collectives.md")  # fmt: skip


def compile_examples(folder: Path) -> None:
    """Fill a folder with the example programs, and with one that is called ``program``."""
    print(shell(EXAMPLES, folder, {}))
    shutil.copy(folder / "first_bridge", folder / "program")


def prepare(page: Path, folder: Path, examples: Path | None = None) -> dict[str, str]:
    """Make the folder of a page look like a clone, and what it asks for; examples may be there.

    Returns
    -------
    dict
        Variables of the environment that its commands need.
    """
    for name in ("bench", "emulator", "models", "scenarios"):
        (folder / name).symlink_to(ROOT / name)
    if wants_examples(page):
        if examples is None:
            compile_examples(folder)
        else:
            shutil.copytree(examples, folder, dirs_exist_ok=True)
    if page.name == "irregular.md":
        (folder / "docs").symlink_to(ROOT / "docs")
    if page.name == "mpi-program.md":
        lay_trace(folder / "trace")
    if page.name != "own-kind.md":
        return {}
    lay_queue(folder)
    return {"PYTHONPATH": str(once("own kind", install_kind) / "site")}


def install_kind(folder: Path) -> None:
    """Fill a folder with the package of docs/own-kind.md, installed as pip does."""
    source = folder / "source"
    shutil.copytree(ROOT / "docs" / "mm1", source)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    pip += ["--no-build-isolation", "--target", str(folder / "site"), str(source)]
    subprocess.run(pip, check=True, timeout=patience(120))


def lay_queue(folder: Path) -> None:
    """Lay the scenario of docs/own-kind.md into a folder, and one with two faults."""
    text = (ROOT / "docs" / "mm1" / "queue.toml").read_text("utf-8")
    (folder / "queue.toml").write_text(text, "utf-8")
    wrong = text.replace("customers =", "custommers =").replace("0.8", "1.5")
    (folder / "wrong.toml").write_text(wrong, "utf-8")


def lay_trace(folder: Path) -> None:
    """Lay the trace of docs/tutorials/mpi-program.md, an OTF2 archive, into a folder."""
    sys.path.append(str(ROOT / "tests" / "unit"))
    from otf2_writer import stencil

    stencil(4, 10).write(folder)


def wants_examples(page: Path) -> bool:
    """Whether the commands of a page run example programs."""
    return page.relative_to(ROOT).as_posix() in WITH_EXAMPLES
