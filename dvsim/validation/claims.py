"""Sentences of a source that runs can decide: what is claimed, and how a run gives the value.

The sentences are rows of ``scenarios/reference/claims.csv``: a metric, a condition and a range.
How a run gives the value is a function in a registry by the id of the claim; what follows from
the value is in `dvsim.validation.decide`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dvsim.scenario.find import reference_root
from dvsim.scenario.published import read_csv
from dvsim.validation.evidence import Evidence

FILE = "claims.csv"


@dataclass(frozen=True)
class Claim:
    """One row of ``claims.csv``; `low` and `high` are None where the range is open."""

    id: str
    source: str
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

    def overlaps(self, allowed: tuple[float, float]) -> bool:
        """Return whether the claimed range has a value in common with another range."""
        low = -float("inf") if self.low is None else self.low
        high = float("inf") if self.high is None or self.op == "ge" else self.high
        return allowed[0] <= high and low <= allowed[1]

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
        In the unit of the claim; 1.0 or 0.0 for a truth; None if no run can tell, in which case
        `note` says why.
    note
        What the value rests on.
    as_messages
        The same value with the simulation counted in whole messages; None where that is the same.
    by_definition
        The value follows from the structure, the workload or a number that the source states,
        whatever the model does: no column speaks of it.
    allowed
        The values that the published statistics leave possible where they do not decide them; a
        claim whose range overlaps it is not refuted by a model that reproduces those statistics.
    """

    value: float | None
    note: str = ""
    as_messages: float | None = None
    by_definition: bool = False
    allowed: tuple[float, float] | None = None


Evaluator = Callable[[Evidence], Finding]


@dataclass(frozen=True)
class Entry:
    """How a claim is decided.

    Attributes
    ----------
    text
        The sentence in our words.
    scenarios
        The runs that it needs.
    evaluate
        What gives the value.
    of_columns
        The value is a statistic of what the published columns of these runs print, so that it was
        fitted where one of them was.
    emulated
        It needs emulated runs of those scenarios, too.
    """

    text: str
    scenarios: tuple[str, ...]
    evaluate: Evaluator
    of_columns: bool = False
    emulated: bool = False


class Registry(dict[str, Entry]):
    """Claims that can be decided, by id; `campaign` is what `dvsim validate` takes for all.

    `title` names the source, or the sources.
    """

    def __init__(self, campaign: str, title: str) -> None:
        super().__init__()
        self.campaign = campaign
        self.title = title

    def claim(
        self,
        id_: str,
        text: str,
        scenarios: Iterable[str],
        *,
        of_columns: bool = False,
        emulated: bool = False,
    ) -> Callable[[Evaluator], Evaluator]:
        """Register the decorated function as the one that decides a claim."""

        def register(evaluate: Evaluator) -> Evaluator:
            self[id_] = Entry(text, tuple(scenarios), evaluate, of_columns, emulated)
            return evaluate

        return register


def read_claims() -> dict[str, Claim]:
    """Return every claim of ``claims.csv`` by id, in the order of the file."""
    return {
        row["id"]: Claim(
            id=row["id"],
            source=row["source"],
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
