"""Timelines of simulated scenarios: one iteration of a system, one run of messaging, one switch.

What is traced is the first of many: replication 1, iteration 1, of a study its first point. It is
run for the timeline, with the same random numbers as in the results, which it does not touch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dvsim.backends.record import recorded
from dvsim.errors import Fault, RunFailed, ScenarioError
from dvsim.messaging.run import run_point
from dvsim.scenario.messaging_types import MessagingScenario
from dvsim.scenario.switch_types import SwitchScenario, point_text
from dvsim.scenario.types import Scenario
from dvsim.system.iteration import run_iteration
from dvsim.trace.packets import add_record
from dvsim.trace.timeline import Timeline

if TYPE_CHECKING:
    from dvsim.scenario.load import AnyScenario

Facts = dict[str, Any]


def simulated_timeline(scenario: AnyScenario, seed: int, room: int) -> tuple[Timeline, Facts]:
    """Run a scenario once and return its timeline, and what it is of, as JSON types.

    Parameters
    ----------
    scenario
        As it is run, see `dvsim.asked.scaled`.
    seed
        Of the run whose first replication is traced.
    room
        Events that the timeline keeps at most.

    Raises
    ------
    ScenarioError
        See `check_traceable`.
    RunFailed
        If the run fails.
    """
    check_traceable(scenario)
    timeline = Timeline(room)
    facts: Facts = {"scenario": scenario.name, "seed": seed, "replication": 1}
    try:
        if isinstance(scenario, Scenario):
            run_iteration(scenario, seed, 1, 1, timeline)
            return timeline, {**facts, "iteration": 1, "clock": "simulated time"}
        facts |= _point(scenario)
        if isinstance(scenario, MessagingScenario):
            run_point(scenario.at(0), seed, 1, timeline)
            return timeline, {**facts, "clock": "simulated time"}
    except (ValueError, OverflowError) as error:
        raise RunFailed(f"{scenario.name}: {error}") from error
    return timeline, facts | add_record(timeline, scenario, *recorded(scenario, seed))


def check_traceable(scenario: AnyScenario) -> None:
    """Raise ScenarioError if a scenario has no timeline: a switch that records nothing."""
    if not isinstance(scenario, SwitchScenario):
        return
    if scenario.setting.network is not None:
        message = "--trace: is of a network, whose packets are not recorded; trace one of a switch"
    elif scenario.record is None:
        message = (
            "--trace: records nothing; give it a table 'record' with packets and slots, or "
            "--set record.packets=100 --set record.slots=200"
        )
    else:
        return
    raise ScenarioError([Fault(scenario.name, None, "", message)])


def _point(scenario: SwitchScenario | MessagingScenario) -> Facts:
    if len(scenario.points) < 2:
        return {}
    return {"point": point_text(scenario.points[0]), "points": len(scenario.points)}
