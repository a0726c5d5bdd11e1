"""A bounded local search from several starts, and how well it knows what it has found.

A search by Optuna's tree-structured Parzen estimator: for many parameters and large budgets.

It proposes points over the whole of the bounds, from where losses were small before (Bergstra et
al. 2011), and follows no simplex: it finds basins that a local search does not reach, and comes
less close to their bottom.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dvsim.errors import Fault, ScenarioError
from dvsim.evidence.numbers import Floats

if TYPE_CHECKING:
    import optuna

JUMP = math.log(3.0)  # the other starts lie within this factor of the first
EDGE = math.log(1.25)  # of the first simplex
NEAR = 1.05  # a start that ends within this factor of the least loss has found the same
STEP = math.log(1.2)  # at which a profile looks

Loss = Callable[[Floats], float]


class End(NamedTuple):
    """Where one start has led: logarithms and loss."""

    at: Floats
    loss: float


class Outcome(NamedTuple):
    """The best end, all ends (that of the first start first), and the evaluations spent."""

    best: End
    ends: tuple[End, ...]
    evaluations: int

    @property
    def near(self) -> list[End]:
        """The ends that have found the least loss, nearly."""
        return [end for end in self.ends if end.loss <= NEAR * self.best.loss]


class Known(NamedTuple):
    """How well one parameter is known.

    Attributes
    ----------
    down, up
        Loss with the parameter over, and times, 1.2, all others as found; over the least loss.
    ratio
        Largest over smallest value among the starts that have found the least loss, nearly; None
        if only one has.
    """

    down: float
    up: float
    ratio: float | None

    @property
    def weak(self) -> bool:
        """Whether the data hardly say what it is: a profile that is flat, or ends apart."""
        return min(self.down, self.up) < 1.02 or (self.ratio or 1.0) > 1.5


def search(
    loss: Loss,
    start: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    *,
    starts: int,
    budget: int,
    seed: int,
) -> Outcome:
    """Return where the simplex of Nelder and Mead leads, from the start and others around it.

    Parameters
    ----------
    loss
        The same number for the same logarithms: its draws must be common to all evaluations.
    start, low, high
        Logarithms.
    starts, budget
        How many, and how often `loss` is called in all; at least starts * (parameters + 1).
    seed
        Of the other starts.
    """
    from scipy.optimize import minimize

    rng = np.random.default_rng(seed)
    floor, ceiling = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    first = np.clip(np.asarray(start, dtype=np.float64), floor, ceiling)
    each = budget // starts
    ends, spent = [], 0
    for number in range(starts):
        jump = rng.uniform(-JUMP, JUMP, len(first)) if number else 0.0
        begin = np.clip(first + jump, floor, ceiling)
        edges = np.where(begin + EDGE <= ceiling, EDGE, -EDGE)
        simplex = np.vstack([begin, begin + np.diag(edges)])
        done = minimize(
            loss,
            begin,
            method="Nelder-Mead",
            bounds=list(zip(floor, ceiling, strict=True)),
            options={
                "maxfev": each,
                "initial_simplex": np.clip(simplex, floor, ceiling),
                "xatol": 0.005,
                "fatol": 1e-4,
            },
        )
        ends.append(End(np.asarray(done.x, dtype=np.float64), float(done.fun)))
        spent += int(done.nfev)
    return Outcome(min(ends, key=lambda end: end.loss), tuple(ends), spent)


def known(loss: Loss, outcome: Outcome) -> list[Known]:
    """Return how well each parameter is known; calls `loss` twice for each."""
    best = outcome.best
    same = np.array([end.at for end in outcome.near])
    ratios = np.exp(same.max(axis=0) - same.min(axis=0))
    several = len(same) > 1
    least = max(best.loss, 1e-12)
    results = []
    for place, ratio in enumerate(ratios):
        step = np.zeros_like(best.at)
        step[place] = STEP
        down, up = (loss(best.at + sign * step) / least for sign in (-1, 1))
        results.append(Known(down, up, float(ratio) if several else None))
    return results


def require_optuna() -> None:
    """Refuse to go on without Optuna, before anything is run for it.

    Raises
    ------
    ScenarioError
        If it is not installed; says which extra brings it.
    """
    try:
        import optuna  # noqa: F401
    except ImportError:
        message = "needs Optuna, which is not installed: pip install 'vortexsim[optuna]'"
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
) -> Outcome:
    """Return where as many studies as there are starts lead, each with a seed of its own.

    Parameters
    ----------
    loss, start, low, high, starts, budget, seed
        As `dvsim.evidence.calibration.search.search`; the first study looks at the start first.

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
    return Outcome(min(ends, key=lambda end: end.loss), tuple(ends), spent)
