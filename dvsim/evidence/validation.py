"""Everything that a set of runs says about the published data."""

from collections.abc import Iterable

from dvsim.evidence.claims.decide import decide
from dvsim.evidence.claims.figures import Evidence
from dvsim.evidence.claims.source import Source, sources
from dvsim.evidence.published import compare
from dvsim.evidence.verdicts import Validation
from dvsim.table.result import Result


def claimed(more: Iterable[Source] = ()) -> frozenset[str]:
    """Return the names of the scenarios that any claim speaks about."""
    names = (entry.scenarios for source in (*sources(), *more) for entry in source.values())
    return frozenset(name for scenarios in names for name in scenarios)


def validate(
    runs: Iterable[Result],
    emulated: Iterable[Result] = (),
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
    by_name = {name: run for name, run in named.items() if run.sampled}
    studies = {name: study for name, study in named.items() if not study.sampled}
    rows, columns = compare(by_name.values())
    amounts = {run.scenario.name: run for run in emulated}
    evidence = Evidence(by_name, columns, studies, amounts, emulated_by)
    spoken_of = [
        source
        for source in (*sources(), *more)
        if any(evidence.has(name) for entry in source.values() for name in entry.scenarios)
    ]
    claims = tuple(claim for source in spoken_of for claim in decide(source, evidence))
    return Validation(claims, rows, columns)
