"""Does docs/switch.md print what it says, and is its picture there?"""

import doctest
import xml.etree.ElementTree as ET
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_every_figure_is_what_the_line_above_it_prints():
    done = doctest.testfile(
        str(DOCS / "switch.md"), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert done.attempted > 20
    assert done.failed == 0


def test_the_picture_is_well_formed_and_described():
    assert "(switch.svg)" in (DOCS / "switch.md").read_text("utf-8")
    root = ET.parse(DOCS / "switch.svg").getroot()
    names = [child.tag.rpartition("}")[2] for child in root]
    assert names[:2] == ["title", "desc"]
