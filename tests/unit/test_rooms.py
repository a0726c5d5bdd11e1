"""Do imports run one way between the rooms, as CONTRIBUTING.md says?"""

import ast
from pathlib import Path

import pytest

import dvsim

ROOT = Path(dvsim.__file__).parent
EVERYWHERE = {"errors", "_version"}
BELOW = {  # what each room may know
    "scenario": set(),
    "core": {"scenario"},
    "system": {"network", "core", "scenario"},
    "results": {"scenario"},
    "switch": {"core", "results"},
    "network": {"switch", "core", "results", "scenario"},
    "broker": {"native"},
    "messaging": {"system", "scenario"},
    "emu": {"broker", "native", "system", "scenario"},
    "backends": {"emu", "messaging", "results", "system", "network", "switch", "core", "scenario"},
    "limit": {"backends", "results", "scenario"},
    "trace": {"emu", "backends", "messaging", "results", "system", "scenario"},
    "progress": {"system", "scenario"},
    "validation": {"results", "scenario"},
    "report": {"lab", "validation", "consistency", "results", "scenario"},
    "consistency": {"scenario"},
    "lab": {"consistency", "results", "scenario"},
    "topology": {"switch", "network"},
    "asked": {"emu", "scenario"},
    "making": {"emu", "results", "backends", "progress", "scenario"},
    "session": {
        "making",
        "asked",
        "emu",
        "report",
        "validation",
        "results",
        "backends",
        "scenario",
    },
    "calibration": {"session", "validation", "results", "scenario"},
    "ledger": {"session", "emu", "broker", "validation", "results", "scenario"},
    "sweeps": {
        "session",
        "making",
        "asked",
        "progress",
        "report",
        "results",
        "backends",
        "scenario",
    },
    "cli": {
        "session",
        "sweeps",
        "ledger",
        "calibration",
        "broker",
        "asked",
        "emu",
        "report",
        "validation",
        "results",
        "switch",
        "scenario",
        "topology",
        "limit",
        "consistency",
        "lab",
        "native",
        "progress",
        "trace",
    },
    "native": set(),
    "vic": {"native"},
}


UPWARDS = {  # what a switch refuses is refused, by the switch itself, when a scenario is read
    "scenario/switch_points.py": {"switch", "network"},
}


def room_of(module):
    """Return the room of a dotted name: ``dvsim.results.run`` is of ``results``."""
    return module.split(".")[1] if "." in module else module


def imported(path):
    """Return the dvsim modules that a file imports, wherever in it, for types only or not."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (item.name for item in node.names if item.name.startswith("dvsim"))
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            if node.module == "dvsim":
                yield from (f"dvsim.{item.name}" for item in node.names)
            elif node.module.startswith("dvsim."):
                yield node.module


def files_of(room):
    folder = ROOT / room
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]


@pytest.mark.parametrize("room", BELOW)
def test_a_room_knows_only_those_below(room):
    allowed = {room, *BELOW[room], *EVERYWHERE}
    wrong = {
        f"{path.relative_to(ROOT)} imports {module}"
        for path in files_of(room)
        for module in imported(path)
        if room_of(module) not in allowed | UPWARDS.get(str(path.relative_to(ROOT)), set())
    }
    assert wrong == set()


def test_every_room_has_its_place():
    rooms = {path.stem for path in ROOT.iterdir() if path.suffix == ".py" or path.is_dir()}
    rooms -= {"__pycache__", "__init__", "__main__", "_data", "_emulator"}
    assert rooms - EVERYWHERE == set(BELOW)
