"""The folder of a study: as that of a run (`dvsim.results.folder`), with other tables.

::

    runs/switch/load-latency/3f9c21ab04de/
        scenario.toml               resolved; reloads to an equal scenario
        manifest.json               where it came from, and the hashes of the other files
        points.parquet, …           one for each table of `dvsim.results.study.TABLES`
        report.html
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from dvsim.results.kept import (
    SCENARIO,
    another,
    broken,
    is_there,
    keep,
    read_checked,
    read_manifest,
    run_folder,
)
from dvsim.results.study import TABLES, Study
from dvsim.results.table import from_parquet, to_parquet
from dvsim.scenario.load import load
from dvsim.scenario.render import to_toml
from dvsim.scenario.switch_types import SwitchScenario

BACKEND = "switch"


def find_study(
    root: Path, scenario: SwitchScenario, version: str, seed: int, replications: int
) -> Study | None:
    """Return the study that is kept as the answer to a question, or None if there is none.

    Raises
    ------
    RunFailed
        If the folder of the question is there, but is not a good answer to it.
    """
    folder = run_folder(root, scenario, version, seed, replications, BACKEND)
    if not is_there(folder):
        return None
    study = load_study(folder)
    found = (study.scenario, study.manifest.get("version"), study.seed, study.replications)
    if found != (scenario, version, seed, replications):
        raise another(folder)
    return study


def write_study(
    study: Study, folder: Path, report: Callable[[Study, Path], object] | None = None
) -> Study:
    """Keep a study in `folder`, and return it as it is kept (with folder and hashes).

    A result that is already there is replaced; it stays until the new one is complete.

    Raises
    ------
    OutputError
        If anything could not be written. Nothing of the new result remains then.
    """
    contents = {
        f"{name}.parquet": to_parquet(getattr(study, name), columns)
        for name, columns in TABLES.items()
    }
    contents[SCENARIO] = to_toml(study.scenario).encode()

    def kept(manifest: dict[str, Any]) -> Study:
        return replace(study, folder=folder, manifest=manifest)

    def page(manifest: dict[str, Any], path: Path) -> None:
        if report is not None:
            report(kept(manifest), path)

    return kept(keep(folder, contents, study.manifest, page if report else None))


def load_study(folder: Path) -> Study:
    """Return the study that is kept in `folder`.

    Raises
    ------
    RunFailed
        If the folder is not a study, or a file of it is missing, truncated or changed.
    ScenarioError
        If its ``scenario.toml`` is not a valid scenario.
    """
    manifest = read_manifest(folder)
    data = {name: read_checked(folder, f"{name}.parquet", manifest) for name in TABLES}
    read_checked(folder, SCENARIO, manifest)
    scenario = load(folder / SCENARIO)
    if not isinstance(scenario, SwitchScenario):
        raise broken(folder, "its scenario is not that of a switch")
    try:
        tables = {name: from_parquet(data[name], columns) for name, columns in TABLES.items()}
        return Study(
            scenario=scenario,
            seed=int(manifest["seed"]),
            replications=int(manifest["replications"]),
            folder=folder,
            manifest=manifest,
            **tables,
        )
    except ValueError as error:
        raise broken(folder, str(error)) from error
    except (KeyError, TypeError) as error:
        raise broken(folder, f"manifest.json lacks a valid {error}") from error
