"""Where are the files of a user?"""

from pathlib import Path

import pytest

from dvsim.broker.service import default_folder
from dvsim.fabric.network.units import folder


@pytest.mark.parametrize("said", ["/some/where", "relative", "", None])
def test_a_folder_of_the_user_is_where_xdg_says_by_an_absolute_path(said, monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
        if said is not None:
            monkeypatch.setenv(name, said)
    absolute = said == "/some/where"
    cache, state = (
        ("/some/where",) * 2 if absolute else ("/home/me/.cache", "/home/me/.local/state")
    )
    assert folder() == Path(cache, "dvsim")
    assert default_folder() == Path(state, "dvsim", "broker")
