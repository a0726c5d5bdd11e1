"""What columns count, by their totals and what was sent: pieces of messages, or batches of them.

**Pieces.** A column of rates on a grid g has ``count mean / g`` events in all. Over the messages
that it should hold, 1 / R of an iteration for R receivers, that is events per message. If what is
counted is a part of a message, this is a whole number k(b) for each size b, ``ceil(b / P)`` for
pieces of P bytes. R is searched from 1 to `RECEIVERS`. If totals have nothing to do with messages,
the fraction of the ratio is uniform, and all of K sizes are within d of whole numbers by the
chance ``(2 d)**K``, for each R that is tried. Only ratios below `SMALL` are counted: where a run
loses a few per mille, the fraction of a ratio of 100 says nothing.

**Batches.** A column with one sample per batch has ``count batch = messages``. If the count has
nothing to do with the messages, any whole number from half to twice of it is as likely, and the
chance to divide them is the share of those that do. Sizes with equal messages are one trial.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dvsim.consistency.chance import tail
from dvsim.consistency.grid import Grid
from dvsim.consistency.types import Column, Finding, Workload

RECEIVERS = 8
SMALL = 10.0
WORD = 8  # bytes


@dataclass(frozen=True)
class _Pieces:
    odds: float
    receivers: int
    whole: Mapping[int, int]
    furthest: float


def find_pieces(
    group: str,
    columns: Sequence[Column],
    grid: Grid,
    workloads: Mapping[int, Workload],
    factors: Mapping[int | str, int],
) -> Iterator[Finding]:
    """Yield what a group of columns counts, if it is a whole number per message, and not one.

    Args:
        group: How a text names the columns.
        columns: All of the group; those without mean, count or workload are left out.
        grid: Their common grid.
        workloads: What was sent, by size.
        factors: Common factor of the events in an interval, by size, where there is one.
    """
    totals: dict[int, list[float]] = {}
    for column in columns:
        mean, count, size = column.statistics.get("mean"), column.count, column.message_bytes
        if mean is not None and count and size is not None and size in workloads:
            totals.setdefault(size, []).append(count * mean.value / grid.rate)
    best = max(
        filter(None, (_whole(totals, workloads, many) for many in range(1, RECEIVERS + 1))),
        key=lambda pieces: pieces.odds,
        default=None,
    )
    if best is None or all(number == 1 for number in best.whole.values()):
        return
    ratios = {
        size: [total * best.receivers / workloads[size].messages for total in totals[size]]
        for size in sorted(totals)
    }
    low, high = _piece_bytes(best.whole)
    shown = (f"{size} B {', '.join(f'{x:.4g}' for x in ratios[size])}" for size in ratios)
    share = f"1/{best.receivers} of the" if best.receivers > 1 else "the"
    evidence = [f"count x mean x interval over {share} messages: {'; '.join(shown)}"]
    if low <= high:
        pieces = ", ".join(map(str, best.whole.values()))
        evidence.append(f"pieces of {low} to {high} bytes give {pieces} per message")
        for size in ratios.keys() - best.whole.keys():
            text, low, high = _refined(
                size, ratios[size], workloads[size].iterations, (low, high), factors.get(size)
            )
            evidence.append(text)
        statement = f"a message is counted once for each piece of {_range(low, high)}"
    else:
        statement = "a message is counted several times, a whole number that depends on its size"
        evidence.append("no single size of pieces gives these numbers")
    yield Finding(
        "pieces",
        group,
        statement,
        tuple(evidence),
        best.odds,
        "totals have nothing to do with messages: fractions are uniform; "
        f"all {len(best.whole)} ratios below {SMALL:g} are within {best.furthest:.3f} of whole "
        f"numbers, {RECEIVERS} numbers of receivers were tried",
        "the rates are pieces per second; over the pieces of a message they are messages",
    )


def _whole(
    totals: Mapping[int, Sequence[float]], workloads: Mapping[int, Workload], receivers: int
) -> _Pieces | None:
    whole, furthest = {}, 0.0
    for size in sorted(totals):
        ratio = math.fsum(totals[size]) / len(totals[size]) * receivers / workloads[size].messages
        if ratio < SMALL:
            whole[size] = round(ratio)
            furthest = max(furthest, abs(ratio - round(ratio)))
    if len(whole) < 3 or min(whole.values()) < 1:
        return None
    chance = len(whole) * math.log10(max(2 * furthest, 1e-6)) + math.log10(RECEIVERS)
    return _Pieces(-chance, receivers, whole, furthest)


def _piece_bytes(whole: Mapping[int, int]) -> tuple[int, int]:
    low = max(math.ceil(size / number) for size, number in whole.items())
    bounds = [math.ceil(size / (number - 1)) - 1 for size, number in whole.items() if number > 1]
    return low, min(bounds)


def _refined(
    size: int, ratios: Sequence[float], iterations: int, piece: tuple[int, int], factor: int | None
) -> tuple[str, int, int]:
    low, high = piece
    allowed = range(math.ceil(size / high), math.ceil(size / low) + 1)
    fits = {}
    for many in range(1, iterations + 1):
        seen = range(math.floor(min(ratios) / many), math.ceil(max(ratios) / many) + 1)
        common = [number for number in seen if number in allowed]
        if common:
            fits[many] = common
    if len(fits) != 1:
        return f"{size} B: no one number of iterations fits these pieces", low, high
    (many, numbers), *_ = fits.items()
    text = f"{size} B: a column holds {many} iterations, {numbers[0]} to {numbers[-1]} pieces each"
    multiples = [number for number in numbers if factor and number % factor == 0]
    if multiples:
        numbers = multiples
        text += f", of which {' and '.join(map(str, numbers))} is a multiple of {factor}"
    new_low = max(low, math.ceil(size / numbers[-1]))
    new_high = min(high, math.ceil(size / (numbers[0] - 1)) - 1)
    if new_low > new_high:
        return text + "; this does not fit the other sizes", low, high
    return text + f": pieces of {new_low} to {new_high} bytes", new_low, new_high


def _range(low: int, high: int) -> str:
    words = range(-(-low // WORD), high // WORD + 1)
    text = f"{low} to {high} bytes" if low < high else f"{low} bytes"
    return text + (f" ({words[0]} words of {WORD} bytes)" if len(words) == 1 else "")


def find_batches(
    group: str, columns: Sequence[Column], workloads: Mapping[int, Workload]
) -> Iterator[Finding]:
    """Yield that a group has one sample per batch, if its counts divide the messages.

    All columns must agree. Counts that are the same whatever was sent, or differ where the same was
    sent, are the choice of who sampled, and no finding.
    """
    trials: dict[tuple[int, int], list[int]] = {}
    for column in columns:
        size = column.message_bytes
        if column.count and size is not None and size in workloads:
            trials.setdefault((workloads[size].messages, column.count), []).append(size)
    whole = {key: key[0] // key[1] for key in trials if key[0] % key[1] == 0}
    amounts, counts = ({key[at] for key in whole} for at in (0, 1))
    if len(whole) < len(trials) or len(amounts) < len(whole) or min(len(amounts), len(counts)) < 2:
        return
    chances = []  # the share of the numbers from half to twice a count that divide the messages
    for messages, count in trials:
        numbers = np.arange(max(1, count // 2), 2 * count + 1)
        chances.append(float((messages % numbers == 0).mean()))
    shown = []
    for messages, count in sorted(whole, reverse=True):
        sizes = ", ".join(str(size) for size in sorted(set(trials[messages, count])))
        batch = whole[messages, count]
        shown.append(f"{sizes} B: {count:,} samples x {batch:,} = {messages:,} messages")
    batches = " or ".join(f"{batch:,}" for batch in sorted(set(whole.values()), reverse=True))
    yield Finding(
        "batches",
        group,
        f"each sample is a batch of {batches} messages",
        tuple(shown),
        -tail(np.array(chances), len(whole)),
        "counts have nothing to do with messages: any whole number from half to twice a count is "
        "as likely (round numbers that were chosen by hand divide one another, too)",
        "the columns are averages over batches, not over time; a slow batch weighs as much as a "
        "quick one",
    )
