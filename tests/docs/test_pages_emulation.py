"""Does every command of the pages on emulated cards and brokers print what the page says?"""

import pytest
from pages import EMULATION, of_subject, parts, prints_what_it_says


@pytest.mark.parametrize(("page", "some"), parts(of_subject(*EMULATION)))
def test_it_prints_what_it_says(page, some, tmp_path):
    prints_what_it_says(page, some, tmp_path)
