"""The fit of the cluster's cards to eight rates of the sizing study, made again.

Least squares of log(simulated / published) over the rates of 3x36 and 9x8 on io1 and st1, with
mirrored and quorum queues. A mirror costs what a hop costs; slopes over the size are not fitted.

    python docs/rabbitmq_model.py [--seconds N]
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping

from dvsim.contract.find import kind_of
from dvsim.contract.load import load
from dvsim.evidence.affine import nearest
from dvsim.evidence.claims.source import load_code
from dvsim.scenario.card import load_card
from dvsim.scenario.find import scenario_root
from dvsim.scenario.spec import Spec
from dvsim.scenario.types import Card, Parameter
from dvsim.scenario.units import Law
from dvsim.study.table import Table, plain_lines

CLAIMS = load_code(scenario_root() / "rabbit")
"""Which rates there are, and which of them were named before the fit."""
SECONDS = 100  # of each rate
PLACES = {
    "contention": ("host",),
    "hop": ("broker",),
    "follow": ("broker",),
    "disk_operation": ("broker",),
    "seek": ("storage",),
}
"""Each fitted number, and the role of the card that has it."""

KEPT = {"host": "c5-9xlarge", "broker": "rabbitmq-3-8", "storage": "st1-7000"}
NEAR = 0.9  # times what the cards have: where the search begins

Cluster = tuple[str, str, int, int]
"""Type of queue, volume, nodes and their vCPUs."""


def published() -> dict[Cluster, float]:
    """Return the highest rates of the study."""
    rates: dict[Cluster, float] = CLAIMS.published_rates()
    return rates


def held_out(cluster: Cluster) -> bool:
    """Return whether nothing was fitted to a rate."""
    return bool(CLAIMS.held_out(cluster))


def kept() -> dict[str, float]:
    """Return what the cards have, times in picoseconds."""
    return {key: _number(load_card(KEPT[role]).parameters[key]) for key, (role,) in PLACES.items()}


def rate_of(cluster: Cluster, values: Mapping[str, float], seconds: int) -> float:
    """Return the highest rate of a cluster whose cards have other numbers."""
    queue, volume, nodes, vcpus = cluster
    overrides = ("workload.rate=100_000", f"workload.seconds={seconds}")
    scenario: Spec = load("rabbit/one", overrides).at(0)
    named = {
        "host": CLAIMS.HOSTS[vcpus],
        "storage": CLAIMS.VOLUMES[volume],
        "broker": KEPT["broker"],
    }
    for key, value in {"queue": queue, "nodes": nodes}.items():
        scenario = scenario.put(key, value)
    for role, name in named.items():
        scenario = scenario.put(role, _having(load_card(name), values))
    return float(kind_of(scenario).replicate(scenario, 1, 1).metrics["rate_out"])


def fit(start: Mapping[str, float], seconds: int = SECONDS) -> dict[str, float]:
    """Return the numbers that come nearest to the eight rates, searched from some on."""
    rates = {size: rate for size, rate in published().items() if not held_out(size)}

    def misses(values: Mapping[str, float]) -> list[float]:
        return [math.log(rate_of(size, values, seconds) / rate) for size, rate in rates.items()]

    return nearest(start, misses, diff_step=0.002, xtol=1e-6, ftol=1e-6)


def _having(card: Card, values: Mapping[str, float]) -> Card:
    others: dict[str, float | Law] = {}
    for name, parameter in card.parameters.items():
        value, old = values.get("hop" if name == "mirror" else name), parameter.value
        if value is not None and (name != "seek" or old):
            law = isinstance(old, Law)
            others[name] = Law(round(value), card[name].per_byte_fs) if law else value
    return card.having(others)


def _number(parameter: Parameter) -> float:
    value = parameter.value
    if isinstance(value, Law):
        return float(value.fixed_ps)
    return float(value)


def lines(fitted: Mapping[str, float], seconds: int) -> Iterator[str | Table]:
    """Yield what a fit gives beside the cards, and the eight rates with both."""
    cards, rates = kept(), published()
    rows = [[key, *(f"{values[key]:.4g}" for values in (fitted, cards))] for key in fitted]
    yield "numbers, times in ps"
    yield Table(["number", "fitted", "card"], rows, [1, 2])
    yield ""
    yield "rates of the fit, msg/s"
    rows = [
        [f"{rate[0]} {rate[1]} {rate[2]}x{rate[3]}", f"{rates[rate]:,.0f}"]
        + [f"{rate_of(rate, values, seconds):,.0f}" for values in (fitted, cards)]
        for rate in rates
        if not held_out(rate)
    ]
    yield Table(["cluster", "published", "fitted", "cards"], rows, [1, 2, 3])


def main() -> None:
    """Fit, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=int, default=SECONDS, help="simulated, of each rate")
    seconds = parser.parse_args().seconds
    start = {key: value * NEAR for key, value in kept().items()}
    print(*plain_lines(lines(fit(start, seconds), seconds)), sep="\n")


if __name__ == "__main__":
    main()
