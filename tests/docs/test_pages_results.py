"""Does every command of the pages on data, sweeps and results print what the page says?"""

import pytest
from pages import others, parts, prints_what_it_says


@pytest.mark.parametrize(("page", "some"), parts(others()))
def test_it_prints_what_it_says(page, some, tmp_path):
    prints_what_it_says(page, some, tmp_path)
