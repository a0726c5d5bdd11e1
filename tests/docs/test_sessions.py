"""Does every command of README and docs print what the page says?"""

from __future__ import annotations

import pytest
from sessions import ROOT, agrees, run, sessions
from setups import prepare

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
WITH_SESSIONS = [page for page in PAGES if sessions(page)]


def name(page):
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", WITH_SESSIONS, ids=name)
def test_the_page_prints_what_it_says(page, tmp_path, kept_cache):
    environment = {"XDG_CACHE_HOME": str(kept_cache), "XDG_STATE_HOME": str(tmp_path / "state")}
    print(prepare(page, tmp_path, environment))
    some = sessions(page)
    printed = iter(run(some, tmp_path, environment))
    for session in some:
        for command in session.commands:
            got = next(printed)
            if session.how not in ("tested by", "not run"):
                assert agrees(session, command.expected, got), (
                    f"{name(page)}:{command.line}: $ {command.text}\n"
                    + "\n".join([*got.lines, f"exit code {got.status}"])
                    + "\n--- but the page says ---\n"
                    + "\n".join(command.expected or session.cells)
                )


@pytest.mark.parametrize("page", WITH_SESSIONS, ids=name)
def test_what_another_test_runs_is_run_there(page):
    for session in sessions(page):
        if session.how == "tested by":
            test = ROOT / session.directive.removeprefix("tested by ")
            assert page.name in test.read_text("utf-8"), f"{test} says nothing of {page.name}"


def test_few_commands_are_run_by_nobody():
    """What needs root, or minutes of a quiet machine."""
    nobody = [
        command.text
        for page in WITH_SESSIONS
        for session in sessions(page)
        if session.how == "not run"
        for command in session.commands
    ]
    assert len(nobody) <= 8, nobody


def test_no_command_is_shown_without_its_dollar():
    """Else it would be run by no test."""
    for page in PAGES:
        for number, line in enumerate(page.read_text("utf-8").splitlines(), start=1):
            bare = line.startswith(("    dvsim ", "    make ", "    vicrun "))
            assert not bare, f"{name(page)}:{number}: {line}"


def test_the_readme_has_the_tally_of_the_ledger():
    tally = (ROOT / "docs" / "claims.md").read_text("utf-8").splitlines()[0].removeprefix("# ")
    assert f"[{tally}](docs/claims.md)" in (ROOT / "README.md").read_text("utf-8")
