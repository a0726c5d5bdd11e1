"""Results that are kept: found by what was asked, written as tables, loaded again.

::

    runs/h3/dv-8/3f9c21ab04de/      name = what was asked (scenario, version, seed), not how often
        scenario.toml               resolved; reloads to an equal scenario
        manifest.json               where it came from, and the hashes of the other files
        samples.parquet, …          one for each of the `tables` of its kind: of a run samples and
                                    summary, of a study its points and more; the same bytes for
                                    the same result

A run that is killed, or a disk that is full, leaves nothing that could be taken for a result: see
`dvsim.atomic`. So a folder that lacks something, or answers another question than the one
it is named by, was changed by hand: it is neither believed nor replaced until the user says so.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from dvsim.contract.find import DEFAULT, kind_named, kind_of
from dvsim.contract.kind import EMULATED, How, Kind
from dvsim.errors import RunFailed, ScenarioError
from dvsim.scenario.render import to_toml
from dvsim.scenario.spec import Spec
from dvsim.study.folder import (
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
from dvsim.study.parquet import OtherColumns, from_parquet, to_parquet
from dvsim.study.run import Run
from dvsim.study.sweep_table import KIND as SWEEP
from dvsim.study.versions import load_kept, other
from dvsim.table.result import Result

R = TypeVar("R", bound=Run | Result)


def folder_of(how: How, out: Path, scenario: Spec, text: str | None = None) -> Path:
    """Return the folder of the answer to a question; `text` is its scenario, if known."""
    return run_folder(out, scenario, *_asked(how, scenario), text=text, pilot=how.pilot)


def find_kept(how: How, out: Path, scenario: Spec) -> Run | Result | None:
    """Return the result that is kept as the answer to a question, or None if there is none.

    It has all replications that were ever asked for, which may be fewer or more than now.

    Raises:
        RunFailed: If the folder of the question is there, but is not a good answer to it.
    """
    folder = folder_of(how, out, scenario)
    if not is_there(folder):
        return None
    result = load_result(folder)
    facts = result.manifest
    question = facts.get("emulated", {}).get("question")
    identity = (facts.get("version"), result.seed, facts["backend"], question)
    if result.scenario != scenario or identity != _asked(how, scenario):
        raise another(folder)
    return result


def _asked(how: How, scenario: Spec) -> tuple[str, int, str, Mapping[str, Any] | None]:
    kind = kind_of(scenario)
    emulated = None if how.emulation is None else kind.question(scenario, how.emulation)
    return kind.version(how), how.seed, kind.backend(how), emulated


def first_of(result: R, replications: int) -> R:
    """Return the part of a result that has its first replications."""
    if result.replications == replications:
        return result
    tables: dict[str, Any] = {
        name: table[table["replication"] <= replications].reset_index(drop=True)
        for name, table in _tables(result).items()
    }
    manifest = result.manifest | {"replications": replications}
    return replace(result, replications=replications, manifest=manifest, **_fields(result, tables))


def joined(begun: R, rest: R) -> R:
    """Return a result and the replications that follow it as one: as if all had been run at once.

    It was made when the rest was, and took as long as both.
    """
    first = _tables(begun)
    tables: dict[str, Any] = {}
    for name, table in _tables(rest).items():
        later = table[table["replication"] > begun.replications]
        both = pd.concat([first[name], later], ignore_index=True)
        order = [key for key in ("point", "replication") if key in both]
        tables[name] = both.sort_values(order, kind="stable", ignore_index=True)
    kind = kind_of(rest.scenario)
    sums = ("wall_s", "simulated_s", "events", *getattr(kind, "work", ())[:1])
    manifest = rest.manifest | {
        key: rest.manifest[key] + begun.manifest[key] for key in sums if key in rest.manifest
    }
    return replace(rest, manifest=manifest, **_fields(rest, tables))


def _tables(result: Run | Result) -> dict[str, pd.DataFrame]:
    every = {item.name: getattr(result, item.name) for item in fields(result)}
    every |= every.get("sides", {})
    return {
        name: table
        for name, table in every.items()
        if isinstance(table, pd.DataFrame) and "replication" in table
    }


def _fields(result: Run | Result, tables: dict[str, Any]) -> dict[str, Any]:
    sides = getattr(result, "sides", None)
    if sides is None:
        return tables
    return {
        "values": tables["values"],
        "sides": {name: tables.get(name, table) for name, table in sides.items()},
    }


def write_result(result: R, folder: Path) -> R:
    """Keep a result in `folder`, and return it as it is kept (with folder and hashes).

    One that is already there is replaced; it stays until the new one is complete.

    Args:
        result: A finished run or study.
        folder: Where to keep it, see `run_folder`. Its parents are made.

    Raises:
        OutputError: If anything could not be written. Nothing of the new result remains then.
        RunFailed: If the tables of the result are not what its kind must return.
    """
    kept = replace(result, folder=folder, manifest=dict(result.manifest))
    # the statistics that go into its files are its own: nobody computes them again
    kept.manifest.update(keep(folder, contents_of(kept), result.manifest))
    return kept


def contents_of(result: Run | Result) -> dict[str, bytes]:
    """Return the files of a result that count, by name; the same bytes for the same result.

    Raises:
        RunFailed: If the tables of the result are not what its kind must return.
    """
    kind = kind_of(result.scenario)
    tables = kind.kept(result)
    contents = {
        _file(name): to_parquet(tables[name], columns) for name, columns in kind.tables.items()
    }
    return {**contents, SCENARIO: to_toml(result.scenario).encode()}


def load_result(folder: Path) -> Run | Result:
    """Return the run or the study that is kept in `folder`.

    Raises:
        RunFailed: If the folder is no result, a file of it is missing, truncated or changed, or it
            is of a version of dvsim that this one does not read.
    """
    manifest = read_manifest(folder)
    if manifest.get("backend") == SWEEP:
        raise RunFailed(f"{folder} is a sweep, not a run or a study")
    text = read_checked(folder, SCENARIO, manifest)
    kind = _kind(folder, manifest, text)
    data = {name: read_checked(folder, _file(name), manifest) for name in kind.tables}
    check_name(folder, text, manifest)
    scenario = load_kept(folder, SCENARIO, manifest)
    if kind.name != scenario.KIND:
        raise broken(folder, f"its scenario is not of the kind {kind.name}")
    try:
        tables = {name: from_parquet(data[name], cols) for name, cols in kind.tables.items()}
        for name, table in tables.items():
            _check_points(_file(name), table, len(scenario.points))
        rows = [table["replication"] for table in tables.values() if "replication" in table]
        asked, there = int(manifest["replications"]), pd.concat(rows).unique()
        if not (there.size == asked == max(there, default=0) and min(there) == 1):
            raise ValueError(f"it says {asked} replications, its tables have {there.size}")
        result: Run | Result = kind.result(
            scenario=scenario,
            seed=int(manifest["seed"]),
            replications=asked,
            folder=folder,
            manifest=manifest,
            **tables,
        )
        return result
    except OtherColumns as error:
        raise other(folder, manifest, str(error)) from error
    except ValueError as error:
        raise broken(folder, str(error)) from error
    except (KeyError, TypeError) as error:
        raise broken(folder, f"manifest.json lacks a valid {error}") from error


def _kind(folder: Path, manifest: Mapping[str, Any], text: bytes) -> Kind:
    backend, default = manifest.get("backend"), kind_named(DEFAULT)
    if backend == EMULATED:
        backend = tomllib.loads(text.decode()).get("kind", DEFAULT)
    if backend in (*default.backends, None, DEFAULT):
        return default
    try:
        return kind_named(str(backend))
    except ScenarioError as error:
        reason = f"no study is made by backend {backend!r}: {error}"
        raise broken(folder, reason) from error


def _file(table: str) -> str:
    return f"{table}.parquet"


def _check_points(name: str, table: pd.DataFrame, points: int) -> None:
    if "point" not in table:
        return
    strange = table["point"][~table["point"].between(0, points - 1)]
    if not strange.empty:
        raise ValueError(f"{name} has a point {strange.iloc[0]} among {points}")
