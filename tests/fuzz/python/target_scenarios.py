"""Scenario files, the parts they extend, campaigns and cards, as `dvsim check` reads them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from case_changes import mutated
from case_files import Files, lay
from targets import Target

from dvsim.contract.load import check_file, load
from dvsim.errors import Fault, ScenarioError
from dvsim.scenario import find
from dvsim.scenario.render import to_toml

WHOLE = ("h3/dv-8", "h3/fdr-2048", "switch/load-latency")
PARTS = ("h3/dv-8", "h3/fdr-8", "h3/whatif/bridges", "h3/published")
MINE = "mine.toml"


def scenario_seeds() -> list[Files]:
    """Return packaged scenarios, written out whole and with the files that they extend."""
    root = find.scenario_root()
    seeds = [{MINE: to_toml(load(name)).encode()} for name in _one_of_each()]
    for name in PARTS:
        path = root / f"{name}.toml"
        files = {MINE: path.read_bytes()}
        files |= {one.name: one.read_bytes() for one in path.parent.glob("*base*.toml")}
        seeds.append(files)
    return seeds


def _one_of_each() -> list[str]:
    """Return the first scenario of each folder and kind."""
    entries = [one for one in find.list_scenarios() if one.kind not in ("campaign", "what-if")]
    first = {(one.name.partition("/")[0], one.kind): one.name for one in reversed(entries)}
    return sorted(first.values())


def card_seeds() -> list[Files]:
    """Return a packaged card of each kind."""
    paths = {one.kind: one.path for one in reversed(find.list_cards())}
    return [{MINE: path.read_bytes()} for _, path in sorted(paths.items())]


def read_scenario(files: Files, folder: Path) -> str:
    """Check a file; what is good can be written and read again without a difference."""
    lay(files, folder)
    faults = check_file(folder / MINE)
    if faults:
        return said(faults)
    try:
        scenario = load(folder / MINE)
    except ScenarioError:  # a campaign, or the common part of others
        return "good"
    again = folder / "again.toml"
    again.write_text(to_toml(scenario), "utf-8")
    assert load(again) == scenario, "a scenario that was written out is another one"
    return f"good {type(scenario).__name__}"


def said(faults: Sequence[Fault]) -> str:
    """Return faults as they are told; each is one line that begins with a place."""
    for fault in faults:
        text = str(fault)
        assert "\n" not in text, f"a fault of two lines: {text!r}"
        most = len(fault.file) + 2000
        assert len(text) < most, f"a fault of {len(text)} characters: {text[:200]!r}"
    return "\n".join(f"{fault.key}: {fault.message}" for fault in faults)


TARGETS = {
    "scenario": Target(scenario_seeds, read_scenario, (), mutated),
    "card": Target(card_seeds, read_scenario, (), mutated),
}
