"""Data Vortex against TCP like for like: whole messages over all receivers, by message size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dvsim.scenario.units import format_value
from dvsim.study.number_text import joined
from dvsim.table.compare import rate_ratio
from dvsim.table.estimate import Change
from dvsim.table.result import Result

MOST_SIZES = 6  # whose ratios are said one by one


@dataclass(frozen=True)
class Contest:
    """A run over the Data Vortex and one over TCP, with messages of one size.

    Attributes:
        vortex, tcp: The runs.
        ratio: Of the first rate to the second; None where nothing was delivered.
    """

    vortex: Result
    tcp: Result
    ratio: Change | None

    @property
    def size(self) -> str:
        """The size of the messages."""
        return format_value(self.vortex.scenario.workload.message_bytes, "size")


def contests(runs: Iterable[Result]) -> list[Contest]:
    """Return the contests of runs, by message size; of several alike the first counts.

    A model and a measurement are no contest: `dvsim compare` is for those.
    """
    sides: dict[tuple[int, str], dict[bool, Result]] = {}
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
    """Return in one sentence the ratios of contests, of many the least and the largest."""
    known = [
        (contest.ratio.value, f"{contest.ratio.value:#.3g} times (at {contest.size})")
        for contest in contests
        if contest.ratio is not None
    ]
    if not known:
        return "Over one of the two nothing was delivered."
    texts = [text for _, text in (known if len(known) <= MOST_SIZES else (min(known), max(known)))]
    return (
        "Like for like, in whole messages over all receivers, the Data Vortex carries "
        f"{joined(texts, 'and' if len(known) <= MOST_SIZES else 'to')} what TCP does."
    )
