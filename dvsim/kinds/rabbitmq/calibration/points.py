"""What was measured at each size, over each path: elapsed time and CPU time of a message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from dvsim.kinds.rabbitmq.calibration.runs import Given
from dvsim.kinds.rabbitmq.calibration.steady import Pace, paces
from dvsim.kinds.rabbitmq.spec import Scenario
from dvsim.study.emulated_text import known_of
from dvsim.study.run import Run

KINDS = ("sender", "bridge", "publisher", "broker")
"""Programs of which emulated runs count the CPU time, in the order of the path."""


@dataclass(frozen=True)
class Point:
    """All iterations of all runs of one size over one path."""

    scenario: Scenario  # of the first run
    folders: tuple[Path, ...]  # of the runs
    paces: tuple[Pace, ...]  # one for each iteration
    # CPU seconds per message of each kind of program, for each iteration; a kind that was not
    # counted is missing.
    cpu_s: Mapping[str, tuple[float, ...]]
    # Share of all cores' time that was spent, by whomever; None if it is not known.
    busy: float | None
    manifest: Mapping[str, Any]  # of the first run

    @property
    def transport(self) -> str:
        """The path: ``data-vortex`` or ``tcp``."""
        return self.scenario.system.transport

    @property
    def over_cards(self) -> bool:
        """Whether it was measured over cards, not over TCP."""
        return self.scenario.system.over_cards

    @property
    def path(self) -> str:
        """The path, for people."""
        return "over cards" if self.over_cards else "over TCP"

    @property
    def size(self) -> int:
        """Bytes of a message."""
        return self.scenario.workload.message_bytes

    @property
    def host(self) -> Mapping[str, Any]:
        """The machine, as the manifest has it."""
        return self.manifest.get("host") or {}

    @property
    def cores(self) -> int:
        """Cores of the machine."""
        return int(self.host.get("cores") or 1)

    @property
    def broker(self) -> str:
        """Product and version of the brokers."""
        brokers = known_of(self.manifest).get("brokers") or [{}]
        return f"{brokers[0].get('product')} {brokers[0].get('version')}"

    @property
    def promise(self) -> str:
        """``at most once`` or ``at least once``."""
        return str((known_of(self.manifest).get("question") or {}).get("promise"))

    @property
    def receivers(self) -> int:
        """How many receivers share the machine."""
        return self.scenario.system.receivers

    @property
    def time_s(self) -> float:
        """Seconds per message and receiver, the geometric mean over iterations."""
        return _middle(pace.time_s for pace in self.paces)

    @property
    def drift(self) -> float:
        """Later over earlier half of the steady part, the geometric mean over iterations."""
        drifts = [pace.drift for pace in self.paces]
        return _middle(drifts) if all(drifts) else 0.0

    @property
    def own(self) -> float | None:
        """Share of all cores' time that the counted programs had; None if brokers do not count."""
        if "broker" not in self.cpu_s:
            return None
        spent = sum(_middle(values) for values in self.cpu_s.values())
        return spent * self.receivers / (self.cores * self.time_s)

    def cpu(self, kind: str) -> float:
        """Return the CPU seconds per message of a kind of program: the geometric mean."""
        return _middle(self.cpu_s[kind])


def points_of(given: Sequence[Given]) -> list[Point]:
    """Return a point for each path and size, ordered by them."""
    groups: dict[tuple[str, int], list[Given]] = {}
    for item in given:
        scenario = item.run.scenario
        key = (scenario.system.transport, scenario.workload.message_bytes)
        groups.setdefault(key, []).append(item)
    return [_point(groups[key]) for key in sorted(groups)]


def run_paces(run: Run) -> list[Pace]:
    """Return the pace of each iteration of a run, of whatever backend."""
    scenario = run.scenario
    batches = scenario.probe.batch is not None
    return paces(run.samples, scenario.system.receivers, batches=batches)


def _point(given: Sequence[Given]) -> Point:
    runs = [item.run for item in given]
    cpu = [_cpu(run.counters) for run in runs]
    kinds = [kind for kind in KINDS if all(kind in item for item in cpu)]
    busy = [float(v) for run in runs for v in _rows(run.counters, "busy")["value"]]
    return Point(
        scenario=cast("Scenario", runs[0].scenario),
        folders=tuple(item.folder for item in given),
        paces=tuple(pace for run in runs for pace in run_paces(run)),
        cpu_s={kind: tuple(v for item in cpu for v in item[kind]) for kind in kinds},
        busy=sum(busy) / len(busy) if busy else None,
        manifest=runs[0].manifest,
    )


def _cpu(counters: pd.DataFrame) -> dict[str, tuple[float, ...]]:
    rows = _rows(counters, "cpu_per_message")
    results: dict[str, tuple[float, ...]] = {}
    for name, part in rows.groupby("component"):
        means = part.groupby(["replication", "iteration"])["value"].mean()
        if (means > 0).all():  # a short run may be less than a tick of the clock
            results[str(name)] = tuple(float(value) for value in means)
    return results


def _rows(counters: pd.DataFrame, metric: str) -> pd.DataFrame:
    return counters[counters["metric"] == metric]


def _middle(values: Iterable[float]) -> float:
    return float(np.exp(np.log(list(values)).mean()))
