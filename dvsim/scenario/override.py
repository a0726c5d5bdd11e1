"""What overrides a scenario, as typed or as values of Python: one more layer over its files."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from decimal import Decimal
from enum import Enum
from numbers import Integral, Real
from typing import Any, NamedTuple

from dvsim.errors import Advice, Argument, Fault, nearest
from dvsim.scenario.card_kinds import CARD_HEAD, KINDS
from dvsim.scenario.document import OVERRIDES, Document, KeyPath, dotted, is_card

_FIXED = ("abstract", "campaign", "extends", "name")  # what a file is, not what it asks


class Setting(NamedTuple):
    """One key and its value."""

    path: KeyPath  # of the key; it may lack its beginning until it is lengthened
    value: Any  # as TOML has it; None takes the key out of the file
    shown: str  # as it was given
    argument: str = OVERRIDES.file  # the argument that gave it


Override = str | Setting | Fault
"""``key=value`` as it is typed, or what became of it."""


def read(overrides: Iterable[Override]) -> list[Setting | Fault]:
    """Read what is still a text."""
    return [read_typed(option) if isinstance(option, str) else option for option in overrides]


def read_typed(option: str) -> Setting | Fault:
    """Read ``key=value``: a dotted key, and a value that is TOML where it can be, else text."""
    key, equals, text = option.partition("=")
    path = tuple(part.strip() for part in key.split("."))
    if not equals or "" in path:
        example = "write key=value, for example workload.messages=1000"
        return Fault(OVERRIDES.file, None, option, example)
    shown = option.encode("utf-8", "backslashreplace").decode("utf-8")
    if shown != option:  # bytes that are no text
        return Fault(OVERRIDES.file, None, shown, "is no UTF-8")
    return Setting(path, read_value(text), option)


_PLAIN: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (str, str),
    (Integral, int),
    (Real | Decimal, float),
    (os.PathLike, os.fspath),
)


def read_python(value: Any) -> Any:  # noqa: ANN401 - any value
    """Return a value of Python as TOML has it, None where it has none.

    Raises:
        TypeError: If a file could not say it.

    >>> read_python({"fraction": 0.2, "outputs": (0, 1)}), read_python("5")
    ({'fraction': 0.2, 'outputs': [0, 1]}, '5')
    """
    if isinstance(value, Enum):
        value = value.value
    if hasattr(value, "as_table"):
        value = value.as_table()
    elif hasattr(value, "dtype"):  # of NumPy or pandas
        value = value.tolist()
    if value is None or isinstance(value, bool):
        return value
    for kind, plain in _PLAIN:
        if isinstance(value, kind):
            return plain(value)
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {str(key): read_python(inner) for key, inner in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, Mapping | Set | bytes | bytearray):
        items = [_present(read_python(item)) for item in value]
        if None not in items:
            return items
        raise TypeError("a list has no place for None")
    what = type(value).__name__
    raise TypeError(f"must be a number, text, list or table, not {what}: {value!r:.80}")


def read_value(text: str) -> Any:  # noqa: ANN401 - any TOML value
    """Return a value as TOML reads it, or the text itself where it is no TOML.

    >>> read_value("1_000"), read_value("[1, 2]"), read_value('"1 ms"'), read_value("1 ms")
    (1000, [1, 2], '1 ms', '1 ms')
    """
    try:
        table = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text.strip()
    return table["value"] if list(table) == ["value"] else text.strip()


def begins(setting: Setting, tops: Container[str]) -> bool:
    """Return whether an option names a key from the top of a file on."""
    return setting.path[0] in tops or setting.path[0] in _FIXED


def lengthen(
    setting: Setting | Fault, tops: Container[str], keys: Sequence[str]
) -> Setting | Fault:
    """Return an option with the full key in the place of an end that only one key has.

    Args:
        setting: As it was read.
        tops: Keys at the top of the file; what begins with one of them is a full key already.
        keys: The full keys that there are.

    Returns:
        Setting or Fault: As it is if it fits no key; a fault if several keys end so, or if one
        nearly does.

    >>> keys = ["system.card.threads", "system.bridge.threads", "system.bridge.sockets"]
    >>> lengthen(read_typed("bridge.threads=2"), ["system"], keys).path
    ('system', 'bridge', 'threads')
    >>> print(lengthen(read_typed("threads=2"), ["system"], keys))
    overrides: threads: is the end of 'system.card.threads', 'system.bridge.threads'
    """
    if isinstance(setting, Fault) or begins(setting, tops):
        return setting
    path, short = setting.path, dotted(setting.path)
    fitting = [key for key in keys if key.endswith(f".{short}")]
    if len(fitting) == 1:
        return setting._replace(path=tuple(fitting[0].split(".")))
    if fitting:
        listed = ", ".join(f"'{key}'" for key in fitting)
        return OVERRIDES.fault(path, f"is the end of {listed}")
    ends = {".".join(key.split(".")[-len(path) :]): key for key in keys}
    near = nearest(short, ends)
    return OVERRIDES.fault(path, "unknown key", ends[near]) if near else setting


def twice(settings: Iterable[Setting | Fault]) -> Iterator[Fault]:
    """Yield each key that two options give, alone or as part of a table, by its full name."""
    given: list[tuple[KeyPath, Setting]] = []
    for setting in settings:
        if isinstance(setting, Fault):
            continue
        for path in _leaves(setting.path, setting.value):
            first = next((other for known, other in given if _same(known, path)), None)
            if first is not None:
                parts = Argument(first.argument), f" {first.shown} and ", Argument(setting.argument)
                message = Advice("is given twice: ", *parts, f" {setting.shown}")
                yield Fault(Argument(setting.argument), None, dotted(path), message)
            given.append((path, setting))


def beside_variants(settings: Iterable[Setting | Fault], document: Document) -> Iterator[Fault]:
    """Yield each option that would make what a variant of an open question changes alike in all."""
    for setting in settings:
        if isinstance(setting, Fault):
            continue
        for path in _leaves(setting.path, setting.value):
            for known, origin in document.origins.items():
                if "variant" in origin.inside[:1] and _same(known, path):
                    where = f"is given by a variant, too ({origin})"
                    yield Fault(Argument(setting.argument), None, dotted(path), where)


def _same(path: KeyPath, other: KeyPath) -> bool:
    for varied, own in ((path, other), (other, path)):
        if varied[0] == "vary" and len(varied) == 2 and own[0] != "vary":
            return varied[1] == own[-1] and not is_card(own[:-1])
    shorter = min(len(path), len(other))
    return path[:shorter] == other[:shorter]


def _leaves(path: KeyPath, value: Any) -> list[KeyPath]:  # noqa: ANN401 - any TOML value
    if path == ("vary",) and isinstance(value, list):
        return [(*path, key) for table in value if isinstance(table, dict) for key in table]
    if is_card(path) and isinstance(value, str):
        return [(*path, "name")]
    if isinstance(value, dict) and value and not is_card(path[:-1]):
        return [leaf for key, inner in value.items() for leaf in _leaves((*path, key), inner)]
    return [path]


def concerns(setting: Setting | Fault, roles: Mapping[str, str | None]) -> bool:
    """Return whether a system has what an option sets; only cards differ between systems.

    Args:
        setting: The option.
        roles: The cards of the system: by role their kind, None for any.
    """
    path = () if isinstance(setting, Fault) else setting.path
    if not is_card(path[:2]):
        return True
    if path[1] not in roles:
        return False
    kind = roles[str(path[1])]
    return kind is None or len(path) == 2 or path[2] in (*KINDS[kind], *CARD_HEAD)


def apply(document: Document, settings: Iterable[Setting]) -> list[Fault]:
    """Set values in a document, those of tables and cards before those of keys inside.

    Returns:
        list of Fault: Of what could not be applied. Whether a key exists and a value fits is left
        to the check of the whole scenario, which names ``overrides`` as the place.
    """
    ordered = sorted(settings, key=lambda setting: len(setting.path))
    return [fault for setting in ordered for fault in _apply(document, setting)]


def _apply(document: Document, setting: Setting) -> Iterator[Fault]:
    path = setting.path
    if path[0] in _FIXED:
        yield OVERRIDES.fault(path, "belongs to the file and cannot be set")
        return
    if is_card(path[:2]) and len(path) > 3:
        whole = f"set the parameter as a whole: {dotted(path[:3])}=VALUE"
        yield OVERRIDES.fault(path, whole)
        return
    for depth in range(1, len(path)):
        value = document.at(path[:depth])
        named = is_card(path[:depth]) and isinstance(value, str)
        if value is not None and not isinstance(value, dict) and not named:
            yield OVERRIDES.fault(path, f"{dotted(path[:depth])} is not a table")
            return
    for absent in _absent(path, setting.value):
        if is_card(absent[:-1]) and len(absent) == 3:
            yield OVERRIDES.fault(absent, "a parameter of a card has a value; it cannot be None")
            return
        document.remove(absent, OVERRIDES)
    if setting.value is None:
        return
    tree: Any = _present(setting.value)
    for part in reversed(path):
        tree = {part: tree}
    origins = dict.fromkeys([(), *(path[:end] for end in range(1, len(path) + 1))], OVERRIDES)
    document.merge(Document(tree, origins))


def _absent(path: KeyPath, value: Any) -> list[KeyPath]:  # noqa: ANN401 - any TOML value
    if isinstance(value, dict):
        return [gone for key, inner in value.items() for gone in _absent((*path, key), inner)]
    return [path] if value is None else []


def _present(value: Any) -> Any:  # noqa: ANN401 - any TOML value
    if not isinstance(value, dict):
        return value
    return {key: _present(inner) for key, inner in value.items() if inner is not None}
