"""Network simulator and emulator of the Data Vortex fabric, and of messaging that rides on it.

>>> import dvsim
>>> run = dvsim.run("h3/fdr-8", replications=2, messages=200_000)
>>> estimates = run.estimates().set_index(["column", "statistic"])
>>> bool(estimates.loc[("r1", "mean"), "value"] > 60_000)  # msg/s, both nodes
True

Heavy libraries are imported when a name is first used, so that ``dvsim --help`` is quick.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from dvsim._version import __version__

if TYPE_CHECKING:
    from dvsim.emu.asked import Emulation
    from dvsim.network import Network
    from dvsim.results.points import PointsStudy
    from dvsim.results.run import Run
    from dvsim.scenario.load import AnyScenario
    from dvsim.switch import Switch
    from dvsim.validation.types import Validation

__all__ = ["Network", "Run", "Switch", "__version__", "load", "run", "validate"]


def load(scenario: str | os.PathLike[str], **overrides: object) -> AnyScenario:
    """Load a scenario by name or file, with overrides.

    Parameters
    ----------
    scenario
        A name such as ``"h3/dv-8"`` (``dvsim list`` prints them) or a path to a TOML file.
    **overrides
        ``messages``, ``message_bytes`` and ``iterations`` of the workload by name; any other key
        with ``__`` for the dots: ``system__card__sram="64 MiB"``, ``traffic__load=0.4``.

    Raises
    ------
    ScenarioError
        If the scenario or an override is wrong; its text names every fault with file and line.
    """
    from dvsim.scenario.load import load as load_scenario

    workload = ("messages", "message_bytes", "iterations")
    keys = {
        key: f"workload.{key}" if key in workload else key.replace("__", ".") for key in overrides
    }
    return load_scenario(scenario, [f"{keys[key]}={value}" for key, value in overrides.items()])


def run(
    scenario: str | os.PathLike[str] | AnyScenario,
    *,
    seed: int = 1,
    replications: int | None = None,
    workers: int | None = None,
    backend: str | Emulation = "sim",
    scale: float | None = None,
    **overrides: object,
) -> Run | PointsStudy:
    """Run a scenario in memory and return the run; nothing is written.

    A scenario of a switch or network alone gives a `dvsim.results.study.Study`.

    Parameters
    ----------
    scenario
        A name, a path, or what `load` returned.
    seed, replications
        Replications 1 .. `replications` of `seed`, 10 of a simulated and 1 of an emulated run
        unless given; the same numbers give the same samples, of a simulated run.
    workers
        Processes; None or 1 stays in this one. More need a script whose call is guarded by
        ``if __name__ == "__main__":``, as `multiprocessing` asks.
    backend
        ``"sim"``; or ``"emu"``: real programs and RabbitMQ on this machine, as a
        `dvsim.emu.asked.Emulation` says in detail.
    scale
        Multiplies the number of messages; None takes 1, and of an emulated run what makes it
        short.
    **overrides
        As in `load`, for a name or a path.

    Raises
    ------
    ScenarioError
        If the scenario, an override or an argument is wrong.
    RunFailed
        See `dvsim.backends.sim.simulate`, `dvsim.backends.emu.emulate` and
        `dvsim.backends.switch.study`.
    TypeError
        If there are overrides for a scenario that is loaded already.
    """
    from dvsim.session import run_scenarios

    if isinstance(scenario, str | os.PathLike):
        loaded, shown = load(scenario, **overrides), repr(os.fspath(scenario))
    elif overrides:
        message = f"{', '.join(overrides)}: a loaded scenario takes no overrides; give them to load"
        raise TypeError(message)
    else:
        loaded, shown = scenario, f"<scenario {scenario.name}>"
    asked = {"replications": replications, "backend": backend, "scale": scale}
    unasked = {"replications": None, "backend": "sim", "scale": None}
    asked = {name: value for name, value in asked.items() if value != unasked[name]}
    given = {"seed": seed, **asked, **overrides}
    arguments = ", ".join(f"{name}={value!r}" for name, value in given.items())
    (finished,) = run_scenarios(
        [loaded],
        seed=seed,
        replications=replications,
        out=None,
        workers=1 if workers is None and backend == "sim" else workers,
        backend=backend,
        scale=scale,
        command=f"dvsim.run({shown}, {arguments})",
    )
    return finished


def validate(*runs: Run | PointsStudy) -> Validation:
    """Hold runs against the published figures that their scenarios name."""
    from dvsim.validation import validate as validate_runs

    return validate_runs(runs)


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module's attribute
    if name == "Run":
        from dvsim.results.run import Run

        return Run
    if name == "Network":
        from dvsim.network import Network

        return Network
    if name == "Switch":
        from dvsim.switch import Switch

        return Switch
    raise AttributeError(f"module 'dvsim' has no attribute {name!r}")
