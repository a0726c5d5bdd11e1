"""What is asked for, checked before anything runs: backend, seed, replications, scale, workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from numbers import Integral

from dvsim.emu.asked import Emulation
from dvsim.errors import Fault, ScenarioError
from dvsim.scenario import messaging_build, switch_build
from dvsim.scenario.bounds import REPLICATIONS, SEED, TASKS, WORKERS, extent
from dvsim.scenario.document import dotted
from dvsim.scenario.load import AnyScenario
from dvsim.scenario.messaging_types import MessagingScenario
from dvsim.scenario.types import Scenario

BACKENDS = ("sim", "emu")
LARGEST_SCALE = 1000


def backend_of(asked: str | Emulation) -> Emulation | None:
    """Return how to emulate, None for backend sim.

    Raises
    ------
    ScenarioError
        If there is no such backend.
    """
    if isinstance(asked, Emulation):
        return asked.resolved()
    if asked not in BACKENDS:
        near = get_close_matches(asked, BACKENDS, 1)
        message = f"no such backend '{asked}'; there are {' and '.join(BACKENDS)}"
        raise ScenarioError([Fault("--backend", None, "", message, near[0] if near else None)])
    return Emulation().resolved() if asked == "emu" else None


def scaled(scenario: AnyScenario, scale: float) -> AnyScenario:
    """Return the scenario with its messages, or its slots that count, multiplied; at least one."""

    def times(number: int) -> int:
        return max(1, round(number * scale))

    if isinstance(scenario, Scenario):
        messages = times(scenario.workload.messages)
        return replace(scenario, workload=replace(scenario.workload, messages=messages))
    length = "messages" if isinstance(scenario, MessagingScenario) else "slots"
    vary = tuple(
        {key: tuple(map(times, values)) if key == length else values for key, values in t.items()}
        for t in scenario.vary
    )
    if isinstance(scenario, MessagingScenario):
        setting = scenario.setting.put(length, times(scenario.setting.flow.messages))
        return replace(scenario, setting=setting, vary=vary)
    slots = times(scenario.setting.traffic.slots)
    return replace(scenario, setting=scenario.setting.put(length, slots), vary=vary)


def check_asked(
    *, seed: int, replications: int = 1, scale: float | None = None, workers: int | None = None
) -> None:
    """Raise ScenarioError for what is out of range, or no number at all; by its option."""
    faults = [
        *_whole("--seed", seed, 0, SEED),
        *_whole("--replications", replications, 1, REPLICATIONS),
        *(_whole("--workers", workers, 1, WORKERS) if workers is not None else ()),
    ]
    if scale is not None and not 0 < scale <= LARGEST_SCALE:
        message = f"{scale:g} is not above 0 and at most {LARGEST_SCALE}"
        faults.append(Fault("--scale", None, "", message))
    if faults:
        raise ScenarioError(faults)


def _whole(option: str, value: int, least: int, most: int) -> Iterator[Fault]:
    if isinstance(value, bool) or not isinstance(value, Integral):
        yield Fault(option, None, "", f"{value!r} is not a whole number")
    elif value < 0:
        yield Fault(option, None, "", f"{value} is negative")
    elif value < least:
        yield Fault(option, None, "", f"{value} is less than {least}")
    elif value > most:
        yield Fault(option, None, "", f"{value} is more than {most}")


def check_extent(scenarios: Sequence[AnyScenario], replications: int) -> None:
    """Refuse what the scale, or the number of replications, makes too much of a scenario."""
    faults = []
    for scenario in scenarios:
        if isinstance(scenario, Scenario):
            found = list(extent(scenario))
            tasks, what = scenario.workload.iterations * replications, "iterations"
        elif isinstance(scenario, MessagingScenario):
            flows = map(scenario.at, range(len(scenario.points)))
            found = [fault for point in flows for fault in messaging_build.extent(point)]
            tasks, what = len(scenario.points) * replications, "runs"
        else:
            points = map(scenario.at, range(len(scenario.points)))
            found = [fault for point in points for fault in switch_build.extent(point)]
            tasks, what = len(scenario.points) * replications, "runs"
        for key, message in found:
            faults.append(Fault(scenario.name, None, dotted(key), message))
        if tasks > TASKS:
            message = f"{scenario.name} has {tasks} {what} then, and may have {TASKS}"
            faults.append(Fault("--replications", None, "", message))
    if faults:
        raise ScenarioError(faults)
