"""The folder of a sweep as a result, and its points as a wide table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from dvsim.study.folder import SCENARIO, load_kept, read_checked
from dvsim.study.parquet import OtherColumns, from_parquet
from dvsim.table.manifest import MANIFEST, Manifest, broken, other
from dvsim.table.metrics import VALUES
from dvsim.table.result import Result

POINTS, ROWS, CSV = "points.parquet", "values.parquet", "points.csv"
REMARKS = {
    "replications": "int32",
    "precision": "float64",  # half of the interval of what was asked, as a share
    "bottleneck": "str",  # the busiest stage if it limits
    "note": "str",  # why its figures depend on how long it ran
    "fidelity": "str",  # ``flow`` where replications are equal
    "run": "str",  # the folder of its run, below the root of runs
    "error": "str",
}
"""The columns of points after the keys, with their types."""


def columns_of(types: Mapping[str, str]) -> dict[str, str]:
    """Return the columns of points with their types; `types` has those of the keys."""
    return {"point": "int32", **types, **REMARKS}


def load_swept(folder: Path, manifest: Manifest) -> Result:
    """Return the sweep that is kept in a folder.

    Raises:
        RunFailed: If a file is missing, truncated or changed.
    """
    about = manifest.swept
    assert about is not None
    if about.types.keys() != set(about.keys):
        raise broken(folder, f"{MANIFEST}: swept.types: has not the keys of swept.keys")
    if not about.units.keys() >= {*about.keys, *about.results}:
        raise broken(folder, f"{MANIFEST}: swept.units: lacks keys or results")
    data = {name: read_checked(folder, name, manifest) for name in (SCENARIO, POINTS, ROWS)}
    scenario = load_kept(folder, SCENARIO, manifest)
    try:
        if about.kind != scenario.KIND:
            raise ValueError(f"its scenario is not of the kind {about.kind}")
        points = from_parquet(
            data[POINTS], columns_of({key: about.types[key] for key in about.keys})
        )
        values = from_parquet(data[ROWS], VALUES)
        if points["point"].tolist() != list(range(len(points))):
            raise ValueError(f"{POINTS} does not number its points")
        there = set(points.loc[points["error"] == "", "point"])
        if not (there >= set(values["point"]) and set(about.results) == set(values["metric"])):
            raise ValueError(f"{ROWS} is not of these points")
    except OtherColumns as error:
        raise other(folder, manifest, str(error)) from error
    except (KeyError, ValueError) as error:
        raise broken(folder, str(error)) from error
    tables = {"points": points}
    return Result(scenario, manifest.seed, manifest.replications, folder, manifest, values, tables)


def by_point(swept: Result) -> pd.DataFrame:
    """Return a sweep with a row for each point, those that failed too, as `points.csv` has it.

    Returns:
        DataFrame: point, the varied keys as they were typed, each metric with the ends of its 95 %
        interval (``NAME``, ``NAME_low``, ``NAME_high``), and `REMARKS`.
    """
    points = swept.sides["points"].set_index("point")
    wide = swept.estimates().pivot(index="point", columns="metric", values=["value", "low", "high"])
    ends = {
        f"{name}{end}": wide[column][name].reindex(points.index)
        for name in swept.METRICS
        for column, end in (("value", ""), ("low", "_low"), ("high", "_high"))
    }
    keys, rest = points[swept.asked.keys], points[list(REMARKS)]
    results = pd.DataFrame(ends, index=points.index)
    table: pd.DataFrame = pd.concat([keys, results, rest], axis=1).reset_index()
    return table


def headings(swept: Result, table: pd.DataFrame) -> list[str]:
    """Return the headings that columns of `by_point` have in CSV: with the units of numbers."""
    units = swept.asked.units
    every = {
        name: units.get(name, units.get(name.removesuffix("_low").removesuffix("_high"), ""))
        for name in map(str, table)
    }
    return [name if unit in ("", "1") else f"{name} [{unit}]" for name, unit in every.items()]
