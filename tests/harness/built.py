"""Results of systems with chosen samples and counters."""

import pandas as pd

from dvsim.core.probe import Counter
from dvsim.table.metrics import VALUES
from dvsim.table.result import Result
from dvsim.table.samples import SAMPLES, statistics

COUNTERS = ["replication", "iteration", "component", "instance", "metric", "value"]


def empty_samples():
    return pd.DataFrame({name: pd.Series([], dtype=kind) for name, kind in SAMPLES.items()})


def counted(rows):
    """Counters of (replication, iteration, component with its instance, metric, value)."""
    cells = [
        (n, at, *Counter(name, metric, float(v), "1").row[:4]) for n, at, name, metric, v in rows
    ]
    return pd.DataFrame(cells, columns=COUNTERS)


def values_of(scenario, samples, counters):
    """The values of a run with these samples and counters."""
    numbers = sorted({*samples["replication"], *counters["replication"]})
    parts = []
    for number in numbers:
        own = samples[samples["replication"] == number]
        arrays = {name: own[name].to_numpy() for name in SAMPLES}
        rows = [
            (number, 0, component, 0, metric, value)
            for component, metric, value in statistics(arrays, scenario)
        ]
        mine = counters.loc[counters["replication"] == number, COUNTERS]
        parts += [pd.DataFrame(rows, columns=COUNTERS), mine] if rows else [mine]
    table = pd.concat(parts or [counters[COUNTERS]], ignore_index=True)
    return table.assign(point=0)[list(VALUES)].astype(dict(VALUES))


def built(scenario, samples, counters, manifest, *, seed=1, replications=None, folder=None):
    """The result that has them."""
    times = int(samples["replication"].max()) if replications is None else replications
    values = values_of(scenario, samples, counters)
    return Result(scenario, seed, times, folder, manifest, values, {"samples": samples})


def with_counters(run, counters):
    """The same run with other counters."""
    values = values_of(run.scenario, run.sides["samples"], counters)
    return Result(
        run.scenario, run.seed, run.replications, run.folder, run.manifest, values, run.sides
    )


def counters_of(run):
    """What components counted."""
    return run.values[run.values["iteration"] > 0].reset_index(drop=True)
