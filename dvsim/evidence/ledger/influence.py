"""Which claims a fitted parameter serves.

A parameter that was fitted to one claim may still be needed by others: without the latency of the
wire no message has any. So each is made larger by a tenth, all else and all random numbers being
equal, and what moves by more than a hundredth is served by it. One that moves its own claim alone
exists for that claim alone, and a value that it gives confirms nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from dvsim.evidence.claims.decide import named_claims
from dvsim.evidence.claims.figures import Evidence, Missing
from dvsim.evidence.claims.source import Source
from dvsim.evidence.lab.sizes import messages_through_points
from dvsim.evidence.ledger.types import Fitted
from dvsim.scenario.spec import Spec
from dvsim.scenario.types import Card, Parameter
from dvsim.scenario.units import Law, format_value
from dvsim.study.design import Design, Plan, Trial
from dvsim.study.execute import Runs, execute
from dvsim.study.points import PointsStudy

LARGER = 1.1
MOVED = 0.01
REPLICATIONS = 1  # both runs draw the same random numbers: no difference is chance

Same = tuple[str, str]
"""Kind of card and what was fitted to what: one number, on however many cards, however often."""


class Influence(Design[Trial, list[Fitted]]):
    """Which claims move with each parameter that was fitted to claims of a source.

    Args:
        source: Its claims.
        scenarios: What they are decided by.
    """

    def __init__(self, source: Source, scenarios: Sequence[Spec]) -> None:
        self.source = source
        self.scenarios = [item for item in scenarios if messages_through_points(item)]

    def plan(self) -> Plan[Trial, list[Fitted]]:
        """Ask for the scenarios as they are, and for those that each parameter changes."""
        known: dict[Same, list[tuple[Card, Parameter]]] = {}
        for scenario in self.scenarios:
            for _, card in scenario.used_cards():
                for parameter in card.parameters.values():
                    if named_claims(parameter.fitted or ""):
                        places = known.setdefault(_same(card, parameter), [])
                        places += [(card, parameter)] if (card, parameter) not in places else []
        if not known:
            return []
        studies = _by_name((yield _trials(self.scenarios)))
        before, results = _values(self.source, studies), []
        for same, places in known.items():
            changed = [_changed(item, same) for item in self.scenarios]
            moved = [new for new, old in zip(changed, self.scenarios, strict=True) if new != old]
            others = _by_name((yield _trials(moved)))
            results.append(_fitted(same, places, before, _values(self.source, studies | others)))
        return results


def served(
    source: Source, scenarios: Sequence[Spec], *, seed: int, workers: int | None
) -> list[Fitted]:
    """Return the parameters that were fitted to claims of a source, with what they move."""
    by = Runs(seed, None, workers=workers, progress=True)
    return execute(Influence(source, scenarios), by)


def _trials(scenarios: Iterable[Spec]) -> list[Trial]:
    return [Trial(scenario, REPLICATIONS) for scenario in scenarios]


def _by_name(studies: Iterable[PointsStudy]) -> dict[str, PointsStudy]:
    return {study.scenario.name: study for study in studies}


def _same(card: Card, parameter: Parameter) -> Same:
    return card.kind, parameter.fitted or ""


def _fitted(
    same: Same,
    places: Sequence[tuple[Card, Parameter]],
    before: dict[str, float],
    after: dict[str, float],
) -> Fitted:
    return Fitted(
        cards=tuple(dict.fromkeys(card.name for card, _ in places)),
        names=tuple(dict.fromkeys(parameter.name for _, parameter in places)),
        value=" and ".join(dict.fromkeys(parameter.text for _, parameter in places)),
        claims=named_claims(same[1]),
        moves=tuple(id_ for id_ in before if _moved(before[id_], after.get(id_))),
    )


def _moved(before: float, after: float | None) -> bool:
    if after is None or before == 0:
        return after != before
    return abs(after / before - 1) > MOVED


def _values(source: Source, studies: dict[str, PointsStudy]) -> dict[str, float]:
    evidence = Evidence({}, (), studies)
    results = {}
    for id_, entry in source.items():
        if not all(evidence.has(name) for name in entry.scenarios):
            continue
        try:
            value = entry.evaluate(evidence).value
        except Missing:
            continue
        if value is not None:
            results[id_] = value
    return results


def _changed(scenario: Spec, same: Same) -> Spec:
    def change(item: Any) -> Any:  # noqa: ANN401 - a card, or another value of a key
        return _changed_card(same, item) if isinstance(item, Card) else item

    changed = scenario.varied(
        tuple({key: tuple(map(change, table[key])) for key in table} for table in scenario.vary)
    )
    for role, used in scenario.cards.items():
        changed = changed.put(role, _changed_card(same, used))
    return changed


def _changed_card(same: Same, card: Card) -> Card:
    parameters = dict(card.parameters)
    for name, old in card.parameters.items():
        if _same(card, old) == same:
            value = _larger(old.value)
            parameters[name] = replace(old, value=value, text=format_value(value, old.dimension))
    return replace(card, parameters=parameters)


def _larger(value: float | Law | str) -> float | Law | str:
    if isinstance(value, str):
        return value
    if isinstance(value, Law):
        return Law(round(value.fixed_ps * LARGER), round(value.per_byte_fs * LARGER))
    return round(value * LARGER) if isinstance(value, int) else value * LARGER
