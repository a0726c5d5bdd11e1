"""The folder of a study: as that of a run (`dvsim.results.folder`), with other tables.

::

    runs/switch/load-latency/3f9c21ab04de/
        scenario.toml               resolved; reloads to an equal scenario
        manifest.json               where it came from, and the hashes of the other files
        points.parquet, …           one for each of the `tables` of its kind
        report.html                 if asked for
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from dvsim.errors import ScenarioError
from dvsim.kinds.base import kind_named, kind_of
from dvsim.results.kept import (
    SCENARIO,
    another,
    broken,
    check_name,
    is_there,
    keep,
    read_checked,
    read_manifest,
    run_folder,
)
from dvsim.results.points import PointsStudy
from dvsim.results.table import OtherColumns, from_parquet, to_parquet
from dvsim.results.versions import load_kept, other
from dvsim.scenario.render import to_toml
from dvsim.scenario.spec import Spec


def find_study(
    root: Path, scenario: Spec, version: str, seed: int, replications: int
) -> PointsStudy | None:
    """Return the study that is kept as the answer to a question, or None if there is none.

    Raises
    ------
    RunFailed
        If the folder of the question is there, but is not a good answer to it.
    """
    folder = run_folder(root, scenario, version, seed, replications, scenario.KIND)
    if not is_there(folder):
        return None
    study = load_study(folder)
    found = (study.scenario, study.manifest.get("version"), study.seed, study.replications)
    if found != (scenario, version, seed, replications):
        raise another(folder)
    return study


def write_study(
    study: PointsStudy,
    folder: Path,
    report: Callable[[PointsStudy, Path], object] | None = None,
) -> PointsStudy:
    """Keep a study in `folder`, and return it as it is kept (with folder and hashes).

    A result that is already there is replaced; it stays until the new one is complete.

    Raises
    ------
    OutputError
        If anything could not be written. Nothing of the new result remains then.
    """
    contents = study_contents(study)

    def kept(manifest: dict[str, Any]) -> PointsStudy:
        return replace(study, folder=folder, manifest=manifest)

    def page(manifest: dict[str, Any], path: Path) -> None:
        if report is not None:
            report(kept(manifest), path)

    return kept(keep(folder, contents, study.manifest, page if report else None))


def study_contents(study: PointsStudy) -> dict[str, bytes]:
    """Return the files of a study that count, by name; the same bytes for the same study."""
    contents = {
        f"{name}.parquet": to_parquet(getattr(study, name), columns)
        for name, columns in kind_of(study.scenario).tables.items()
    }
    contents[SCENARIO] = to_toml(study.scenario).encode()
    return contents


def _check_points(name: str, table: pd.DataFrame, points: int) -> None:
    """Raise ValueError if a table is about points that its scenario does not have."""
    found = table["point"] if "point" in table else pd.Series(dtype="int32")
    strange = found[~found.between(0, points - 1)]
    if not strange.empty:
        raise ValueError(f"{name} has a point {strange.iloc[0]} among {points}")


def load_study(folder: Path) -> PointsStudy:
    """Return the study that is kept in `folder`.

    Raises
    ------
    RunFailed
        If the folder is not a study, a file of it is missing, truncated or changed, or it is of a
        version of dvsim that this one does not read.
    """
    manifest = read_manifest(folder)
    try:
        kind: Any = kind_named(str(manifest.get("backend")))
    except ScenarioError as error:
        reason = f"no study is made by backend {manifest.get('backend')!r}: {error}"
        raise broken(folder, reason) from error
    data = {name: read_checked(folder, f"{name}.parquet", manifest) for name in kind.tables}
    check_name(folder, read_checked(folder, SCENARIO, manifest), manifest)
    scenario = load_kept(folder, SCENARIO, manifest)
    if kind.name != scenario.KIND:
        raise broken(folder, f"its scenario is not of the kind {manifest['backend']}")
    try:
        tables = {name: from_parquet(data[name], columns) for name, columns in kind.tables.items()}
        for name, table in tables.items():
            _check_points(f"{name}.parquet", table, len(scenario.points))
        found: PointsStudy = kind.result(
            scenario=scenario,
            seed=int(manifest["seed"]),
            replications=int(manifest["replications"]),
            folder=folder,
            manifest=manifest,
            **tables,
        )
        return found
    except OtherColumns as error:
        raise other(folder, manifest, str(error)) from error
    except ValueError as error:
        raise broken(folder, str(error)) from error
    except (KeyError, TypeError) as error:
        raise broken(folder, f"manifest.json lacks a valid {error}") from error
