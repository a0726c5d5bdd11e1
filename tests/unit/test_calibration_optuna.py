"""Does Optuna's sampler, in the place of the local search, keep to the same rules?"""

import sys

import numpy as np
import pytest

from dvsim.errors import ScenarioError
from dvsim.evidence.calibration.fit import How, fit_card
from dvsim.evidence.calibration.search import search_tpe
from dvsim.evidence.calibration.target import Data
from dvsim.session import run_scenarios

BOX = {"start": [0.0, 0.0], "low": [-3.0, -3.0], "high": [3.0, 3.0]}


def bowl(at):
    return 0.1 + (at[0] - 1) ** 2 + 0.5 * (at[1] - 2) ** 2


def test_it_nears_the_least_and_looks_at_the_start_first():
    pytest.importorskip("optuna")
    seen = []

    def loss(at):
        seen.append(tuple(at))
        return bowl(at)

    found = search_tpe(loss, **BOX, starts=2, budget=160, seed=1)
    assert seen[0] == (0.0, 0.0)
    assert found.best.at == pytest.approx([1, 2], abs=0.5)
    assert found.best.loss == min(end.loss for end in found.ends) == bowl(found.best.at)
    assert len(seen) == found.evaluations == 160
    assert (np.abs(seen) <= 3).all()


def test_a_seed_gives_the_same_search():
    pytest.importorskip("optuna")
    one, same, other = (
        search_tpe(bowl, **BOX, starts=1, budget=25, seed=seed) for seed in (7, 7, 8)
    )
    assert one.best.at.tolist() == same.best.at.tolist() != other.best.at.tolist()


def test_without_optuna_the_extra_is_named_before_anything_runs(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(
        ScenarioError, match=r"--optuna: needs Optuna.*pip install 'vortexsim\[optuna\]'"
    ):
        fit_card(
            run_scenarios,
            "h3-bridge",
            Data(("h3_message_rates.csv",)),
            "r1:8",
            "rest",
            [],
            How(optuna=True),
            "x",
            "",
        )
