"""One replication of messaging over hosts, and the tables of many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from dvsim.errors import RunFailed
from dvsim.kinds.hosts.metrics import STAGE_COLUMNS
from dvsim.kinds.hosts.run import run_point
from dvsim.kinds.hosts.spec import MessagingScenario

if TYPE_CHECKING:
    from dvsim.kinds.study import Done


class Flow(NamedTuple):
    """What one run gives, see `dvsim.kinds.hosts.run.Outcome`."""

    metrics: Mapping[str, float]
    stages: Mapping[str, float]
    events: int
    fidelity: str = "cycle"
    notes: str = ""


def flow(scenario: MessagingScenario, seed: int, replication: int) -> Flow:
    """Run one replication of a point.

    Raises:
        RunFailed: If messages are lost or invented, or a time is too large.
    """
    try:
        return Flow(*run_point(scenario, seed, replication))
    except OverflowError as error:
        raise RunFailed(f"a time is too large for 64 bits: {error}") from error


def stages_of(runs: Sequence[Done]) -> pd.DataFrame:
    """Return how busy each stage of each point was, the mean over its runs."""
    used = [
        (run.point, stage, share) for run in runs for stage, share in run.reading.stages.items()
    ]
    stages = pd.DataFrame(used, columns=list(STAGE_COLUMNS))
    stages = stages.groupby(["point", "stage"], sort=False, as_index=False).mean()
    return stages.astype(dict(STAGE_COLUMNS))
