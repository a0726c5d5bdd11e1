"""The answer to an open question in one sentence, made from its ratios by rule.

A ratio to the baseline *stays* if its 95 % interval lies within `MARGIN` of 1, so that no larger
change is to be expected. Else it *rises* or *falls* if the interval lies beyond 1, and is *open* if
1 is in it. It is *equal* where all replications are. Of a scenario that was varied the sentence
names the first variant that gives all of the gain, within `ALIKE` or its interval, and the first
that costs most; then all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from dvsim.study.number_text import counted, joined, times_text
from dvsim.table.estimate import Estimate

MARGIN = 0.02  # a ratio that is surely nearer to 1 is no change that anybody would notice
CHANCE = 0.1  # a ratio of one replication that is nearer to 1 may be chance
ALIKE = 0.02  # relative; a variant that gives so little less than the best gives all of it
MOST = 6  # scenarios of which each is named


class Gain(NamedTuple):
    """What one variant gives of one scenario: `label` names the scenario, `says` the variant."""

    label: str
    says: str
    ratio: Estimate


def sentence(
    gains: Sequence[Gain], replications: int, most: int | None = None, what: str = ""
) -> str:
    """Return the answer in one sentence; `gains` are in the order of the file.

    There are `replications`, or from as many to `most`. The ratios are of rates, or of `what`, of
    which more need not be better.

    >>> found = ("8 B", "two", 2), ("8 B", "four", 3.3), ("1 KiB", "two", 2), ("1 KiB", "four", 2)
    >>> gains = [Gain(label, f"{n} processes", Estimate.around(x, 0)) for label, n, x in found]
    >>> sentence(gains, 10)
    'Four processes would give all of the gain (x 3.30 at 8 B), at 1 KiB two processes (x 2.00).'
    """
    if not gains:
        return "Nothing was delivered."
    each = [(gain, standing(gain.ratio, replications)) for gain in gains]
    rises, falls = ([gain for gain, is_ in each if is_ == end] for end in ("rises", "falls"))
    how: dict[str, set[str]] = {}
    for gain, is_ in each:
        how.setdefault(gain.says, set()).add(is_)
    unsure = [says for says, all_ in how.items() if "open" in all_]
    same = [says for says, all_ in how.items() if all_ == {"equal"}]
    alike = [says for says, all_ in how.items() if all_ in ({"stays"}, {"stays", "equal"})]
    rise, fall = (
        (f"would {verb} {what} most", f"would {verb} {what}") if what else usual
        for verb, usual in (
            ("raise", ("would give all of the gain", "would gain")),
            ("lower", ("would cost most", "would cost rate")),
        )
    )
    parts, named = [], {*unsure, *same, *alike}
    for some, words, end in ((rises, rise, max), (falls, fall, min)):
        text, chosen = _ends(some, *words, end)
        named |= chosen
        rest = [says for says in dict.fromkeys(gain.says for gain in some) if says not in named]
        named |= {*rest}
        parts += [text, f"{joined(rest)} {words[1]}, too" if rest else ""]
    if alike:
        parts.append(f"{joined(alike, 'or')} would change less than {100 * MARGIN:g} %")
    if same:
        parts.append(f"{joined(same, 'or')} would change nothing")
    if unsure:
        count = f"{counted(replications, most)} do{'' if (most or replications) > 1 else 'es'}"
        parts.append(f"the {count} not decide {joined(unsure, 'or')}")
    text = "; ".join(filter(None, parts))
    return f"{text[0].upper()}{text[1:]}."


def standing(ratio: Estimate, replications: int) -> str:
    """Say whether a ratio to the baseline "rises", "falls", "stays", is "equal" to it or "open".

    >>> pairs = (3, 0.1), (0.9, 0.01), (1.008, 0.005), (0.99, 0.02), (1.2, 0.4), (1, 0)
    >>> [standing(Estimate.around(*pair), 10) for pair in pairs]
    ['rises', 'falls', 'stays', 'open', 'open', 'equal']
    """
    value, low, high = ratio
    if low == high == 1:
        return "equal"
    if replications < 2:  # which have no interval
        low, high = value - CHANCE, value + CHANCE
    if max(1 - low, high - 1) <= MARGIN:
        return "stays"
    if low <= 1 <= high:
        return "open"
    return "rises" if value > 1 else "falls"


def _ends(
    gains: Sequence[Gain], of_several: str, of_one: str, end: Callable[[Iterable[float]], float]
) -> tuple[str, set[str]]:
    """Name by scenario the first variant whose ratio is as good as the largest, or smallest.

    Returns the text and the variants that it names.
    """
    chosen: dict[str, list[Gain]] = {}
    for label in dict.fromkeys(gain.label for gain in gains):
        here = [gain for gain in gains if gain.label == label]
        most = end(gain.ratio.value for gain in here)
        first = next(gain for gain in here if _as_good(gain.ratio, most))
        chosen.setdefault(first.says, []).append(first)
    if not chosen:
        return "", set()
    verb = of_several if len({gain.says for gain in gains}) > 1 else of_one
    ordered = sorted(chosen.values(), key=len, reverse=True)  # what is true of most comes first
    parts = [f"{ordered[0][0].says} {verb} ({_at(ordered[0])})"]
    for group in ordered[1:]:
        labels = joined([gain.label for gain in group])
        figures = joined([_times(gain) for gain in group])
        parts.append(f"at {labels} {group[0].says} ({figures})")
    return ", ".join(parts), {*chosen}


def _as_good(ratio: Estimate, most: float) -> bool:
    return abs(ratio.value - most) <= max(ALIKE * most, ratio.half)


def _at(group: Sequence[Gain]) -> str:
    if len(group) > MOST:
        first, last = group[0], group[-1]
        return f"{_times(first)} at {first.label} to {_times(last)} at {last.label}"
    return ", ".join(f"{_times(gain)} at {gain.label}" for gain in group)


def _times(gain: Gain) -> str:
    return times_text(gain.ratio).partition(" ±")[0]
