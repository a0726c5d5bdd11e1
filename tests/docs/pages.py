"""Pages by subject, and what a test of a page does with its sessions."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.once import once
from sessions import ROOT, Session, agrees, run, sessions
from setups import compile_examples, prepare, wants_examples

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
WITH_SESSIONS = [page for page in PAGES if sessions(page)]
# pages whose sessions know nothing of each other: each is a test, in a folder of its own
APART = ("README.md", "docs/messaging-models.md", "docs/h3-model.md", "docs/studies.md",
         "docs/timelines.md", "docs/sweep.md", "docs/emulator-figures.md")  # fmt: skip
FIRST = ("README.md", "docs/index.md", "docs/tutorials/")
EMULATION = ("docs/emulator", "docs/emulated-runs.md", "docs/asynchronous.md", "docs/bridge.md",
             "docs/broker.md", "docs/client.md", "docs/message.md", "docs/terminal.md")  # fmt: skip
MODELS = ("docs/h3-model.md", "docs/irregular.md", "docs/messaging-models.md", "docs/network.md",
          "docs/switch.md", "docs/explanation/", "docs/timelines.md",
          "docs/studies.md")  # fmt: skip
ELSEWHERE = ("tested by", "not run")


def name(page: Path) -> str:
    """Return what a page is called."""
    return page.relative_to(ROOT).as_posix()


def of_subject(*starts: str) -> list[Path]:
    """Return the pages with sessions whose names begin so."""
    return [page for page in WITH_SESSIONS if name(page).startswith(starts)]


def others() -> list[Path]:
    """Return the pages with sessions that are of no other subject."""
    known = of_subject(*FIRST, *EMULATION, *MODELS)
    return [page for page in WITH_SESSIONS if page not in known]


def parts(pages: list[Path]) -> list[object]:
    """Return a parameter for each page of which something is run, or each of its sessions."""
    found = []
    for page in pages:
        some = [session for session in sessions(page) if session.how not in ELSEWHERE]
        if name(page) in APART:
            for session in some:
                id_ = f"{name(page)}:{session.commands[0].line}"
                found.append(pytest.param(page, [session], id=id_))
        elif some:
            found.append(pytest.param(page, some, id=name(page)))
    return found


def prints_what_it_says(page: Path, some: list[Session], folder: Path) -> None:
    """Run sessions of a page as a reader would, and hold what they print against the page."""
    cache = once("flow tables and compiled bridges", lambda _: None)
    environment = {"XDG_CACHE_HOME": str(cache), "XDG_STATE_HOME": str(folder / "state")}
    examples = once("example programs", compile_examples) if wants_examples(page) else None
    environment |= prepare(page, folder, examples)
    printed = iter(run(some, folder, environment))
    for session in some:
        for command in session.commands:
            got = next(printed)
            assert agrees(session, command.expected, got), (
                f"{name(page)}:{command.line}: $ {command.text}\n"
                + "\n".join([*got.lines, f"exit code {got.status}"])
                + "\n--- but the page says ---\n"
                + "\n".join(command.expected or session.cells)
            )
