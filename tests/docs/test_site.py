"""Does the site build, with every link good, and does it stay on the reader's machine?"""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from sessions import ROOT

FETCHED = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)=["'](https?:)?//""")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr  # a link or anchor that leads nowhere is an error
    return folder


def test_every_page_is_in_the_site(site):
    written = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    built = {path.relative_to(site).with_suffix(".md") for path in site.rglob("*.html")}
    assert written <= built


def test_no_page_fetches_anything(site):
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8").replace('<link rel="canonical"', "")
        assert not FETCHED.search(text), page


def test_the_reference_has_every_verb_and_call(site):
    verbs = (site / "reference" / "cli.html").read_text("utf-8")
    assert "dvsim run [OPTIONS] SCENARIO" in verbs
    header = (site / "reference" / "vic.html").read_text("utf-8")
    assert "vic_counter_wait" in header


def test_what_is_assumed_is_told_with_its_reason(site):
    text = (site / "explanation" / "assumed.html").read_text("utf-8")
    assert text.count("<tr>") > 50
    assert "pio_rate" in text


def test_a_link_that_leads_nowhere_is_noticed(tmp_path):
    """The test above can fail."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("[nothing](nothing.md)\n", "utf-8")
    (tmp_path / "mkdocs.yml").write_text("site_name: x\n", "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path / "site"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "nothing.md" in done.stderr


def test_the_site_shows_the_files_that_a_clone_links_to(site):
    for page, words in (
        ("reference/scenarios", "5.001 ms"),
        ("own-kind", "class QueueScenario"),
        ("reference/python", "dvsim.fabric.network.Network"),
    ):
        text = re.sub(r"<[^>]*>", "", (site / f"{page}.html").read_text("utf-8"))
        assert words in text, page


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: page.stem)
def test_a_page_has_no_holes_in_a_clone(page):
    text = page.read_text("utf-8")
    bare = re.sub(r"<!-- .*?-->", "", text, flags=re.DOTALL)
    assert "--8<--" not in text
    assert not re.search(r"^:::", bare, flags=re.MULTILINE)
    for path in re.findall(r"^<!-- file: (\S+) -->$", text, flags=re.MULTILINE):
        links = [page.parent / link for link in re.findall(r"\]\(([^)#]+)\)", bare)]
        assert (ROOT / path).resolve() in [link.resolve() for link in links], path
