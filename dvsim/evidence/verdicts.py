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
    """One published statistic beside the simulated one.

    Attributes:
        scenario, column: Which simulated column, such as ``h3/dv-8`` and ``r1``.
        published_column: Its name in the source, such as ``8Br3-r1``.
        transport: As the reference calls it, such as ``data-vortex`` or ``fdr-ipoib``.
        message_bytes: Size of a message.
        statistic: ``count``, ``mean``, ``std``, ``min``, ``25%`` … ``99%`` or ``max``.
        reading: What the simulation counted: ``as printed`` (pieces on the Data Vortex, messages on
            TCP) or ``as messages``.
        published: The printed value, in 1/s; for ``count`` a pure number.
        simulated, low, high: Mean over replications and its 95 % interval, in the unit of
            `published`.
        log_error: ln(simulated / published); None where either of them is zero.
        tolerance: The declared x of ``abs(log_error) <= ln(1 + x)``; None where nothing was
            declared.
        verdict: ``info`` where the two numbers are not answers to the same question.
        split: Whether this column was used to choose parameters.
    """

    scenario: str
    column: str
    published_column: str
    transport: str
    message_bytes: int
    statistic: str
    reading: Reading
    published: float
    simulated: float
    low: float
    high: float
    log_error: float | None
    tolerance: float | None
    verdict: RowVerdict
    split: Split


@dataclass(frozen=True)
class ColumnVerdict:
    """Whether a simulated column is the published one, by the tolerances declared before.

    Attributes:
        mean_ok: The mean is within tolerance.
        empty_ok: The share of empty poll intervals is near what the published quantiles allow; None
            where there are no poll intervals.
        quantiles_ok: Every published p75 to p99 that is not zero is within tolerance.
        passed: All of them.
        empty_share, empty_bounds: The simulated share of empty poll intervals, and the range that
            the published quantiles allow; None where there are no poll intervals.
    """

    scenario: str
    column: str
    published_column: str
    split: Split
    mean_ok: bool
    empty_ok: bool | None
    quantiles_ok: bool
    passed: bool
    empty_share: float | None = None
    empty_bounds: tuple[float, float] | None = None


@dataclass(frozen=True)
class ClaimVerdict:
    """One sentence of a source and what the runs say to it.

    Attributes:
        id, section: Name of the claim, and the section of the source that makes it.
        text: What is claimed, in our words.
        condition: When it is claimed to hold.
        expected, simulated: For people: the claimed range and the value that the runs give, with
            units.
        verdict: See `dvsim.evidence.claims.source`.
        note: What the verdict rests on, and the other reading where there is one.
        command: What to type to get the value.
        source: Who makes the claim.
        campaign: What `dvsim validate` takes to decide it, with all of the source.
        scenarios: The runs that decide it.
        value, low, high: The simulated value as a number, 1 or 0 where it is true or false, and its
            95 % interval over replications; None where there is none.
        interval: The same for people; of what is true or false, in how many replications alone it
            is true; ``exact`` where it follows from the structure.
        edge: The interval reaches over an edge of the claimed range, so that chance may have
            decided.
        open: So does the wider one that decides whether more replications are asked for.
        basis: What the value owes to this claim: a parameter, or a published column that it speaks
            of, was chosen to agree (``fitted``); it follows from the structure, the workload or a
            number that the source states, whatever the model does (``by definition``); or neither.
        fitted_to: The parameters or columns of ``fitted``.
        explanation: One sentence why it is not confirmed; empty if it is.
    """

    id: str
    section: str
    text: str
    condition: str
    expected: str
    simulated: str
    verdict: ClaimWord
    note: str
    command: str
    source: str = ""
    campaign: str = ""
    scenarios: tuple[str, ...] = ()
    value: float | None = None
    low: float | None = None
    high: float | None = None
    interval: str = "-"
    edge: bool = False
    open: bool = False
    basis: Basis = "not fitted"
    fitted_to: tuple[str, ...] = ()
    explanation: str = ""

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
