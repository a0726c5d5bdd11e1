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
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd

from dvsim.evidence.affine import fit_law
from dvsim.evidence.statistics import Floats, deviation_within, logs_apart
from dvsim.kinds.rabbitmq.calibration.measured import POINT, Runs, machine, points_of
from dvsim.kinds.rabbitmq.calibration.steady import paces
from dvsim.kinds.rabbitmq.spec import Scenario
from dvsim.scenario.card_kinds import KINDS
from dvsim.scenario.types import Card, Parameter
from dvsim.scenario.units import Law, format_value
from dvsim.study.design import Trial, Variants
from dvsim.study.execute import Runs as InProcesses
from dvsim.study.execute import execute
from dvsim.table.result import Result

CONFIDENCE = "measured-here"
POLL = 100_000_000  # ps: short against all that a burst takes; shorter ones are only work
REPLICATIONS, SEED = 20, 1  # their spread must not be taken for an error

Said = dict[str, tuple[float | Law, str]]
"""The value of a parameter, and how it was measured."""


def cards_of(iterations: pd.DataFrame, runs: Runs, name: str, command: str) -> list[Card]:
    """Return the cards that iterations give: bridge or publishers for each path, and a broker.

    There is no broker card if the brokers were somebody else's, whose CPU time nobody counted.

    Args:
        iterations, runs: See `dvsim.kinds.rabbitmq.calibration.measured`.
        name: What the names of the cards begin with.
        command: What was typed, for the source of each value.
    """
    made = []
    over_tcp = iterations["transport"] == "tcp"
    for used, maker in ((~over_tcp, _bridge), (over_tcp, _publisher), (over_tcp | True, _broker)):
        rows = iterations[used]
        points = points_of(rows, runs)
        if rows.empty or (maker is _broker and points["broker"].isna().all()):
            continue
        system = runs[points["folder"][0]].scenario.system
        role = maker.__name__.removeprefix("_")
        title, said = maker(system.cards[role], rows, points)
        folders = dict.fromkeys(str(folder) for some in points["folders"] for folder in some)
        how = f"runs {', '.join(folders)}; on {machine(runs)}; {command}"
        card = _card(system.cards[role], name, f"{title}, on this machine", said, how)
        notes = f"Measured on {machine(runs)}. Not measured, taken from {system.cards[role].name}: "
        notes += ", ".join(key for key in card.parameters if key not in said) + "."
        made.append(replace(card, notes=notes))
    return made


def _card(base: Card, name: str, title: str, said: Said, how: str) -> Card:
    parameters = {}
    for key, spec in KINDS[base.kind].items():
        if key in said:
            value, source = said[key]
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
        elif key in base.parameters:  # optional ones may not be there
            parameters[key] = base.parameters[key]
    return Card(f"{name}-{base.kind}", base.kind, title, "", parameters)


Made = tuple[str, Said]
"""Title, values."""


def _law(points: pd.DataFrame, times: Floats | pd.Series[float], source: str) -> tuple[Law, str]:
    sizes = points["message_bytes"].tolist()
    text = ", ".join(f"{size:,}" for size in dict.fromkeys(sizes))
    alone = "; one size only, hence a constant" if len(set(sizes)) == 1 else ""
    return fit_law(sizes, times.tolist()), f"{source}, at {text} B{alone}"


def _bridge(base: Card, rows: pd.DataFrame, points: pd.DataFrame) -> Made:
    said: Said = {}
    sockets = min(base["sockets"], base["threads"])
    sigma = deviation_within(rows["scatter"])[0]
    lift = math.exp((sigma or base["push_scatter"]) ** 2 / 2)  # the mean of what has median 1
    source = (
        "elapsed time per message and receiver, with all waiting for the broker and for cores, "
        f"of {_many(sockets, 'socket')}; median"
    )
    said["push"] = _law(points, points["time_s"] * sockets / lift, source)
    source = "log-normal sigma between sixteenths of an iteration, sizes apart; that bursts are "
    _scatter(said, "push_scatter", sigma, f"{source}long and short is in it")
    counted = points[points["bridge"].notna()]
    if len(counted):
        source = (
            "CPU time of the whole bridge per message, the pushing included: a bound from above"
        )
        said["convert"] = _law(counted, counted["bridge"], source)
    said["push_off_heap"] = 0, "is in push, which was measured with it"
    bursts = rows["burst_ps"][rows["burst_ps"] > 0]
    if len(bursts):
        source = "messages between two empty intervals times vic_to_dram, geometric mean"
        said["release"] = max(1, round(float(np.exp(np.log(bursts.to_numpy()).mean())))), source
    _spread(said, rows)
    said["poll_interval"] = POLL, "short: it is woken and does not poll; waiting is in push"
    said["reaction"] = 0, "a sender waits for credit, which is in push"
    return "vicbridge between emulated cards and RabbitMQ", said


def _publisher(base: Card, rows: pd.DataFrame, points: pd.DataFrame) -> Made:
    said: Said = {}
    processes = base["processes"]
    widths = deviation_within(rows["scatter"])[0]
    sigma = base["publish_scatter"] if widths is None else widths / slowest_sigma(processes)
    slowest = slowest_mean(processes, sigma)
    source = f"elapsed time per message in one of {_many(processes, 'process')}, with all waiting "
    source += "for brokers and for cores; median, a batch ends with the slowest"
    if points["publisher"].notna().all():
        costs = zip(points["publisher"], points["message_bytes"], strict=True)
        texts = ", ".join(f"{cpu_s * 1e6:.3g} us at {size:,} B" for cpu_s, size in costs)
        source += f"; CPU time of it {texts}"
    times = points["time_s"] / points["receivers"] * processes / slowest
    said["publish"] = _law(points, times, source)
    source = f"log-normal sigma of one process, such that the slowest of {processes} scatters as "
    source += "batches do, sizes apart"
    _scatter(said, "publish_scatter", None if widths is None else sigma, source)
    _spread(said, rows)
    return "Publisher processes on pika", said


def _broker(_: Card, rows: pd.DataFrame, points: pd.DataFrame) -> Made:
    points = points[points["broker"].notna()]
    crowded = (points["receivers"] / points["cores"]).clip(lower=1.0)
    times = np.minimum(points["broker"] * crowded, points["time_s"])
    source = "CPU time of the brokers per message, shared with those of the other receivers if "
    source += "there are fewer cores; at most the elapsed time"
    law = _law(points, times, source)
    contained = "that of a broker cannot be told from its publishers'; it is in their scatter"
    said: Said = {"service": law, "read_cost": (0, "is in service, which was measured with it")}
    said["scatter"] = 0.0, contained
    counted = rows.merge(points[POINT])
    spread, _freedom = logs_apart([part.tolist() for _, part in counted.groupby(POINT)["broker"]])
    _scatter(said, "run_spread", spread, "log-normal sigma of its CPU time between iterations")
    return "A private RabbitMQ node", said


def _spread(said: Said, rows: pd.DataFrame) -> None:
    spread, freedom = logs_apart([part.tolist() for _, part in rows.groupby(POINT)["time_s"]])
    source = "log-normal sigma of the elapsed time between iterations, "
    _scatter(said, "run_spread", spread, f"{source}{freedom} degrees of freedom")


def _scatter(said: Said, name: str, sigma: float | None, source: str) -> None:
    if sigma is not None:
        said[name] = float(f"{min(sigma, 5.0):.3g}"), source


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}{'es' if what[-1] == 's' else 's'}"


def simulated_s(scenarios: Sequence[Scenario], cards: Sequence[Card]) -> list[float]:
    """Return the simulated seconds per message and receiver of scenarios, found as measured.

    Of scenarios that the cards were made of this is no prediction: it says whether the simulator
    gives back what went in.
    """
    by_kind = {card.kind: card for card in cards}
    trials = []
    for scenario in scenarios:
        system = scenario.system
        # the fabric is no part of what was measured: it need not be run word by word
        fidelity: Literal["flow"] | None = "flow" if system.over_cards else None
        used = {role: by_kind[role] for role in by_kind if getattr(system, role) is not None}
        changed = replace(system, fidelity=fidelity, **used)  # type: ignore[arg-type]
        trials.append(Trial(replace(scenario, system=changed), REPLICATIONS))
    runs = execute(Variants(trials), InProcesses(SEED, None, workers=1))
    return [time_s(run) for run in runs]


def time_s(run: Result) -> float:
    """Return the seconds per message and receiver of a run: geometric mean over iterations."""
    batches = run.scenario.probe.batch is not None
    found = paces(run.sides["samples"], run.scenario.system.receivers, batches=batches)
    return float(np.exp(np.mean([np.log(pace.time_s) for pace in found])))


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
    from scipy.special import ndtr

    z = np.linspace(-10.0, 14.0, 24_001)
    density = count * np.exp(-(z**2) / 2.0) / np.sqrt(2 * np.pi) * ndtr(z) ** (count - 1)
    return float(np.trapezoid(function(z) * density, z))
