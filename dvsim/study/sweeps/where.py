"""A condition that points must meet, such as ``sram < 64 MiB and not load > 0.9``.

Names are the varied keys, whole or by their last part; numbers may have units; texts stand in
quotes. Comparisons, ``and or not``, ``+ - * /`` and brackets: nothing else is understood, and
nothing is ever executed.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dvsim.errors import Argument, ScenarioError, nearest
from dvsim.scenario.quantity import NUMBER, UNITS, show
from dvsim.study.sweeps.values import number_of

Value = Fraction | str

_UNIT = "|".join(
    sorted(
        (re.escape(unit) for name in ("rate", "size", "time") for unit in UNITS[name]),
        key=len,
        reverse=True,
    )
)
_TOKEN = re.compile(
    rf"(?P<text>'[^']*'|\"[^\"]*\")"
    rf"|(?P<quantity>(?<![\w.]){NUMBER.removeprefix('[+-]?')}\s*(?:{_UNIT})(?![\w/]))"
    r"|(?P<number>(?<![\w.])[0-9][0-9_]*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*)"
    r"|(?P<sign><=|>=|==|!=|[-+*/()<>])"
    r"|(?P<space>\s+)"
)
_WORDS = ("and", "or", "not")
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_SUMS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class _Unknown(Exception):  # noqa: N818 - becomes a fault at once
    """A part of a condition that is none, with placeholders for its names and values."""


@dataclass(frozen=True)
class Where:
    """A condition that was read; `names` are the keys behind its placeholders, `words` as typed."""

    text: str
    tree: ast.expr
    names: Mapping[str, str]
    values: Mapping[str, Value]
    words: Mapping[str, str]

    def holds(self, point: Mapping[str, str]) -> bool:
        """Say whether a point, the values of its keys as they are typed, meets the condition."""
        known = dict(self.values)
        for name, key in self.names.items():
            number = number_of(point[key])
            known[name] = point[key].strip("\"'") if number is None else number.value
        try:
            result = _value(self.tree, known)
        except _Unknown as error:
            part = re.sub(r"\b_\d+\b", lambda name: self.words[name[0]], str(error))
            raise _wrong(self.text, f"{part!r} is not understood") from None
        except (TypeError, ZeroDivisionError) as error:
            zero = isinstance(error, ZeroDivisionError)
            why = "divides by zero" if zero else "mixes texts, numbers and comparisons"
            raise _wrong(self.text, why) from None
        if not isinstance(result, bool):
            raise _wrong(self.text, "is no comparison; write for example 'sram < 64 MiB'")
        return result


def parse_where(text: str, keys: Sequence[str], full: Callable[[str], str] = str) -> Where:
    """Read a condition over varied keys.

    >>> where = parse_where("sram < 64 MiB or load >= 2*0.25", ["system.card.sram", "load"])
    >>> where.holds({"system.card.sram": "16 MiB", "load": "0.1"})
    True
    >>> where.holds({"system.card.sram": "64 MiB", "load": "0.1"})
    False
    """
    code: list[str] = []
    names: dict[str, str] = {}
    values: dict[str, Value] = {}
    words: dict[str, str] = {}
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _wrong(text, f"'{text[at:].split(maxsplit=1)[0]}' is not understood")
        kind, word, at = str(match.lastgroup), match[0], match.end()
        if kind in ("space", "sign") or word in _WORDS:
            code.append(word)
            continue
        name = f"_{len(names) + len(values)}"
        code.append(f" {name} ")
        words[name] = word
        if kind == "name":
            names[name] = key_of(word, keys, text, full=full)
        elif kind == "text":
            values[name] = word[1:-1]
        else:
            number = number_of(word)
            if number is None:
                raise _wrong(text, f"{show(word)} has too many digits")
            values[name] = number.value
    try:
        tree = ast.parse("".join(code).strip(), mode="eval").body
    except (SyntaxError, RecursionError, MemoryError):
        raise _wrong(text, "is no condition; write for example 'sram < 64 MiB'") from None
    return Where(text, tree, names, values, words)


def key_of(
    word: str,
    keys: Sequence[str],
    condition: str,
    argument: str = "where",
    full: Callable[[str], str] = str,
) -> str:
    """Return the varied key that a name means: the whole key, or the end of one only.

    Either may be spelled in `full`.
    """
    matching = [key for key in keys if key == word or key.endswith(f".{word}")]
    matching = [word] if word in keys else matching or [k for k in keys if full(k) == full(word)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise _wrong(condition, f"'{word}' may be {' or '.join(matching)}", argument=argument)
    short = [key.rpartition(".")[2] for key in keys]
    near = nearest(word, [*keys, *short])
    message = f"'{word}' is not varied; varied are {', '.join(keys)}"
    raise _wrong(condition, message, near, argument=argument)


def _value(node: ast.expr, known: Mapping[str, Value]) -> Any:  # noqa: ANN401 - bool or value
    match node:
        case ast.Name():
            return known[node.id]
        case ast.BoolOp():
            parts = [_truth(part, known) for part in node.values]
            return all(parts) if isinstance(node.op, ast.And) else any(parts)
        case ast.UnaryOp(op=ast.Not()):
            return not _truth(node.operand, known)
        case ast.UnaryOp(op=ast.USub()):
            return -_value(node.operand, known)
        case ast.BinOp() if type(node.op) in _SUMS:
            left, right = _value(node.left, known), _value(node.right, known)
            if isinstance(left, str) or isinstance(right, str):
                raise TypeError
            return _SUMS[type(node.op)](left, right)
        case ast.Compare():
            values = [_value(part, known) for part in (node.left, *node.comparators)]
            pairs = zip(node.ops, values, values[1:], strict=False)
            return all(_COMPARISONS[type(op)](first, second) for op, first, second in pairs)
    raise _Unknown(ast.unparse(node))


def _truth(node: ast.expr, known: Mapping[str, Value]) -> bool:
    value = _value(node, known)
    if not isinstance(value, bool):
        raise TypeError
    return value


def _wrong(
    text: str, message: str, hint: str | None = None, argument: str = "where"
) -> ScenarioError:
    return ScenarioError.at(Argument(argument), message, text, hint=hint)
