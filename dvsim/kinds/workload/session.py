"""A trace over fabrics, as a command or a script asks for it: text in, replays out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from dvsim.errors import Argument, ScenarioError, nearest
from dvsim.kinds.workload.fabrics import choose, names, settings_of
from dvsim.kinds.workload.fit import fitted, measurements
from dvsim.kinds.workload.readers import read
from dvsim.kinds.workload.replay import Replay, prepared, replay_graph

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
    faults: Sequence[str] = (),
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

    Raises:
        ScenarioError: If the trace cannot be read, or something that is asked for cannot be.
        RunFailed: If operations can never complete.
    """
    asked = fabrics.split(",") if isinstance(fabrics, str) else list(fabrics)
    asked = [name.strip() for name in asked if name.strip()]
    if not asked:
        raise wrong("fabric", f"must name one of {', '.join(names())}")
    known = dict.fromkeys(key for name in asked for key in settings_of(name))
    for key in settings:
        if key not in known:
            message = f"no setting of {', '.join(asked)}; there are {', '.join(known)}"
            raise ScenarioError.at(Argument("overrides"), message, key, hint=nearest(key, known))
    factor, slow, ports = factor_of(compute), straggler_of(straggler), placement_of(placement)
    sound = [choose(name, settings) for name in asked]  # wrong ones are told before a trace is read
    if faults and all(fabric.network is None for fabric in sound):
        raise wrong("fault", f"is of a Data Vortex; there is {', '.join(asked)}")
    graph = prepared(read(trace), factor, slow)
    chosen = [choose(name, settings, graph.ranks, faults) for name in asked]
    if fit:
        chosen[0] = fitted(
            chosen[0], [measurement for path in fit for measurement in measurements(path)]
        )
    return [replay_graph(graph, fabric, ports, seed) for fabric in chosen]


def wrong(key: str, message: str) -> ScenarioError:
    """Return the error of an argument."""
    return ScenarioError.at("replay", message, key)


def factor_of(compute: str | float) -> float:
    """Return the factor of computing."""
    if isinstance(compute, str) and compute in COMPUTE:
        return COMPUTE[compute]
    try:
        factor = float(compute)
    except ValueError:
        factor = -1.0
    if not 0 <= factor <= MOST_FACTOR:
        raise wrong("compute", f"must be measured, zero or a factor from 0, is '{compute}'")
    return factor


def straggler_of(given: str | tuple[int, float] | None) -> tuple[int, float] | None:
    """Return a rank and a factor."""
    if not isinstance(given, str):
        return given
    rank, _, factor = given.partition(":")
    try:
        found = int(rank), float(factor)
    except ValueError:
        found = -1, -1.0
    if found[0] < 0 or not 0 <= found[1] <= MOST_FACTOR:
        raise wrong("straggler", f"must be RANK:FACTOR, such as 3:2.5, is '{given}'")
    return found


def placement_of(given: str | Sequence[int]) -> str | Sequence[int]:
    """Return a placement by name, or ports."""
    if not isinstance(given, str) or given in ("linear", "random"):
        return given
    try:
        return [int(word) for word in given.split(",")]
    except ValueError:
        message = f"must be linear, random, or a port for each rank: 0,2,4; is '{given}'"
        raise wrong("placement", message) from None
