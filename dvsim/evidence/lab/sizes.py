"""The scenario that answers a case, at any size: one is made where no scenario has that size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from dvsim.contract.find import kind_of
from dvsim.evidence.lab.data import Case, LabData
from dvsim.evidence.lab.match import Taken, is_reference, points_of, systems_of, why_not
from dvsim.scenario.spec import Spec

SIZE = "message_bytes"


def answer(
    case: Case, scenarios: Sequence[Spec], data: LabData, taken: Taken | None = None
) -> Spec | str:
    """Return the scenario that answers a case, or why there is none.

    The first of the given ones that has such a case; one of messaging at the one point that
    answers. Where only the size differs, the one of the nearest size with
    ``workload.message_bytes`` set to that of the case; it has no published data, which are of
    another size.

    Raises:
        ScenarioError: If samples are unlike, see `dvsim.evidence.lab.match.match`.
    """
    reasons = []
    for scenario in scenarios:
        reason = why_not(scenario, case, data, taken)
        if not reason:
            of_points = messages_through_points(scenario)
            return scenario.at(points_of(scenario, case)[0]) if of_points else scenario
        reasons.append(reason)
    made = [resized for scenario in scenarios for resized in _resized(scenario, case)]
    made.sort(key=lambda item: item[0])
    reasons = [why_not(resized, case, data, taken) for _, resized in made] or reasons
    return next(
        (resized for (_, resized), why in zip(made, reasons, strict=False) if not why), reasons[0]
    )


def at_all_sizes(
    scenarios: Sequence[Spec], data: LabData, taken: Taken | None = None
) -> list[Spec]:
    """Return scenarios at the sizes of a laboratory, too, where they have others.

    To those of a system more are added; those of messaging vary their size over that of the data.
    Those that name this very file as their published data need no more.
    """
    scenarios = [_varied(scenario, data) for scenario in scenarios]
    systems = systems_of(scenarios)
    if not systems or any(is_reference(system, data) for system in systems):
        return scenarios
    sizes = {system.workload.message_bytes for system in systems}
    answers = [
        answer(case, systems, data, taken)
        for case in data.cases
        if case.message_bytes is not None and case.message_bytes not in sizes
    ]
    resized = [answered for answered in answers if not isinstance(answered, str)]
    made = {(scenario.name, scenario.get("message_bytes")): scenario for scenario in resized}
    return [*scenarios, *made.values()]


def _varied(scenario: Spec, data: LabData) -> Spec:
    sizes = {case.message_bytes for case in data.cases if case.message_bytes}
    own = next((table[SIZE] for table in scenario.vary if list(table) == [SIZE]), ())
    if not messages_through_points(scenario) or not own or sizes <= set(own):
        return scenario
    new = {SIZE: tuple(sorted(sizes))}
    return scenario.varied(
        tuple(new if list(table) == [SIZE] else table for table in scenario.vary)
    )


def _resized(scenario: Spec, case: Case) -> list[tuple[float, Spec]]:
    size = case.message_bytes
    if size is None or size < 1:
        return []
    for system in systems_of([scenario]):
        own = system.workload.message_bytes
        return [(_apart(own, size), replace(system.put("message_bytes", size), reference=None))]
    if not messages_through_points(scenario):
        return []
    settings = [
        scenario.at(point) for point in points_of(scenario, replace(case, message_bytes=None))
    ]
    near = min(
        (_apart(int(setting.value("message_bytes")), size) for setting in settings), default=0.0
    )
    nearest = [
        setting for setting in settings if _apart(int(setting.value("message_bytes")), size) == near
    ]
    # several points of one size differ in a key that the case does not name
    return [(near, nearest[0].put("message_bytes", size))] if len(nearest) == 1 else []


def messages_through_points(scenario: Spec) -> bool:
    """Return whether messages of a size go through each point of a scenario."""
    kind = kind_of(scenario)
    return bool(kind.messages and not kind.sampled)


def _apart(own: int, size: int) -> float:
    return abs(math.log(size / max(own, 1)))
