"""The answer to an open question: what each variant gave beside the baseline, and one sentence.

Runs know by themselves to which question they belong (`dvsim.scenario.spec.WhatIf`), so that an
answer can be told of any set of them: after `dvsim run`, or from folders that were kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dvsim.contract.find import kind_of
from dvsim.scenario.spec import Point, point_text
from dvsim.scenario.units import format_value
from dvsim.study.number_text import amount_text, times_text
from dvsim.table.compare import MARGIN, in_common, verdict
from dvsim.table.estimate import Change, Each, Estimate, estimate, ratio
from dvsim.table.metrics import Metric
from dvsim.table.reply import against, told
from dvsim.table.result import Headline
from dvsim.table.samples import SYSTEM
from dvsim.table.stages import Limit

if TYPE_CHECKING:
    from dvsim.scenario.spec import WhatIf
    from dvsim.table.reply import Reply
    from dvsim.table.result import Result


@dataclass(frozen=True)
class Outcome:
    """What one variant gave.

    Attributes:
        run: The run, or study.
        says: What is different, in words.
        rate: Messages per second, as the question counts them; of a study its headline.
        ratio: To the baseline, replication by replication; None of the baseline itself, or where
            nothing was delivered.
        limit: What keeps it from being faster; None of an emulated run, whose stages are not
            counted, and of a study.
        point: Of a study.
    """

    run: Result
    says: str
    rate: Estimate
    ratio: Change | None
    limit: Limit | None
    point: int = 0

    @property
    def verdict(self) -> str:
        """What the ratio says, see `dvsim.table.compare.verdict`; empty without one."""
        return "" if self.ratio is None else verdict(self.ratio)

    def also(self, name: str) -> float:
        """Return another measure, see `dvsim.contract.kind.Kind.measures`."""
        return float(kind_of(self.run.scenario).value(self.run, self.point, name))


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
    def runs(self) -> list[Result]:
        """The runs, or studies, of the question in the order of the table, a baseline first."""
        return [outcome.run for part in self.parts for outcome in part.outcomes]

    @property
    def replications(self) -> tuple[int, int]:
        """The fewest and the most replications of a run."""
        times = [run.replications for run in self.runs]
        return min(times), max(times)

    @property
    def what(self) -> str:
        """What the ratios are of: the rate, or the headline of studies."""
        return self._headline.name

    @property
    def unit(self) -> str:
        """The unit of what the ratios are of."""
        return self._headline.unit

    @property
    def _headline(self) -> Headline:
        return self.runs[0].headline(each=self.whatif.rate == "each")

    def heading(self, name: str) -> str:
        """Return the title of a measure that the answer prints beside the rate."""
        return self._metric(name).label or name.replace("_", " ")

    def text(self, name: str, value: float) -> str:
        """Write a value of such a measure."""
        return amount_text(value, unit=self._metric(name).unit.removeprefix("1"))

    def _metric(self, name: str) -> Metric:
        metric: Metric = kind_of(self.runs[0].scenario).metric(name)
        return metric

    def sentence(self) -> str:
        """Tell the answer in one sentence: see `sentence`."""
        gains = [
            (part.label, outcome.says, outcome.ratio)
            for part in self.parts
            for outcome in part.outcomes
            if outcome.ratio is not None
        ]
        return sentence(self.what, gains)

    def put(self, reply: Reply, numbers: Mapping[int, Sequence[int]]) -> dict[str, Any]:
        """Hold variants against their baselines in a reply, and return the question and sentence.

        Args:
            reply: It has the results.
            numbers: The numbers there of the points of each, by its id.
        """
        each = ".each" if self.whatif.rate == "each" else ""
        for part in self.parts:
            base = None
            for outcome in part.outcomes:
                run = outcome.run
                point = numbers[id(run)][outcome.point]
                about = {"question": self.whatif.name, "member": part.label, "with": outcome.says}
                reply.points[point] = reply.points[point].model_copy(update=about)
                headline = run.headline(outcome.point)
                asked: dict[str, Any] = {"n": run.replications}
                asked["component"] = SYSTEM if run.sampled else ""
                unit = kind_of(run.scenario).metrics(run.scenario).get(headline.name, "1/s")
                known = outcome.rate._asdict() | {"unit": unit}
                row = reply.row(point, headline.name + each, **known, **asked)
                for name in self.whatif.also:
                    unit = self._metric(name).unit
                    reply.row(point, name, outcome.also(name), unit=unit, **asked)
                if base is not None:
                    against(row, base, *told(outcome.ratio, outcome.verdict))
                base = base or row
        return {
            "name": self.whatif.name,
            "question": self.whatif.question,
            "answer": self.sentence(),
            "assumed": list(self.whatif.assumed),
        }


VERDICTS = {
    "rises": "up with",
    "falls": "down with",
    "stays": f"within {100 * MARGIN:g} % with",
    "equal": "equal with",
    "open": "undecided with",
}


def sentence(what: str, gains: Iterable[tuple[str, str, Change]]) -> str:
    """Return by verdict what each variant gives, where it gives or costs most.

    Args:
        what: What the ratios are of.
        gains: Where, with what, and the ratio to the baseline.

    >>> found = ("8 B", "two", 2), ("8 B", "four", 3.3), ("1 KiB", "two", 2.1), ("8 B", "one", 1)
    >>> sentence("rate", [(where, says, Change("ratio", x)) for where, says, x in found])
    'Rate up with two (x 2.10 at 1 KiB), four (x 3.30 at 8 B); equal with one (x 1.00 at 8 B).'
    """
    most: dict[str, tuple[str, str, Change]] = {}
    for gain in gains:
        known = most.setdefault(gain[1], gain)
        if abs(math.log(gain[2].value)) > abs(math.log(known[2].value)):
            most[gain[1]] = gain
    told: dict[str, list[str]] = {}
    for where, says, times in most.values():
        text = f"{says} ({times_text(times).partition(' ±')[0]} at {where})"
        told.setdefault(verdict(times), []).append(text)
    parts = [f"{word} {', '.join(told[name])}" for name, word in VERDICTS.items() if name in told]
    text = f"{what} {'; '.join(parts)}." if parts else "Nothing was delivered."
    return text[0].upper() + text[1:]


def answers(runs: Sequence[Result]) -> list[Answer]:
    """Return the answers that results give to open questions; none if they belong to none.

    A scenario of which the baseline, or everything else, is missing is left out; of a variant that
    ran several times, that with the most replications counts.
    """
    questions: dict[tuple[str, int, str], list[Result]] = {}
    for run in sorted(runs, key=lambda item: item.replications):
        if run.scenario.whatif is not None:
            key = (run.scenario.whatif.name, run.seed, run.backend)
            questions.setdefault(key, []).append(run)
    result = [_answer(members) for members in questions.values()]
    return [answer for answer in result if answer.parts]


def _answer(runs: Sequence[Result]) -> Answer:
    members: dict[str, dict[int, Result]] = {}
    for run in runs:
        members.setdefault(_whatif(run).member, {})[_whatif(run).place] = run
    whole = [
        [varied[number] for number in sorted(varied)]
        for varied in members.values()
        if 0 in varied and len(varied) > 1
    ]
    labels = _labels([varied[0] for varied in whole])
    return Answer(_whatif(runs[0]), tuple(_parts(whole, labels)))


def _parts(whole: Sequence[Sequence[Result]], labels: Sequence[str]) -> Iterator[Part]:
    for (base, *others), name in zip(whole, labels, strict=True):
        for point in base.scenario.points:
            variants = [study for study in others if point in study.scenario.points]
            names = [name] if len(whole) > 1 or not point else []
            label = ", ".join([*names, point_text(point)] if point else names)
            if variants:
                yield Part(label, _outcomes([base, *variants], point))


def _whatif(run: Result) -> WhatIf:
    whatif: WhatIf | None = run.scenario.whatif
    if whatif is None:
        raise ValueError(f"{run.scenario.name} belongs to no question")
    return whatif


def _labels(runs: Sequence[Any]) -> list[str]:
    if not all(run.sampled for run in runs):
        return [_whatif(run).member for run in runs]
    paths = [run.scenario.system.path for run in runs]
    several = len(set(paths)) > 1
    labels = [
        format_value(run.scenario.workload.message_bytes, "size") + f" over {path.phrase}" * several
        for run, path in zip(runs, paths, strict=True)
    ]
    alike = len(set(labels)) < len(labels)
    return [_whatif(run).member for run in runs] if alike else labels


def _outcomes(runs: Sequence[Result], keys: Point) -> tuple[Outcome, ...]:
    base: Each | None = None
    outcomes = []
    for run in runs:
        point = run.scenario.points.index(keys)
        headline = run.headline(point, each=_whatif(run).rate == "each")
        values = headline.values
        times = None
        if base is not None:
            times = ratio(values, base, common=in_common([runs[0], run])[1])
        known = estimate(values.values(), signed=headline.signed)
        outcomes.append(Outcome(run, _whatif(run).says, known, times, run.limit, point))
        base = values if base is None else base
    return tuple(outcomes)
