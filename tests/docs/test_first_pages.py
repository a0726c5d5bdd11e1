"""Does every command of README and the tutorials print what the page says?"""

import pytest
from pages import FIRST, of_subject, parts, prints_what_it_says


@pytest.mark.parametrize(("page", "some"), parts(of_subject(*FIRST)))
def test_it_prints_what_it_says(page, some, tmp_path):
    prints_what_it_says(page, some, tmp_path)
