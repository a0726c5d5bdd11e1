"""A trace over fabrics, as a command or a script asks for it: text in, replays out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from dvsim.errors import Argument, ScenarioError, nearest
from dvsim.kinds.workload.fabrics import choose, names, settings_of
from dvsim.kinds.workload.fit import fitted, measurements
from dvsim.kinds.workload.readers import read
from dvsim.kinds.workload.replay import Replay, prepared, replay_graph
from dvsim.scenario.bounds import SEED
from dvsim.scenario.override import read_python

COMPUTE = {"measured": 1.0, "zero": 0.0}
MOST_FACTOR = 1e6


def replays(
    trace: str | Path,
    fabrics: str | Iterable[str],
    settings: Mapping[str, object],
    *,
    compute: str | float = "measured",
    placement: str | Sequence[int] = "linear",
    straggler: str | tuple[int, float] | None = None,
    seed: int = 1,
    fit: Sequence[str | Path] = (),
    faults: str | Sequence[str] = (),
) -> list[Replay]:
    """Read a trace and replay it over fabrics, in their order.

    Args:
        trace: A file, a folder, or a tar of either.
        fabrics: Their names, in a text with commas.
        settings: By key; each is of one of the fabrics at least.
        compute: ``measured``, ``zero`` or a factor.
        placement: ``linear``, ``random``, or a port for each rank.
        straggler: A rank and a factor, ``"3:2.5"``.
        seed: Of a random placement.
        fit: Traces with times of their own, and tables of OSU: the numbers of the first fabric
            become those that give their times.
        faults: What is wrong in those of the fabrics that are a Data Vortex: ``"dead plane=3"``.
    """
    if faults_of_seed := tuple(Argument("seed").whole(seed, 0, SEED)):
        raise ScenarioError(faults_of_seed)
    asked = fabrics.split(",") if isinstance(fabrics, str) else map(str, fabrics)
    asked = [name.strip() for name in asked if name.strip()]
    if not asked:
        raise wrong("fabric", f"must name one of {', '.join(names())}")
    known = dict.fromkeys(key for name in asked for key in settings_of(name))
    for key in settings:
        if key not in known:
            message = f"no setting of {', '.join(asked)}; there are {', '.join(known)}"
            raise ScenarioError.at(Argument("overrides"), message, key, hint=nearest(key, known))
    try:
        settings = {key: read_python(value) for key, value in settings.items()}
    except TypeError as error:
        raise ScenarioError.at(Argument("overrides"), str(error)) from None
    factor, slow, ports = factor_of(compute), straggler_of(straggler), placement_of(placement)
    broken = [faults] if isinstance(faults, str) else list(map(str, faults))
    sound = [choose(name, settings) for name in asked]  # wrong ones are told before a trace is read
    if broken and all(fabric.network is None for fabric in sound):
        raise wrong("faults", f"is of a Data Vortex; there is {', '.join(asked)}")
    graph = prepared(read(trace), factor, slow)
    chosen = [choose(name, settings, graph.ranks, broken) for name in asked]
    if fit:
        chosen[0] = fitted(
            chosen[0], [measurement for path in fit for measurement in measurements(path)]
        )
    return [replay_graph(graph, fabric, ports, seed) for fabric in chosen]


def replay(
    trace: str | os.PathLike[str],
    fabric: str = "dv",
    *,
    compute: str | float = "measured",
    placement: str | Sequence[int] = "linear",
    straggler: tuple[int, float] | None = None,
    faults: str | Sequence[str] = (),
    seed: int = 1,
    **parameters: object,
) -> Replay:
    """Replay the trace of a program over a fabric; return how long it takes, and why so long.

    Args:
        trace: A file, a folder or a tar of either: OTF2, GOAL, SimGrid, liballprof and others.
        fabric: ``"dv202"`` to ``"dv216"``, ``"dv"`` for the smallest of these with enough ports,
            ``"fdr"``, ``"aries"``, ``"loggops"``, or the name or file of a card.
        compute: ``"measured"``, ``"zero"`` or a factor.
        placement, seed: ``"linear"``, ``"random"`` by the seed, or a port for each rank.
        straggler: A rank and how many times as long it computes.
        faults: What is wrong in a Data Vortex: ``["dead plane=3", "slow port=5 by=4"]``.
        **parameters: Numbers of the fabric, such as ``L="2.5 us"``; `dvsim replay --help` has the
            others.
    """
    (replayed,) = replays(
        Path(trace),
        [fabric],
        parameters,
        compute=compute,
        placement=placement,
        straggler=straggler,
        faults=faults,
        seed=seed,
    )
    return replayed


def wrong(key: str, message: str) -> ScenarioError:
    """Return the error of an argument."""
    return ScenarioError.at(Argument(key), message)


def factor_of(compute: str | float) -> float:
    """Return the factor of computing."""
    if isinstance(compute, str) and compute in COMPUTE:
        return COMPUTE[compute]
    try:
        factor = float(compute)
    except (TypeError, ValueError):
        factor = -1.0
    if not 0 <= factor <= MOST_FACTOR:
        message = f"must be measured, zero or a factor from 0 to {MOST_FACTOR:,.0f}, is '{compute}'"
        raise wrong("compute", message)
    return factor


def straggler_of(given: str | tuple[int, float] | None) -> tuple[int, float] | None:
    """Return a rank and a factor."""
    if given is None:
        return None
    try:
        rank, factor = given.split(":") if isinstance(given, str) else given
        straggler = int(rank), float(factor)
    except (OverflowError, TypeError, ValueError):
        straggler = -1, -1.0
    if straggler[0] < 0 or not 0 <= straggler[1] <= MOST_FACTOR:
        like = f"RANK:FACTOR, such as 3:2.5, with a factor from 0 to {MOST_FACTOR:,.0f}"
        raise wrong("straggler", f"must be {like}, is '{given}'")
    return straggler


def placement_of(given: str | Sequence[int]) -> str | Sequence[int]:
    """Return a placement by name, or ports."""
    if isinstance(given, str) and given in ("linear", "random"):
        return given
    try:
        return [int(port) for port in (given.split(",") if isinstance(given, str) else given)]
    except (OverflowError, TypeError, ValueError):
        message = f"must be linear, random, or a port for each rank: 0,2,4; is '{given}'"
        raise wrong("placement", message) from None
