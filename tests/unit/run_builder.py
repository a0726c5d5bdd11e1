"""Small runs with chosen samples, for tests that compute the expected values by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from harness.built import built, counted
from manifests import manifest_of

from dvsim.kinds.rabbitmq.spec import Scenario, System
from dvsim.scenario.sampled import Column, Probe, Reference, Tolerance, Workload
from dvsim.scenario.types import Card
from dvsim.table.result import Result
from dvsim.table.samples import SAMPLES

SECOND = 10**12
INTERVAL = 5_001_000_000  # ps


def card(kind: str) -> Card:
    return Card(name=kind, kind=kind, title="", notes="", parameters={})


def vortex_scenario(size: int = 8, name: str | None = None) -> Scenario:
    return Scenario(
        name=name or f"h3/dv-{size}",
        path="",
        title="",
        question="",
        source="",
        loop="closed",
        workload=Workload(message_bytes=size, messages=1000, iterations=1),
        system=System(
            transport="data-vortex",
            receivers=2,
            card=card("vortex"),
            broker=card("broker"),
            bridge=card("bridge"),
        ),
        probe=Probe("interval", INTERVAL, None, {"r1": Column(1, (1,)), "r2": Column(2, (1,))}),
        reference=Reference("h3_message_rates.csv", "data-vortex", ("r1",)),
        tolerance=Tolerance(),
    )


def tcp_scenario(size: int = 8, name: str | None = None, receivers: int = 2) -> Scenario:
    base = vortex_scenario(size, name or f"h3/fdr-{size}")
    return replace(
        base,
        system=System(
            transport="tcp",
            receivers=receivers,
            card=card("link"),
            broker=card("broker"),
            publisher=card("publisher"),
        ),
        probe=Probe("batch", None, 10_000, {"r1": Column(0, (1,)), "r2": Column(0, (2,))}),
        reference=Reference("h3_message_rates.csv", "fdr-ipoib", ()),
    )


def samples(
    counts: Mapping[tuple[int, int, int], Sequence[int]],
    duration_ps: int = SECOND,
    per_message: int = 1,
) -> pd.DataFrame:
    """Samples with pieces by (replication, iteration, receiver); messages are rounded down."""
    parts = []
    for (replication, iteration, receiver), pieces in counts.items():
        index = np.arange(len(pieces))
        parts.append(
            pd.DataFrame(
                {
                    "replication": replication,
                    "iteration": iteration,
                    "receiver": receiver,
                    "index": index,
                    "start_ps": index * duration_ps,
                    "duration_ps": duration_ps,
                    "pieces": list(pieces),
                    "messages": [count // per_message for count in pieces],
                }
            )
        )
    return pd.concat(parts, ignore_index=True).astype(dict(SAMPLES))


def counters(values: Mapping[tuple[str, str], float]) -> pd.DataFrame:
    """Counters of replication 1, iteration 1, by (component, metric)."""
    return counted((1, 1, *name, value) for name, value in values.items())


def run_of(
    scenario: Scenario, table: pd.DataFrame, counts: Mapping[tuple[str, str], float] | None = None
) -> Result:
    return built(scenario, table, counters(counts or {}), manifest_of())


def steady_tcp(scenario: Scenario, rate: int, batches: int = 4) -> Result:
    """A TCP run in which every batch takes one second: the rate of each is its size."""
    table = samples({(1, 1, 0): [rate] * batches, (1, 2, 0): [rate] * batches})
    return run_of(scenario, table)


def bursty_vortex(
    scenario: Scenario,
    active_rate: int,
    active: int = 2,
    empty: int = 98,
    per_message: int = 1,
    counted: Mapping[tuple[str, str], float] | None = None,
) -> Result:
    """A Data Vortex run whose poll intervals of one second are either empty or at `active_rate`."""
    pieces = [0] * empty + [active_rate] * active
    table = samples({(1, 1, 1): pieces, (1, 1, 2): pieces}, per_message=per_message)
    return run_of(scenario, table, counted)
