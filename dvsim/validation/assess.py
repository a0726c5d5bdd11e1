"""Everything that a set of runs says about the published data, and how much of it is good."""

from collections.abc import Iterable
from dataclasses import dataclass

from dvsim.results.run import Run
from dvsim.validation.claims import decide
from dvsim.validation.evidence import Evidence
from dvsim.validation.h3_claims import H3
from dvsim.validation.types import Reading, Split, Validation
from dvsim.validation.verdict import compare


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


def validate(runs: Iterable[Run]) -> Validation:
    """Compare runs with the published columns and decide the claims about their scenarios.

    Parameters
    ----------
    runs
        At most one run of each scenario name; of several the last one counts. Runs without a
        reference are used for claims only.

    Returns
    -------
    Validation
        Claims whose runs are missing are there, as not reproduced; but there are no claims at all
        if no run is of a scenario that any claim speaks about.

    Raises
    ------
    ScenarioError
        If the reference data cannot be read.
    """
    by_name = {run.scenario.name: run for run in runs}
    comparisons = [compare(run) for run in by_name.values()]
    columns = tuple(column for one in comparisons for column in one.columns)
    spoken_of = {name for entry in H3.values() for name in entry.scenarios}
    return Validation(
        rows=tuple(row for one in comparisons for row in one.rows),
        claims=decide(H3, Evidence(by_name, columns)) if spoken_of & set(by_name) else (),
        columns=columns,
        columns_as_messages=tuple(
            column for one in comparisons for column in one.columns_as_messages
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
        Tally(what, transport, reading, split, sum(passed), len(passed))
        for (what, transport, reading, split), passed in sorted(
            counts.items(), key=lambda item: (item[0][0] == "columns", *item[0])
        )
    ]


def columns_passed(validation: Validation) -> dict[str, tuple[int, int]]:
    """Return, by transport, how many columns pass as printed, and of how many."""
    sums: dict[str, tuple[int, int]] = {}
    for tally in tallies(validation):
        if tally.what == "columns" and tally.reading == "as printed":
            passed, total = sums.get(tally.transport, (0, 0))
            sums[tally.transport] = (passed + tally.passed, total + tally.total)
    return sums
