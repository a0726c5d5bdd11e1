"""Results that are kept: found by what was asked, written as tables, loaded again.

::

    runs/h3/dv-8/3f9c21ab04de/      name = what was asked (scenario, version, seed), not how often
        scenario.toml               resolved; reloads to an equal scenario
        manifest.json               where it came from, and the hashes of the other files
        values.parquet, …           its numbers, and one for each other table of its kind, such as
                                    samples; the same bytes for the same result

A run that is killed, or a disk that is full, leaves nothing that could be taken for a result: see
`dvsim.atomic`. So a folder that lacks something, or answers another question than the one
it is named by, was changed by hand: it is neither believed nor replaced until the user says so.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from dvsim.contract.find import DEFAULT, kind_named, kind_of
from dvsim.contract.kind import EMULATED, How, Kind
from dvsim.errors import ScenarioError
from dvsim.scenario.find import is_file
from dvsim.scenario.render import to_toml
from dvsim.scenario.spec import Spec
from dvsim.study.folder import (
    SCENARIO,
    another,
    check_name,
    is_there,
    keep,
    load_kept,
    read_checked,
    run_folder,
)
from dvsim.study.parquet import OtherColumns, from_parquet, to_parquet
from dvsim.study.swept import load_swept
from dvsim.table.manifest import Manifest, broken, other, read_manifest
from dvsim.table.result import Result
from dvsim.table.samples import impossible


def folder_of(how: How, out: Path, scenario: Spec, text: str | None = None) -> Path:
    """Return the folder of the answer to a question; `text` is its scenario, if known."""
    return run_folder(out, scenario, *_asked(how, scenario), text=text, pilot=how.pilot)


def find_kept(
    how: How, out: Path, scenario: Spec, sides: Collection[str] | None = None
) -> Result | None:
    """Return the result that is kept as the answer to a question, or None if there is none.

    It has all replications that were ever asked for, which may be fewer or more than now. The
    scenario is compared by its bytes, which is as good as reading it and much quicker.

    Args:
        how, out, scenario: The question, and where results are kept.
        sides: Those that are read besides the values; None reads all.

    Raises:
        RunFailed: If the folder of the question is there, but is not a good answer to it.
    """
    folder = folder_of(how, out, scenario)
    if not is_there(folder):
        return None
    manifest = read_manifest(folder)
    text = read_checked(folder, SCENARIO, manifest)
    identity = (manifest.version, manifest.seed, manifest.backend, manifest.question)
    if text != to_toml(scenario).encode() or identity != _asked(how, scenario):
        raise another(folder)
    for name in manifest.files:
        if not is_file(folder / name):
            raise broken(folder, f"{name} is missing")
    return _read(folder, manifest, scenario, sides)


def _asked(how: How, scenario: Spec) -> tuple[str, int, str, Mapping[str, Any] | None]:
    kind = kind_of(scenario)
    emulated = None if how.emulation is None else kind.question(scenario, how.emulation)
    return kind.version(how), how.seed, kind.backend(how), emulated


def first_of(result: Result, replications: int) -> Result:
    """Return the part of a result that has its first replications."""
    if result.replications == replications:
        return result
    values, *sides = (
        table[table["replication"] <= replications].reset_index(drop=True)
        if "replication" in table
        else table
        for table in (result.values, *result.sides.values())
    )
    manifest = result.manifest.model_copy(update={"replications": replications})
    part = replace(result, replications=replications, manifest=manifest, values=values)
    return replace(part, sides=dict(zip(result.sides, sides, strict=True)))


def joined(begun: Result, rest: Result) -> Result:
    """Return a result and the replications that follow it as one: as if all had been run at once.

    It was made when the rest was, and took as long as both.
    """
    values, *sides = (
        _after(first, table, begun.replications)
        for first, table in zip(
            (begun.values, *begun.sides.values()), (rest.values, *rest.sides.values()), strict=True
        )
    )
    of_begun, made = begun.manifest, rest.manifest
    counts = {name: value + of_begun.counts.get(name, 0) for name, value in made.counts.items()}
    sums = {"wall_s": made.wall_s + of_begun.wall_s, "counts": counts}
    manifest = made.model_copy(update=sums)
    whole = replace(rest, manifest=manifest, values=values)
    return replace(whole, sides=dict(zip(rest.sides, sides, strict=True)))


def _after(first: pd.DataFrame, table: pd.DataFrame, replications: int) -> pd.DataFrame:
    if "replication" not in table:
        return table
    both = pd.concat([first, table[table["replication"] > replications]], ignore_index=True)
    order = [key for key in ("point", "replication") if key in both]
    return both.sort_values(order, kind="stable", ignore_index=True)


def write_result(result: Result, folder: Path) -> Result:
    """Keep a result in `folder`, and return it as it is kept (with folder and hashes).

    One that is already there is replaced; it stays until the new one is complete.

    Args:
        result: A finished run or study.
        folder: Where to keep it, see `run_folder`. Its parents are made.

    Raises:
        OutputError: If anything could not be written. Nothing of the new result remains then.
        RunFailed: If the tables of the result are not what its kind must return.
    """
    kept = replace(result, folder=folder)
    # the statistics that go into its files are its own: nobody computes them again
    manifest = keep(folder, contents_of(kept), result.manifest)
    object.__setattr__(kept, "manifest", manifest)
    return kept


def contents_of(result: Result) -> dict[str, bytes]:
    """Return the files of a result that count, by name; the same bytes for the same result.

    Raises:
        RunFailed: If the tables of the result are not what its kind must return.
    """
    tables = {"values": result.values, **result.sides}
    contents = {
        _file(name): to_parquet(tables[name], columns)
        for name, columns in kind_of(result.scenario).tables.items()
    }
    return {**contents, SCENARIO: to_toml(result.scenario).encode()}


def load_result(folder: Path) -> Result:
    """Return the result that is kept in `folder`.

    Raises:
        RunFailed: If the folder is no result, a file of it is missing, truncated or changed, or it
            is of a version of dvsim that this one does not read.
    """
    manifest = read_manifest(folder)
    if manifest.swept is not None:
        return load_swept(folder, manifest)
    text = read_checked(folder, SCENARIO, manifest)
    kind = _kind(folder, manifest, text)
    check_name(folder, text, manifest)
    scenario = load_kept(folder, SCENARIO, manifest)
    if kind.name != scenario.KIND:
        raise broken(folder, f"its scenario is not of the kind {kind.name}")
    return _read(folder, manifest, scenario)


def _read(
    folder: Path, manifest: Manifest, scenario: Spec, sides: Collection[str] | None = None
) -> Result:
    kind = kind_of(scenario)
    names = [n for n in kind.tables if sides is None or n == "values" or n in sides]
    data = {name: read_checked(folder, _file(name), manifest) for name in names}
    try:
        tables = {name: from_parquet(data[name], kind.tables[name]) for name in names}
        for name, table in tables.items():
            _check_points(_file(name), table, len(scenario.points))
        rows = [table["replication"] for table in tables.values() if "replication" in table]
        asked, there = manifest.replications, pd.concat(rows).unique()
        if not (there.size == asked == max(there, default=0) and min(there) == 1):
            raise ValueError(f"it says {asked} replications, its tables have {there.size}")
        if wrong := impossible(tables["samples"]) if "samples" in tables else None:
            raise ValueError(wrong)
    except OtherColumns as error:
        raise other(folder, manifest, str(error)) from error
    except ValueError as error:
        raise broken(folder, str(error)) from error
    values = tables.pop("values")
    return Result(scenario, manifest.seed, asked, folder, manifest, values, tables)


def _kind(folder: Path, manifest: Manifest, text: bytes) -> Kind:
    backend, default = manifest.backend, kind_named(DEFAULT)
    if backend == EMULATED:
        backend = tomllib.loads(text.decode()).get("kind", DEFAULT)
    if backend in (*default.backends, DEFAULT):
        return default
    try:
        return kind_named(backend)
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
