"""Which kinds of scenarios there are, and which one a name or a scenario is of.

The kinds that dvsim brings are listed in `dvsim.contract` by their modules; those that others
install are found by their entry points in the group ``dvsim.kinds``. A kind is imported when it is
first asked for.
"""

from __future__ import annotations

import importlib
from functools import cache

from dvsim.contract import OWN
from dvsim.contract.kind import Kind, Own
from dvsim.errors import ScenarioError, nearest
from dvsim.scenario.card_kinds import KINDS
from dvsim.scenario.spec import Spec
from dvsim.table.metrics import Metric

GROUP = "dvsim.kinds"
DEFAULT = "rabbitmq"  # the kind of a file without a key ``kind``, unless another recognises it


@cache
def kind_named(name: str) -> Kind:
    """Return the kind of a name."""
    if name in OWN:
        kind: Kind = importlib.import_module(OWN[name]).KIND
        return kind
    from importlib.metadata import entry_points

    known = {entry.name: entry for entry in entry_points(group=GROUP)}
    if name not in known:
        if name in KINDS:
            takes = "dvsim run SCENARIO --set system.NAME=FILE"
            raise ScenarioError.at("", f"is a {name} card, which a scenario takes: {takes}", "kind")
        names = [*OWN, *known]
        message = f"no such kind '{name}'; there are {', '.join(names)}"
        raise ScenarioError.at("", message, "kind", hint=nearest(name, names))
    try:
        loaded: Kind = known[name].load()
    except Exception as error:
        message = f"kind '{name}' ({known[name].value}) cannot be loaded: {error}"
        raise ScenarioError.at("", message, "kind") from error
    return loaded


def metric_of(name: str, unit: str, kind: str = "") -> Metric:
    """Return a metric as its kind describes it, else the first of dvsim's that has this unit."""
    named = dict.fromkeys([*([kind] if kind in kinds() else []), *OWN])
    known = (kind_named(own).registry.get(name) for own in named)
    return next((metric for metric in known if metric and metric.unit == unit), Metric(unit))


def kind_of(scenario: Spec) -> Own:
    """Return the kind of a scenario."""
    return kind_named(scenario.KIND)


def kinds() -> list[str]:
    """Return the names of all kinds that are installed, dvsim's own first."""
    from importlib.metadata import entry_points

    others = sorted(entry.name for entry in entry_points(group=GROUP) if entry.name not in OWN)
    return [*OWN, *others]
