"""Does the simulator, with cards measured on this machine, predict sizes that were not measured?

Emulated runs at 8, 2,048 and 131,072 B give the cards (`dvsim calibrate`); the simulator predicts
256 and 8,192 B with them; those are measured too. All sizes are measured in turns, round after
round, so that other work on the machine falls on all of them. Beside it a naive rival: straight
lines between the measured sizes, in logarithms. Over cards with publisher confirms, so that it is
the broker that is measured and not what sockets hold; over TCP without, where the end of each batch
is what the broker answers.

    bench/closing_loop.py [ROUNDS]
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from rows import row

from dvsim.contract.load import load
from dvsim.emulation.settings import Emulation
from dvsim.evidence.statistics import logs_apart
from dvsim.kinds.rabbitmq.calibration import Calibration
from dvsim.kinds.rabbitmq.calibration.cards import cards_of
from dvsim.kinds.rabbitmq.calibration.points import Point, points_of
from dvsim.kinds.rabbitmq.calibration.runs import Given
from dvsim.kinds.rabbitmq.calibration.simulated import simulated_s
from dvsim.kinds.rabbitmq.calibration.text import machine
from dvsim.kinds.rabbitmq.spec import Scenario
from dvsim.session import run_scenarios
from dvsim.study.run import Run

FITTED = (8, 2_048, 131_072)
HELD_OUT = (256, 8_192)
MESSAGES = {8: 30_000, 256: 30_000, 2_048: 24_000, 8_192: 16_000, 131_072: 2_000}
ITERATIONS = 2
BATCHES = 20
ROUNDS = 4
PATHS = {"dv": True, "fdr": False}
"""The paths, and whether there are confirms."""


def scenario(path: str, size: int) -> Scenario:
    """Return the harness of the paper with few messages of a size."""
    messages = MESSAGES[size]
    sets = [
        f"workload.message_bytes={size}",
        f"workload.messages={messages}",
        f"workload.iterations={ITERATIONS}",
    ]
    if path == "fdr":
        sets.append(f"probe.batch={messages // BATCHES}")
    return replace(load(f"h3/{path}-8", sets), name=f"h3/{path}-{size}")


def measured(rounds: int) -> list[Given]:
    """Measure all sizes over both paths, round after round, every other one backwards."""
    found = []
    for number in range(1, rounds + 1):
        for path, confirms in PATHS.items():
            sizes = sorted(MESSAGES, reverse=number % 2 == 0)
            runs = run_scenarios(
                [scenario(path, size) for size in sizes],
                seed=number,
                out=None,
                scale=1,
                backend=Emulation(clusters=1, nodes=1, at_least_once=confirms),
            )
            print(f"round {number} of {rounds}: {path} measured", file=sys.stderr)
            found += [
                Given(Path(f"round-{number}/{run.scenario.name}"), run)
                for run in runs
                if isinstance(run, Run)
            ]
    return found


def interpolated_s(points: list[Point], size: int) -> float:
    """Return the naive rival: a straight line between the sizes around, in logarithms."""
    logs = [(math.log(point.size), math.log(point.time_s)) for point in points]
    return math.exp(float(np.interp(math.log(size), *zip(*logs, strict=True))))


def shown(point: Point, held: bool, predicted_s: float, naive_s: float) -> str:
    """Return the line of a size."""
    spread, freedom = logs_apart([[pace.time_s for pace in point.paces]])
    error = (spread or 0.0) / math.sqrt(freedom + 1)
    us = (f"{value * 1e6:>10,.1f}" for value in (point.time_s, predicted_s, naive_s))
    time, predicted, naive = us
    off, rival = (value / point.time_s - 1 for value in (predicted_s, naive_s))
    row = f"  {'held out' if held else 'fitted':<9}{point.size:>8,} B {time} ±{error:>4.0%}"
    row += f" {predicted} {off:>+7.1%}"
    return row + (f" {naive} {rival:>+7.1%}" if held else "")


def main() -> None:
    """Measure, calibrate, predict, compare."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    points = points_of(measured(rounds))
    off: dict[str, list[float]] = {"simulator": [], "naive": []}
    for path in dict.fromkeys(point.transport for point in points):
        fit = [p for p in points if p.transport == path and p.size in FITTED]
        held = [p for p in points if p.transport == path and p.size in HELD_OUT]
        cards = cards_of(fit, path, "bench/closing_loop.py", machine(fit[0]))
        times = simulated_s([point.scenario for point in [*fit, *held]], cards)
        print("\n".join(Calibration(tuple(fit), tuple(cards), tuple(times[: len(fit)])).lines()))
        print(f"\n{path}: us per message and receiver; cards of the fitted sizes only")
        print("                        measured  (se)  simulated   error  log-log   error")
        for point, predicted_s in zip([*fit, *held], times, strict=True):
            naive_s = interpolated_s(fit, point.size)
            print(shown(point, point in held, predicted_s, naive_s))
            if point in held:
                off["simulator"].append(abs(math.log(predicted_s / point.time_s)))
                off["naive"].append(abs(math.log(naive_s / point.time_s)))
        print()
    for who, errors in off.items():
        mean = math.exp(sum(errors) / len(errors)) - 1
        print(f"{who}: mean log error of the {len(errors)} held-out sizes {mean:.1%}")
    ratio = sum(off["simulator"]) / sum(off["naive"])
    row("log error of sizes held out", "straight lines between those measured", ratio, "less")


if __name__ == "__main__":
    main()
