"""Does everything exist that pages and docstrings name: modules, what is in them, files, tests?"""

from __future__ import annotations

import importlib
import re

import pytest
from pages import PAGES, name
from sessions import ROOT

OURS = [*PAGES, ROOT / "CONTRIBUTING.md", *ROOT.glob("analysis/*.md")]
CODE = sorted((ROOT / "dvsim").rglob("*.py"))
# files that look like a name of Python, and the groups of entry points
NO_NAMES = re.compile(r"\.(?:bash|fish|html|json|kinds|md|py|traces)$")


def is_there(dotted: str) -> bool:
    """Whether a dotted name is that of a module, or of something in one."""
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        for part in parts[count:]:
            if part in getattr(found, "__annotations__", {}):
                return True
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


@pytest.mark.parametrize("page", OURS, ids=name)
def test_a_page_names_what_is_there(page):
    text = page.read_text("utf-8")
    dotted = set(re.findall(r"\bdvsim(?:\.[a-zA-Z_]\w*)+", text))
    assert [one for one in dotted if not NO_NAMES.search(one) and not is_there(one)] == []
    paths = re.findall(
        r"`((?:analysis|bench|dvsim|emulator|models|scenarios|tests)/[\w./-]+)`", text
    )
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_pages_name_tests_that_are_there():
    files = [*(ROOT / "tests").rglob("test_*.py")]
    there = {file.stem for file in files}
    for file in files:
        there |= set(re.findall(r"def (test_\w+)", file.read_text("utf-8")))
    for page in OURS:
        named = set(re.findall(r"\btest_\w+", page.read_text("utf-8")))
        assert named <= there, name(page)


def test_docstrings_name_what_is_there():
    named = {
        (name(file), one)
        for file in CODE
        for one in re.findall(r"`(dvsim(?:\.[a-zA-Z_]\w*)+)`", file.read_text("utf-8"))
    }
    assert (
        sorted(one for one in named if not NO_NAMES.search(one[1]) and not is_there(one[1])) == []
    )


@pytest.mark.parametrize("gone", ["dvsim.nothing", "dvsim.table.samples.no", "dvsim.run.nothing"])
def test_what_is_gone_is_noticed(gone):
    assert not is_there(gone)
