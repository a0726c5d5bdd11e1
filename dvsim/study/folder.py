"""Files of a folder of results: its name, room for it, whole writes, reads that check hashes.

What a run and a study have in common: files whose hashes are in ``manifest.json``, a resolved
``scenario.toml``. What is in them: `dvsim.study.store`.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from dvsim.atomic import whole_folder, whole_folders, write_bytes
from dvsim.contract.load import load
from dvsim.errors import Advice, OutputError, RunFailed, ScenarioError
from dvsim.scenario.find import is_file
from dvsim.scenario.render import to_toml
from dvsim.scenario.spec import Spec
from dvsim.table.manifest import AGAIN, MANIFEST, Manifest, broken, other

SCENARIO = "scenario.toml"
PILOT = ".pilot"
NAME = re.compile("([a-z]+-)?[0-9a-f]{12}")


def run_folder(
    root: Path,
    scenario: Spec,
    version: str,
    seed: int,
    backend: str,
    emulated: Mapping[str, Any] | None = None,
    text: str | None = None,
    *,
    pilot: bool = False,
) -> Path:
    """Return the folder of a result: the same question always has the same folder.

    How many replications there are is not part of the question: more of them are more rows. A
    pilot is beside it in a hidden folder. Of an emulated run, whose name begins with ``emu-``, the
    brokers and what is promised are part of the question: JSON types in `emulated`. `text` is
    `to_toml` of the scenario, if known.
    """
    name = _name(text or to_toml(scenario), [version, seed, backend], emulated)
    # a name may come from a file of somebody else: it must not lead out of the root
    parts = [part for part in scenario.name.split("/") if part not in {"", ".", ".."}]
    return root.joinpath(*parts, *[PILOT] * pilot, name)


def _name(scenario: str, how: Sequence[object], emulated: Mapping[str, Any] | None) -> str:
    asked = [scenario, *how] + ([] if emulated is None else [dict(emulated)])
    digest = hashlib.blake2b(json.dumps(asked, sort_keys=True).encode(), digest_size=6).hexdigest()
    return digest if emulated is None else f"{how[-1]}-{digest}"


def check_name(folder: Path, scenario: bytes, manifest: Manifest) -> None:
    """Hold the name of a folder against its manifest, of which there is no hash.

    A folder that was given another name by its owner says nothing about what was asked.

    Raises:
        RunFailed: If it is the name of another question.
    """
    named = folder.absolute().name
    if NAME.fullmatch(named) is None:
        return
    how = [manifest.version, manifest.seed, manifest.backend]
    if named != _name(scenario.decode("utf-8", "replace"), how, manifest.question):
        raise another(folder)


def is_there(folder: Path) -> bool:
    """Say whether a result is kept in a folder.

    Raises:
        RunFailed: If something is there that is no complete result.
    """
    if not os.path.lexists(folder):
        return False
    if not is_file(folder / MANIFEST):
        raise broken(folder, f"{MANIFEST} is missing")
    return True


def make_room(folder: Path) -> list[Path]:
    """Make the folders around a folder of results: a bad place shows before the run, not after.

    Returns:
        list: Those that were not there before, the innermost first; see `clear_room`.

    Raises:
        OutputError: If they cannot be made or written.
    """
    made = [parent for parent in folder.parents if not os.path.lexists(parent)]
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if not os.access(folder.parent, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        clear_room(made)
        raise _unwritable(folder, error) from error
    return made


def clear_room(made: Iterable[Path]) -> None:
    """Remove the folders that `make_room` has made, but for those that hold something by now."""
    for folder in made:
        with suppress(OSError):
            folder.rmdir()


def keep(folder: Path, contents: Mapping[str, bytes], manifest: Manifest) -> Manifest:
    """Write a folder of results, and return its manifest as it is kept, with the hashes.

    A result that is already there is replaced; it stays until the new one is complete.

    Args:
        folder: Where; its parents are made.
        contents: The files that count, by name.
        manifest: Without hashes.

    Raises:
        OutputError: If anything could not be written. Nothing of the new result remains then.
    """
    kept = manifest.holding(contents)
    try:
        with whole_folder(folder) as partial:
            for name, data in contents.items():
                write_bytes(partial / name, data)
            write_bytes(partial / MANIFEST, kept.encode())
    except OSError as error:
        raise _unwritable(folder, error) from error
    return kept


def keep_many(results: Mapping[Path, tuple[Mapping[str, bytes], Manifest]]) -> None:
    """Write many small folders of results; each is there whole or not at all.

    The disk is waited for once and not file by file, which would take longer than a small run.

    Args:
        results: By folder: the files that count, and the manifest without hashes; as in `keep`.

    Raises:
        OutputError: If anything could not be written. Some of the folders may be there then.
    """
    try:
        with whole_folders(list(results)) as partials:
            for partial, (contents, manifest) in zip(partials, results.values(), strict=True):
                text = manifest.holding(contents).encode()
                for name, data in {**contents, MANIFEST: text}.items():
                    (partial / name).write_bytes(data)
    except OSError as error:
        path = error.filename or next(iter(results)).parent
        raise _unwritable(Path(str(path)), error) from error


def read_checked(folder: Path, name: str, manifest: Manifest) -> bytes:
    """Return the bytes of a file.

    Raises:
        RunFailed: If it is missing, truncated or not what the manifest says.
    """
    path, recorded = folder / name, manifest.files.get(name)
    wanted = None if recorded is None else recorded.bytes
    try:
        size = path.stat().st_size
        data = path.read_bytes() if path.is_dir() or (path.is_file() and size == wanted) else b""
    except FileNotFoundError as error:
        if recorded is None:
            raise other(folder, manifest, f"{name} is missing, it never had one") from error
        raise broken(folder, f"{name} is missing") from error
    except OSError as error:
        raise broken(folder, f"{name}: {error.strerror}") from error
    if recorded is None:
        raise broken(folder, f"manifest.json has no hash of {name}")
    if size != wanted:
        sizes = f"{size} bytes instead of {wanted}"
        raise broken(folder, f"{name} is truncated or changed: {sizes}")
    if hashlib.sha256(data).hexdigest() != recorded.sha256:
        raise broken(folder, f"{name} was changed after the run: its hash differs")
    return data


def load_kept(folder: Path, name: str, manifest: Manifest) -> Spec:
    """Return the scenario of a folder, whose bytes are known to be as they were kept.

    Raises:
        OtherVersion: If it is none by the rules of this version.
    """
    try:
        return load(folder / name)
    except ScenarioError as error:
        first, *more = error.faults
        rest = f" (and {len(more)} more)" if more else ""
        raise other(folder, manifest, f"{name} is not valid any more: {first}{rest}") from error


def another(folder: Path) -> RunFailed:
    """Return the error of a folder that answers another question than the one it is named by."""
    return RunFailed(Advice(f"{folder} is not what was asked; ", AGAIN))


def _unwritable(folder: Path, error: OSError) -> OutputError:
    return OutputError(f"cannot write {folder}: {error.strerror or error}")
