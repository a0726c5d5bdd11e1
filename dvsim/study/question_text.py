"""What was asked of a study, as the first lines of its text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dvsim.study.changes import changes_of, titled

if TYPE_CHECKING:
    from dvsim.table.result import Result


def question_lines(study: Result, length: str = "") -> Iterator[str]:
    """Yield the name with what was changed, the title, how long it was and how often.

    Args:
        study: Of any kind.
        length: Of a run, in words; by default its share of what the unchanged scenario has.
    """
    scenario, changes = study.scenario, changes_of(study.scenario)
    yield titled(scenario, changes.name + ("" if study.simulated else ", emulated"))
    if not length and changes.length != 1:
        length = f"{changes.length:.3g} of the {scenario.LENGTH} of {scenario.name}"
    times = f"{study.replications} replications; ± is half of the 95 % interval over replications"
    if study.replications == 1:
        times = "1 replication, which says nothing about the spread between runs"
    lines = [length] if length else []
    yield f"  {', '.join([*lines, f'seed {study.seed}', times])}"
