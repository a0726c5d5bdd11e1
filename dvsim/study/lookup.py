"""Kept results by name: the newest of each backend, or the last few that were made."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from dvsim.errors import Advice, Argument, Fault, ScenarioError, nearest
from dvsim.scenario.find import is_file, is_folder, list_scenarios
from dvsim.study.folder import PILOT
from dvsim.table.manifest import MANIFEST, OtherVersion, read_manifest

MOST_TOLD = 8  # folders in an error


class Kept(NamedTuple):
    """A kept result: when it was begun, and kept, by which backend, and its folder.

    When it was begun is told to the second, and several may have begun in the same one.
    """

    started: str
    kept_ns: int
    backend: str
    folder: Path


def folders_of(name: str, root: Path, last: int | None = None) -> list[Path]:
    """Return the folders of results that a name stands for.

    Args:
        name: A folder, which stands for itself, or the name of a scenario that was run.
        root: Where kept results are.
        last: The last so many results of the scenario, in the order in which they were made; None
            for the newest of each backend, sim first.

    Raises:
        ScenarioError: If there is none, with the nearest name, or fewer than the last so many.
    """
    if is_file(Path(name) / MANIFEST):
        return [Path(name)]
    kept = kept_of(name, root)
    if not kept:
        raise ScenarioError([_unknown(name, root)])
    if last is None:
        newest = {run.backend: run.folder for run in kept}
        return [newest[backend] for backend in sorted(newest, key=lambda name: name != "sim")]
    if len(kept) < last:
        message = f"{len(kept)} of {name} are kept in {root}, not {last}"
        raise ScenarioError.at(Argument("last"), message)
    return [run.folder for run in kept[-last:]]


def kept_of(name: str, root: Path) -> list[Kept]:
    """Return all kept results of a scenario, or in a folder of them, the oldest first.

    Those in another format are left out, unless there are no others.

    Raises:
        RunFailed: If one of them is damaged, or all are in another format.
    """
    inside = root.joinpath(*(part for part in name.split("/") if part not in {"", ".", ".."}))
    for place in (inside, Path(name)):
        kept, others = [], []
        for path in sorted(place.glob(f"*/{MANIFEST}")) if is_folder(place) else ():
            if path.parent.name.startswith("."):  # of a result that is being written
                continue
            try:
                manifest = read_manifest(path.parent)
            except OtherVersion as error:
                others.append(error)
                continue
            when = manifest.started, path.stat().st_mtime_ns
            kept.append(Kept(*when, manifest.backend, path.parent))
        if kept:
            return sorted(kept)
        if others:
            raise others[-1]
    return []


def too_few(names: Sequence[str], root: Path, only: Path) -> ScenarioError:
    """Return the error that one result alone cannot be compared, with what is kept besides."""
    message = f"a comparison needs two runs; here is one: {only}"
    kept = [run.folder for name in dict.fromkeys(names) for run in kept_of(name, root)]
    others = [str(folder) for folder in reversed(kept) if folder != only]
    if others:
        more = f" and {len(others) - MOST_TOLD} more" if len(others) > MOST_TOLD else ""
        text = f"{message}; also kept: {', '.join(others[:MOST_TOLD])}{more}; name two, or take "
        message = Advice(text, Argument("last"), " 2, the two that were made last")
    return ScenarioError.at(" ".join(names), message)


def _unknown(name: str, root: Path) -> Fault:
    if is_folder(Path(name)):
        return Fault(name, None, "", "is a folder without a run")
    if any(entry.name == name for entry in list_scenarios()):
        message = f"no kept run of it in {root}; 'dvsim run {name}' makes one"
        return Fault(name, None, "", message)
    places = (path.parents[1].relative_to(root) for path in root.rglob(MANIFEST))
    known = (place.as_posix() for place in places if PILOT not in place.parts)
    message = f"no such folder, and no kept run of that name in {root}"
    return Fault(name, None, "", message, nearest(name, known))
