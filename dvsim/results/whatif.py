"""The answer to an open question: one paragraph of figures, made from the runs of its variants.

Runs know by themselves to which question they belong (`dvsim.scenario.types.WhatIf`), so that an
answer can be told of any set of them: after `dvsim run`, or from folders that were kept.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dvsim.results.amounts import share_text
from dvsim.results.measures import (
    MEASURES,
    Floats,
    Interval,
    interval,
    ratio,
)
from dvsim.results.sides import in_common
from dvsim.results.stages import SATURATED, busiest
from dvsim.scenario.units import format_value

if TYPE_CHECKING:
    from dvsim.kinds.rabbitmq.spec import WhatIf
    from dvsim.results.run import Run

UNCHANGED = 0.01  # a ratio that is nearer to 1 is no change that anybody would notice


@dataclass(frozen=True)
class Outcome:
    """What one variant gave.

    Attributes
    ----------
    run
        The run.
    says
        What is different, in words.
    rate
        Messages per second, as the question counts them.
    ratio
        To the baseline, replication by replication; None of the baseline itself, or where nothing
        was delivered.
    limit
        The stage that limits, in words.
    busy
        How busy that stage was.
    """

    run: Run
    says: str
    rate: Interval
    ratio: Interval | None
    limit: str
    busy: float

    def also(self, name: str) -> float:
        """Return another measure of the run, see `dvsim.results.measures.MEASURES`."""
        return MEASURES[name].of(self.run)


@dataclass(frozen=True)
class Part:
    """The outcomes of one scenario that was varied, the baseline first."""

    label: str
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True)
class Answer:
    """The answer to one question."""

    whatif: WhatIf
    replications: int
    parts: tuple[Part, ...]

    @property
    def unit(self) -> str:
        """What the rates count."""
        return "msg/s for each receiver" if self.whatif.rate == "each" else "msg/s"

    def paragraph(self) -> str:
        """Tell the answer; every figure in it is one of the runs'."""
        return f"{self.gist()} {self.figures()}"

    def gist(self) -> str:
        """Tell in one sentence how much changes."""
        return _gist(self)

    def figures(self) -> str:
        """Tell what each variant gave, and what limits it."""
        return " ".join(_part_text(part, self) for part in self.parts)


def answers(runs: Sequence[Run]) -> list[Answer]:
    """Return the answers that runs give to open questions; none if they belong to none.

    A scenario of which the baseline, or everything else, is missing is left out.
    """
    questions: dict[tuple[str, int, int, str], list[Run]] = {}
    for run in runs:
        if run.scenario.whatif is not None:
            key = (run.scenario.whatif.name, run.seed, run.replications, run.backend)
            questions.setdefault(key, []).append(run)
    found = [_answer(members) for members in questions.values()]
    return [answer for answer in found if answer.parts]


def _answer(runs: Sequence[Run]) -> Answer:
    members: dict[str, dict[int, Run]] = {}
    for run in runs:
        members.setdefault(_whatif(run).member, {})[_whatif(run).place] = run
    whole = [
        [varied[place] for place in sorted(varied)]
        for varied in members.values()
        if 0 in varied and len(varied) > 1
    ]
    labels = _labels([varied[0] for varied in whole])
    parts = (Part(label, _outcomes(varied)) for label, varied in zip(labels, whole, strict=True))
    return Answer(_whatif(runs[0]), runs[0].replications, tuple(parts))


def _whatif(run: Run) -> WhatIf:
    if run.scenario.whatif is None:
        raise ValueError(f"{run.scenario.name} belongs to no question")
    return run.scenario.whatif


def _labels(runs: Sequence[Run]) -> list[str]:
    """Name scenarios by the size of their messages, and by their transport if there are several."""
    several = len({run.scenario.system.transport for run in runs}) > 1
    transports = {"data-vortex": " over the Data Vortex", "tcp": " over TCP"}
    sizes = (format_value(run.scenario.workload.message_bytes, "size") for run in runs)
    labels = [
        size + (transports[run.scenario.system.transport] if several else "")
        for size, run in zip(sizes, runs, strict=True)
    ]
    alike = len(set(labels)) < len(labels)
    return [_whatif(run).member for run in runs] if alike else labels


def _outcomes(runs: Sequence[Run]) -> tuple[Outcome, ...]:
    base: Floats | None = None
    found = []
    for run in runs:
        receivers = run.scenario.system.receivers if _whatif(run).rate == "each" else 1
        values = np.array(list(run.rates.values())) / receivers
        limit, busy = limit_of(run)
        times = None if base is None else ratio(values, base, common=in_common([runs[0], run])[1])
        found.append(Outcome(run, _whatif(run).says, interval(values), times, limit, busy))
        base = values if base is None else base
    return tuple(found)


def limit_of(run: Run) -> tuple[str, float]:
    """Return the stage that limits a run, and how busy it was.

    Where no stage is saturated a closed loop waits, on the Data Vortex for credits: one for a
    buffer of the ring, at a poll.
    """
    stage = busiest(run.counters)
    if stage is None:
        return "not counted", math.nan
    if stage.utilisation >= SATURATED:
        return stage.text, stage.utilisation
    vortex = run.scenario.system.transport == "data-vortex"
    waits = "waiting for credits" if vortex else "no stage alone"
    return f"limit: {waits}; busiest: {stage.text}", stage.utilisation


def _gist(answer: Answer) -> str:
    """Say in one sentence how much changes."""
    known = [
        (outcome.ratio, f"({outcome.says} at {part.label})")
        for part in answer.parts
        for outcome in part.outcomes
        if outcome.ratio is not None
    ]
    if not known:
        return "Nothing was delivered."
    base = answer.parts[0].outcomes[0].says
    low = min(known, key=lambda item: item[0].value)
    high = max(known, key=lambda item: item[0].value)
    if max(abs(times.value - 1) for times, _ in known) <= UNCHANGED:
        span = f"{times_text(low[0])} to {times_text(high[0])}"
        return f"Against {base}, the rate does not change: {span}."
    ends = [f"{times_text(times)} {where}" for times, where in dict.fromkeys((low, high))]
    return f"Against {base}, the rate is {' to '.join(ends)}."


def _part_text(part: Part, answer: Answer) -> str:
    """Tell one scenario and its variants: rates, ratios, what limits, and what else was asked."""
    told, before = [], ""
    for alike in _alike(part.outcomes[1:]):
        figures = [] if alike[0].ratio is None else [times_text(alike[0].ratio)]
        before = before or part.outcomes[0].limit
        if alike[0].limit != before:
            figures.append(limit_text(alike[0]))
        before = alike[0].limit
        names = [outcome.says for outcome in alike]
        says = " or ".join([*([", ".join(names[:-1])] if names[1:] else []), names[-1]])
        inside = f" ({'; '.join(figures)})" if figures else ""
        told.append(f"{rate_text(alike[0].rate)} with {says}{inside}")
    base = part.outcomes[0]
    first = f"{rate_text(base.rate)} {answer.unit} with {base.says} ({limit_text(base)})"
    text = f"At {part.label}: {first}; {', '.join(told)}."
    return " ".join([text, *(_also(name, part) for name in answer.whatif.also)])


def _alike(outcomes: Sequence[Outcome]) -> list[list[Outcome]]:
    """Put neighbours together that gave the same."""
    groups: list[list[Outcome]] = []
    for outcome in outcomes:
        same = groups and (groups[-1][0].rate, groups[-1][0].limit) == (outcome.rate, outcome.limit)
        if same:
            groups[-1].append(outcome)
        else:
            groups.append([outcome])
    return groups


def _also(name: str, part: Part) -> str:
    """Tell the least and the most of another measure; once if all are equal."""
    measure = MEASURES[name]
    heading = measure.heading[0].upper() + measure.heading[1:]
    values = [(outcome.also(name), outcome.says) for outcome in part.outcomes]
    known = sorted(
        ((value, says) for value, says in values if not math.isnan(value)), key=lambda item: item[0]
    )
    texts = [measure.text(value) for value, _ in known]
    if not known:
        return f"{heading}: not counted."
    if len(set(texts)) == 1:
        return f"{heading}: {texts[0]} in each{' that counts them' * (len(known) < len(values))}."
    low, high = known[0], known[-1]
    return (
        f"{heading}: {measure.text(low[0])} with {low[1]} to {measure.text(high[0])} "
        f"with {high[1]}."
    )


def limit_text(outcome: Outcome) -> str:
    """Write what limits an outcome, and how busy it was."""
    if math.isnan(outcome.busy):
        return outcome.limit
    share = share_text(outcome.busy)
    return (
        f"{outcome.limit} {share}"
        if outcome.busy < SATURATED
        else f"limit: {outcome.limit} {share}"
    )


def rate_text(rate: Interval) -> str:
    """Write a rate with half of its interval, where there is one."""
    return f"{rate.value:,.0f}" + (f" ± {rate.half:,.0f}" if rate.half else "")


def times_text(times: Interval) -> str:
    """Write a ratio with half of its interval, in as many digits as that has.

    Examples
    --------
    >>> times_text(Interval(3.968, 0.021)), times_text(Interval(1.0, 0.0))
    ('x 3.97 ± 0.02', 'x 1.00')
    """
    places = 2 if times.half >= 0.005 or not times.half else 3
    spread = f" ± {times.half:.{places}f}" if times.half >= 0.0005 else ""
    return f"x {times.value:.{places if spread else 2}f}{spread}"
