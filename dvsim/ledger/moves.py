"""Which claims a fitted parameter serves.

A parameter that was fitted to one claim may still be needed by others: without the latency of the
wire no message has any. So each is made larger by a tenth, all else and all random numbers being
equal, and what moves by more than a hundredth is served by it. One that moves its own claim alone
exists for that claim alone, and a value that it gives confirms nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from dvsim.ledger.types import Fitted
from dvsim.results.points import PointsStudy
from dvsim.scenario.load import AnyScenario
from dvsim.scenario.messaging_types import MessagingScenario
from dvsim.scenario.types import Card, Parameter
from dvsim.scenario.units import Law, format_value
from dvsim.session import run_scenarios
from dvsim.validation.claims import Registry
from dvsim.validation.decide import named_claims
from dvsim.validation.evidence import Evidence, Missing

LARGER = 1.1
MOVED = 0.01
REPLICATIONS = 2

Same = tuple[str, str]
"""Kind of card and what was fitted to what: one number, on however many cards, however often."""


def served(
    registry: Registry, scenarios: Sequence[AnyScenario], *, seed: int, workers: int | None
) -> list[Fitted]:
    """Return the parameters that were fitted to claims of a source, with what they move.

    Parameters
    ----------
    registry
        Its claims.
    scenarios
        What they are decided by.
    seed, workers
        See `dvsim.session.run_scenarios`.
    """
    asked = [one for one in scenarios if isinstance(one, MessagingScenario)]
    known: dict[Same, list[tuple[Card, Parameter]]] = {}
    for scenario in asked:
        for _, card in scenario.cards:
            for parameter in card.parameters.values():
                if named_claims(parameter.fitted or ""):
                    places = known.setdefault(_same(card, parameter), [])
                    places += [(card, parameter)] if (card, parameter) not in places else []
    if not known:
        return []
    run = partial(_studies, seed, workers)
    studies = run(asked)
    before = _values(registry, studies)
    found = []
    for same, places in known.items():
        pairs = [(one, _changed(one, same)) for one in asked]
        others = run([changed for one, changed in pairs if changed != one])
        found.append(_fitted(same, places, before, _values(registry, studies | others)))
    return found


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


def _studies(
    seed: int, workers: int | None, scenarios: Sequence[MessagingScenario]
) -> dict[str, PointsStudy]:
    """Run scenarios and return the study of each by name."""
    runs = run_scenarios(
        scenarios, seed=seed, replications=REPLICATIONS, out=None, workers=workers, progress=True
    )
    return {run.scenario.name: run for run in runs if isinstance(run, PointsStudy)}


def _values(registry: Registry, studies: dict[str, PointsStudy]) -> dict[str, float]:
    """Return the value of each claim that has one."""
    evidence = Evidence({}, (), studies)
    found = {}
    for id_, entry in registry.items():
        if not all(evidence.has(name) for name in entry.scenarios):
            continue
        try:
            value = entry.evaluate(evidence).value
        except Missing:
            continue
        if value is not None:
            found[id_] = value
    return found


def _changed(scenario: MessagingScenario, same: Same) -> MessagingScenario:
    """Return a scenario with one parameter larger on every card that has it."""
    card = partial(_changed_card, same)
    setting = scenario.setting
    cards = {role: card(one) for role, one in setting.cards.items()}
    vary = tuple(_mapped(table.items(), card) for table in scenario.vary)
    return replace(scenario, setting=replace(setting, cards=cards), vary=vary)


def _mapped(
    items: Iterable[tuple[str, tuple[Any, ...]]], change: Callable[[Card], Card]
) -> dict[str, tuple[Any, ...]]:
    """Return the varied keys with every card among their values changed."""

    def values(given: tuple[Any, ...]) -> Iterator[Any]:
        yield from (change(value) if isinstance(value, Card) else value for value in given)

    return {key: tuple(values(given)) for key, given in items}


def _changed_card(same: Same, card: Card) -> Card:
    parameters = {
        name: _enlarged(old) if _same(card, old) == same else old
        for name, old in card.parameters.items()
    }
    return replace(card, parameters=parameters)


def _enlarged(old: Parameter) -> Parameter:
    value = _larger(old.value)
    return replace(old, value=value, text=format_value(value, old.dimension))


def _larger(value: float | Law) -> float | Law:
    if isinstance(value, Law):
        return Law(round(value.fixed_ps * LARGER), round(value.per_byte_fs * LARGER))
    return round(value * LARGER) if isinstance(value, int) else value * LARGER
