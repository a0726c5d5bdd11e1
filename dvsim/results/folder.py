"""The run folder: written whole or not at all, and checked when it is read.

::

    runs/h3/dv-8/3f9c21ab04de/      name = what was asked (scenario, version, seed, …)
        scenario.toml               resolved; reloads to an equal scenario
        manifest.json               where it came from, and the hashes of the other files
        samples.parquet             the same bytes for the same run
        summary.parquet             statistics and counters; the same bytes too
        report.html                 if asked for

A run that is killed, or a disk that is full, leaves nothing that could be taken for a result: see
`dvsim.results.atomic`. So a folder that lacks something, or answers another question than the one
it is named by, was changed by hand: it is neither believed nor replaced until the user says so.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dvsim.kinds.rabbitmq.spec import Scenario
from dvsim.results.kept import (
    SCENARIO,
    another,
    broken,
    check_name,
    clear_room,
    is_there,
    keep,
    make_room,
    read_checked,
    read_manifest,
    run_folder,
)
from dvsim.results.run import Run
from dvsim.results.samples import COUNTER_COLUMNS, SAMPLE_COLUMNS, check_counters, check_samples
from dvsim.results.summary import SUMMARY_COLUMNS, counters_of
from dvsim.results.table import OtherColumns, from_parquet, to_parquet
from dvsim.results.versions import load_kept, other
from dvsim.scenario.render import to_toml

__all__ = [
    "clear_room",
    "find_run",
    "load_run",
    "make_room",
    "run_contents",
    "run_folder",
    "write_run",
]

SAMPLES, SUMMARY = "samples.parquet", "summary.parquet"


def find_run(
    root: Path,
    scenario: Scenario,
    version: str,
    seed: int,
    replications: int,
    backend: str,
    emulated: Mapping[str, Any] | None = None,
) -> Run | None:
    """Return the run that is kept as the answer to a question, or None if there is none.

    `emulated` is the part of the question that only an emulated run has, see `run_folder`.

    Raises
    ------
    RunFailed
        If the folder of the question is there, but is not a good answer to it.
    """
    folder = run_folder(root, scenario, version, seed, replications, backend, emulated)
    if not is_there(folder):
        return None
    run = load_run(folder)
    found = (run.scenario, run.manifest.get("version"), run.seed, run.replications, run.backend)
    asked = run.manifest.get("emulated", {}).get("question")
    if (*found, asked) != (scenario, version, seed, replications, backend, emulated):
        raise another(folder)
    return run


def write_run(run: Run, folder: Path, report: Callable[[Run, Path], object] | None = None) -> Run:
    """Keep a run in `folder`, and return it as it is kept (with folder and hashes).

    A result that is already there is replaced; it stays until the new one is complete.

    Parameters
    ----------
    run
        A finished run.
    folder
        Where to keep it, see `run_folder`. Its parents are made.
    report
        Called with the run and the path of the ``report.html`` that it shall write; without it
        there is none.

    Raises
    ------
    OutputError
        If anything could not be written. Nothing of the new result remains then.
    RunFailed
        If the tables of the run are not what a backend must return.
    """
    contents = run_contents(run)

    def kept(manifest: dict[str, Any]) -> Run:
        return replace(run, folder=folder, manifest=manifest)

    def page(manifest: dict[str, Any], path: Path) -> None:
        if report is not None:
            report(kept(manifest), path)

    return kept(keep(folder, contents, run.manifest, page if report else None))


def run_contents(run: Run) -> dict[str, bytes]:
    """Return the files of a run that count, by name; the same bytes for the same run.

    Raises
    ------
    RunFailed
        If the tables of the run are not what a backend must return.
    """
    check_samples(run.samples)
    check_counters(run.counters)
    return {
        SAMPLES: to_parquet(run.samples, SAMPLE_COLUMNS),
        SUMMARY: to_parquet(run.summary_columns, SUMMARY_COLUMNS),
        SCENARIO: to_toml(run.scenario).encode(),
    }


def load_run(folder: Path) -> Run:
    """Return the run that is kept in `folder`.

    Raises
    ------
    RunFailed
        If the folder is not a run, a file of it is missing, truncated or changed, or it is of a
        version of dvsim that this one does not read.
    """
    manifest = read_manifest(folder)
    samples_data = read_checked(folder, SAMPLES, manifest)
    summary_data = read_checked(folder, SUMMARY, manifest)
    check_name(folder, read_checked(folder, SCENARIO, manifest), manifest)
    scenario: Any = load_kept(folder, SCENARIO, manifest)
    try:
        if scenario.KIND != Scenario.KIND:
            raise broken(folder, "its scenario is not that of a system")
        samples = check_samples(from_parquet(samples_data, SAMPLE_COLUMNS))
        counters = counters_of(from_parquet(summary_data, SUMMARY_COLUMNS))
        return Run(
            scenario=scenario,
            seed=int(manifest["seed"]),
            replications=int(manifest["replications"]),
            backend=str(manifest["backend"]),
            folder=folder,
            manifest=manifest,
            samples=samples,
            counters=counters[list(COUNTER_COLUMNS)],
        )
    except OtherColumns as error:
        raise other(folder, manifest, str(error)) from error
    except ValueError as error:
        raise broken(folder, str(error)) from error
    except (KeyError, TypeError) as error:
        raise broken(folder, f"manifest.json lacks a valid {error}") from error
