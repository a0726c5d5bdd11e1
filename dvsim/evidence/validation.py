"""Everything that a set of runs says about the published data, and how much of it is good."""

from collections.abc import Iterable
from dataclasses import dataclass

from dvsim.evidence.claims.decide import decide
from dvsim.evidence.claims.figures import Evidence
from dvsim.evidence.claims.source import Source, sources
from dvsim.evidence.published.compare import compare
from dvsim.evidence.verdicts import Reading, Split, Validation
from dvsim.study.run import Run, runs_of, studies_of
from dvsim.table.result import Result


def claimed(more: Iterable[Source] = ()) -> frozenset[str]:
    """Return the names of the scenarios that any claim speaks about."""
    names = (entry.scenarios for source in (*sources(), *more) for entry in source.values())
    return frozenset(name for scenarios in names for name in scenarios)


@dataclass(frozen=True)
class Tally:
    """How many statistics or columns of one transport, reading and split pass.

    `what` is ``statistics`` or ``columns``; statistics that are there for information only are
    not counted.
    """

    what: str
    transport: str
    reading: Reading
    split: Split
    passed: int
    total: int


def validate(
    runs: Iterable[Run | Result],
    emulated: Iterable[Run] = (),
    emulated_by: str | None = None,
    more: Iterable[Source] = (),
) -> Validation:
    """Return runs beside the published columns, and the claims about their scenarios decided.

    Args:
        runs: At most one run or study of each scenario name; of several the last one counts.
            Studies and runs without a reference are used for claims only.
        emulated: Emulated runs, for the claims that a simulation cannot decide.
        emulated_by: The command that makes those.
        more: Sources beside those that dvsim carries.

    Returns:
        Validation: Claims whose runs are missing are there, as not reproduced; but there are no
        claims of a source if no run is of a scenario that any claim of it speaks about.

    Raises:
        ScenarioError: If the reference data cannot be read.
    """
    named = {run.scenario.name: run for run in runs}
    by_name = {run.scenario.name: run for run in runs_of(named.values())}
    studies = {study.scenario.name: study for study in studies_of(named.values())}
    comparisons = [compare(run) for run in by_name.values()]
    columns = tuple(column for comparison in comparisons for column in comparison.columns)
    amounts = {run.scenario.name: run for run in emulated}
    evidence = Evidence(by_name, columns, studies, amounts, emulated_by)
    spoken_of = [
        source
        for source in (*sources(), *more)
        if any(evidence.has(name) for entry in source.values() for name in entry.scenarios)
    ]
    return Validation(
        rows=tuple(row for comparison in comparisons for row in comparison.rows),
        claims=tuple(claim for source in spoken_of for claim in decide(source, evidence)),
        columns=columns,
        columns_as_messages=tuple(
            column for comparison in comparisons for column in comparison.columns_as_messages
        ),
    )


def tallies(validation: Validation) -> list[Tally]:
    """Return the tallies of a validation: statistics first, then columns."""
    transports = {row.scenario: row.transport for row in validation.rows}
    counts: dict[tuple[str, str, Reading, Split], list[bool]] = {}
    for row in validation.rows:
        if row.verdict != "info":
            key = ("statistics", row.transport, row.reading, row.split)
            counts.setdefault(key, []).append(row.verdict == "pass")
    readings: tuple[Reading, Reading] = ("as printed", "as messages")
    both = (validation.columns, validation.columns_as_messages)
    for reading, columns in zip(readings, both, strict=True):
        for column in columns:
            key = ("columns", transports[column.scenario], reading, column.split)
            counts.setdefault(key, []).append(column.passed)
    return [
        Tally(message, transport, reading, split, sum(passed), len(passed))
        for (message, transport, reading, split), passed in sorted(
            counts.items(), key=lambda item: (item[0][0] == "columns", *item[0])
        )
    ]


def columns_passed(
    validation: Validation, split: Split | None = None
) -> dict[str, tuple[int, int]]:
    """Return, by transport, how many columns pass as printed, and of how many; of one split."""
    sums: dict[str, tuple[int, int]] = {}
    for tally in tallies(validation):
        if (tally.what, tally.reading) == ("columns", "as printed") and split in (
            None,
            tally.split,
        ):
            passed, total = sums.get(tally.transport, (0, 0))
            sums[tally.transport] = (passed + tally.passed, total + tally.total)
    return sums
