"""Damage to a folder of results, as a document: what is kept of a case must fit any later version.

The folder itself is made by the version that is tested; a document says what becomes of it::

    {"of": "tcp", "sealed": true, "set": [["files.scenario.toml.bytes", 3]], "unset": ["host"],
     "cut": {"samples.parquet": 100}, "flip": {"manifest.json": 77}, "swap": {"a": "b"},
     "gone": ["report.html"], "cell": [["samples.parquet", "messages", 0, -1]]}

A folder is *sealed* if the hashes of its manifest are those of the damaged files: what somebody
would do who wants it to be believed.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from case_changes import VALUES
from case_files import Files
from hypothesis import strategies as st

MANIFEST = "manifest.json"
DAMAGE = "damage.json"


def document_of(files: Files) -> dict[str, Any]:
    """Return the document of a case; an empty one if it is none."""
    try:
        found = json.loads(files[DAMAGE])
    except (KeyError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def apply(document: Mapping[str, Any], good: Path, folder: Path) -> None:
    """Copy a good folder and damage the copy."""
    shutil.copytree(good, folder)
    for name, column, row, value in document.get("cell", []):
        _set_cell(folder / name, column, row, value)
    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    for path, value in document.get("set", []):
        _set(manifest, path, value)
    for path in document.get("unset", []):
        _set(manifest, path, None, gone=True)
    (folder / MANIFEST).write_text(json.dumps(manifest), "utf-8")
    for name, other in document.get("swap", {}).items():
        (folder / name).write_bytes((good / other).read_bytes())
    for name, size in document.get("cut", {}).items():
        (folder / name).write_bytes((folder / name).read_bytes()[:size])
    for name, bit in document.get("flip", {}).items():
        data = bytearray((folder / name).read_bytes())
        if data:
            data[bit // 8 % len(data)] ^= 1 << bit % 8
        (folder / name).write_bytes(data)
    for name in document.get("gone", []):
        (folder / name).unlink(missing_ok=True)
    if document.get("sealed"):
        _seal(folder)


def _set(manifest: Any, path: str, value: Any, gone: bool = False) -> None:
    """Set or remove what a dotted path leads to; names of files have dots, too."""
    at, rest = manifest, path
    while isinstance(at, dict):
        key = next((one for one in at if rest == one or rest.startswith(f"{one}.")), rest)
        if key == rest:
            at.pop(key, None)
            if not gone:
                at[key] = value
            return
        at, rest = at[key], rest[len(key) + 1 :]


def _seal(folder: Path) -> None:
    try:
        manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
        for name in manifest["files"]:
            data = (folder / name).read_bytes()
            manifest["files"][name] = {
                "bytes": len(data),
                "sha256": hashlib.sha256(data).hexdigest(),
            }
        (folder / MANIFEST).write_text(json.dumps(manifest), "utf-8")
    except (OSError, ValueError, TypeError, KeyError):
        pass  # the damage goes deeper than that


def _set_cell(path: Path, column: str, row: int, value: Any) -> None:
    """Put a value into a table, which keeps its columns and their types."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
        columns = table.to_pydict()
        columns[column][row % len(columns[column])] = value
        changed = pa.table(columns, schema=table.schema)
    except (OSError, KeyError, TypeError, ValueError, OverflowError, ZeroDivisionError):
        return  # a value that the column cannot hold
    sink = io.BytesIO()
    pq.write_table(changed, sink)
    path.write_bytes(sink.getvalue())


def damaged(folders: Mapping[str, Path]) -> st.SearchStrategy[Files]:
    """Return cases with one to three damages to one of some good folders."""

    @st.composite
    def strategy(draw: st.DrawFn) -> Files:
        of = draw(st.sampled_from(sorted(folders)))
        files = {path.name: path for path in folders[of].iterdir() if path.is_file()}
        names = st.sampled_from(sorted(files))
        paths = paths_of(json.loads(files[MANIFEST].read_text("utf-8")))
        path = st.sampled_from(paths)
        values = st.sampled_from(VALUES)
        document: dict[str, Any] = {"of": of}
        if draw(st.booleans()):
            document["sealed"] = True
        for _ in range(draw(st.integers(1, 3))):
            what = draw(
                st.sampled_from(["set", "set", "unset", "cut", "flip", "swap", "gone", "cell"])
            )
            if what == "set":
                document.setdefault(what, []).append([draw(path), draw(values)])
            elif what == "unset":
                document.setdefault(what, []).append(draw(path))
            elif what == "gone":
                document.setdefault(what, []).append(draw(names))
            elif what == "swap":
                document.setdefault(what, {})[draw(names)] = draw(names)
            elif what == "cell":
                tables = {name: _columns(one) for name, one in files.items() if ".parquet" in name}
                name = draw(st.sampled_from(sorted(tables)))
                cell = [name, draw(st.sampled_from(tables[name])), draw(st.integers(0, 9))]
                document.setdefault(what, []).append([*cell, draw(values)])
            else:
                name = draw(names)
                size = files[name].stat().st_size
                most = size if what == "cut" else 8 * size
                document.setdefault(what, {})[name] = draw(st.integers(0, most))
        return {DAMAGE: json.dumps(document).encode()}

    return strategy()


def paths_of(manifest: Mapping[str, Any], around: str = "") -> Sequence[str]:
    """Return the dotted paths of all that a manifest says."""
    found = []
    for key, value in manifest.items():
        found.append(f"{around}{key}")
        if isinstance(value, dict):
            found += paths_of(value, f"{around}{key}.")
    return found


def _columns(path: Path) -> list[str]:
    import pyarrow.parquet as pq

    names: list[str] = pq.read_schema(path).names
    return names
