"""Runs that look measured: simulated with known cards, with a manifest of an emulated run."""

from dataclasses import replace

import pandas as pd

from dvsim.contract.load import load
from dvsim.core.probe import Counter
from dvsim.session import run_scenarios
from dvsim.study.samples import COUNTER_COLUMNS

HOST = {"cpu": "Some CPU", "cores": 4, "system": "Linux", "python": "3.11", "packages": {"a": "1"}}
QUESTION = {"clusters": 1, "nodes": 1, "promise": "at least once"}
MESSAGES = {8: 400_000, 2048: 100_000, 131072: 4_000}
BROKER_S = {8: 20e-6, 2048: 25e-6, 131072: 300e-6}


def emulated(transport, size, overrides=(), *, messages=None, replications=4):
    """A run of backend sim in the clothes of an emulated one, in memory."""
    messages = messages or MESSAGES[size]
    sets = [
        f"workload.message_bytes={size}",
        f"workload.messages={messages}",
        "workload.iterations=2",
        *(["system.fidelity=flow"] if transport == "dv" else [f"probe.batch={messages // 40}"]),
        *overrides,
    ]
    scenario = replace(load(f"h3/{transport}-8", sets), name=f"h3/{transport}-{size}")
    how = {"workers": 1, "replications": replications}
    (run,) = run_scenarios([scenario], out=None, **how)
    brokers = [{"receiver": 1, "product": "RabbitMQ", "version": "3.10.8"}]
    manifest = {
        **run.manifest,
        "backend": "emu",
        "host": HOST,
        "emulated": {"question": QUESTION, "brokers": brokers},
    }
    return replace(run, backend="emu", manifest=manifest, counters=_counters(run, size))


def _counters(run, size):
    """What an emulated run counts: CPU seconds per message, and how busy the machine was."""
    kinds = {"broker": BROKER_S.get(size, 30e-6), "bridge": 5e-6 + 1e-9 * size}
    if run.scenario.system.publisher is not None:
        kinds = {"broker": kinds["broker"], "publisher.1": 30e-6, "publisher.2": 32e-6}
    rows = [
        (replication, iteration, *Counter(component, "cpu_per_message", value, "s").row)
        for replication in range(1, run.replications + 1)
        for iteration in (1, 2)
        for component, value in kinds.items()
    ]
    rows += [
        (replication, iteration, "machine", 0, "busy", 0.9, "1")
        for replication in range(1, run.replications + 1)
        for iteration in (1, 2)
    ]
    return pd.DataFrame(rows, columns=list(COUNTER_COLUMNS)).astype(dict(COUNTER_COLUMNS))
