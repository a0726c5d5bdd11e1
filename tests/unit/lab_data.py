"""Files of a laboratory, and runs with chosen samples beside them."""

from dataclasses import replace

import numpy as np
import pandas as pd
from run_builder import run_of, tcp_scenario

from dvsim.table.samples import SAMPLES

PS_PER_S = 10**12
BATCH = 10_000
META = '[lab]\nunit = "msg/s"\nsample = "batch 10000"\n'


def run_with(rates, size=256, replications=10, name="h3/fdr-256"):
    """A run over TCP whose batches have these rates, dealt out to its replications."""
    parts = []
    for number, mine in enumerate(np.array_split(np.asarray(rates, dtype=float), replications), 1):
        duration = np.round(BATCH / mine * PS_PER_S).astype(np.int64)
        parts.append(
            pd.DataFrame(
                {
                    "replication": number,
                    "iteration": 1,
                    "receiver": 0,
                    "index": np.arange(mine.size),
                    "start_ps": np.concatenate([[0], np.cumsum(duration)[:-1]]),
                    "duration_ps": duration,
                    "pieces": BATCH,
                    "messages": BATCH,
                }
            )
        )
    table = pd.concat(parts, ignore_index=True).astype(dict(SAMPLES))
    return run_of(replace(tcp_scenario(size, name), reference=None), table)


def summary(samples, size=256):
    """A table in wide form of some samples."""
    names = ("25%", "50%", "75%", "90%", "95%", "99%")
    values = [len(samples), samples.mean(), samples.std(ddof=1), samples.min()]
    values += [np.quantile(samples, float(name[:-1]) / 100) for name in names] + [samples.max()]
    head = ["message_bytes", "count", "mean", "std", "min", *names, "max"]
    return ",".join(head) + "\n" + ",".join(map(str, [size, *values])) + "\n"
