"""Timelines of runs: a system's first iteration, the first point of a study.

A simulated scenario is run once more for its timeline, with the same random numbers as in the
results, which it does not touch. That of an emulated one is read from what its programs have left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dvsim.contract.find import kind_of
from dvsim.emulation.trace.timeline import Timeline
from dvsim.errors import RunFailed, ScenarioError
from dvsim.scenario.spec import point_text

if TYPE_CHECKING:
    from pathlib import Path

    from dvsim.scenario.spec import Spec

Facts = dict[str, Any]


def simulated_timeline(scenario: Spec, seed: int, capacity: int) -> tuple[Timeline, Facts]:
    """Run a scenario once and return its timeline, and what it is of, as JSON types.

    Args:
        scenario: As it is run, see `dvsim.scenario.spec.Spec.scaled`.
        seed: Of the run whose first replication is traced.
        capacity: Events that the timeline keeps at most.
    """
    check_traceable(scenario)
    timeline = Timeline(capacity)
    facts: Facts = {"scenario": scenario.name, "seed": seed, "replication": 1}
    if len(scenario.points) > 1:
        facts |= {"point": point_text(scenario.points[0]), "points": len(scenario.points)}
    try:
        return timeline, facts | kind_of(scenario).trace(scenario, seed, timeline)
    except (ValueError, OverflowError) as error:
        raise RunFailed(f"{scenario.name}: {error}") from error


def emulated_timeline(scenario: Spec, folder: Path, capacity: int) -> tuple[Timeline, Facts]:
    """Return the timeline of what programs of a run have left in a folder, and what it is of."""
    timeline = Timeline(capacity)
    facts: Facts = {"scenario": scenario.name, "replication": 1}
    return timeline, facts | kind_of(scenario).read_trace(scenario, folder, timeline)


def check_traceable(scenario: Spec) -> None:
    """Raise ScenarioError if a scenario has no timeline; a switch may record nothing."""
    lacking = kind_of(scenario).untraceable(scenario)
    if lacking is not None:
        raise ScenarioError.at(scenario.name, f"cannot be traced: {lacking}")
