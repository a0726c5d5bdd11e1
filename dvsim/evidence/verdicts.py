"""What a comparison says, as frozen data without any behaviour."""

from dataclasses import dataclass
from typing import Literal

RowVerdict = Literal["pass", "fail", "info"]
ClaimWord = Literal["confirmed", "refuted", "not reproduced", "not testable"]
Basis = Literal["not fitted", "fitted", "by definition"]
Reading = Literal["as printed", "as messages"]
Split = Literal["fitted", "held out"]


@dataclass(frozen=True)
class Row:
    """One published statistic beside the simulated one."""

    # scenario, column: which simulated column, such as ``h3/dv-8`` and ``r1``
    scenario: str
    column: str
    published_column: str  # its name in the source, such as ``8Br3-r1``
    transport: str  # as the reference calls it, such as ``data-vortex`` or ``fdr-ipoib``
    message_bytes: int  # size of a message
    statistic: str  # ``count``, ``mean``, ``std``, ``min``, ``25%`` … ``99%`` or ``max``
    # what the simulation counted: ``as printed`` (pieces on the Data Vortex, messages on TCP) or
    # ``as messages``
    reading: Reading
    published: float  # the printed value, in 1/s; for ``count`` a pure number
    # simulated, low, high: mean over replications and its 95 % interval, in the unit of `published`
    simulated: float
    low: float
    high: float
    log_error: float | None  # ln(simulated / published); None where either of them is zero
    # the declared x of ``abs(log_error) <= ln(1 + x)``; None where nothing was declared
    tolerance: float | None
    verdict: RowVerdict  # ``info`` where the two numbers are not answers to the same question
    split: Split  # whether this column was used to choose parameters


@dataclass(frozen=True)
class ColumnVerdict:
    """Whether a simulated column is the published one, by the tolerances declared before."""

    scenario: str
    column: str
    published_column: str
    split: Split
    mean_ok: bool  # the mean is within tolerance
    # the share of empty poll intervals is near what the published quantiles allow; None where there
    # are no poll intervals
    empty_ok: bool | None
    quantiles_ok: bool  # every published p75 to p99 that is not zero is within tolerance
    passed: bool  # all of them
    # empty_share, empty_bounds: the simulated share of empty poll intervals, and the range that the
    # published quantiles allow; None where there are no poll intervals
    empty_share: float | None = None
    empty_bounds: tuple[float, float] | None = None


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

    @property
    def by_definition(self) -> bool:
        """Whether the verdict says little."""
        return self.basis == "by definition"


@dataclass(frozen=True)
class Validation:
    """Everything that a set of runs says about the published data.

    `columns` judges Data Vortex columns as printed; `columns_as_messages` judges the same columns
    with the simulation counted in whole messages.
    """

    rows: tuple[Row, ...]
    claims: tuple[ClaimVerdict, ...]
    columns: tuple[ColumnVerdict, ...]
    columns_as_messages: tuple[ColumnVerdict, ...] = ()
