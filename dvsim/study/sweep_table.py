"""The table of a sweep, and the folder that keeps it.

::

    sweeps/h3/dv-2048-3f9c21ab04de/    name = what was asked
        points.parquet                 one row per point; the same bytes for the same sweep
        points.csv                     the same, with units in the heading; the same bytes too
        manifest.json                  what was asked, where it came from, hashes of the others
        sensitivity.csv                the indices, if they were asked for

A row has the
number of the point, the varied keys, what the scenario itself varies, each result with the ends of
its interval, how many replications there were, how well what was asked is known then (see
`dvsim.study.precision`), the busiest stage if it limits, why its figures depend on how long it
ran, the folder of the run below the root of runs, and what went wrong.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from dvsim.contract.find import DEFAULT
from dvsim.errors import RunFailed
from dvsim.scenario.units import value_text
from dvsim.study.folder import MANIFEST, broken, keep, read_checked, read_manifest
from dvsim.study.parquet import OtherColumns, from_parquet, to_parquet
from dvsim.study.point_numbers import in_order
from dvsim.study.table import csv_text
from dvsim.study.versions import other
from dvsim.table.estimate import Estimate

POINTS, CSV = "points.parquet", "points.csv"
KIND = "sweep"  # in the place of a backend
LAST = {
    "replications": "int32",
    "precision": "float64",
    "bottleneck": "str",
    "note": "str",
    "run": "str",
    "error": "str",
}
"""The columns after the results, with their types."""


@dataclass(frozen=True)
class Row:
    """One row of the table."""

    point: int
    keys: Mapping[str, float | str]
    results: Mapping[str, Estimate]
    replications: int = 0
    precision: float = math.nan
    bottleneck: str = ""
    note: str = ""
    run: str = ""
    error: str = ""


@dataclass(frozen=True, eq=False)
class SweepResult:
    """A sweep with what came out.

    Attributes:
        name: Of the scenario.
        keys: What was varied, by the options first, then by the scenario itself.
        results: Names of the results, each a column of `table`; ``NAME_low`` and ``NAME_high`` are
            the ends of its 95 % interval over replications.
        units: Of keys and results; ``1`` for a plain number, empty for a text.
        table: One row per point.
        manifest: What was asked, and where it came from.
        folder: Where it is kept, None in memory.
    """

    name: str
    keys: tuple[str, ...]
    results: tuple[str, ...]
    units: Mapping[str, str]
    table: pd.DataFrame
    manifest: dict[str, Any]
    folder: Path | None = None

    def text(self, key: str, value: object) -> str:
        """Return the value of a key as people type it; empty of a point that failed without it."""
        if isinstance(value, float) and math.isnan(value):
            return ""
        return value_text(value, self.units.get(key, ""))

    def named(self, row: Mapping[Any, Any]) -> str:
        """Name a row by its keys; one that was refused has none that its scenario varies."""
        texts = ((name, self.text(key, row[key])) for key, name in self.names.items())
        return ", ".join(f"{name} {text}" for name, text in texts if text)

    @property
    def kind(self) -> str:
        """The kind of its scenario, that of a system where an old manifest does not say it."""
        return str(self.manifest.get("kind", DEFAULT))

    @property
    def names(self) -> Mapping[str, str]:
        """What its keys are called, see `short_names`."""
        return short_names(self.keys)

    @property
    def replications(self) -> tuple[int, int]:
        """The fewest and the most replications of a point; 0 where all have failed."""
        times = self.good["replications"]
        return (int(times.min()), int(times.max())) if len(times) else (0, 0)

    @property
    def asked_precision(self) -> float | None:
        """The precision that was asked for; None where the number of replications was."""
        precision = self.manifest["asked"].get("precision")
        return None if precision is None else float(precision)

    @property
    def imprecise(self) -> pd.DataFrame:
        """The points that are known less well than was asked for."""
        asked = self.asked_precision
        return self.good[self.good["precision"] > (math.inf if asked is None else asked)]

    @property
    def failed(self) -> pd.DataFrame:
        """The points that failed, with their errors."""
        return self.table[self.table["error"] != ""]

    @property
    def good(self) -> pd.DataFrame:
        """The points that have results."""
        return self.table[self.table["error"] == ""]

    def __repr__(self) -> str:
        """Say what it is and how it went."""
        return f"SweepResult({self.name!r}, points={len(self.table)}, failed={len(self.failed)})"

    def _repr_html_(self) -> str:
        shown = [*self.keys, *self.results[:2], "run", "error"]
        html: str = self.table[shown].to_html(index=False, max_rows=40)
        return html


def short_names(keys: Iterable[str]) -> dict[str, str]:
    """Return what people call keys: the last part, or all of a key where two have that.

    >>> short_names(["card.sram", "card.threads", "bridge.threads"]).values()
    dict_values(['sram', 'card.threads', 'bridge.threads'])
    """
    lasts = {key: key.rpartition(".")[2] for key in keys}
    times = Counter(lasts.values())
    return {key: last if times[last] == 1 else key for key, last in lasts.items()}


def tabulate(
    rows: Sequence[Row], keys: Sequence[str], first: Sequence[str] = ()
) -> tuple[pd.DataFrame, list[str]]:
    """Return rows as a table, and the names of its results; equal for any order of the rows.

    Args:
        rows: Of all points.
        keys: Varied by the options; those that a scenario varies itself follow.
        first: Results in the order of the kind of the scenario.
    """
    ordered = sorted(enumerate(rows), key=lambda item: (item[1].point, item[0]))
    chosen = [row for _, row in ordered]
    names = in_order([name for row in chosen for name in row.results], first)
    every = list(dict.fromkeys([*keys, *(key for row in chosen for key in row.keys)]))
    columns: dict[str, list[Any]] = {"point": [row.point for row in chosen]}
    for key in every:
        values = [row.keys.get(key) for row in chosen]  # a point that failed may lack some
        numeric = all(value is None or isinstance(value, float) for value in values)
        missing: float | str = math.nan if numeric else ""
        columns[key] = [missing if value is None else value for value in values]
    nothing = Estimate(math.nan, math.nan, math.nan)
    for name in names:
        estimates = [row.results.get(name, nothing) for row in chosen]
        columns[name] = [estimate.value for estimate in estimates]
        columns[f"{name}_low"] = [estimate.low for estimate in estimates]
        columns[f"{name}_high"] = [estimate.high for estimate in estimates]
    for name in LAST:
        columns[name] = [getattr(row, name) for row in chosen]
    return pd.DataFrame(columns).astype({"point": "int32", "replications": "int32"}), names


def write_swept(
    swept: SweepResult, folder: Path, more: Mapping[str, bytes] | None = None
) -> SweepResult:
    """Keep a sweep, and return it as it is kept; an earlier one is replaced.

    `more` has other files that count, by name.

    Raises:
        OutputError: If anything could not be written. Nothing of the new one remains then.
    """
    columns = _columns(swept.table)
    csv = csv_text(headings(swept, columns), swept.table.itertuples(index=False, name=None))
    contents = {POINTS: to_parquet(swept.table, columns), CSV: csv.encode(), **(more or {})}
    about = {"keys": list(swept.keys), "results": list(swept.results), "units": dict(swept.units)}
    about |= {"types": {key: columns[key] for key in swept.keys}}
    manifest = keep(folder, contents, swept.manifest | about)
    return replace(swept, folder=folder, manifest=manifest)


def load_swept(folder: Path) -> SweepResult:
    """Return the sweep that is kept in a folder.

    Raises:
        RunFailed: If it is none, or a file is missing, truncated or changed.
    """
    manifest = read_manifest(folder)
    if manifest.get("backend") != KIND:
        raise RunFailed(f"{folder} is no sweep, but of backend {manifest.get('backend')!r}")
    if manifest.get("asked") is None:
        raise broken(folder, f"{MANIFEST} lacks a valid 'asked'")
    data = read_checked(folder, POINTS, manifest)
    try:
        keys, results = tuple(manifest["keys"]), tuple(manifest["results"])
        columns = {"point": "int32", **{key: manifest["types"][key] for key in keys}}
        for name in results:
            columns |= dict.fromkeys((name, f"{name}_low", f"{name}_high"), "float64")
        columns |= LAST
        table = from_parquet(data, columns)
        units = dict(manifest["units"])
        return SweepResult(str(manifest["scenario"]), keys, results, units, table, manifest, folder)
    except OtherColumns as error:
        raise other(folder, manifest, str(error)) from error
    except ValueError as error:
        raise broken(folder, str(error)) from error
    except (KeyError, TypeError) as error:
        raise broken(folder, f"{MANIFEST} lacks a valid {error}") from error


def _columns(table: pd.DataFrame) -> dict[str, str]:
    kinds = {"i": "int32", "f": "float64"}
    return {str(name): kinds.get(table[name].dtype.kind, "str") for name in table.columns}


def headings(swept: SweepResult, columns: Iterable[str]) -> list[str]:
    """Return the headings that columns of the table have in CSV: with the units of its numbers."""
    units = {
        name: swept.units.get(name.removesuffix("_low").removesuffix("_high"), "")
        for name in columns
    }
    return [name if unit in ("", "1") else f"{name} [{unit}]" for name, unit in units.items()]
