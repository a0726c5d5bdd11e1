"""On which line of a TOML file a key stands: `tomllib` does not tell.

Only for text that `tomllib` has accepted: the scanner finds keys and skips values, it does not
judge them. What stands inside an inline table or a list has no line of its own: whoever asks falls
back to the key outside, which is where that value starts.
"""

from __future__ import annotations

import re
import tomllib

Path = tuple[str | int, ...]
"""Keys and list positions from the root, such as ``("workload", "messages")``."""

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_STRING = r'"(?:\\.|[^"\\\n])*"|' + r"'[^'\n]*'"
_KEY = re.compile(rf"[ \t]*({_STRING}|[A-Za-z0-9_-]+)[ \t]*")
# What can stand in a value. Three quotes first; up to two more quotes may belong to the text.
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}' + r"|'''.*?'{3,5}|" + _STRING + r"|#[^\n]*|[\[{]|[\]}]|\n|[^\n]",
    re.DOTALL,
)


def locate(text: str) -> dict[Path, int]:
    r"""Return the line of each table and key.

    Args:
        text: A TOML document that parses.

    Returns:
        dict: From path to line, counted from 1. A table has the line of its header, or of the first
        key that names it.

    >>> locate("a.b = 1\n[c]\nd = [\n 2]\n[[e]]\nf = 3\n")
    {('a',): 1, ('a', 'b'): 1, ('c',): 2, ('c', 'd'): 3, ('e',): 5, ('e', 0): 5, ('e', 0, 'f'): 6}
    """
    lines: dict[Path, int] = {}
    counts: dict[Path, int] = {}  # how many members each array of tables has so far
    table: Path = ()
    at, line = 0, 1

    def enter(start: Path, keys: list[str]) -> Path:
        path = start
        for key in keys:
            path = (*path, key)
            lines.setdefault(path, line)
            if path in counts:
                path = (*path, counts[path] - 1)
        return path

    while (end := _skip_blank(text, at)) < len(text):
        line += text.count("\n", at, end)
        brackets = 2 if text.startswith("[[", end) else int(text[end] == "[")
        keys, at = _keys(text, end + brackets)
        if brackets == 2:
            owner = enter((), keys[:-1])
            array = (*owner, keys[-1])
            lines.setdefault(array, line)
            counts[array] = counts.get(array, 0) + 1
            table = (*array, counts[array] - 1)
            lines[table] = line
            at += brackets
        elif brackets == 1:
            table = enter((), keys)
            lines[table] = line
            at += brackets
        else:
            enter(table, keys)
            end = _skip_value(text, at + 1)
            line += text.count("\n", at, end)
            at = end
    return lines


def _keys(text: str, at: int) -> tuple[list[str], int]:
    keys = []
    while match := _KEY.match(text, at):
        key = match[1]
        keys.append(_unquote(key))
        at = match.end()
        if not text.startswith(".", at):
            break
        at += 1
    return keys, at


def _unquote(key: str) -> str:
    if key.startswith('"') and "\\" in key:
        return str(tomllib.loads(f"key = {key}")["key"])
    return key[1:-1] if key[0] in "\"'" else key


def _skip_value(text: str, at: int) -> int:
    depth = 0
    for match in _TOKEN.finditer(text, at):
        token = match[0]
        if token == "\n" and not depth:
            return match.start()
        depth += (token in "[{") - (token in "]}")
    return len(text)


def _skip_blank(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at
