"""A search by Optuna's tree-structured Parzen estimator: for many parameters and large budgets.

It proposes points over the whole of the bounds, from where losses were small before (Bergstra et
al. 2011), and follows no simplex: it finds basins that a local search does not reach, and comes
less close to their bottom.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dvsim.calibration.search import End, Found, Loss
from dvsim.errors import Fault, ScenarioError

if TYPE_CHECKING:
    import optuna


def require_optuna() -> None:
    """See that Optuna is there, before anything is run for it.

    Raises
    ------
    ScenarioError
        If it is not installed; says which extra brings it.
    """
    try:
        import optuna  # noqa: F401
    except ImportError:
        message = "needs Optuna, which is not installed: pip install 'dvsim[optuna]'"
        raise ScenarioError([Fault("--optuna", None, "", message)]) from None


def search_tpe(
    loss: Loss,
    start: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    *,
    starts: int,
    budget: int,
    seed: int,
) -> Found:
    """Search by as many studies as there are starts, each with a seed of its own.

    Parameters
    ----------
    loss, start, low, high, starts, budget, seed
        As `dvsim.calibration.search.search`; the first study looks at the start first.

    Raises
    ------
    ScenarioError
        If Optuna is not installed.
    """
    require_optuna()
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    names = [str(place) for place in range(len(start))]
    first = np.clip(start, low, high).tolist()

    def of_trial(trial: optuna.Trial) -> float:
        bounds = zip(names, low, high, strict=True)
        at = [trial.suggest_float(name, least, most) for name, least, most in bounds]
        return loss(np.array(at))

    ends = []
    for number in range(starts):
        study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed + number))
        if number == 0:
            study.enqueue_trial(dict(zip(names, first, strict=True)))
        study.optimize(of_trial, n_trials=budget // starts)
        best = study.best_trial
        ends.append(End(np.array([best.params[name] for name in names]), float(study.best_value)))
    spent = starts * (budget // starts)
    return Found(min(ends, key=lambda end: end.loss), tuple(ends), spent)
