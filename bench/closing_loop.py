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
from dvsim.kinds.rabbitmq.calibration import beside_simulated
from dvsim.kinds.rabbitmq.calibration.cards import cards_of
from dvsim.kinds.rabbitmq.calibration.measured import iterations_of
from dvsim.kinds.rabbitmq.spec import Scenario
from dvsim.session import run_scenarios
from dvsim.study.table import plain_lines
from dvsim.table.result import Result

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


def measured(rounds: int) -> dict[Path, Result]:
    """Measure all sizes over both paths, round after round, every other one backwards."""
    found = {}
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
            found |= {Path(f"round-{number}/{run.scenario.name}"): run for run in runs}
    return found


def main() -> None:
    """Measure, calibrate, predict, compare."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    runs = measured(rounds)
    iterations = iterations_of(runs)
    off: dict[str, list[float]] = {"simulator": [], "naive": []}
    for path, own in iterations.groupby("transport"):
        fit = own[own["message_bytes"].isin(FITTED)]
        cards = cards_of(fit, runs, str(path), "bench/closing_loop.py")
        print("\n".join(plain_lines(beside_simulated(fit, runs, cards).lines())))
        print(f"\n{path}: us per message and receiver; cards of the fitted sizes only")
        table = beside_simulated(own, runs, cards).rows
        logs = np.log(table[["message_bytes", "time_s"]])[table["message_bytes"].isin(FITTED)]
        straight = np.interp(np.log(table["message_bytes"]), logs["message_bytes"], logs["time_s"])
        table = table.assign(
            held_out=table["message_bytes"].isin(HELD_OUT),
            error=table["simulated_s"] / table["time_s"] - 1,
            naive=np.exp(straight) / table["time_s"] - 1,
            se=table["sd"] / np.sqrt(table["iterations"]),
        )
        shown = ["message_bytes", "held_out", "time_s", "se", "simulated_s", "error", "naive"]
        print(table[shown].to_string(index=False), "\n")
        held = table[table["held_out"]]
        off["simulator"] += np.abs(np.log1p(held["error"])).tolist()
        off["naive"] += np.abs(np.log1p(held["naive"])).tolist()
    for who, errors in off.items():
        mean = math.exp(sum(errors) / len(errors)) - 1
        print(f"{who}: mean log error of the {len(errors)} held-out sizes {mean:.1%}")
    ratio = sum(off["simulator"]) / sum(off["naive"])
    row("log error of sizes held out", "straight lines between those measured", ratio, "less")


if __name__ == "__main__":
    main()
