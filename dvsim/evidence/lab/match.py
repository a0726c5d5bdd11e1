"""Which run answers which case; what is unlike is refused, not compared."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

from dvsim.contract.find import kind_of
from dvsim.errors import Advice, Argument, ScenarioError, nearest
from dvsim.evidence.lab.data import NOT_STATED, SUM, Case, LabData, Sample
from dvsim.evidence.lab.simulated import Simulated, of_run, of_study, probe_sample, study_sample
from dvsim.scenario.find import reference_root
from dvsim.scenario.sampled import Sampled
from dvsim.scenario.spec import Spec, plain
from dvsim.sheets.headings import SIZES
from dvsim.table.result import Result

Taken = Literal["mean", "same"]
OTHER = "another transport"
NO_SIZE = "no run with messages"
NO_POINT = "has no such point"
SIZE = "message_bytes"


Pair = tuple[Case, Simulated]


def match(
    results: Sequence[Result], data: LabData, taken: Taken | None
) -> tuple[list[Pair], list[tuple[Case, str]]]:
    """Return each case with what was simulated, and those without by what is missing.

    Args:
        results: Of one backend.
        data: What was measured.
        taken: How samples of unlike kinds are compared: ``mean``, by their means alone; ``same``,
            as if they were alike; None refuses them.

    Raises:
        ScenarioError: If no case has a run, or samples are unlike.
    """
    _check_column([result.scenario for result in results], data)
    pairs: list[Pair] = []
    missing: list[tuple[Case, str]] = []
    for case in data.cases:
        found = [_of(result, case, data, taken) for result in results]
        pairs += [pair for pair in found if not isinstance(pair, str)]
        if all(isinstance(pair, str) for pair in found):
            reasons = sorted(map(str, found), key=lambda text: text.endswith(OTHER))  # says least
            missing.append((case, reasons[0] if reasons else "no such scenario was run"))
    if not pairs:
        raise _nothing([result.scenario for result in results], data, *missing[0])
    return pairs, missing


def chosen(scenarios: Sequence[Spec], data: LabData, taken: Taken | None) -> list[Spec]:
    """Return the scenarios of which something was measured, before any of them is run.

    If some of them name this very file as their published data, those alone.

    Raises:
        ScenarioError: As `match`, as far as that can be said without a run.
    """
    own = [scenario for scenario in scenarios if is_reference(scenario, data)]
    asked: Sequence[Spec] = own or scenarios
    reasons = [[why_not(item, case, data, taken) for case in data.cases] for item in asked]
    kept = [item for item, whys in zip(asked, reasons, strict=True) if not all(whys)]
    if not kept:
        raise _nothing(scenarios, data, data.cases[0], reasons[0][0])
    _check_column(kept, data)
    sizes = {scenario.workload.message_bytes for scenario in systems_of(kept)}
    nameless = [case.name for case in data.cases if case.message_bytes is None]
    if len(sizes) > 1 and nameless:
        message = f"these scenarios have {len(sizes)} sizes; take one of them, or write "
        message += f"message_bytes = {min(sizes)} into [lab]"
        raise ScenarioError.at(data.path, message, nameless[0])
    return kept


def systems_of(scenarios: Iterable[Any]) -> list[Sampled]:
    """Return the scenarios of systems, whose results are runs, among those of several kinds."""
    return [scenario for scenario in scenarios if kind_of(scenario).sampled]


def is_reference(scenario: Spec, data: LabData) -> bool:
    """Return whether a scenario names this very file as its published data."""
    reference = scenario.reference
    return (
        reference is not None
        and (reference_root() / reference.file).resolve() == data.path.resolve()
    )


def _as_declared(case: Case, scenario: Sampled, data: LabData) -> Case:
    if case.sample.kind == NOT_STATED and is_reference(scenario, data):
        return replace(case, sample=probe_sample(scenario))
    return case


def why_not(scenario: Spec, case: Case, data: LabData, taken: Taken | None) -> str:
    """Return why a scenario has nothing beside a case, as far as can be said without a run."""
    kind = kind_of(scenario)
    own = own_metrics([scenario])
    if case.own_unit != own.get(case.metric):
        return f"{scenario.name} is {kind.about}, which has no {case.metric}"
    if not kind.sampled:
        reason = _no_point(scenario, points_of(scenario, case), case)
        if not reason:
            _alike(case, study_sample(case), scenario.name, taken)
        return reason
    return _other_system(cast("Sampled", scenario), case, data, taken)


def own_metrics(scenarios: Iterable[Spec]) -> dict[str, str]:
    """Return the metrics that kinds have whose systems carry no messages, with their units."""
    own = [(kind_of(scenario), scenario) for scenario in scenarios]
    units = [kind.metrics(scenario) for kind, scenario in own if not kind.messages]
    return {name: unit for each in units for name, unit in each.items()}


def _other_system(scenario: Sampled, case: Case, data: LabData, taken: Taken | None) -> str:
    named = {"", scenario.system.transport, scenario.system.cards["card"].name}
    named |= {scenario.reference.transport} if scenario.reference else set()
    if case.keys.get("transport", "") not in named:
        return f"{scenario.name} has {OTHER}"
    if case.metric != "rate":
        return f"{scenario.name} has rates at the receivers, no {case.metric}"
    if case.message_bytes not in (None, scenario.workload.message_bytes):
        return f"{NO_SIZE} of {case.message_bytes:,} B"
    case, own = _as_declared(case, scenario, data), probe_sample(scenario)
    if _again(case.sample, own) is None:
        _alike(case, own, scenario.name, taken)
    return ""


def _of(result: Result, case: Case, data: LabData, taken: Taken | None) -> Pair | str:
    scenario = result.scenario
    reason = why_not(scenario, case, data, taken)
    if reason:
        return reason
    if not result.sampled:
        own = of_study(result, points_of(scenario, case)[0], case)
        if own.statistics.empty:
            return f"{scenario.name} has no {case.metric} of these statistics at this point"
        return _alike(case, own.sample, scenario.name, taken), own
    case = _as_declared(case, scenario, data)
    columns = list(scenario.probe.columns)
    named = [label for label in (data.about.column, case.label) if label in (*columns, SUM)]
    own_words = "pieces" if is_reference(scenario, data) else "messages"
    counted = data.about.counts or own_words
    counted = counted if counted in scenario.readings else "messages"
    again = _again(case.sample, probe_sample(scenario)) if taken is None else None
    own = of_run(result, case, list(filter(None, named[:1])) or columns, counted, again)
    if own.model is None:
        return f"{scenario.name} is shorter than {case.sample}; give a larger scale"
    return _alike(case, own.sample, scenario.name, taken), own


def _no_point(scenario: Spec, points: Sequence[int], case: Case) -> str:
    if not points:
        return f"{scenario.name} {NO_POINT}{_unlike(scenario, case)}"
    settings = [scenario.points[point] for point in points]
    values = {
        key: list(dict.fromkeys(str(plain(setting[key])) for setting in settings))
        for key in scenario.keys
    }
    differ = [key for key, known in values.items() if len(known) > 1]
    if len(points) == 1 or not differ:
        return ""
    listed, first = ", ".join(f"{key} ({', '.join(values[key])})" for key in differ), differ[0]
    names = SIZES if first == "message_bytes" else (first,)
    unknown = (key for key in case.keys if not scenario.has(key))
    meant = next((f"is '{key}' meant as '{first}'? " for key in unknown if nearest(key, names)), "")
    said = f"{len(points)} points of {scenario.name} answer, which differ in {listed}; {meant}"
    return f"{said}give the data a column '{first}', or choose: set {first}={values[first][0]}"


def _unlike(scenario: Spec, case: Case) -> str:
    for key, text in case.keys.items():
        values = [scenario.at(point).get(key) for point in range(len(scenario.points))]
        if not any(_is(value, text) for value in values):
            known = list(dict.fromkeys(str(plain(value)) for value in values))
            near = nearest(text, known)
            hint = f"; did you mean '{near}'?" if near else ""
            return f": {key} is {' or '.join(known)}, not {text}{hint}"
    return ""


def points_of(scenario: Spec, case: Case) -> list[int]:
    """Return the points of a scenario that are those of a case, by size and by its keys."""
    settings = enumerate(scenario.at(point) for point in range(len(scenario.points)))
    return [
        point
        for point, setting in settings
        if case.message_bytes in (None, setting.get(SIZE))
        and all(_is(setting.get(key), text) for key, text in case.keys.items())
    ]


def _is(value: object, text: str) -> bool:
    """Return whether a text of a file is a value of a key; of a key that is not there any is.

    >>> _is(0.5, "0.50"), _is(8, "8"), _is("fdr", "fdr"), _is(8, "eight"), _is(None, "8")
    (True, True, True, False, True)
    """
    if isinstance(value, float | int):
        try:
            return float(text) == value
        except ValueError:
            return False
    return value is None or str(plain(value)) == text


def _again(lab: Sample, own: Sample) -> float | None:
    if lab.kind != "interval" or lab.alike(own):
        return None
    return lab.size if own.kind == "batch" or own.size < lab.size else None


def _alike(case: Case, own: Sample, scenario: str, taken: Taken | None) -> Case:
    if taken == "same" or case.sample.alike(own):
        return case
    mean = {name: value for name, value in case.statistics.items() if name == "mean"}
    if taken == "mean" or "run" in (own.kind, case.sample.kind) or mean == case.statistics:
        return replace(case, statistics=mean, values=None)
    known = case.sample.kind != NOT_STATED
    lab = f"its samples are: {case.sample}" if known else "nothing says what one of its samples is"
    option = Argument("taken")
    message = Advice(
        f"{lab}; those of {scenario} are: {own}. Quantiles of unlike samples answer different "
        "questions: ",
        option,
        " mean compares only means, ",
        option,
        " same compares everything",
        "" if known else f'; if the samples are alike, write sample = "{own}" into [lab]',
    )
    raise ScenarioError.at(case.where, message, case.name)


def _check_column(scenarios: Sequence[Spec], data: LabData) -> None:
    about = data.about
    columns = [name for system in systems_of(scenarios) for name in system.probe.columns]
    known = list(dict.fromkeys([*columns, SUM])) if columns else []
    if about.column is not None and about.column not in known:
        there = f"; there are {', '.join(known)}" if known else ", as these scenarios have none"
        message = f"'{about.column}' is no column of a run{there}"
        line = about.lines.get("column")
        hint = nearest(about.column, known)
        raise ScenarioError.at(about.file or data.path, message, "lab.column", line=line, hint=hint)


def _nothing(scenarios: Sequence[Spec], data: LabData, case: Case, reason: str) -> ScenarioError:
    sizes = {
        scenario.at(at).get(SIZE) for scenario in scenarios for at in range(len(scenario.points))
    }
    sizes = {size for size in sizes if isinstance(size, int)}
    wanted = {case.message_bytes for case in data.cases if case.message_bytes}
    hint = None
    if (NO_SIZE in reason or reason.endswith(NO_POINT)) and wanted and sizes and not wanted & sizes:
        hint = f"{min(sizes, key=lambda size: abs(size - min(wanted)))} B"
    message = f"none of its cases was simulated; {case.name}: {reason}"
    return ScenarioError.at(data.path, message, hint=hint)


def answer(
    case: Case, scenarios: Sequence[Spec], data: LabData, taken: Taken | None = None
) -> Spec | str:
    """Return the scenario that answers a case, or why there is none.

    The first of the given ones that has such a case; one of messaging at the one point that
    answers. Where only the size differs, the one of the nearest size with
    ``workload.message_bytes`` set to that of the case; it has no published data, which are of
    another size.

    Raises:
        ScenarioError: If samples are unlike, see `match`.
    """
    reasons = []
    for scenario in scenarios:
        reasons.append(why_not(scenario, case, data, taken))
        if not reasons[-1]:
            of_points = _messages_through_points(scenario)
            return scenario.at(points_of(scenario, case)[0]) if of_points else scenario
    made = [resized for scenario in scenarios for resized in _resized(scenario, case)]
    made.sort(key=lambda item: item[0])
    reasons = [why_not(resized, case, data, taken) for _, resized in made] or reasons
    answers = zip(made, reasons, strict=False)
    return next((resized for (_, resized), why in answers if not why), reasons[0])


def at_all_sizes(
    scenarios: Sequence[Spec], data: LabData, taken: Taken | None = None
) -> list[Spec]:
    """Return scenarios at the sizes of a laboratory, too, where they have others.

    To those of a system more are added; those of messaging vary their size over that of the data.
    Those that name this very file as their published data need no more.
    """
    cases = [case for case in data.cases if case.message_bytes]
    new = {SIZE: tuple(sorted({case.message_bytes for case in cases if case.message_bytes}))}
    found = []
    for scenario in scenarios:
        own = next((table[SIZE] for table in scenario.vary if list(table) == [SIZE]), ())
        if _messages_through_points(scenario) and own and not {*new[SIZE]} <= {*own}:
            tables = [new if list(table) == [SIZE] else table for table in scenario.vary]
            scenario = scenario.varied(tuple(tables))  # noqa: PLW2901
        found.append(scenario)
    systems = systems_of(found)
    if not systems or any(is_reference(system, data) for system in systems):
        return found
    sizes = {system.workload.message_bytes for system in systems}
    answers = [
        answer(case, systems, data, taken) for case in cases if case.message_bytes not in sizes
    ]
    resized = [answered for answered in answers if not isinstance(answered, str)]
    return [
        *found,
        *{(scenario.name, scenario.get(SIZE)): scenario for scenario in resized}.values(),
    ]


def _resized(scenario: Spec, case: Case) -> list[tuple[float, Spec]]:
    size = case.message_bytes
    if not size:
        return []
    settings: list[Spec] = [replace(one, reference=None) for one in systems_of([scenario])]
    if _messages_through_points(scenario):
        points = points_of(scenario, replace(case, message_bytes=None))
        settings = [scenario.at(point) for point in points]
    apart = [abs(math.log(size / max(int(setting.get(SIZE)), 1))) for setting in settings]
    near = [one for one in zip(apart, settings, strict=True) if one[0] == min(apart)]
    # several points of one size differ in a key that the case does not name
    return [(near[0][0], near[0][1].put(SIZE, size))] if len(near) == 1 else []


def _messages_through_points(scenario: Spec) -> bool:
    kind = kind_of(scenario)
    return bool(kind.messages and not kind.sampled)
