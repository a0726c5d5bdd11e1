"""Runs that look measured: simulated with known cards, with a manifest of an emulated run."""

from dataclasses import replace

from harness.built import counted, with_counters
from manifests import changed

from dvsim.contract.load import load
from dvsim.session import run_scenarios

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
    known = {"question": QUESTION, "brokers": brokers}
    manifest = changed(run.manifest, backend="emu", host=HOST, emulated=known)
    return with_counters(replace(run, manifest=manifest), _counters(run, size))


def _counters(run, size):
    """What an emulated run counts: CPU seconds per message, and how busy the machine was."""
    kinds = {"broker": BROKER_S.get(size, 30e-6), "bridge": 5e-6 + 1e-9 * size}
    if run.scenario.system.publisher is not None:
        kinds = {"broker": kinds["broker"], "publisher.1": 30e-6, "publisher.2": 32e-6}
    rows = [
        (replication, iteration, component, metric, value)
        for replication in range(1, run.replications + 1)
        for iteration in (1, 2)
        for component, metric, value in (
            *((kind, "cpu_per_message", value) for kind, value in kinds.items()),
            ("machine", "busy", 0.9),
        )
    ]
    return counted(rows)
