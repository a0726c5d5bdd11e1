"""Studies of messaging for the tests of claims: packaged scenarios, made short."""

import dataclasses

from dvsim.scenario.load import load_campaign
from dvsim.session import run_scenarios
from dvsim.validation import validate


def studies_of(campaign, scale):
    """Run a campaign of claims with a share of its messages."""
    scenarios = load_campaign(f"{campaign}/validation")
    return run_scenarios(scenarios, replications=2, out=None, workers=2, scale=scale)


def claims_of(studies):
    """The claims that studies decide, by id."""
    return {claim.id: claim for claim in validate(studies).claims}


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
