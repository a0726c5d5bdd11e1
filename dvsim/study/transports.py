"""Data Vortex against TCP like for like: whole messages over all receivers, by message size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from dvsim.scenario.units import format_value
from dvsim.study.number_text import joined
from dvsim.study.run import Run
from dvsim.table.compare import rate_ratio
from dvsim.table.estimate import Change

MOST_SIZES = 6  # whose ratios are said one by one


@dataclass(frozen=True)
class Contest:
    """A run over the Data Vortex and one over TCP, with messages of one size.

    Attributes:
        vortex, tcp: The runs.
        ratio: Of the first rate to the second; None where nothing was delivered.
    """

    vortex: Run
    tcp: Run
    ratio: Change | None

    @property
    def size(self) -> str:
        """The size of the messages."""
        return format_value(self.vortex.scenario.workload.message_bytes, "size")


def contests(runs: Iterable[Run]) -> list[Contest]:
    """Return the contests of runs, by message size; of several alike the first counts.

    A model and a measurement are no contest: `dvsim compare` is for those.
    """
    sides: dict[tuple[int, str], dict[bool, Run]] = {}
    for run in runs:
        size = run.scenario.workload.message_bytes
        base = run.scenario.system.path.base
        sides.setdefault((size, run.backend), {}).setdefault(base, run)
    result = []
    for _, both in sorted(sides.items()):
        if len(both) == 2:
            vortex_run, tcp_run = both[False], both[True]
            result.append(Contest(vortex_run, tcp_run, rate_ratio(tcp_run, vortex_run)))
    return result


def contest_text(contests: Sequence[Contest]) -> str:
    """Return what contests give in one sentence: the ratios, and where either carries more."""
    known = [(contest, contest.ratio) for contest in contests if contest.ratio is not None]
    if not known:
        return "Over one of the two nothing was delivered."
    (first, ratio), *rest = known
    start = f"{_times(ratio)} times what TCP does at {first.size}"
    if len(known) > MOST_SIZES:
        ends = [pick(known, key=lambda item: item[1].value) for pick in (min, max)]
        low, high = (f"{_times(ratio)} times (at {contest.size})" for contest, ratio in ends)
        ratios = f"{low} to {high} what TCP does"
    else:
        ratios = joined([start, *(f"{_times(ratio)} at {contest.size}" for contest, ratio in rest)])
    more = _where(known, lambda ends: ends[0] > 1)
    less = _where(known, lambda ends: ends[1] < 1)
    verdicts = [f"{word} {where}" for word, where in (("more", more), ("less", less)) if where]
    verdict = " and ".join(verdicts) or "as far as the intervals tell as much at every size"
    return (
        f"Like for like, in whole messages over all receivers, the Data Vortex carries {ratios}: "
        f"{verdict}."
    )


def _times(ratio: Change) -> str:
    return f"{ratio.value:#.3g}"


def _where(
    known: Sequence[tuple[Contest, Change]], holds: Callable[[tuple[float, float]], bool]
) -> str:
    sizes = [
        contest.size
        for contest, ratio in known
        if holds((ratio.low or ratio.value, ratio.high or ratio.value))
    ]
    if len(sizes) == len(known):
        return "at every size" if len(known) > 1 else "at that size"
    return f"at {joined(sizes)}" if sizes else ""
