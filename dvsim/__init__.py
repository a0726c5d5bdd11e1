"""Network simulator and emulator of the Data Vortex fabric, and of messaging that rides on it.

>>> import dvsim
>>> run = dvsim.run("h3/fdr-8", replications=2, messages=200_000)
>>> estimates = run.estimates().set_index("metric")
>>> bool(estimates.loc["rate", "value"] > 60_000)  # msg/s, all receivers
True

Whatever takes time is imported when a name is first used, so that ``dvsim --help`` is quick, and
`dvsim.__main__` is soon there to end a command that is interrupted.
"""

from __future__ import annotations

import importlib
import os

from dvsim._version import __version__

TYPE_CHECKING = False  # as typing has it, which takes longer to import than all else here
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from dvsim.emulation.settings import Emulation
    from dvsim.errors import (
        ArgumentError,
        DvsimError,
        OutputError,
        PointsFailed,
        RunFailed,
        ScenarioError,
    )
    from dvsim.evidence.verdicts import Validation
    from dvsim.fabric.network import Network
    from dvsim.fabric.switch import Switch, Traffic
    from dvsim.kinds import replay
    from dvsim.scenario.override import Override
    from dvsim.scenario.spec import Spec
    from dvsim.table.result import Result

__all__ = [
    "ArgumentError",
    "DvsimError",
    "Network",
    "OutputError",
    "PointsFailed",
    "Result",
    "RunFailed",
    "ScenarioError",
    "Switch",
    "Traffic",
    "__version__",
    "load",
    "replay",
    "run",
    "sweep",
    "validate",
]

ARGUMENTS = ("seed", "replications", "precision", "workers", "backend", "scale")
"""Of a run, besides its scenario and the overrides."""

_LAZY = {
    "Network": "dvsim.fabric.network",
    "Result": "dvsim.table.result",
    "Switch": "dvsim.fabric.switch",
    "Traffic": "dvsim.fabric.switch",
    "replay": "dvsim.kinds",
    "ArgumentError": "dvsim.errors",
    "DvsimError": "dvsim.errors",
    "OutputError": "dvsim.errors",
    "PointsFailed": "dvsim.errors",
    "RunFailed": "dvsim.errors",
    "ScenarioError": "dvsim.errors",
}
"""Names that are imported when they are first used, and from where."""


def load(scenario: str | os.PathLike[str], **overrides: object) -> Spec:
    """Load a scenario by name or file, with overrides.

    Args:
        scenario: A name such as ``"h3/dv-8"`` (``dvsim list`` prints them) or a path to a TOML
            file.
        **overrides: ``messages``, ``message_bytes`` and ``iterations`` of the workload by name; any
            other key with ``__`` for the dots: ``system__card__sram="64 MiB"``,
            ``traffic__load=0.4``, ``traffic=dvsim.Traffic(0.4)``. None takes a key out of the file.

    Raises:
        ScenarioError: If the scenario or an override is wrong; its text names every fault with file
            and line.
    """
    from dvsim.arguments import by_argument
    from dvsim.contract.load import load as load_scenario

    with by_argument(["scenario"]):
        return load_scenario(scenario, _settings(overrides))


def run(
    scenario: str | os.PathLike[str] | Spec,
    *,
    seed: int = 1,
    replications: int | None = None,
    precision: float | None = None,
    workers: int | None = None,
    backend: str | Emulation = "sim",
    scale: float | None = None,
    **overrides: object,
) -> Result:
    """Run a scenario in memory and return the result; nothing is written.

    Args:
        scenario: A name, a path, or what `load` returned.
        seed, replications: Replications 1 .. `replications` of `seed`; None goes by `precision`,
            and takes 1 of an emulated run. The same numbers give the same samples, of a simulated
            run.
        precision: Instead of `replications`: 3 to 30, until half of the 95 % interval of the rate
            is at most this share of it; see `dvsim.study.precision`. None takes 0.05 of a
            simulated run.
        workers: Processes; None or 1 stays in this one. More need a script whose call is guarded by
            ``if __name__ == "__main__":``, as `multiprocessing` asks.
        backend: ``"sim"``; or ``"emu"``: real programs and RabbitMQ on this machine, as a
            `dvsim.emulation.settings.Emulation` says in detail.
        scale: Multiplies the number of messages; None takes 1, and of an emulated run what makes it
            short.
        **overrides: As in `load`, for a name or a path.

    Raises:
        ScenarioError: If the scenario, an override or an argument is wrong.
        RunFailed: If a run fails, does not fit in memory, or cannot be emulated.
        TypeError: If the scenario is none of these, if there are overrides for a loaded one, or if
            `precision` stands beside `replications` or an emulated run.
    """
    from dvsim.arguments import by_argument
    from dvsim.scenario.spec import Spec
    from dvsim.session import run_scenarios

    if isinstance(scenario, str | os.PathLike):
        with by_argument(ARGUMENTS):
            loaded, shown = load(scenario, **overrides), repr(os.fspath(scenario))
    elif not isinstance(scenario, Spec):
        raise TypeError(f"run takes a name, a path or what load returned, not {scenario!r}")
    elif overrides:
        message = f"{', '.join(overrides)}: a loaded scenario takes no overrides; give them to load"
        raise TypeError(message)
    else:
        loaded, shown = scenario, f"<scenario {scenario.name}>"
    asked = {"replications": replications, "precision": precision, "backend": backend}
    asked |= {"scale": scale}
    unasked = {"replications": None, "precision": None, "backend": "sim", "scale": None}
    asked = {name: value for name, value in asked.items() if value != unasked[name]}
    given = {"seed": seed, **asked, **overrides}
    arguments = ", ".join(f"{name}={value!r}" for name, value in given.items())
    how: dict[str, Any] = {
        "seed": seed,
        "out": None,
        "workers": 1 if workers is None and backend == "sim" else workers,
        "scale": scale,
        "command": f"dvsim.run({shown}, {arguments})",
    }
    if precision is not None and (replications is not None or backend != "sim"):
        raise TypeError("precision is of simulated runs, and says how many replications there are")
    with by_argument(ARGUMENTS):
        how |= {"replications": replications, "precision": precision, "backend": backend}
        return run_scenarios([loaded], **how)[0]


def sweep(
    scenario: str | os.PathLike[str],
    vary: Mapping[str, str | Iterable[object]],
    *,
    together: str | Sequence[str] = (),
    where: str | None = None,
    sample: str | None = None,
    seed: int = 1,
    replications: int | None = None,
    precision: float | None = None,
    scale: float | None = None,
    workers: int = 1,
    scheduler: str | None = None,
    out: str | os.PathLike[str] | None = None,
    **overrides: object,
) -> Result:
    """Run a scenario at many points and return their result, as `run` does.

    Args:
        scenario: A name or a path.
        vary: By key, ``workload.message_bytes`` or short as in `load`: a list of values, or a range
            such as ``"8..131072*4"``, see docs/sweep.md. All values are crossed.
        together: Keys whose values go together instead:
            ``["workload.message_bytes,workload.messages"]``.
        where: A condition that points must meet: ``"sram < 64 MiB"``.
        sample: ``"sobol:64"``: as many points spread evenly, instead of all.
        seed, replications, precision, scale, **overrides: As in `run`; each point has the
            replications that its precision needs.
        workers: Processes; more than 1 need a guarded script, see `run`.
        scheduler: Address or file of a dask scheduler.
        out: Where run folders are kept and found again; None keeps nothing.

    Raises:
        ScenarioError: If an argument is wrong, or no point is valid. Points that fail are in
            ``.failed`` of the result.
        RunFailed: If a worker dies.

    >>> swept = sweep("h3/fdr-8", {"message_bytes": [8, 1024]}, replications=1, messages=20_000)
    >>> bool(swept.wide["delivered_rate"].is_monotonic_decreasing)
    True
    """
    from pathlib import Path

    from dvsim.arguments import by_argument
    from dvsim.contract.load import template
    from dvsim.study.sweep import prepare
    from dvsim.study.sweep import run as run_sweep
    from dvsim.study.sweeps.grid import plan

    if not hasattr(vary, "items"):
        raise TypeError('vary is a dict of values by key, such as {"sockets": [1, 2, 4]}')
    axes: list[str | tuple[str, list[object]]] = []
    for key, values in vary.items():
        if not isinstance(values, str) and not hasattr(values, "__iter__"):
            raise TypeError(f"vary: {key} takes a list, or a range in a text, not {values!r}")
        path = ".".join(_path(key))
        axes.append(f"{path}={values}" if isinstance(values, str) else (path, list(values)))
    together = [together] if isinstance(together, str) else together
    with by_argument([*ARGUMENTS, "together", "where", "sample", "scheduler"]):
        base = template(scenario)
        points = plan(axes, base, together=together, where=where, sample=sample, seed=seed)
        fixed = _settings(overrides)
        asked: dict[str, Any] = {"seed": seed, "replications": replications, "scale": scale}
        if precision is not None and replications is not None:
            raise TypeError("precision says how many replications there are")
        ready = prepare(base, points, overrides=fixed, precision=precision, **asked)
        kept = None if out is None else Path(out)
        command = f"dvsim.sweep({os.fspath(scenario)!r}, {axes})"
        how: dict[str, Any] = {"workers": workers, "scheduler": scheduler, "command": command}
        return run_sweep(ready, out=kept, sweeps=None, **how)


def _settings(keywords: Mapping[str, object]) -> list[Override]:
    from dvsim.scenario.document import OVERRIDES
    from dvsim.scenario.override import Setting, read_python

    settings: list[Override] = []
    for keyword, value in keywords.items():
        path = _path(keyword)
        try:
            settings.append(Setting(path, read_python(value), f"{keyword}={value!r}"))
        except TypeError as error:
            settings.append(OVERRIDES.fault(path, str(error)))
    return settings


def _path(keyword: str) -> tuple[str, ...]:
    if keyword in ("messages", "message_bytes", "iterations"):
        return ("workload", keyword)
    return tuple(keyword.replace("__", ".").split("."))


def validate(*runs: Result) -> Validation:
    """Compare runs with the published figures that their scenarios name."""
    from dvsim.evidence.validation import validate as validate_runs

    for run in runs:
        if not hasattr(run, "scenario"):
            raise TypeError(f"validate takes what run returned, not {run!r}")
    return validate_runs(runs)


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module's attribute
    if name not in _LAZY:
        raise AttributeError(f"module 'dvsim' has no attribute {name!r}")
    return getattr(importlib.import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return __all__
