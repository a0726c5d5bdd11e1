"""Is every command of README and docs run by a test, or is it said why not?"""

from __future__ import annotations

import re

import pytest
import rewrite
from harness.once import STORE
from pages import APART, EMULATION, FIRST, MODELS, PAGES, WITH_SESSIONS, name, of_subject
from sessions import ROOT, sessions


def test_every_page_has_one_subject():
    named = [of_subject(*subject) for subject in (FIRST, EMULATION, MODELS)]
    assert sum(map(len, named)) == len({page for pages in named for page in pages})
    assert {name(page) for page in WITH_SESSIONS} >= set(APART)


@pytest.mark.parametrize("page", WITH_SESSIONS, ids=name)
def test_what_another_test_runs_is_run_there(page):
    for session in sessions(page):
        if session.how == "tested by":
            test = ROOT / session.directive.removeprefix("tested by ")
            assert page.name in test.read_text("utf-8"), f"{test} says nothing of {page.name}"


@pytest.mark.parametrize("fence", ["", "```"])
def test_a_page_is_rewritten_where_its_output_has_blank_lines(tmp_path, monkeypatch, fence):
    """The blank lines were not counted, and the last old lines stayed in the page."""
    monkeypatch.setenv(STORE, str(tmp_path))
    monkeypatch.setattr(rewrite, "prepare", lambda *_: {})  # what pages of docs/ need
    indent = "" if fence else "    "
    old = [f"{indent}$ printf 'new\\n\\nlast\\n'", f"{indent}old", "", "", f"{indent}other"]
    page = tmp_path / "page.md"
    page.write_text("\n".join(["# Page", fence, *old, fence, "The end."]) + "\n", "utf-8")
    rewrite.rewrite(page)
    new = [old[0], f"{indent}new", f"{indent}last"]
    assert page.read_text("utf-8").splitlines() == ["# Page", fence, *new, fence, "The end."]


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


def test_the_claims_that_a_page_shows_are_those_of_the_ledger():
    """tests/model/test_claims_page.py holds claims.md against runs."""
    ledger = (ROOT / "docs" / "claims.md").read_text("utf-8").splitlines()
    kept = {row[1].split("]")[0].lstrip(" ["): row for row in map(cells, ledger) if len(row) == 10}
    shown = (ROOT / "docs" / "messaging-models.md").read_text("utf-8").splitlines()
    rows = [row for row in map(cells, shown) if len(row) == 7 and re.match("[A-Z]+-", row[1])]
    assert len(rows) == 30
    for _, claim, says, claimed, simulated, verdict, _ in rows:
        found = kept[claim]
        word, _, fitted = verdict.partition(", ")
        assert [says, claimed, simulated] == [found[2], *found[4:6]], claim
        assert word == found[7].strip("*"), claim
        assert fitted == ("fitted" if found[8] == "fitted" else ""), claim


def cells(line):
    """Return the cells of a line of a table, with an empty one before and after them."""
    return [cell.strip() for cell in line.split("|")]
