"""From points to cards of bridge, publisher and broker, each value with where it comes from.

What limits a path is one number per size: how long a message takes until the next can follow.
The model gives it to the stage next to the sender: to the push of the bridge over cards, to the
publishers over TCP. All waiting is in it, for the broker, for a core, for a poll; so what the
model would add to it is set to nothing. The broker gets the CPU time that it took.

A batch over TCP ends with the slowest of several publishers: how much slower it is than one of
them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dvsim.evidence.affine import Fitted, fit_law
from dvsim.evidence.statistics import deviation_within, logs_apart
from dvsim.kinds.rabbitmq.calibration.points import Point
from dvsim.scenario.card_kinds import KINDS
from dvsim.scenario.types import Card, Parameter
from dvsim.scenario.units import Law, format_value

CONFIDENCE = "measured-here"
POLL = 100_000_000  # ps: short against all that a burst takes; shorter ones are only work
DIGITS = 3  # of a scatter


@dataclass(frozen=True)
class Measured:
    """A card that was measured."""

    card: Card  # whole: what could not be measured is that of the run, with its own confidence
    # The laws among its values, by name, with the points that they go through.
    laws: Mapping[str, Fitted]
    points: Mapping[str, tuple[Point, ...]]  # the points of each law, in the order of its sizes

    def measured(self, name: str) -> bool:
        """Return whether a value was measured, and not taken over."""
        return self.card.parameters[name].confidence == CONFIDENCE


def cards_of(points: Sequence[Point], name: str, command: str, machine: str) -> list[Measured]:
    """Return the cards that points give: a bridge or publishers for each path, and a broker.

    There is no broker card if the brokers were somebody else's, whose CPU time nobody counted.

    Args:
        points: See `dvsim.kinds.rabbitmq.calibration.points.points_of`.
        name: What the names of the cards begin with.
        command: What was typed, for the source of each value.
        machine: Where, likewise.
    """
    results = []
    over_cards = [point for point in points if point.over_cards]
    over_tcp = [point for point in points if not point.over_cards]
    made = [(over_cards, _bridge), (over_tcp, _publisher), ([*points], _broker)]
    for used, maker in made:
        item = maker(used) if used else None
        if item is not None:
            runs = dict.fromkeys(str(folder) for point in used for folder in point.folders)
            how = f"runs {', '.join(runs)}; on {machine}; {command}"
            results.append(item.finished(name, how, machine))
    return results


class _Draft:
    def __init__(self, base: Card, title: str) -> None:
        self.base, self.title = base, title
        self.laws: dict[str, Fitted] = {}
        self.points: dict[str, tuple[Point, ...]] = {}
        self._said: dict[str, tuple[float | Law, str]] = {}

    def law(
        self, name: str, points: Sequence[Point], time_s: Callable[[Point], float], source: str
    ) -> None:
        used = tuple(points)
        fitted = fit_law([point.size for point in used], [time_s(point) for point in used])
        sizes = ", ".join(f"{size:,}" for size in dict.fromkeys(fitted.sizes))
        alone = "; one size only, hence a constant" if fitted.constant else ""
        self.laws[name], self.points[name] = fitted, used
        self.put(name, fitted.law, f"{source}, at {sizes} B{alone}")

    def put(self, name: str, value: float | Law, source: str) -> None:
        self._said[name] = (value, source)

    def scatter(self, name: str, sigma: float | None, source: str) -> None:
        if sigma is not None:
            self.put(name, float(f"{min(sigma, 5.0):.{DIGITS}g}"), source)

    def finished(self, name: str, how: str, machine: str) -> Measured:
        kind = self.base.kind
        parameters = {}
        for key, spec in KINDS[kind].items():
            if key not in self._said:
                if key in self.base.parameters:  # optional ones may not be there
                    parameters[key] = self.base.parameters[key]
                continue
            value, source = self._said[key]
            parameters[key] = Parameter(
                name=key,
                value=value,
                dimension=spec.dimension,
                text=format_value(value, spec.dimension),
                confidence=CONFIDENCE,
                source=f"{source}; {how}",
                fitted=None,
                origin=name,
            )
        taken = [key for key in parameters if key not in self._said]
        notes = f"Measured on {machine}. Not measured, taken from {self.base.name}: "
        notes += ", ".join(taken) + "."
        card = Card(f"{name}-{kind}", kind, f"{self.title}, on this machine", notes, parameters)
        return Measured(card, self.laws, self.points)


def _bridge(points: Sequence[Point]) -> _Draft:
    base = points[0].scenario.system.bridge
    if base is None:
        raise ValueError("a run over cards has a bridge card")
    draft = _Draft(base, "vicbridge between emulated cards and RabbitMQ")
    sockets = min(base["sockets"], base["threads"])
    sigma = _scatter(points)
    lift = math.exp((sigma or base["push_scatter"]) ** 2 / 2)  # the mean of what has median 1
    draft.law(
        "push",
        points,
        lambda point: point.time_s * sockets / lift,
        "elapsed time per message and receiver, with all waiting for the broker and for cores, "
        f"of {_many(sockets, 'socket')}; median",
    )
    draft.scatter(
        "push_scatter",
        sigma,
        "log-normal sigma between sixteenths of an iteration, sizes apart; that bursts are long "
        "and short is in it",
    )
    counted = [point for point in points if "bridge" in point.cpu_s]
    if counted:
        draft.law(
            "convert",
            counted,
            lambda point: point.cpu("bridge"),
            "CPU time of the whole bridge per message, the pushing included: a bound from above",
        )
    draft.put("push_off_heap", 0, "is in push, which was measured with it")
    bursts = [
        pace.burst * point.scenario.system.card["vic_to_dram"].ps(point.size)
        for point in points
        for pace in point.paces
        if pace.burst
    ]
    if bursts:
        burst_ps = max(1, round(float(np.exp(np.log(bursts).mean()))))
        source = "messages between two empty intervals times vic_to_dram, geometric mean"
        draft.put("release", burst_ps, source)
    _spread(draft, points)
    draft.put("poll_interval", POLL, "short: it is woken and does not poll; waiting is in push")
    draft.put("reaction", 0, "a sender waits for credit, which is in push")
    return draft


def _publisher(points: Sequence[Point]) -> _Draft:
    base = points[0].scenario.system.publisher
    if base is None:
        raise ValueError("a run over TCP has a publisher card")
    draft = _Draft(base, "Publisher processes on pika")
    processes = base["processes"]
    widths = _scatter(points)
    sigma = base["publish_scatter"] if widths is None else widths / slowest_sigma(processes)
    slowest = slowest_mean(processes, sigma)
    source = f"elapsed time per message in one of {_many(processes, 'process')}, with all waiting "
    source += "for brokers and for cores; median, a batch ends with the slowest"
    if all("publisher" in point.cpu_s for point in points):
        costs = ", ".join(f"{p.cpu('publisher') * 1e6:.3g} us at {p.size:,} B" for p in points)
        source += f"; CPU time of it {costs}"
    draft.law(
        "publish",
        points,
        lambda point: point.time_s / point.receivers * processes / slowest,
        source,
    )
    draft.scatter(
        "publish_scatter",
        None if widths is None else sigma,
        f"log-normal sigma of one process, such that the slowest of {processes} scatters as "
        "batches do, sizes apart",
    )
    _spread(draft, points)
    return draft


def _broker(points: Sequence[Point]) -> _Draft | None:
    counted = [point for point in points if "broker" in point.cpu_s]
    if not counted:
        return None
    draft = _Draft(counted[0].scenario.system.broker, "A private RabbitMQ node")
    draft.law(
        "service",
        counted,
        _broker_s,
        "CPU time of the brokers per message, shared with those of the other receivers if there "
        "are fewer cores; at most the elapsed time",
    )
    draft.put("read_cost", 0, "is in service, which was measured with it")
    contained = "that of a broker cannot be told from its publishers'; it is in their scatter"
    draft.put("scatter", 0.0, contained)
    logs = [point.cpu_s["broker"] for point in counted]
    spread, _ = logs_apart(logs)
    draft.scatter("run_spread", spread, "log-normal sigma of its CPU time between iterations")
    return draft


def _broker_s(point: Point) -> float:
    crowded = max(1.0, point.receivers / point.cores)
    return min(point.cpu("broker") * crowded, point.time_s)


def _spread(draft: _Draft, points: Sequence[Point]) -> None:
    times = [[pace.time_s for pace in point.paces] for point in points]
    spread, freedom = logs_apart(times)
    source = (
        f"log-normal sigma of the elapsed time between iterations, {freedom} degrees of freedom"
    )
    draft.scatter("run_spread", spread, source)


def _scatter(points: Sequence[Point]) -> float | None:
    groups = [pace.scatter for point in points for pace in point.paces]
    return deviation_within(groups)[0]


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}{'es' if what[-1] == 's' else 's'}"


def slowest_sigma(count: int) -> float:
    """Return the standard deviation of the largest of `count` standard normal numbers.

    >>> [round(slowest_sigma(count), 3) for count in (1, 2, 8)]
    [1.0, 0.826, 0.611]
    """
    first = _of_largest(lambda z: z, count)
    return math.sqrt(_of_largest(lambda z: z * z, count) - first * first)


def slowest_mean(count: int, sigma: float) -> float:
    """Return the mean of the largest of `count` log-normal numbers of median 1.

    >>> round(slowest_mean(1, 0.5), 4) == round(math.exp(0.125), 4)
    True
    """
    return _of_largest(lambda z: np.exp(sigma * z), count)


def _of_largest(function: Callable[[np.ndarray], np.ndarray], count: int) -> float:
    from scipy.stats import norm

    z = np.linspace(-10.0, 14.0, 24_001)
    density = count * norm.pdf(z) * norm.cdf(z) ** (count - 1)
    return float(np.trapezoid(function(z) * density, z))
