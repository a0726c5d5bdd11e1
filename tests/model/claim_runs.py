"""Runs of what the claims speak about, made short, each once for all tests of a run."""

import dataclasses
from unittest.mock import patch

import pandas as pd
from harness.once import once

from dvsim.contract.load import load_campaign
from dvsim.evidence import ledger as ledgers
from dvsim.evidence.claims import Source, sources
from dvsim.evidence.claims.decide import decide
from dvsim.evidence.claims.figures import Evidence
from dvsim.evidence.goals import goals
from dvsim.evidence.validation import validate
from dvsim.session import run_scenarios

CAMPAIGNS = ("h3", "switch", "osu-qpid", "amps", "zeromq", "rabbit")

SHORT = {
    "h3": (0.05, 2),
    "h3/fdr-8": (0.1, 10),
    "h3/fdr-256": (0.1, 10),
    "h3/fdr-2048": (0.1, 10),
    "h3/fdr-131072": (0.1, 10),
    "h3/memory": (1.0, 2),  # a broker pages once its memory is full
    "pivotal": (0.3, 2),
    "switch": (0.3, 2),
    "switch/saturation": (0.1, 2),
    "switch/systems": (0.3, 1),  # what is claimed of it follows from its structure
    "osu-qpid": (1.0, 2),  # whole numbers of connections: the set-up is part of what is measured
    "amps": (0.3, 2),
    "zeromq": (1.0, 2),
    "rabbit": (1.0, 2),
    "rabbit/sizing-2020": (0.3, 1),
}
"""By name, or by its folder: the share of messages, or slots, and the replications that give the
same words as the published workload. Those of a source with a notebook are those of the notebook,
whose runs are the same (tests/analysis)."""

SENT = 0.1
"""Of the messages of emulated runs."""


def _how(name):
    return SHORT.get(name) or SHORT[name.split("/")[0]]


def _short(scenarios, out):
    """Run scenarios with their shares; what is kept in `out` is read."""
    found = {}
    for scale, replications in dict.fromkeys(_how(one.name) for one in scenarios):
        some = [one for one in scenarios if _how(one.name) == (scale, replications)]
        found |= {
            run.scenario.name: run
            for run in run_scenarios(
                some, replications=replications, out=out, workers=1, scale=scale
            )
        }
    return [found[one.name] for one in scenarios]


def kept():
    """The folder of all short runs, each made by the first test that asks for it."""
    return once("short runs", lambda _: None)


def runs_of(campaign):
    """Everything that the claims of a source speak about, short."""
    scenarios = load_campaign(f"{campaign}/validation")
    once(f"runs for {campaign}", lambda _: _short(scenarios, kept()))
    return _short(scenarios, kept())


def sent_short():
    """An emulated run of each size that is claimed."""

    def some(scenarios, *, scale, out, **asked):
        def make(folder):
            run_scenarios(scenarios, scale=SENT * scale, out=folder, **asked)

        folder = once("sent", make)
        return run_scenarios(scenarios, scale=SENT * scale, out=folder, **asked)

    return ledgers.emulated_runs(some, None, seed=1, force=False, progress=False)


def ledger():
    """Validation and goals of the short runs of all sources."""

    def runs(scenarios, **_):
        made = [run for source in sources() for run in runs_of(source.name)]
        named = {run.scenario.name: run for run in made}
        return [named[one.name] for one in scenarios]

    short = sent_short()
    with patch.object(ledgers, "emulated_runs", lambda *_, **__: short):
        made, validation = ledgers.gather(runs, out=None)
    return validation, goals(validation, [one.scenario for one in made])


def claims_of(studies):
    """The claims that studies decide, by id."""
    return {claim.id: claim for claim in validate(studies).claims}


def claim_of(studies, id_):
    """One of them."""
    (whole,) = (source for source in sources() if id_ in source)
    alone = Source(whole.file, whole.title)
    alone[id_] = whole[id_]
    (claim,) = decide(
        alone, Evidence({}, pd.DataFrame(), {one.scenario.name: one for one in studies})
    )
    return claim


def changed(studies, name, metric, function):
    """The studies with a metric of one of them changed, by the keys of each row."""
    result = []
    for study in studies:
        if study.scenario.name == name:
            table = study.values.copy()
            own, keys = table["metric"] == metric, study.points.to_dict(orient="records")
            pairs = zip(table["point"][own], table["value"][own], strict=True)
            table.loc[own, "value"] = [float(function(keys[point], x)) for point, x in pairs]
            study = dataclasses.replace(study, values=table)  # noqa: PLW2901 - the changed one
        result.append(study)
    return result
