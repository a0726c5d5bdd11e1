"""The answer to an open question: what each variant gave, and one sentence made from that.

Runs know by themselves to which question they belong (`dvsim.scenario.types.WhatIf`), so that an
answer can be told of any set of them: after `dvsim run`, or from folders that were kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dvsim.scenario.units import format_value
from dvsim.study.amounts import estimate_text
from dvsim.study.compare import in_common
from dvsim.study.measures import MEASURES, ratio
from dvsim.study.stages import Limit
from dvsim.study.statistics import Estimate, Floats, estimate
from dvsim.study.whatif_sentence import Gain, sentence

if TYPE_CHECKING:
    from dvsim.kinds.rabbitmq.spec import WhatIf
    from dvsim.study.run import Run


@dataclass(frozen=True)
class Outcome:
    """What one variant gave.

    Attributes:
        run: The run.
        says: What is different, in words.
        rate: Messages per second, as the question counts them.
        ratio: To the baseline, replication by replication; None of the baseline itself, or where
            nothing was delivered.
        limit: What keeps it from being faster; None of an emulated run, whose stages are not
            counted.
    """

    run: Run
    says: str
    rate: Estimate
    ratio: Estimate | None
    limit: Limit | None

    def also(self, name: str) -> float:
        """Return another measure of the run, see `dvsim.study.measures.MEASURES`."""
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
    parts: tuple[Part, ...]

    @property
    def replications(self) -> tuple[int, int]:
        """The fewest and the most replications of a run."""
        times = [outcome.run.replications for part in self.parts for outcome in part.outcomes]
        return min(times), max(times)

    @property
    def unit(self) -> str:
        """What the rates count."""
        return "msg/s for each receiver" if self.whatif.rate == "each" else "msg/s"

    def sentence(self) -> str:
        """Tell the answer in one sentence, see `dvsim.study.whatif_sentence`."""
        return sentence(self.gains(), *self.replications)

    def gains(self) -> list[Gain]:
        """Return the ratios to the baseline, in the order of the table."""
        return [
            Gain(part.label, outcome.says, outcome.ratio)
            for part in self.parts
            for outcome in part.outcomes
            if outcome.ratio is not None
        ]


def answers(runs: Sequence[Run]) -> list[Answer]:
    """Return the answers that runs give to open questions; none if they belong to none.

    A scenario of which the baseline, or everything else, is missing is left out; of a variant that
    ran several times, that with the most replications counts.
    """
    questions: dict[tuple[str, int, str], list[Run]] = {}
    for run in sorted(runs, key=lambda item: item.replications):
        if run.scenario.whatif is not None:
            key = (run.scenario.whatif.name, run.seed, run.backend)
            questions.setdefault(key, []).append(run)
    result = [_answer(members) for members in questions.values()]
    return [answer for answer in result if answer.parts]


def _answer(runs: Sequence[Run]) -> Answer:
    members: dict[str, dict[int, Run]] = {}
    for run in runs:
        members.setdefault(_whatif(run).member, {})[_whatif(run).place] = run
    whole = [
        [varied[number] for number in sorted(varied)]
        for varied in members.values()
        if 0 in varied and len(varied) > 1
    ]
    labels = _labels([varied[0] for varied in whole])
    parts = (Part(label, _outcomes(varied)) for label, varied in zip(labels, whole, strict=True))
    return Answer(_whatif(runs[0]), tuple(parts))


def _whatif(run: Run) -> WhatIf:
    if run.scenario.whatif is None:
        raise ValueError(f"{run.scenario.name} belongs to no question")
    return run.scenario.whatif


def _labels(runs: Sequence[Run]) -> list[str]:
    """Name scenarios by the size of their messages, and by their transport if there are several."""
    paths = [run.scenario.system.path for run in runs]
    several = len(set(paths)) > 1
    labels = [
        format_value(run.scenario.workload.message_bytes, "size") + f" over {path.phrase}" * several
        for run, path in zip(runs, paths, strict=True)
    ]
    alike = len(set(labels)) < len(labels)
    return [_whatif(run).member for run in runs] if alike else labels


def _outcomes(runs: Sequence[Run]) -> tuple[Outcome, ...]:
    """Return what each variant gave; its ratio is of what both have run."""
    base: Floats | None = None
    outcomes = []
    for run in runs:
        receivers = run.scenario.system.receivers if _whatif(run).rate == "each" else 1
        values = np.array(list(run.rates.values())) / receivers
        times = None
        if base is not None:
            pairs = min(len(values), len(base))
            common = in_common([runs[0], run])[1]
            times = ratio(values[:pairs], base[:pairs], common=common)
        outcomes.append(
            Outcome(run, _whatif(run).says, estimate(values.tolist()), times, run.limit)
        )
        base = values if base is None else base
    return tuple(outcomes)


def rate_text(rate: Estimate) -> str:
    """Write a rate with its interval, where there is one."""
    return estimate_text(rate.value, rate.half)


def limit_text(outcome: Outcome) -> str:
    """Write what limits an outcome, and how busy it was."""
    return "not counted" if outcome.limit is None else str(outcome.limit)
