"""A small scenario of a switch in a file, to be edited and read."""

from dvsim.contract.load import load
from dvsim.errors import ScenarioError

SMALL = """\
kind = "switch"
title = "small"
question = "how small?"
source = "a test"

[switch]
height = 4
angles = 3
slot = "22 ns"

[traffic]
load = 0.3
slots = 400
warmup = 50
"""


def small(tmp_path, more="", *, text=SMALL, name="small.toml"):
    """Write the small scenario with more lines below and return its path."""
    path = tmp_path / name
    path.write_text(text + more, "utf-8")
    return path


def edited(tmp_path, old, new, more=""):
    """Write the small scenario with a text changed that stands in it once."""
    assert SMALL.count(old) == 1
    return small(tmp_path, more, text=SMALL.replace(old, new))


def faults(path, overrides=()):
    """Return what is said about a scenario, without the name of its folder."""
    try:
        load(path, overrides)
    except ScenarioError as error:
        return str(error).replace(f"{path.parent}/", "").splitlines()
    return []
