"""What enters a switch: the arguments of a run, checked, and as the core wants them.

An arrival is a function of seed, port and slot, never of what happened before. So the same seed
offers the same packets to every switch, whatever its crossing, faults or number of threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dvsim.core.vortex_params import Ints, VortexParams
from dvsim.switch.check import choice, share, whole
from dvsim.switch.trace import Trace, read_trace
from dvsim.switch.wiring import GOLDEN, random_order

if TYPE_CHECKING:
    from dvsim.switch.switch import Switch

TRAFFICS = (
    "uniform",
    "bit-complement",
    "transpose",
    "shuffle",
    "permutation",
    "hot-spot",
    "bursty",
    "trace",
)
INJECTIONS = ("drop", "queue", "saturate", "given")
MOST_LANES = 65536  # angles times replications, see vortex.h
_ONE = 1 << 32
_OWN = {"hot": "hot-spot", "burst": "bursty", "duty": "bursty", "trace": "trace"}
_OWN |= {"permutation": "permutation"}


def replication_seed(seed: int, replication: int) -> int:
    """Return the seed whose single run is replication 0, 1, … of a run with `seed`.

    >>> replication_seed(1, 0)
    1
    """
    return (seed + replication * GOLDEN) & ((1 << 64) - 1)


@dataclass(frozen=True, eq=False)
class Offer:
    """The checked arguments of one run that say what is offered and how it enters."""

    load: float | None
    traffic: str
    injection: str
    seed: int
    replications: int
    watch: int
    hot: tuple[float, tuple[int, ...]] | None
    burst: int | None
    duty: float | None
    permutation: tuple[int, ...] | None
    trace: Trace | None


def check_offer(
    switch: Switch,
    *,
    load: float | None,
    traffic: str,
    injection: str,
    seed: int,
    replications: int,
    watch: int,
    hot: tuple[float, Iterable[int]] | None,
    burst: int | None,
    duty: float | None,
    trace: Any,  # noqa: ANN401 - a path or three arrays
    permutation: Sequence[int] | None,
) -> Offer:
    """Check the arguments of `Switch.run`; ValueError says which is wrong and what is allowed."""
    choice("traffic", traffic, TRAFFICS)
    choice("injection", injection, INJECTIONS)
    given = {"hot": hot, "burst": burst, "duty": duty, "trace": trace, "permutation": permutation}
    for name, value in given.items():
        if value is not None and traffic != _OWN[name]:
            raise ValueError(f"{name} is only for traffic {_OWN[name]!r}, traffic is {traffic!r}")
        if value is None and traffic == _OWN[name]:
            raise ValueError(f"traffic {traffic!r} needs {name}")
    replications = whole("replications", replications, 1, MOST_LANES // switch.angles)
    watch = whole("watch", watch, 0)
    if replications > 1 and (watch or switch.faults or injection == "given"):
        what = "watch" if watch else "faults" if switch.faults else "injection 'given'"
        raise ValueError(f"replications must be 1 with {what}, is {replications}")
    if traffic == "transpose" and switch.cylinders % 2 == 0:
        raise ValueError(f"traffic 'transpose' needs height 4, 16, 64, …, is {switch.height}")
    load = _checked_load(load, traffic, injection)
    if duty is not None:
        duty = share("duty", duty)
        if load is None or duty == 0 or load > duty:
            raise ValueError(f"duty must be above 0 and at least the load of {load}, is {duty:g}")
    return Offer(
        load=load,
        traffic=traffic,
        injection=injection,
        seed=whole("seed", seed, 0, (1 << 64) - 1),
        replications=replications,
        watch=watch,
        hot=None if hot is None else _checked_hot(hot, switch.outputs),
        burst=None if burst is None else whole("burst", burst, 1, 1 << 40),
        duty=duty,
        permutation=None if permutation is None else _checked_permutation(permutation, switch),
        trace=None if trace is None else _checked_trace(trace, switch),
    )


def params_of(switch: Switch, offer: Offer) -> VortexParams:
    """Return what the core needs to know."""
    load = 1.0 if offer.load is None else offer.load
    duty = 1.0 if offer.duty is None else offer.duty  # load is made in the frames that are on
    return VortexParams(
        height=switch.height,
        angles=switch.angles,
        injecting=switch.injecting,
        replications=offer.replications,
        crossing=switch.crossing,
        exit_rule=switch.exit,
        injection=offer.injection,
        seed=offer.seed,
        arrival_threshold=round(load / duty * _ONE),
        order=random_order(switch.height, offer.seed) if switch.crossing == "random" else None,
        destination=_destinations(switch, offer),
        hot=offer.hot[1] if offer.hot else (),
        hot_threshold=round(offer.hot[0] * _ONE) if offer.hot else 0,
        burst_slots=offer.burst or 0,
        burst_threshold=round(duty * _ONE) if offer.burst else 0,
        trace=offer.trace,
        faults=switch.faults,
        watched=offer.watch,
    )


def _checked_load(load: float | None, traffic: str, injection: str) -> float | None:
    if injection == "saturate":
        if traffic in ("bursty", "trace"):
            raise ValueError(f"injection 'saturate' does not go with traffic {traffic!r}")
        if load is not None and share("load", load) != 1:
            raise ValueError(
                f"load must be 1 or None with injection 'saturate', which always has a packet "
                f"to offer; is {load:g}"
            )
        return None
    if traffic == "trace" or injection == "given":
        why = "injection 'given'" if injection == "given" else "traffic 'trace'"
        if load is not None:
            raise ValueError(f"load must be None with {why}, which says what arrives; is {load:g}")
        if injection == "given" and traffic != "uniform":
            raise ValueError(f"injection 'given' does not go with traffic {traffic!r}")
        return None
    return share("load", load)


def _checked_hot(hot: tuple[float, Iterable[int]], outputs: int) -> tuple[float, tuple[int, ...]]:
    try:
        fraction, targets = hot
        ports = tuple(targets)
    except (TypeError, ValueError):
        raise ValueError(f"hot must be (fraction, outputs), is {hot!r}") from None
    if not ports:
        raise ValueError("hot names no output")
    checked = tuple(whole("an output in hot", port, 0, outputs - 1) for port in ports)
    return share("the fraction in hot", fraction), checked


def _checked_permutation(permutation: Sequence[int], switch: Switch) -> tuple[int, ...]:
    heights = tuple(
        whole("a height in permutation", height, 0, switch.height - 1) for height in permutation
    )
    if sorted(heights) != list(range(switch.height)):
        raise ValueError(
            f"permutation must name each of the {switch.height} heights once, "
            f"has {len(heights)} entries, {len(set(heights))} different"
        )
    return heights


def _checked_trace(trace: Any, switch: Switch) -> Trace:  # noqa: ANN401
    injects = np.isin(np.arange(switch.angles), switch.injecting)
    return read_trace(trace, np.repeat(injects, switch.height), switch.outputs)


def _destinations(switch: Switch, offer: Offer) -> Ints | None:
    """Return the addressed height of each height, where the traffic is a permutation."""
    heights = np.arange(switch.height, dtype=np.int64)
    bits = switch.cylinders - 1
    if offer.permutation is not None:
        return np.array(offer.permutation, dtype=np.int64)
    if offer.traffic == "bit-complement":
        return heights ^ (switch.height - 1)
    if offer.traffic == "shuffle":
        return (heights << 1 | heights >> (bits - 1)) & (switch.height - 1)
    if offer.traffic == "transpose":
        half = bits // 2
        return (heights << half | heights >> half) & (switch.height - 1)
    return None
