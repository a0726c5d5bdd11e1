"""Shards put together: the same bytes as of a sweep that was never cut."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dvsim.errors import RunFailed
from dvsim.study.folder import MANIFEST
from dvsim.study.sweep_table import Row, SweepResult, load_swept, rows_of, tabulate, write_swept
from dvsim.study.sweeps.run import parts_of


def shards_in(folder: Path) -> list[Path]:
    """Return the shards that a folder has, or that are beside it, or the folder itself."""
    folder = named(folder)
    for parent in (folder, parts_of(folder)) if folder.name else (folder,):  # the root has no name
        try:
            inside = sorted(path.parent for path in parent.glob(f"*-of-*/{MANIFEST}"))
        except OSError as error:
            raise RunFailed(f"cannot read {parent}: {error.strerror}") from error
        if inside:
            return inside
    return [folder]


def named(folder: Path) -> Path:
    """Return a folder with its name, of which ``.`` and ``..`` say nothing."""
    return folder.resolve() if folder.name in ("", "..") else folder


def merge_folders(folders: Sequence[Path]) -> SweepResult:
    """Put shards together and keep the table where the sweep would have it.

    Shards that were collected elsewhere give a folder beside them.

    Args:
        folders: Of shards, or of sweeps whose shards are all there.

    Raises:
        RunFailed: If they do not belong together, or not all are there.
        OutputError: If the table cannot be written.
    """
    parts = load_parts(folders)
    first = parts[0]
    assert first.folder is not None  # it was read from there
    around = named(first.folder.parent)
    if first.manifest["asked"]["shard"] is None:
        target = first.folder
    elif around.suffix and around == parts_of(around.with_suffix("")):
        target = around.with_suffix("")
    else:
        target = around / f"{first.name.rpartition('/')[2]}-{first.manifest['asked']['digest']}"
    return write_swept(merged(parts), target)


def load_parts(folders: Sequence[Path]) -> list[SweepResult]:
    """Read shards.

    Args:
        folders: Of shards, or of sweeps whose shards are all there.

    Raises:
        RunFailed: If one of them is none.
    """
    parts = dict.fromkeys(part for folder in folders for part in shards_in(folder))
    return [load_swept(folder) for folder in parts]


def merged(parts: Sequence[SweepResult]) -> SweepResult:
    """Put the shards of one sweep together, to the table that it has unsharded.

    Raises:
        RunFailed: If they are of several sweeps, or some points are missing.
    """
    asked = [dict(part.manifest.get("asked") or {}) for part in parts]
    shards = [part_of.pop("shard", None) for part_of in asked]
    for part, other in zip(parts, asked, strict=True):
        if other != asked[0]:
            message = f"{part.folder} is of another sweep, version or seed than {parts[0].folder}"
            made = [str(part_of.manifest.get("version")) for part_of in (part, parts[0])]
            message += f": dvsim {made[0]}, and {made[1]}" if made[0] != made[1] else ""
            raise RunFailed(message)
    rows: dict[int, dict[tuple[tuple[str, float | str], ...], Row]] = {}
    for part in parts:
        for row in rows_of(part):
            rows.setdefault(row.point, {})[tuple(row.keys.items())] = row
    total = int(asked[0]["points"])
    if strange := [number for number in rows if not 0 <= number < total]:
        raise RunFailed(f"there is a point {strange[0]} among {total:,}")
    missing = [number for number in range(total) if number not in rows]
    if missing:
        counts = {shard[1] for shard in shards if shard}
        lost = [
            f"{number}/{count}"
            for count in sorted(counts)
            for number in range(1, count + 1)
            if [number, count] not in shards
        ]
        fault = f"shard {', '.join(lost)} is missing" if lost else "shards are missing"
        raise RunFailed(f"{len(missing):,} of {total:,} points are not there: {fault}")
    keys = max((part.keys for part in parts), key=len)
    every = [row for number in sorted(rows) for row in rows[number].values()]
    table, names = tabulate(every, list(keys))
    units = {key: unit for part in parts for key, unit in part.units.items()}
    manifest = parts[0].manifest | {"asked": asked[0] | {"shard": None}}
    manifest |= {"wall_s": round(sum(part.manifest.get("wall_s", 0) for part in parts), 3)}
    manifest |= {"failed": int((table["error"] != "").sum())}
    manifest |= {"replications": max(part.manifest.get("replications", 1) for part in parts)}
    return SweepResult(parts[0].name, keys, tuple(names), units, table, manifest)
