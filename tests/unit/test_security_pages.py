"""Can a text that somebody else chose become a part of a page: an element, an attribute, a script?

Each page is made twice, with a harmless text and with a hostile one of the same length. Both must
have the same elements with the same attributes, and the same scripts of ours.
"""

import re
from html.parser import HTMLParser

import pytest
from hostile_pages import PAGES, notebook

HOSTILE = (
    "</script></title><script>alert(1)</script><img src=x onerror=alert(2)>\"'><svg onload=alert()>"
    "--><a href=javascript:alert(4)>{{ 7 * 7 }}{% raw %}&lt;b&gt;<!-- figures --><style>*{}</style>"
)
HARMLESS = "x" * len(HOSTILE)


class Skeleton(HTMLParser):
    """Elements and attributes of a page, its addresses, and its scripts by kind."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.addresses, self.handlers = [], [], []
        self.data, self.scripts, self.styles = [], [], []
        self._into = None
        self.page = page
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.elements.append((tag, sorted(given)))
        self.addresses += [given[name] for name in ("href", "src", "action") if name in given]
        self.handlers += [name for name in given if name.startswith("on")]
        kinds = {"script": self.scripts, "style": self.styles}
        into = self.data if given.get("type") == "application/json" else kinds.get(tag)
        if into is not None:
            into.append("")
        self._into = into

    def handle_endtag(self, tag):
        self._into = None

    def handle_data(self, data):
        if self._into is not None:
            self._into[-1] += data


@pytest.fixture(scope="module")
def both():
    """Give both pages of a kind, without the figure library, which takes long to look through."""
    made = {}

    def pages(kind):
        if kind not in made:
            made[kind] = [Skeleton(PAGES[kind](text)) for text in (HARMLESS, HOSTILE)]
        return made[kind]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dvsim.view.html.figure_scripts", lambda: "<script>draw()</script>")
        yield pages


@pytest.mark.parametrize("kind", PAGES)
def test_a_text_becomes_no_element(both, kind):
    harmless, hostile = both(kind)
    assert hostile.elements == harmless.elements
    assert "x" * 50 in harmless.page, "the text is nowhere, so that nothing is tested"


@pytest.mark.parametrize("kind", PAGES)
def test_only_our_scripts_run(both, kind):
    harmless, hostile = both(kind)
    assert hostile.scripts == harmless.scripts
    assert hostile.styles == harmless.styles
    assert hostile.handlers == []


@pytest.mark.parametrize("kind", PAGES)
def test_no_address_leads_out(both, kind):
    _, hostile = both(kind)
    assert all(re.match("#|data:(text/csv|image/)", one) for one in hostile.addresses)


@pytest.mark.parametrize("kind", PAGES)
def test_a_page_fetches_nothing(both, kind):
    _, hostile = both(kind)
    (policy,) = re.findall('http-equiv="Content-Security-Policy" content="([^"]*)"', hostile.page)
    assert policy.startswith("default-src 'none'")
    assert not re.search("https?:", policy)


def test_what_a_notebook_shows_has_no_element_of_a_text():
    harmless, hostile = (Skeleton(notebook(text)) for text in (HARMLESS, HOSTILE))
    assert hostile.elements == harmless.elements
    assert hostile.scripts == []
    assert "x" * 50 in harmless.page


def test_a_text_that_does_become_an_element_would_be_seen():
    harmless, hostile = (Skeleton(f"<p>{text}</p>") for text in (HARMLESS, HOSTILE))
    assert harmless.elements != hostile.elements
    assert hostile.handlers == ["onerror", "onload"]
