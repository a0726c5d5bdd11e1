"""What a set of runs says of what was published: rows of numbers, and verdicts on sentences."""

from dataclasses import dataclass, field
from typing import Literal

import pandas as pd

ClaimWord = Literal["confirmed", "refuted", "not reproduced", "not testable"]
Basis = Literal["not fitted", "fitted", "by definition"]


@dataclass(frozen=True)
class ClaimVerdict:
    """One sentence of a source and what the runs say to it."""

    # id, section: name of the claim, and the section of the source that makes it
    id: str
    section: str
    text: str  # what is claimed, in our words
    condition: str  # when it is claimed to hold
    # expected, simulated: for people: the claimed range and the value that the runs give, with
    # units
    expected: str
    simulated: str
    verdict: ClaimWord  # see `dvsim.evidence.claims.source`
    note: str  # what the verdict rests on, and the other reading where there is one
    command: str  # what to type to get the value
    source: str = ""  # who makes the claim
    campaign: str = ""  # what `dvsim validate` takes to decide it, with all of the source
    scenarios: tuple[str, ...] = ()  # the runs that decide it
    # value, low, high: the simulated value as a number, 1 or 0 where it is true or false, and its
    # 95 % interval over replications; None where there is none
    value: float | None = None
    low: float | None = None
    high: float | None = None
    # the same for people; of what is true or false, in how many replications alone it is true;
    # ``exact`` where it follows from the structure
    interval: str = "-"
    # the interval reaches over an edge of the claimed range, so that chance may have decided
    edge: bool = False
    open: bool = False  # so does the wider one that decides whether more replications are asked for
    # what the value owes to this claim: a parameter, or a published column that it speaks of, was
    # chosen to agree (``fitted``); it follows from the structure, the workload or a number that the
    # source states, whatever the model does (``by definition``); or neither
    basis: Basis = "not fitted"
    fitted_to: tuple[str, ...] = ()  # the parameters or columns of ``fitted``
    explanation: str = ""  # one sentence why it is not confirmed; empty if it is


@dataclass(frozen=True, eq=False)
class Validation:
    """Everything that a set of runs says about the published data.

    `rows` and `columns` are those of `dvsim.evidence.published.compare`.
    """

    claims: tuple[ClaimVerdict, ...] = ()
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)
    columns: pd.DataFrame = field(default_factory=pd.DataFrame)

    @property
    def judged(self) -> bool:
        """Whether anything stands beside a published column."""
        return not self.columns.empty

    def printed(self) -> pd.DataFrame:
        """Return the verdicts on columns whose numbers are counted as printed."""
        return (
            self.columns[self.columns["reading"] == "as printed"] if self.judged else self.columns
        )
