"""The points of a sweep in the form in which figures and comparisons take those of a study."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from dvsim.contract import OWN
from dvsim.contract.find import kind_named, kind_of, metric_of
from dvsim.contract.kind import Kind
from dvsim.errors import RunFailed
from dvsim.scenario.spec import Spec
from dvsim.study.folder import is_there, read_manifest
from dvsim.study.run import Run
from dvsim.study.store import first_of, load_result
from dvsim.study.sweep_table import KIND, load_swept
from dvsim.table.metrics import Metric
from dvsim.table.result import Points, Result

if TYPE_CHECKING:
    from dvsim.study.sweep_table import SweepResult

DRAWN = ("delivered_rate", "payload_rate", "throughput", "mean_latency", "rate_out", "latency")
MOST = 2  # results that are drawn of a kind that has none of these
BASE = ("", "1", "B")  # units of keys whose values are numbers in scenarios, too


class SweptPoints(Points):
    """The points of a sweep that have results; what they are called is as short as it can be.

    Attributes:
        swept: The sweep.
        backend, seed, folder, manifest: As of other results.
        replications: The most of a point.
        key_units: By key, ``1`` for a plain number, empty for a text.
        METRICS: The results with their units.
    """

    def __init__(self, swept: SweepResult) -> None:
        self.swept = swept
        self.backend, self.folder, self.manifest = KIND, swept.folder, swept.manifest
        self.seed = int(swept.manifest.get("seed", 1))
        self.replications = swept.replications[1]
        self.METRICS: Mapping[str, str] = {
            name: swept.units.get(name, "") for name in swept.results
        }
        self.names = swept.names
        self.key_units = {name: swept.units.get(key, "") for key, name in self.names.items()}
        self._good = swept.good.reset_index(drop=True)
        self._loaded: dict[str, Run | Result] = {}
        self._numbers: dict[int, list[Any]] = {}

    @property
    def drawn(self) -> list[str]:
        """The results that are drawn: rates and latencies; hops that wait nowhere once."""
        own = self.kind.headline if self.swept.kind not in OWN else ()
        chosen = [name for name in own or DRAWN if name in self.METRICS]
        chosen = chosen[:MOST] if own else chosen or list(self.METRICS)[:MOST]
        if "mean_hops" in self.METRICS and "mean_latency" in chosen:
            hops, latency = (
                self._good[name].rename(None) for name in ("mean_hops", "mean_latency")
            )
            chosen = [name for name in chosen if name != "mean_latency" or not hops.equals(latency)]
        return [name for name in chosen if self._good[name].notna().any()]

    @property
    def kind(self) -> Kind:
        """The kind of its scenarios."""
        return kind_named(self.swept.kind)

    def metric(self, name: str) -> Metric:
        """Return what is to be said of a result."""
        return metric_of(name, self.METRICS.get(name, ""), self.swept.kind)

    @property
    def points(self) -> pd.DataFrame:
        """Return the keys that took several values, of each point."""
        keys = self._good[list(self.swept.keys)].rename(columns=self.names)
        return keys[[name for name in keys.columns if keys[name].nunique() > 1]]

    def estimates(self) -> pd.DataFrame:
        """Return each result of each point with its interval."""
        parts = []
        for name, unit in self.METRICS.items():
            ends = {"value": name, "low": f"{name}_low", "high": f"{name}_high"}
            columns = {end: self._good[column] for end, column in ends.items()}
            point = {"point": self._good.index, "metric": name}
            parts.append(pd.DataFrame({**point, **columns, "unit": unit}))
        return pd.concat(parts, ignore_index=True)

    def notes(self) -> dict[int, str]:
        """Return by point why it has not settled; those that have are absent."""
        return {point: note for point, note in enumerate(self._good["note"].tolist()) if note}

    @property
    def name(self) -> str:
        """The name of the scenario, and what was varied."""
        return f"{self.swept.name} over {', '.join(self.names.values())}"

    @property
    def simulated(self) -> bool:
        """Whether it was simulated: sweeps are."""
        return True

    @property
    def title(self) -> str:
        """How many points have results."""
        return f"{len(self._good)} points"

    @property
    def settings(self) -> list[dict[str, Any]]:
        """The varied keys of each point, a value with another unit than `BASE` as a text."""
        rows = self._good[list(self.swept.keys)].to_dict(orient="records")
        return [
            {
                self.names[str(key)]: _plain(value)
                if self.swept.units.get(str(key), "") in BASE
                else self.swept.text(str(key), value)
                for key, value in row.items()
            }
            for row in rows
        ]

    @cached_property
    def paths(self) -> dict[str, str]:
        """The full names of the varied keys, by what they are called here."""
        every = self.scenario.every_key()
        return {
            name: next((full for full in every if f".{full}".endswith(f".{key}")), key)
            for key, name in self.names.items()
        }

    @cached_property
    def runs(self) -> list[tuple[Run | Result, int]]:
        """The kept run of each point, and which of its points it is.

        Raises:
            RunFailed: If one is gone, damaged, or of a version that this one does not read.
        """
        root = Path(self.manifest.get("runs") or "")
        folders = self._good["run"].tolist()
        gone = next((name for name in folders if not name or not is_there(root / name)), None)
        if gone is not None:
            command = self.manifest["command"]
            again = command if isinstance(command, str) else shlex.join(command)
            message = f"its run {root / gone} is gone; '{again}' makes it again"
            raise RunFailed(f"{self.folder}: {message}")
        return [self._run(point) for point in range(len(folders))]

    def each(self, point: int, metric: str) -> Mapping[int, float]:
        """Return a result of a point by replication; nothing if its run is gone."""
        try:
            run, inner = self._run(point)
        except RunFailed:
            return {}
        if id(run) not in self._numbers:
            kind = kind_of(run.scenario)
            self._numbers[id(run)] = kind.point_numbers(run.scenario, kind.brief(run))
        values: Mapping[int, float] = self._numbers[id(run)][inner].each.get(metric, {})
        return values

    def _run(self, point: int) -> tuple[Run | Result, int]:
        row = self._good.iloc[point]
        name = str(row["run"])
        if name not in self._loaded:
            if not name:
                raise RunFailed(f"no run is kept of point {point}")
            kept = load_result(Path(self.manifest.get("runs") or "") / name)
            self._loaded[name] = first_of(kept, int(row["replications"]))
        return self._loaded[name], self._inner[point]

    @cached_property
    def _inner(self) -> list[int]:
        numbers: list[int] = self._good.groupby("point").cumcount().tolist()
        return numbers

    @property
    def scenario(self) -> Spec:
        """The scenario of the first point."""
        return self.runs[0][0].scenario


Compared = Run | Result | SweptPoints
"""A result that can be compared."""


def loaded(folder: Path) -> Compared:
    """Return the result that is kept in a folder: a run, a study, or the points of a sweep."""
    if read_manifest(folder).get("backend") == KIND:
        return SweptPoints(load_swept(folder))
    return load_result(folder)


def _plain(value: Any) -> Any:  # noqa: ANN401 - any value of a key
    return int(value) if isinstance(value, float) and value.is_integer() else value
