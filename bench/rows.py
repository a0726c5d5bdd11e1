"""What the benches have in common: a row says how many times what, against whom, in the same run.

A row is printed, and kept for `table.py` where that asks for it: as soon as it is known, so that a
bench that fails later does not lose it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROWS = "DVSIM_BENCH_ROWS"
"""Environment variable: the file to which rows are added, a line of JSON each."""


def seconds(run: Callable[[], object]) -> float:
    """Return how long something takes."""
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def row(
    subject: str, against: str, ratio: float, better: str, spread: Sequence[float] = ()
) -> None:
    """Print a row and keep it.

    Parameters
    ----------
    subject
        What was measured, and in what: "switch 1024 x 8, node updates/s".
    against
        The rival, or the limit, that was measured in the same run.
    ratio
        The subject's figure over that of the other.
    better
        ``"more"`` or ``"less"``.
    spread
        What the ratio was in each run; of one run there is none.
    """
    low, high = (min(spread), max(spread)) if len(spread) > 1 else (None, None)
    between = "" if low is None else f" ({short(low)} .. {short(high)} in {len(spread)} runs)"
    print(f"* {subject}: {short(ratio)} x {against}{between}, {better} is better", flush=True)
    if ROWS in os.environ:
        fields = {"subject": subject, "against": against, "ratio": ratio, "better": better}
        fields |= {"low": low, "high": high, "runs": len(spread) or 1}
        with Path(os.environ[ROWS]).open("a", encoding="utf-8") as file:
            file.write(json.dumps(fields, ensure_ascii=False) + "\n")


def short(ratio: float) -> str:
    """Return three digits, or all before the point: 0.0718, 1.55, 8,379."""
    return f"{ratio:,.0f}" if ratio >= 1000 else f"{ratio:.3g}"


def faster(subject: str, against: str, ours_s: Sequence[float], theirs_s: Sequence[float]) -> None:
    """Print and keep how many times as fast something is, by the shortest times of several runs.

    The spread is that of pairs of runs; a side that was run once is in all of them.
    """
    pairs = max(len(ours_s), len(theirs_s))
    ours, theirs = (list(side) * (pairs if len(side) == 1 else 1) for side in (ours_s, theirs_s))
    spread = [other / own for own, other in zip(ours, theirs, strict=True)]
    row(subject, against, min(theirs_s) / min(ours_s), "more", spread)
