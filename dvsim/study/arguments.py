"""What is asked for, checked before anything runs: backend, seed, replications, scale, workers."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real

from dvsim.contract.find import kind_of
from dvsim.emulation.settings import Emulation
from dvsim.errors import Argument, Fault, ScenarioError, nearest
from dvsim.scenario.bounds import REPLICATIONS, SEED, TASKS, WORKERS
from dvsim.scenario.document import dotted
from dvsim.scenario.spec import Spec

BACKENDS = ("sim", "emu")
LARGEST_SCALE = 1000
PRECISION = (0.001, 0.5)
DEFAULT_PRECISION = 0.05  # of simulated runs, unless the number of replications is asked for
DEFAULT_REPLICATIONS = {"sim": 10, "emu": 1}  # of verdicts, traces, emulated runs


def backend_of(asked: str | Emulation) -> Emulation | None:
    """Return how to emulate, None for backend sim.

    Raises:
        ScenarioError: If there is no such backend.
    """
    if isinstance(asked, Emulation):
        return asked
    if asked not in BACKENDS:
        message = f"no such backend '{asked}'; there are {' and '.join(BACKENDS)}"
        raise ScenarioError.at(Argument("backend"), message, hint=nearest(str(asked), BACKENDS))
    return Emulation() if asked == "emu" else None


def check_asked(
    *, seed: int, replications: int = 1, scale: float | None = None, workers: int | None = None
) -> None:
    """Raise ScenarioError for what is out of range, or no number at all; by its argument."""
    faults = [
        *Argument("seed").whole(seed, 0, SEED),
        *Argument("replications").whole(replications, 1, REPLICATIONS),
        *(Argument("workers").whole(workers, 1, WORKERS) if workers is not None else ()),
    ]
    if isinstance(scale, bool) or not isinstance(scale, Real | None):
        faults.append(Argument("scale").fault(f"{scale!r} is not a number"))
    elif scale is not None and not 0 < scale <= LARGEST_SCALE:
        message = f"{scale:g} is not above 0 and at most {LARGEST_SCALE}"
        faults.append(Argument("scale").fault(message))
    if faults:
        raise ScenarioError(faults)


def check_precision(share: float) -> None:
    """Raise ScenarioError for a precision that cannot be."""
    least, most = PRECISION
    if not least <= share <= most:
        message = f"{share:g} is not a share from {least:g} to {most:g}, or from 0.1% to 50%"
        near = f"{share:g}%" if least <= share / 100 <= most else None
        raise ScenarioError.at(Argument("precision"), message, hint=near)


def check_extent(scenarios: Sequence[Spec], replications: int) -> None:
    """Refuse what the scale, or the number of replications, makes too much of a scenario."""
    faults = []
    for scenario in scenarios:
        kind, tasks = kind_of(scenario), scenario.tasks * replications
        for point in range(len(scenario.points)):
            for key, message in kind.extent(scenario.at(point)):
                faults.append(Fault(scenario.name, None, dotted(key), message))
        if tasks > TASKS:
            message = f"{scenario.name} has {tasks} {scenario.TASKS} then, and may have {TASKS}"
            faults.append(Argument("replications").fault(message))
    if faults:
        raise ScenarioError(faults)
