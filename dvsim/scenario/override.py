"""``key=value``: what overrides it, as one more layer over the files."""

from __future__ import annotations

import tomllib
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from dvsim.errors import Fault, nearest
from dvsim.scenario.card_kinds import CARD_HEAD, KINDS
from dvsim.scenario.document import OVERRIDES, Document, KeyPath, dotted, is_card

_FIXED = ("abstract", "campaign", "extends", "name")  # what a file is, not what it asks


def apply(document: Document, overrides: Sequence[str]) -> list[Fault]:
    """Set values in a document, in order; the last one wins.

    Args:
        document: Changed in place.
        overrides: Such as ``workload.messages=1000`` or ``system.card.sram=64 MiB``: a dotted key,
            and a value that is read as TOML where it is TOML, else as text.

    Returns:
        list of Fault: Of the options that could not be applied. Whether a key exists and a value
        fits is left to the check of the whole scenario, which names ``overrides`` as the place.
    """
    return [fault for option in overrides for fault in _apply(document, option)]


def concerns(option: str, roles: Mapping[str, str | None]) -> bool:
    """Return whether a system has what an option sets; only cards differ between systems.

    Args:
        option: As for `apply`.
        roles: The cards of the system: by role their kind, None for any.

    >>> [concerns("system.bridge.sockets=2", roles) for roles in ({"bridge": "bridge"}, {})]
    [True, False]
    >>> concerns("system.card.sram=1 MiB", {"card": "link"}), concerns("workload.messages=9", {})
    (False, True)
    """
    path = _split(option)[0]
    if not is_card(path[:2]):
        return True
    if path[1] not in roles:
        return False
    kind = roles[str(path[1])]
    return kind is None or len(path) == 2 or path[2] in (*KINDS[kind], *CARD_HEAD)


def begins(option: str, tops: Container[str]) -> bool:
    """Return whether an option names a key from the top of a file on, or none at all."""
    path, equals, _ = _split(option)
    return not equals or path[0] in tops or path[0] in _FIXED


def whole(options: Iterable[str], tops: Container[str], keys: Sequence[str]) -> list[str | Fault]:
    """Return options with full keys in the place of ends of keys that only one key has.

    Args:
        options: As for `apply`.
        tops: Keys at the top of the file; what begins with one of them is a full key already.
        keys: The full keys that there are.

    Returns:
        list of str or Fault: One for each option: as it is if it fits no key, a fault if several
        keys end so, or if one nearly does.

    >>> keys = ["system.card.threads", "system.bridge.threads", "system.bridge.sockets"]
    >>> whole(["bridge.threads=2", "sockets=2"], ["system"], keys)
    ['system.bridge.threads=2', 'system.bridge.sockets=2']
    >>> for fault in whole(["threads=2", "bridge.socket=2"], ["system"], keys):
    ...     print(fault)
    overrides: threads: is the end of 'system.card.threads', 'system.bridge.threads'
    overrides: bridge.socket: unknown key; did you mean 'system.bridge.sockets'?
    """
    return [option if begins(option, tops) else _lengthened(option, keys) for option in options]


def _lengthened(option: str, keys: Sequence[str]) -> str | Fault:
    path, _, text = _split(option)
    short = dotted(path)
    fitting = [key for key in keys if key.endswith(f".{short}")]
    if len(fitting) == 1:
        return f"{fitting[0]}={text}"
    if fitting:
        listed = ", ".join(f"'{key}'" for key in fitting)
        return OVERRIDES.fault(path, f"is the end of {listed}")
    depth = len(path)
    ends = {".".join(key.split(".")[-depth:]): key for key in keys}
    near = nearest(short, ends)
    return OVERRIDES.fault(path, "unknown key", ends[near]) if near else option


def _split(option: str) -> tuple[KeyPath, str, str]:
    """Return the path, the equals sign and the value of an option."""
    key, equals, text = option.partition("=")
    return tuple(part.strip() for part in key.split(".")), equals, text


def _apply(document: Document, option: str) -> list[Fault]:
    path, equals, text = _split(option)
    if not equals or "" in path:
        example = "write key=value, for example workload.messages=1000"
        return [Fault(OVERRIDES.file, None, option, example)]
    shown = option.encode("utf-8", "backslashreplace").decode("utf-8")
    if shown != option:  # bytes that are no text
        return [Fault(OVERRIDES.file, None, shown, "is no UTF-8")]
    if path[0] in _FIXED:
        return [OVERRIDES.fault(path, "belongs to the file and cannot be set")]
    if is_card(path[:2]) and len(path) > 3:
        whole = f"set the parameter as a whole: {dotted(path[:3])}=VALUE"
        return [OVERRIDES.fault(path, whole)]
    for depth in range(1, len(path)):
        value = document.at(path[:depth])
        named = is_card(path[:depth]) and isinstance(value, str)
        if value is not None and not isinstance(value, dict) and not named:
            return [OVERRIDES.fault(path, f"{dotted(path[:depth])} is not a table")]
    tree: Any = read_value(text)
    for part in reversed(path):
        tree = {part: tree}
    origins = dict.fromkeys([(), *(path[:end] for end in range(1, len(path) + 1))], OVERRIDES)
    document.merge(Document(tree, origins))
    return []


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
