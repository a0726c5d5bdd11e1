"""Runs of what the claims speak about, made short, each once for all tests of a run."""

import dataclasses
from pathlib import Path

from harness.once import once

from dvsim.scenario.load import load_campaign
from dvsim.session import run_scenarios
from dvsim.validation import validate
from dvsim.validation.assess import REGISTRIES
from dvsim.validation.claims import Registry
from dvsim.validation.decide import decide
from dvsim.validation.evidence import Evidence

REPLICATIONS = 2
SCALES = {
    "h3": 0.05,
    "h3/memory": 1.0,  # a broker pages once its memory is full
    "pivotal": 0.1,
    "switch": 0.1,
    "osu-qpid": 1.0,  # whole numbers of connections: the set-up is part of what is measured
    "amps": 0.5,
    "zeromq": 0.5,
}
"""By name, or by its folder: the shares of their messages, or slots, that give the same words."""


def scale_of(name):
    """The share of a scenario."""
    return SCALES.get(name, SCALES[name.split("/")[0]])


def runs_of(campaign):
    """Everything that the claims of a source speak about, short."""
    scenarios = load_campaign(f"{campaign}/validation")
    folder = once(f"runs of the claims of {campaign}", lambda out: short(scenarios, out))
    return short(scenarios, folder)


def short(scenarios, out: Path | None, workers=2):
    """Run scenarios with their shares; what is kept in `out` is read."""
    found = {}
    for scale in dict.fromkeys(scale_of(one.name) for one in scenarios):
        some = [one for one in scenarios if scale_of(one.name) == scale]
        runs = run_scenarios(
            some, replications=REPLICATIONS, out=out, workers=workers, scale=scale, report=False
        )
        found |= {run.scenario.name: run for run in runs}
    return [found[one.name] for one in scenarios]


def claims_of(studies):
    """The claims that studies decide, by id."""
    return {claim.id: claim for claim in validate(studies).claims}


def claim_of(studies, id_):
    """One of them."""
    (whole,) = (registry for registry in REGISTRIES if id_ in registry)
    alone = Registry(whole.campaign, whole.title)
    alone[id_] = whole[id_]
    (claim,) = decide(alone, Evidence({}, (), {one.scenario.name: one for one in studies}))
    return claim


def changed(studies, name, metric, function):
    """The studies with a metric of one of them changed, by the keys of each row."""
    result = []
    for study in studies:
        if study.scenario.name == name:
            table = study.points.copy()
            keys = study.keys().to_dict(orient="records")
            pairs = zip(table["point"], table[metric], strict=True)
            table[metric] = [float(function(keys[point], value)) for point, value in pairs]
            study = dataclasses.replace(study, points=table)  # noqa: PLW2901 - the changed one
        result.append(study)
    return result
