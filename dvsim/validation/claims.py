"""Sentences of a source, each decided by runs.

The sentences are rows of ``scenarios/reference/claims.csv``: a metric, a condition and a range.
How a run gives the value is a function in a registry by the id of the claim. The verdict:

confirmed
    The simulated value is in the claimed range, and the model reproduces, within the declared
    tolerance, at least one published column of the scenarios that the sentence speaks about, or
    nothing was published of them. A value that agrees while no column does may agree by chance.
refuted
    It is outside, although the model reproduces every one of those columns. So it is the source's
    own statistics that speak against the sentence.
not reproduced
    Neither: the model does not fit the columns (or, for a value outside, there are none), so
    nothing can be said for the sentence or against it. Also if the run is missing, or the thing
    is not simulated.

Where a value depends on what is counted, the verdict is for the numbers *as printed*, and the
note gives the value *as messages* with a word of its own.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dvsim.scenario.find import reference_root
from dvsim.scenario.published import read_csv
from dvsim.validation.evidence import Evidence, Missing
from dvsim.validation.types import ClaimVerdict, ClaimWord

FILE = "claims.csv"


@dataclass(frozen=True)
class Claim:
    """One row of ``claims.csv``; `low` and `high` are None where the range is open."""

    id: str
    section: str
    metric: str
    condition: str
    op: str
    low: float | None
    high: float | None
    unit: str

    def holds(self, value: float) -> bool:
        """Return whether a value is in the claimed range; a truth is 1 or 0."""
        low = -float("inf") if self.low is None else self.low
        high = float("inf") if self.high is None else self.high
        match self.op:
            case "ge":
                return value >= low
            case "lt":
                return value < high
            case "eq":
                return value == low
            case "about":
                return low <= value <= high
            case "true":
                return value == 1.0
        message = f"{FILE}: {self.id}: unknown op {self.op!r}"
        raise ValueError(message)

    @property
    def expected(self) -> str:
        """The claimed range, for people."""
        match self.op:
            case "ge":
                return f"at least {self.text_of(self.low)}"
            case "lt":
                return f"below {self.text_of(self.high)}"
            case "eq":
                return self.text_of(self.low)
            case "about":
                return f"{number_text(self.low)} to {self.text_of(self.high)}"
        return "yes"

    def text_of(self, value: float | None) -> str:
        """Return a value of this claim with its unit, for people."""
        if value is None:
            return "-"
        if self.op == "true":
            return "yes" if value else "no"
        unit = "" if self.unit == "fraction" else self.unit
        return f"{number_text(value)} {unit}".strip()


@dataclass(frozen=True)
class Finding:
    """What the runs say to one claim.

    Attributes
    ----------
    value
        In the unit of the claim; 1.0 or 0.0 for a truth; None if it is not simulated.
    note
        What the value rests on.
    as_messages
        The same value with the simulation counted in whole messages; None where that is the same.
    by_definition
        The value follows from the structure or the workload alone, whatever the model does: no
        column speaks of it.
    """

    value: float | None
    note: str = ""
    as_messages: float | None = None
    by_definition: bool = False


Evaluator = Callable[[Evidence], Finding]


@dataclass(frozen=True)
class Entry:
    """How a claim is decided: the sentence in our words, the runs it needs, and the function."""

    text: str
    scenarios: tuple[str, ...]
    evaluate: Evaluator


class Registry(dict[str, Entry]):
    """Claims that can be decided, by id; `campaign` is what `dvsim validate` takes for all."""

    def __init__(self, campaign: str) -> None:
        super().__init__()
        self.campaign = campaign

    def claim(
        self, id_: str, text: str, scenarios: Iterable[str]
    ) -> Callable[[Evaluator], Evaluator]:
        """Register the decorated function as the one that decides a claim."""

        def register(evaluate: Evaluator) -> Evaluator:
            self[id_] = Entry(text, tuple(scenarios), evaluate)
            return evaluate

        return register


def read_claims() -> dict[str, Claim]:
    """Return every claim of ``claims.csv`` by id, in the order of the file."""
    return {
        row["id"]: Claim(
            id=row["id"],
            section=row["section"],
            metric=row["metric"],
            condition=row["condition"],
            op=row["op"],
            low=float(row["low"]) if row["low"] else None,
            high=float(row["high"]) if row["high"] else None,
            unit=row["unit"],
        )
        for row in read_csv(reference_root() / FILE)
    }


def decide(registry: Registry, evidence: Evidence) -> tuple[ClaimVerdict, ...]:
    """Decide every claim of a registry, in the order of ``claims.csv``."""
    claims = read_claims()
    return tuple(
        _decide(claim, registry[id_], evidence, registry.campaign)
        for id_, claim in claims.items()
        if id_ in registry
    )


def word(*, holds: bool, passed: int, total: int) -> ClaimWord:
    """Return the verdict.

    Parameters
    ----------
    holds
        Whether the value is in the claimed range.
    passed, total
        How many published columns of the scenarios are reproduced, and of how many.

    Examples
    --------
    >>> word(holds=True, passed=1, total=2), word(holds=False, passed=2, total=2)
    ('confirmed', 'refuted')
    >>> word(holds=True, passed=0, total=2), word(holds=False, passed=1, total=2)
    ('not reproduced', 'not reproduced')
    """
    if holds and (passed or not total):
        return "confirmed"
    if not holds and 0 < total == passed:
        return "refuted"
    return "not reproduced"


def number_text(value: float | None) -> str:
    """Return a number with about four digits, for people.

    Examples
    --------
    >>> [number_text(x) for x in (43404.0, 1.2751, 0.95, 32.0, 0.0)]
    ['43,404', '1.275', '0.95', '32', '0']
    """
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _decide(claim: Claim, entry: Entry, evidence: Evidence, campaign: str) -> ClaimVerdict:
    absent = [name for name in entry.scenarios if not evidence.has(name)]
    passed = total = 0
    if absent:
        finding = Finding(None, "not run" if len(entry.scenarios) == 1 else _not_run(absent))
    else:
        passed, total = evidence.fit(entry.scenarios)
        try:
            finding = entry.evaluate(evidence)
        except Missing as error:
            finding = Finding(None, f"not simulated: {error}")
        if finding.by_definition:
            passed = total = 0
    notes = [finding.note] if finding.note else []
    verdict: ClaimWord = "not reproduced"
    if finding.value is not None:
        holds = claim.holds(finding.value)
        verdict = word(holds=holds, passed=passed, total=total)
        if finding.as_messages is not None:
            other = word(holds=claim.holds(finding.as_messages), passed=passed, total=total)
            notes.append(f"as messages {claim.text_of(finding.as_messages)}: {other}")
        if total:
            notes.append(f"{passed} of {total} published columns reproduced")
        if holds and verdict == "not reproduced":
            notes.append("the value agrees although the columns do not")
    return ClaimVerdict(
        id=claim.id,
        section=claim.section,
        text=entry.text,
        condition=claim.condition,
        expected=claim.expected,
        simulated=claim.text_of(finding.value),
        verdict=verdict,
        note="; ".join(notes),
        command=_command(entry.scenarios, campaign),
        value=finding.value,
        by_definition=finding.by_definition,
    )


def _not_run(absent: Iterable[str]) -> str:
    return f"not run: {', '.join(absent)}"


def _command(scenarios: tuple[str, ...], campaign: str) -> str:
    if not 1 <= len(scenarios) <= 2:
        return f"dvsim validate {campaign}"
    return " && ".join(f"dvsim run {name}" for name in scenarios)
