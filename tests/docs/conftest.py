"""One cache for all pages: tables of the flow level and compiled bridges are made once."""

import pytest


@pytest.fixture(scope="session")
def kept_cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")
