"""Does every command of the pages on models and studies print what the page says?"""

import pytest
from pages import MODELS, of_subject, parts, prints_what_it_says


@pytest.mark.parametrize(("page", "some"), parts(of_subject(*MODELS)))
def test_it_prints_what_it_says(page, some, tmp_path):
    prints_what_it_says(page, some, tmp_path)
