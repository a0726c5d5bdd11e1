"""The run folder: written whole or not at all, and checked when it is read.

::

    runs/h3/dv-8/3f9c21ab04de/      name = what was asked (scenario, version, seed, …)
        scenario.toml               resolved; reloads to an equal scenario
        manifest.json               where it came from, and the hashes of the other files
        samples.parquet             the same bytes for the same run
        summary.parquet             statistics and counters; the same bytes too
        report.html

A run that is killed, or a disk that is full, leaves nothing that could be taken for a result: see
`dvsim.results.atomic`. So a folder that lacks something, or answers another question than the one
it is named by, was changed by hand: it is neither believed nor replaced until the user says so.
"""

import errno
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from dvsim.errors import OutputError, RunFailed
from dvsim.results.atomic import whole_folder, write_bytes
from dvsim.results.manifest import FORMAT
from dvsim.results.run import Run
from dvsim.results.samples import COUNTER_COLUMNS, SAMPLE_COLUMNS, check_counters, check_samples
from dvsim.results.summary import SUMMARY_COLUMNS, counters_of
from dvsim.results.table import from_parquet, to_parquet
from dvsim.scenario.load import load
from dvsim.scenario.render import to_toml
from dvsim.scenario.types import Scenario

SCENARIO, SAMPLES, SUMMARY = "scenario.toml", "samples.parquet", "summary.parquet"
MANIFEST = "manifest.json"
ADVICE = "run it again with --force or delete it"


def run_folder(
    root: Path, scenario: Scenario, version: str, seed: int, replications: int, backend: str
) -> Path:
    """Return the folder of a run: the same question always has the same folder."""
    asked = json.dumps([to_toml(scenario), version, seed, replications, backend])
    digest = hashlib.blake2b(asked.encode(), digest_size=6).hexdigest()
    # a name may come from a file of somebody else: it must not lead out of the root
    parts = [part for part in scenario.name.split("/") if part not in {"", ".", ".."}]
    return root.joinpath(*parts, digest)


def find_run(
    root: Path, scenario: Scenario, version: str, seed: int, replications: int, backend: str
) -> Run | None:
    """Return the run that is kept as the answer to a question, or None if there is none.

    Raises
    ------
    RunFailed
        If the folder of the question is there, but is not a good answer to it.
    """
    folder = run_folder(root, scenario, version, seed, replications, backend)
    if not os.path.lexists(folder):
        return None
    if not (folder / MANIFEST).is_file():
        raise _broken(folder, f"{MANIFEST} is missing")
    run = load_run(folder)
    found = (run.scenario, run.manifest.get("version"), run.seed, run.replications, run.backend)
    if found != (scenario, version, seed, replications, backend):
        raise RunFailed(f"{folder} is not what was asked; {ADVICE}")
    return run


def make_room(folder: Path) -> None:
    """Make the folders around a run folder: a bad place shows before the run, not after it.

    Raises
    ------
    OutputError
        If they cannot be made or written.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if not os.access(folder.parent, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise _unwritable(folder, error) from error


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
    check_samples(run.samples)
    check_counters(run.counters)
    try:
        with whole_folder(folder) as partial:
            return _fill(run, folder, partial, report)
    except OSError as error:
        raise _unwritable(folder, error) from error


def load_run(folder: Path) -> Run:
    """Return the run that is kept in `folder`.

    Raises
    ------
    RunFailed
        If the folder is not a run, or a file of it is missing, truncated or changed.
    ScenarioError
        If its ``scenario.toml`` is not a valid scenario.
    """
    manifest = _read_manifest(folder)
    samples_data = _read_checked(folder, SAMPLES, manifest)
    summary_data = _read_checked(folder, SUMMARY, manifest)
    _read_checked(folder, SCENARIO, manifest)
    try:
        scenario = load(folder / SCENARIO)
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
    except ValueError as error:
        raise _broken(folder, str(error)) from error
    except (KeyError, TypeError) as error:
        raise _broken(folder, f"manifest.json lacks a valid {error}") from error


def _fill(
    run: Run, folder: Path, partial: Path, report: Callable[[Run, Path], object] | None
) -> Run:
    contents = {
        SAMPLES: to_parquet(run.samples, SAMPLE_COLUMNS),
        SUMMARY: to_parquet(run.summary(), SUMMARY_COLUMNS),
        SCENARIO: to_toml(run.scenario).encode(),
    }
    files = {
        name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in contents.items()
    }
    kept = replace(run, folder=folder, manifest={**run.manifest, "files": files})
    for name, data in contents.items():
        write_bytes(partial / name, data)
    if report is not None:
        report(kept, partial / "report.html")
    manifest = json.dumps(kept.manifest, indent=2, sort_keys=True, allow_nan=False)
    write_bytes(partial / MANIFEST, manifest.encode() + b"\n")
    return kept


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    if not path.is_file():
        what = "it has no manifest.json" if folder.is_dir() else "there is no such folder"
        message = f"{folder} is not a run: {what}"
        raise RunFailed(message)
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _broken(folder, f"manifest.json: {error}") from error
    if not isinstance(manifest, dict) or not isinstance(manifest.get("files"), dict):
        raise _broken(folder, "manifest.json is not the manifest of a run")
    if manifest.get("format") != FORMAT:
        raise _broken(folder, f"manifest.json has format {manifest.get('format')}, not {FORMAT}")
    return manifest


def _read_checked(folder: Path, name: str, manifest: dict[str, Any]) -> bytes:
    try:
        data = (folder / name).read_bytes()
    except FileNotFoundError as error:
        raise _broken(folder, f"{name} is missing") from error
    except OSError as error:
        raise _broken(folder, f"{name}: {error.strerror}") from error
    recorded = manifest["files"].get(name)
    if not isinstance(recorded, dict):
        raise _broken(folder, f"manifest.json has no hash of {name}")
    if len(data) != recorded.get("bytes"):
        sizes = f"{len(data)} bytes instead of {recorded.get('bytes')}"
        raise _broken(folder, f"{name} is truncated or changed: {sizes}")
    if hashlib.sha256(data).hexdigest() != recorded.get("sha256"):
        raise _broken(folder, f"{name} was changed after the run: its hash differs")
    return data


def _broken(folder: Path, reason: str) -> RunFailed:
    return RunFailed(f"{folder} is not a complete run: {reason}; {ADVICE}")


def _unwritable(folder: Path, error: OSError) -> OutputError:
    return OutputError(f"cannot write {folder}: {error.strerror or error}")
