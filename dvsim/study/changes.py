"""In what a scenario that was run differs from the one of its name, as overrides made it.

A run of another system is no reproduction of a published one, and has a name that says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from dvsim.contract.load import load
from dvsim.errors import ScenarioError
from dvsim.scenario.extend import read_chain, read_layers
from dvsim.scenario.find import cards_root, is_file, scenario_root
from dvsim.scenario.render import sections
from dvsim.scenario.spec import Spec, plain
from dvsim.scenario.units import format_value

MOST_SAID = 4  # differences in a name
_TOLD = ("", "compare", "reference", "tolerance", "whatif")  # what is said of a question


@dataclass(frozen=True)
class Changes:
    """What was changed in a scenario.

    Attributes:
        base: The scenario as it was not changed.
        said: What differs, in words, such as ``4 sockets``; not how long it was run.
        length: How many times the messages, or slots, of `base` it has.
    """

    base: Spec
    said: tuple[str, ...] = ()
    length: float = 1.0

    @property
    def name(self) -> str:
        """The name of the scenario, and what differs from it."""
        if not self.said:
            return self.base.name
        more = len(self.said) - MOST_SAID
        named = self.said if more <= 0 else (*self.said[:MOST_SAID], f"{more} more")
        return f"{self.base.name} with {', '.join(named)}"


def changes_of(scenario: Spec) -> Changes:
    """Return in what a scenario differs from the one of its name.

    That is the packaged one, else the file that it was read from. Nothing is said of a variant of
    a what-if, whose name says it, and of what was read from no file.
    """
    known: Changes | None = vars(scenario).get("_changes")
    if known is None:
        known = vars(scenario)["_changes"] = _changes_of(scenario)
    return known


def _changes_of(scenario: Spec) -> Changes:
    alone = not scenario.path or scenario.whatif is not None
    base = None if alone else _unchanged(scenario.name, scenario.path)
    if base is None or base.KIND != scenario.KIND or base.name != scenario.name:
        return Changes(scenario)
    key = scenario.LENGTH
    own, other = (_longest(spec, key) for spec in (scenario, base))
    return Changes(base, tuple(_said(base, scenario)), own / other if other else 1.0)


def title_of(scenario: Spec) -> str:
    """Return the title of a scenario, empty if it was changed and its title is still the old one.

    What was changed may be what the title says: 8 KiB messages are no "2 KiB messages".
    """
    changes = changes_of(scenario)
    old = bool(changes.said) and scenario.title == changes.base.title
    return "" if old else scenario.title


def titled(scenario: Spec, name: str = "") -> str:
    """Return the name of a scenario with what was changed, or another name, and its title."""
    title = title_of(scenario)
    return (name or changes_of(scenario).name) + (f": {title}" if title else "")


def of_published_system(scenario: Spec) -> bool:
    """Return whether the published figures that a scenario names are of its own system.

    They are not if an override changed it, nor if its file takes them from a scenario that it
    extends and changes that one's system.
    """
    if changes_of(scenario).said:
        return False
    base = _published(scenario.path) if scenario.path else None
    return base is None or base.KIND != scenario.KIND or not any(_said(base, scenario))


def of_the_same_length(changes: Changes, scenario: Spec) -> Spec:
    """Return the unchanged scenario with as many messages, or slots, as one that was changed."""
    base = changes.base.scaled(changes.length)
    for key in (*scenario.lengths(), scenario.TASKS):
        if key not in (*base.keys, *scenario.keys) and base.has(key) and scenario.has(key):
            base = base.put(key, scenario.value(key))
    return base


def _unchanged(name: str, path: str) -> Spec | None:
    packaged = scenario_root() / f"{name}.toml"
    file = packaged if is_file(packaged) else Path(path)
    if not is_file(file):
        return None
    try:
        return _loaded(file, _state(file))
    except ScenarioError:
        return None


@lru_cache(maxsize=256)
def _loaded(file: Path, state: tuple[tuple[str, int, int], ...]) -> Spec:
    return load(file)


def _state(file: Path) -> tuple[tuple[str, int, int], ...]:
    document = read_chain(file)
    named = (str(value) for value in document.data.get("system", {}).values())
    files = [*document.files, *(file.parent / name for name in named if name.endswith(".toml"))]
    for folder in {*document.folders, *(own / "cards" for own in document.folders), cards_root()}:
        files += sorted(folder.glob("*.toml"))
    states = ((own, own.stat()) for own in files if is_file(own))
    return tuple((str(own), status.st_ctime_ns, status.st_size) for own, status in states)


def _published(path: str) -> Spec | None:
    try:
        own, *extended = read_layers(Path(path))
        if "reference" in own.data:
            return None
        naming = (layer for layer in extended if "reference" in layer.data)
        file = Path(next(naming).origins[()].file)
        return _loaded(file, _state(file))
    except (ScenarioError, StopIteration):  # gone since, a common part of others, or none
        return None


def _longest(scenario: Spec, key: str) -> float:
    return float(max(scenario.at(point).get(key) for point in range(len(scenario.points))))


def _said(base: Spec, scenario: Spec) -> Iterator[str]:
    before, after = _cards(base), _cards(scenario)
    shared = Counter(name for values in after.values() for name in values)
    for role, values in after.items():
        old = before.get(role, {})
        if old.get("") != values.get(""):
            yield f"{role} {values['']}" if role == "card" else f"{role} card {values['']}"
            continue
        for name in values:
            if old and values[name] != old.get(name):
                yield _words(name if shared[name] == 1 else f"{role}.{name}", values[name])
    lengths = (*scenario.lengths(), scenario.LENGTH, scenario.TASKS)
    original, changed = _values(base), _values(scenario)
    for section in dict.fromkeys([*original, *changed]):
        was, now = original.get(section, {}), changed.get(section, {})
        for key in dict.fromkeys([*was, *now]):
            if key not in lengths and now.get(key) != was.get(key):
                fixed = section.startswith("vary.") and key not in now
                if not fixed:  # it is told where it stands now
                    yield _words(key, now.get(key))


def _cards(scenario: Spec) -> dict[str, dict[str, Any]]:
    return {
        role: {"": card.name}
        | {
            name: format_value(parameter.value, parameter.dimension)
            for name, parameter in card.parameters.items()
        }
        for role, card in scenario.cards.items()
        if role not in scenario.keys
    }


def _values(scenario: Spec) -> Mapping[str, Mapping[str, Any]]:
    return {
        name: table
        for name, table in sections(scenario, whole=False).items()
        if name not in _TOLD and not name.startswith("probe.columns")
    }


def _words(key: str, value: Any) -> str:  # noqa: ANN401 - any value of a scenario
    """Return a value with its key, as people say it.

    >>> _words("sockets", 4), _words("sram", "64 MiB"), _words("load", [0.1, 0.2, 0.4])
    ('4 sockets', 'sram 64 MiB', 'load 0.1 to 0.4')
    >>> _words("order", None)
    'no order'
    """
    if value is None:
        return f"no {key}"
    if isinstance(value, list):
        ends = dict.fromkeys((str(plain(value[0])), str(plain(value[-1]))))
        return f"{key} {' to '.join(ends)}"
    if key == "message_bytes":
        return f"{format_value(value, 'size')} messages"
    text = f"{value:g}" if isinstance(value, float) else str(plain(value))
    counted = text.isdecimal() and key.rpartition(".")[2].endswith("s")
    if counted:
        singular = key[:-1] if text == "1" and not key.endswith("ss") else key
        return f"{text} {singular}"
    return f"{key} {text}"
