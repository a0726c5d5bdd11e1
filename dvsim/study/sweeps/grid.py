"""The points of a sweep: values and ranges of keys, zips, conditions and samples.

=========================  ===================================================
``KEY=a,b,c``              these values; text or numbers, with units
``KEY=lo..hi*factor``      from `lo` up to `hi`, each `factor` times the last
``KEY=lo..hi+step``        from `lo` up to `hi`, in steps
``KEY=lo..hi/n``           `n` values evenly over the logarithm, ends included
``KEY=lo..hi``             all between, for samples and sensitivities
=========================  ===================================================

Lists and ranges mix: ``8..128*2,1 KiB``. A text with a comma in it stands in quotes or brackets.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dvsim.contract.load import Template
from dvsim.errors import Advice, Argument, ScenarioError, nearest
from dvsim.scenario.card_kinds import KINDS, Limits
from dvsim.scenario.override import Override, Setting, read_python, read_value
from dvsim.scenario.quantity import NUMBER, UNITS, UnitError, read, show
from dvsim.scenario.spec import Spec
from dvsim.scenario.types import Parameter
from dvsim.scenario.units import Law, format_value
from dvsim.study.execute import check_asked

BASES: dict[str, tuple[str, int]] = {"size": ("B", 1), "time": ("s", 10**12), "rate": ("B/s", 1)}
"""By dimension: the unit of the number, and how many of dvsim's own base unit it has."""

PLAIN = "1"
_PLAIN = re.compile(rf"\s*{NUMBER}\s*")
LARGEST = 10**300  # number of all that are told from texts; floats hold a little more
MOST = 1_000_000  # points of a sweep
MOST_VALUES = 100_000  # values of one range
BITS = 200  # of a value within a range
DIGITS = 4  # of a value between two ends
WEAK = ("unverified", "assumed")
SAMPLE = Advice("take a sample with ", Argument("sample"), " sobol:64")
HELP = "write KEY=a,b,c or KEY=lo..hi*factor, lo..hi+step, lo..hi/n"
_RANGE = re.compile(r"(?P<low>.+?)\.\.(?P<high>.+?)(?:(?P<sign>[*+/])(?P<step>[^*+/]+))?")
_RATE_RANGE = re.compile(r"(?P<low>.+?/s)\s*\.\.(?P<high>.+?/s)\s*(?:(?P<sign>[*+/])(?P<step>.+))?")
_PARTS = re.compile(r"\"[^\"]*\"?|'[^']*'?|[\[{(\]})]|,|[^\"'\[{(\]}),]+")


class Number(NamedTuple):
    """A number in the unit of its dimension: ``size``, ``time``, ``rate``, or none."""

    value: Fraction  # exact
    dimension: str = ""

    @property
    def unit(self) -> str:
        """``B``, ``s``, ``B/s``, or ``1`` for a plain number."""
        return BASES[self.dimension][0] if self.dimension else PLAIN


class Given(str):
    """The text of a value that was given in Python, with the value."""

    value: Any

    def __new__(cls, value: Any) -> Given:  # noqa: ANN401 - as TOML has it
        """Return the text that shows a value."""
        plain = value is not None and not isinstance(value, bool)
        text = super().__new__(cls, str(value) if plain else str(value).lower())
        text.value = value
        return text


def number_of(text: str) -> Number | None:
    """Return what a text says, None where it is no single number, with or without a unit.

    >>> number_of("16 MiB")
    Number(value=Fraction(16777216, 1), dimension='size')
    >>> number_of("0.5")
    Number(value=Fraction(1, 2), dimension='')
    >>> number_of("46 us + 3 ns/B") is None
    True
    """
    stripped = text.strip().strip("\"'")
    number: Number | None = None
    if _PLAIN.fullmatch(stripped.replace("_", "")):
        number = Number(Fraction(stripped.replace("_", "").strip()))
    unit = re.sub(rf"^\s*{NUMBER}\s*", "", stripped)
    for dimension, (_, size) in BASES.items():
        if unit in UNITS[dimension]:
            try:
                number = Number(read(stripped, dimension) / size, dimension)
            except UnitError:
                return None
    return number if number is None or abs(number.value) <= LARGEST else None


def text_of(number: Number, *, whole: bool) -> str:
    """Write a number so that it can be set.

    Args:
        number: Its value is rounded: a size to whole bytes, a time to whole picoseconds, anything
            else to six digits.
        whole: Round a plain number to a whole one.

    >>> text_of(Number(Fraction(1 << 24), "size"), whole=False)
    '16 MiB'
    >>> text_of(Number(Fraction(1, 3)), whole=False), text_of(Number(Fraction(7, 3)), whole=True)
    ('0.333333', '2')
    """
    value, dimension = number
    match dimension:
        case "size" | "time":
            return format_value(round(value * BASES[dimension][1]), dimension)
        case "rate":
            return format_value(float(f"{float(value):.6g}"), "rate")
    return str(round(value)) if whole or value.denominator == 1 else f"{float(value):.6g}"


class Between(NamedTuple):
    """All values from one number to another, ends included; both are of one dimension."""

    low: Number
    high: Number
    whole: bool

    def at(self, share: float) -> str:
        """Return the value at a share of the way, over the logarithm where both are positive."""
        low, high = float(self.low.value), float(self.high.value)
        if low > 0:
            value = math.exp(math.log(low) + share * (math.log(high) - math.log(low)))
        else:
            value = low + share * (high - low)
        near = Fraction(f"{value:.{DIGITS}g}")  # nobody typed it: it should be easy to read
        near = min(max(near, self.low.value), self.high.value)
        return text_of(Number(near, self.low.dimension), whole=self.whole)


class Axis(NamedTuple):
    """A key and its values as they will be set; `between` where it is a range without steps."""

    key: str
    values: tuple[str, ...]
    between: Between | None = None

    def at(self, share: float) -> str:
        """Return the value at a share from 0 to below 1 of all there is."""
        return self.between.at(share) if self.between else self.values[int(share * len(self[1]))]


def parse_axis(text: str) -> Axis:
    """Read ``KEY=VALUES``.

    >>> parse_axis("workload.message_bytes=8..131072*16").values
    ('8', '128', '2048', '32768')
    >>> parse_axis("system.card.sram=1 MiB..4 MiB*2,1 GiB").values
    ('1 MiB', '2 MiB', '4 MiB', '1 GiB')
    """
    key, equals, given = text.partition("=")
    key = key.strip()
    if not equals or not key or not given.strip():
        raise _wrong(text, HELP)
    parts, depth = [""], 0
    for token in _PARTS.findall(given):
        depth += (token in "[{(") - (token in "]})")
        if token == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += token
    parts = [part.strip() for part in parts]
    match = _range(parts[0])
    if len(parts) == 1 and match is not None and not match["sign"]:
        low, high = _ends(key, match)
        whole = low.value.denominator == 1 == high.value.denominator
        return Axis(key, (), Between(low, high, whole))
    return _axis(key, chain.from_iterable(_values(key, part) for part in parts))


def given_axis(key: str, values: Iterable[object]) -> Axis:
    """Return the axis of values of Python, which are used as they are."""
    try:
        return _axis(key, [Given(read_python(value)) for value in values])
    except TypeError as error:
        raise _wrong(key, str(error)) from None


def _axis(key: str, given: Iterable[str]) -> Axis:
    values = tuple(given)
    if not values:
        raise _wrong(key, HELP)
    twice = next((value for value, count in Counter(values).items() if count > 1), None)
    if twice is not None:
        raise _wrong(key, f"'{twice}' is there twice")
    return Axis(key, values)


def _range(part: str) -> re.Match[str] | None:
    if part[:1] in "\"'[{":
        return None
    return _RATE_RANGE.fullmatch(part) or _RANGE.fullmatch(part)


def _values(key: str, part: str) -> Iterator[str]:
    if not part:
        raise _wrong(key, f"a value is empty; {HELP}")
    match = _range(part)
    if match is None:
        yield part
        return
    low, high = _ends(key, match)
    sign, text = match["sign"], (match["step"] or "").strip()
    if not sign:
        fault = f"'{part}' does not say how far apart its values are; write {part}*2, or "
        raise _wrong(key, Advice(fault, SAMPLE))
    step = number_of(text)
    if step is None:
        raise _wrong(key, f"'{text}' is no number; {HELP}")
    whole = low.value.denominator == 1 and (sign != "+" or step.value.denominator == 1)
    if sign == "/":
        number = int(step.value)
        if step.dimension or step.value != number or not 2 <= number <= MOST_VALUES:
            raise _wrong(key, f"'{part}': '/' takes how many values there are, 2 at least")
        if low.value <= 0:
            raise _wrong(key, f"'{part}': '/' goes over the logarithm, from a value above 0")
        between = Between(low, high, whole)
        steps = (between.at(place / (number - 1)) for place in range(number))
        yield from dict.fromkeys(steps)  # whole numbers near each other may meet
        return
    if sign == "*" and (step.dimension or step.value <= 1 or low.value <= 0):
        raise _wrong(key, f"'{part}': a factor is a plain number above 1, from a value above 0")
    if sign == "+" and (step.dimension != low.dimension or step.value <= 0):
        raise _wrong(key, f"'{part}': a step is above 0 and in the unit of its ends")
    count = float((high.value - low.value) / step.value)
    if sign == "*":
        count = (_log(high.value) - _log(low.value)) / _log(step.value)
    if count > MOST_VALUES:
        raise _wrong(key, f"'{part}' has more than {MOST_VALUES:,} values")
    value = low.value
    while value <= high.value:
        yield text_of(Number(value, low.dimension), whole=whole and value.denominator == 1)
        value = value * step.value if sign == "*" else value + step.value
        above, below = value.numerator.bit_length(), value.denominator.bit_length()
        if min(above, below) > BITS:
            scale = 1 << max(0, BITS + below - above)
            value = Fraction(round(value * scale), scale)


def _log(number: Fraction) -> float:
    if abs(number - 1) < Fraction(1, 2):
        return math.log1p(number - 1)
    return math.log(number.numerator) - math.log(number.denominator)


def _ends(key: str, match: re.Match[str]) -> tuple[Number, Number]:
    low, high = (number_of(match[name]) for name in ("low", "high"))
    if low is not None and high is not None and high.dimension and not low.dimension:
        unit = re.sub(r"^[^A-Za-z%]*", "", match["high"].strip())  # that of both: 32..128 MiB
        low = number_of(f"{match['low'].strip()} {unit}")
    if low is None or high is None:
        text = match["low" if low is None else "high"].strip()
        raise _wrong(key, f"'{text}' is too large, or no number with a unit that is known")
    if low.dimension != high.dimension:
        raise _wrong(key, f"'{match[0]}': its ends are of two kinds, {low.unit} and {high.unit}")
    if low.value >= high.value:
        raise _wrong(key, f"'{match[0]}' goes down; write the smaller end first")
    return low, high


def _wrong(
    key: str, message: str, hint: str | None = None, argument: str = "vary"
) -> ScenarioError:
    return ScenarioError.at(Argument(argument), message, key, hint=hint)


# A condition that points must meet, such as ``sram < 64 MiB and not load > 0.9``.
#
# Names are the varied keys, whole or by their last part; numbers may have units; texts stand in
# quotes. Comparisons, ``and or not``, ``+ - * /`` and brackets: nothing else is understood, and
# nothing is ever executed.

_UNIT = "|".join(
    map(re.escape, sorted({u for name in BASES for u in UNITS[name]}, key=len, reverse=True))
)
_TOKEN = re.compile(
    rf"(?P<text>'[^']*'|\"[^\"]*\")"
    rf"|(?P<number>(?<![\w.]){NUMBER.removeprefix('[+-]?')}\s*(?:{_UNIT})(?![\w/])"
    r"|(?<![\w.])[0-9][0-9_]*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*)"
    r"|(?P<sign><=|>=|==|!=|[-+*/()<>]|\s+)"
)
_OPERATORS: dict[type[ast.cmpop | ast.operator], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip


class _Unknown(Exception):  # noqa: N818 - becomes a fault at once
    """A part of a condition that is none, with placeholders for its names and values."""


@dataclass(frozen=True)
class Where:
    """A condition that was read: for each placeholder what was typed, and a key or a value."""

    text: str
    tree: ast.expr
    words: Mapping[str, str]
    keys: Mapping[str, str]
    values: Mapping[str, Fraction | str]

    def holds(self, point: Mapping[str, str]) -> bool:
        """Say whether a point, the values of its keys as they are typed, meets the condition."""
        known = dict(self.values)
        for name, key in self.keys.items():
            number = number_of(point[key])
            known[name] = point[key].strip("\"'") if number is None else number.value
        try:
            result = _value(self.tree, known)
        except _Unknown as error:
            part = re.sub(r"\b_\d+\b", lambda name: self.words[name[0]], str(error))
            raise _wrong(self.text, f"{part!r} is not understood", argument="where") from None
        except ZeroDivisionError:
            raise _wrong(self.text, "divides by zero", argument="where") from None
        except TypeError:
            why = "mixes texts, numbers and comparisons"
            raise _wrong(self.text, why, argument="where") from None
        if not isinstance(result, bool):
            why = "is no comparison; write for example 'sram < 64 MiB'"
            raise _wrong(self.text, why, argument="where")
        return result


def parse_where(text: str, keys: Sequence[str], full: Callable[[str], str] = str) -> Where:
    """Read a condition over varied keys.

    >>> where = parse_where("sram < 64 MiB or load >= 2*0.25", ["system.card.sram", "load"])
    >>> where.holds({"system.card.sram": "16 MiB", "load": "0.1"})
    True
    >>> where.holds({"system.card.sram": "64 MiB", "load": "0.1"})
    False
    """
    code, at = "", 0
    words: dict[str, str] = {}
    names: dict[str, str] = {}
    values: dict[str, Fraction | str] = {}
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            unknown = text[at:].split(maxsplit=1)[0]
            raise _wrong(text, f"'{unknown}' is not understood", argument="where")
        kind, word, at = match.lastgroup, match[0], match.end()
        if kind == "sign" or word in ("and", "or", "not"):
            code += word
            continue
        name = f"_{len(words)}"
        code, words[name] = f"{code} {name} ", word
        if kind == "name":
            names[name] = key_of(word, keys, text, full=full)
        elif kind == "text":
            values[name] = word[1:-1]
        elif (number := number_of(word)) is not None:
            values[name] = number.value
        else:
            raise _wrong(text, f"{show(word)} has too many digits", argument="where")
    try:
        tree = ast.parse(code.strip(), mode="eval").body
    except (SyntaxError, RecursionError, MemoryError):
        why = "is no condition; write for example 'sram < 64 MiB'"
        raise _wrong(text, why, argument="where") from None
    return Where(text, tree, words, names, values)


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
    near = nearest(word, [*keys, *(key.rpartition(".")[2] for key in keys)])
    message = f"'{word}' is not varied; varied are {', '.join(keys)}"
    raise _wrong(condition, message, near, argument)


def _value(node: ast.expr, known: Mapping[str, Fraction | str]) -> Any:  # noqa: ANN401
    def truth(part: ast.expr) -> bool:
        value = _value(part, known)
        if not isinstance(value, bool):
            raise TypeError
        return value

    match node:
        case ast.Name():
            return known[node.id]
        case ast.BoolOp():
            return (all if isinstance(node.op, ast.And) else any)([*map(truth, node.values)])
        case ast.UnaryOp(op=ast.Not()):
            return not truth(node.operand)
        case ast.UnaryOp(op=ast.USub()):
            return -_value(node.operand, known)
        case ast.BinOp() if type(node.op) in _OPERATORS:
            left, right = _value(node.left, known), _value(node.right, known)
            if isinstance(left, str) or isinstance(right, str):
                raise TypeError
            return _OPERATORS[type(node.op)](left, right)
        case ast.Compare():
            values = [_value(part, known) for part in (node.left, *node.comparators)]
            pairs = zip(node.ops, values, values[1:], strict=False)
            return all(_OPERATORS[type(op)](first, second) for op, first, second in pairs)
    raise _Unknown(ast.unparse(node))


def sobol(columns: int, count: int, seed: int) -> npt.NDArray[np.float64]:
    """Return points of a scrambled Sobol sequence, shape (count, columns), from 0 to below 1."""
    from scipy.stats import qmc

    check_asked(seed=seed)
    return np.asarray(qmc.Sobol(columns, scramble=True, rng=seed).random(count))


def sample_size(text: str) -> int:
    """Return the number of points of ``sobol:64``."""
    match = re.fullmatch(r"(\w+):(\d{1,9})", text.strip())
    if match is None or match[1] != "sobol":
        near = nearest(text.partition(":")[0], ["sobol"])
        hint = f"{near}:64" if near and match is None else None
        raise _wrong(text, "is no way to sample; write sobol:64", hint, "sample")
    return power_of_two(Argument("sample"), text, int(match[2]), "sobol:")


def power_of_two(argument: Argument, text: str, count: int, before: str = "") -> int:
    """Return a number that must be a power of two, from 2 to the most there can be."""
    if count < 2 or count > MOST or count & (count - 1):
        near = 1 << min((max(count, 2) - 1).bit_length(), 19)  # the next one up
        message = f"{count} is no power of two from 2 to {2**19:,}"
        raise ScenarioError.at(argument, message, text, hint=f"{before}{near}")
    return count


class Point(NamedTuple):
    """The values of the varied keys at one point, as they are typed."""

    values: tuple[tuple[str, str], ...]

    @property
    def settings(self) -> list[Override]:
        """What `overrides` would take."""
        return [setting_of(key, value) for key, value in self.values]

    def __str__(self) -> str:
        return ", ".join(f"{key}={value}" for key, value in self.values)


def setting_of(key: str, value: str) -> Override:
    """Return a value of a varied key as what overrides it."""
    own = value.value if isinstance(value, Given) else read_value(value)
    return Setting(tuple(map(str.strip, key.split("."))), own, f"{key}={value}", Argument("vary"))


def plan(
    vary: Sequence[str | tuple[str, Sequence[object]]],
    base: Template | None = None,
    *,
    together: Sequence[str] = (),
    where: str | None = None,
    sample: str | None = None,
    seed: int = 1,
) -> list[Point]:
    """Return the points that are asked for: every value of each key with every other.

    The order is that of the options, the last key varies fastest; so a point has the same number
    wherever it is run.

    Args:
        vary: ``KEY=VALUES``, or a key and values of Python.
        base: The scenario, by which a key can have its short and its full name.
        together: Each names varied keys, ``a,b``, whose values go together: the first with the
            first.
        where: A condition that the points meet.
        sample: ``sobol:N``: as many points, spread evenly, instead of every combination: a
            scrambled Sobol sequence. The same seed gives the same points.
        seed: Of the sample.

    >>> [str(point) for point in plan(["a=1,2", "b=x,y", "c=7"], together=["a,b"])]
    ['a=1, b=x, c=7', 'a=2, b=y, c=7']
    """
    axes = [parse_axis(own) if isinstance(own, str) else given_axis(*own) for own in vary]
    full = str if base is None else base.full
    if not axes:
        raise ScenarioError.at(Argument("vary"), "a sweep varies something; write KEY=a,b")
    keys = [axis.key for axis in axes]
    twice = next((key for key, count in Counter(keys).items() if count > 1), None)
    if twice is not None:
        raise _wrong(twice, "is varied twice")
    if sample and together:
        message = Advice("has no meaning with ", Argument("sample"))
        raise _wrong(together[0], message, argument="together")
    if sample:
        rows = sobol(len(axes), sample_size(sample), seed).tolist()
        found = [[axis.at(at) for axis, at in zip(axes, row, strict=True)] for row in rows]
    else:
        found = _grid(axes, together, full)
    points = [Point(tuple(zip(keys, values, strict=True))) for values in found]
    if where is not None:
        condition = parse_where(where, keys, full)
        points = [point for point in points if condition.holds(dict(point.values))]
    if not points:
        raise _wrong(str(where), "leaves no point", argument="where")
    return points


def _grid(
    axes: Sequence[Axis], together: Sequence[str], full: Callable[[str], str]
) -> list[list[str]]:
    keys = [axis.key for axis in axes]
    leader: dict[str, str] = {}
    for text in together:
        names = [key_of(name.strip(), keys, text, "together", full) for name in text.split(",")]
        for name in names:
            if name in leader or names.count(name) > 1:
                raise _wrong(text, f"'{name}' is zipped twice", argument="together")
            leader[name] = min(names, key=keys.index)
        if len(names) < 2:
            message = f"names one key, which goes with none; write {names[0]},KEY"
            raise _wrong(text, message, argument="together")
        lengths = {axis.key: len(axis.values) for axis in axes if axis.key in names}
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{key} has {length}" for key, length in lengths.items())
            message = f"keys that go together have as many values: {told}"
            raise _wrong(text, message, argument="together")
    groups: dict[str, list[Axis]] = {}
    for axis in axes:
        if axis.between is not None:
            raise _wrong(axis.key, Advice("its range has no steps; write lo..hi*2, or ", SAMPLE))
        groups.setdefault(leader.get(axis.key, axis.key), []).append(axis)
    total = math.prod(len(group[0].values) for group in groups.values())
    if total > MOST:
        message = Advice(f"that are {total:,} points, and may be {MOST:,}; ", SAMPLE)
        raise ScenarioError.at(Argument("vary"), message)
    order = [keys.index(axis.key) for group in groups.values() for axis in group]
    back = [order.index(place) for place in range(len(keys))]
    rows = (zip(*(axis.values for axis in group), strict=True) for group in groups.values())
    flat = (list(chain.from_iterable(chosen)) for chosen in product(*rows))
    return [[values[place] for place in back] for values in flat]


class Range(NamedTuple):
    """A key, its value at a share from 0 to below 1, and what it is varied over in words."""

    key: str
    at: Callable[[float], str]
    text: str


def ranges(scenario: Spec, vary: Sequence[str], spread: float) -> list[Range]:
    """Return what is varied.

    Args:
        scenario: Before anything is varied.
        vary: ``KEY=lo..hi``, or ``KEY=a,b,c``, of which each is as likely. Without any it is every
            parameter of the cards that is unverified or assumed, and no zero.
        spread: Share by which these go down and up.
    """
    if math.isnan(spread):
        raise ScenarioError.at(Argument("spread"), f"{spread} is not a share")
    axes = {text: parse_axis(text) for text in vary}
    keys = [Range(axis.key, axis.at, text.partition("=")[2].strip()) for text, axis in axes.items()]
    for role, card in () if vary else scenario.cards.items():
        for name, parameter in card.parameters.items():
            if parameter.confidence not in WEAK:
                continue
            at = _around(parameter, KINDS[card.kind][name], spread)
            if at is not None:
                keys.append(Range(f"system.{role}.{name}", at, f"{at(0.0)} .. {at(1.0)}"))
    if len(keys) < 2:
        fault = "one key alone explains everything" if keys else "no parameter here is weak"
        raise ScenarioError.at(Argument("vary"), f"{fault}; vary two or more: KEY=lo..hi")
    return keys


def _around(parameter: Parameter, limits: Limits, spread: float) -> Callable[[float], str] | None:
    value = parameter.value
    if isinstance(value, Law):  # its two parts grow together

        def scaled(share: float) -> str:
            factor = 1 - spread + 2 * spread * share
            law = Law(round(value.fixed_ps * factor), round(value.per_byte_fs * factor))
            return format_value(law, "law")

        return scaled if value != Law(0, 0) else None
    whole = parameter.dimension == "count"
    ends = (float(value) * (1 + sign * spread) for sign in (-1, 1))
    low, high = (Fraction(f"{end:.{DIGITS}g}") for end in ends)
    low, high = max(low, Fraction(limits.least)), min(high, Fraction(limits.most))
    if whole:
        low, high = Fraction(round(low)), Fraction(round(high))
    dimension = parameter.dimension if parameter.dimension in BASES else ""
    size = BASES[dimension][1] if dimension else 1
    between = Between(Number(low / size, dimension), Number(high / size, dimension), whole)
    return None if low == high else between.at
