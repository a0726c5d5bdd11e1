"""Does docs/network.md print what it says, and is its picture there?"""

import doctest
import xml.etree.ElementTree as ET
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_every_figure_is_what_the_line_above_it_prints(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    done = doctest.testfile(
        str(DOCS / "network.md"), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert done.attempted > 20
    assert done.failed == 0


def test_the_picture_is_well_formed_and_described():
    assert "(network.svg)" in (DOCS / "network.md").read_text("utf-8")
    root = ET.parse(DOCS / "network.svg").getroot()
    assert [child.tag.rpartition("}")[2] for child in root][:2] == ["title", "desc"]
