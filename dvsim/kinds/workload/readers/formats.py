"""Which format a trace has, and who reads it: a file, a folder, or a tar of either.

Formats of others are `Format` objects at entry points in the group ``dvsim.traces``; their readers
fill a `dvsim.kinds.workload.mpi.Program`, as those here do.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import IO, Any, NamedTuple

from dvsim.errors import Fault, ScenarioError
from dvsim.kinds.workload.collectives import MPICH, Collectives
from dvsim.kinds.workload.graph import Graph
from dvsim.kinds.workload.readers import chakra, dumpi, goal, liballprof, otf2, simgrid
from dvsim.kinds.workload.readers.calls import Options
from dvsim.kinds.workload.readers.otf2_archive import ANCHOR
from dvsim.kinds.workload.readers.text import MOST_BYTES, refuse

NO_FORMAT = "is of no format that can be read"
HEAD = 4096  # bytes of a file that say what it is
MOST_FILES = MOST_MEMBERS = 1 << 20
BLOCK = 512  # of a tar: the first one says at its 257th byte that it is one

PACKED: Mapping[bytes, Callable[[Path], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\0": lzma.open,
}
"""What opens a compressed file, by how it begins."""

DAMAGED = (zlib.error, lzma.LZMAError)


class Format(NamedTuple):
    """A format of traces."""

    title: str  # for people
    # Says by the name of a file and its beginning whether it is of the format.
    knows: Callable[[Path, bytes], bool]
    read: Callable[[Sequence[Path], Options, str], Graph]  # reads files
    # Finds the files of the trace that a file is of, the file itself among them; by default that
    # alone.
    files: Callable[[Path], Sequence[Path]] = lambda path: [path]


def _lines(head: bytes) -> list[str]:
    if b"\0" in head:
        return []
    text = head.decode("utf-8", "replace")
    lines = text.splitlines() if len(head) < HEAD else text.splitlines()[:-1]
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]


def _first(head: bytes) -> str:
    return next(iter(_lines(head)), "")


def _is_meta(path: Path, head: bytes) -> bool:
    return path.suffix == ".meta" and any(line.startswith("numprocs=") for line in _lines(head))


FORMATS: dict[str, Format] = {
    "otf2": Format("OTF2", lambda _, head: head.startswith(ANCHOR), otf2.read),
    "goal": Format(
        "GOAL",
        lambda _, head: b"\0" not in head and goal.is_goal(head.decode("utf-8-sig", "replace")),
        lambda files, *_: goal.read_goal(files[0]),
    ),
    "dumpi": Format("DUMPI", dumpi.is_file, dumpi.read, dumpi.files_beside),
    "dumpi-meta": Format("the .meta of DUMPI", _is_meta, dumpi.read, dumpi.files_beside),
    "chakra": Format("Chakra ET", chakra.is_file, chakra.read, chakra.files_beside),
    "liballprof": Format(
        "liballprof", lambda _, head: liballprof.is_line(_first(head)), liballprof.read
    ),
    "simgrid": Format(
        "SimGrid, time-independent",
        lambda _, head: simgrid.is_action(_first(head)),
        simgrid.read,
    ),
    "simgrid-list": Format(
        "a list of SimGrid files",
        lambda path, head: bool(_lines(head)) and simgrid.is_list(path),
        simgrid.read,
        simgrid.listed,
    ),
}
"""Formats by name, in the order in which a file is tried."""

GROUP = "dvsim.traces"

SINGLE = ("otf2", "goal", "dumpi-meta", "simgrid-list")
"""Formats of which one file is the whole trace, so that a folder has one of them."""


@cache
def formats() -> Mapping[str, Format]:
    """Return all formats that are installed, dvsim's own first.

    Raises:
        ScenarioError: If one of others cannot be loaded.
    """
    found = dict(FORMATS)
    for entry in entry_points(group=GROUP):
        try:
            found.setdefault(entry.name, entry.load())
        except Exception as error:
            refuse("", None, f"format '{entry.name}' ({entry.value}) cannot be loaded: {error}")
    return found


def read(path: str | Path, *, table: Collectives = MPICH, flops: float = simgrid.FLOPS) -> Graph:
    """Return the graph of a trace.

    Args:
        path: A file, a folder with the files of one trace, or a tar of either, compressed or not;
            or a compressed file.
        table: Which algorithm each collective takes.
        flops: Per second, of a host, where a trace counts computation in flops.
    """
    given, options = Path(path), Options(table, flops)
    if given.is_dir():
        return _folder(given, options, str(path))
    if not given.is_file():
        refuse(given, None, "there is no such file or folder")
    head = _head(given)
    if _is_tar(given, head) and not chakra.is_file(given, b""):
        with tempfile.TemporaryDirectory(prefix="dvsim-trace-") as folder:
            unpack(given, head, Path(folder))
            try:
                return _folder(Path(folder), options, str(path))
            except ScenarioError as error:
                raise _named(error, folder, str(path)) from None
    name = _format(given, head)
    if name is None:
        refuse(given, None, f"{NO_FORMAT}: {_titles(formats())}")
    return formats()[name].read(formats()[name].files(given), options, str(path))


def _titles(names: Iterable[str], between: str = ", ") -> str:
    return between.join(formats()[name].title for name in names)


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(HEAD)
    except OSError as error:
        refuse(path, None, f"cannot be read: {error.strerror or error}")


def _is_tar(path: Path, head: bytes) -> bool:
    return head[257:262] == b"ustar" or head.startswith(tuple(PACKED)) or path.suffix == ".tar"


def _format(path: Path, head: bytes) -> str | None:
    return next((name for name, known in formats().items() if known.knows(path, head)), None)


def _folder(folder: Path, options: Options, name: str) -> Graph:
    groups: dict[str, list[Path]] = {}
    for count, path in enumerate(sorted(folder.rglob("*"))):
        if count >= MOST_FILES:
            refuse(folder, None, f"has more than {MOST_FILES} files")
        if path.is_file() and not path.is_symlink():
            trace_format = _format(path, _head(path))
            if trace_format is not None:
                groups.setdefault(trace_format, []).append(path)
    singles = [path for name in SINGLE for path in groups.get(name, [])]
    if singles:
        trace_format = next(name for name in SINGLE if name in groups)
        files = formats()[trace_format].files(singles[0])
        inside = [file.resolve() for file in files]
        others = [
            path
            for format_name, many in groups.items()
            for path in many
            if path != singles[0] and path.resolve() not in inside
            and not (format_name == "simgrid-list" and simgrid.listed(path) == files)
        ]  # fmt: skip
        if others:
            listed = ", ".join(str(path.relative_to(folder)) for path in (singles + others)[:3])
            refuse(folder, None, f"has more than one trace: {listed}; name one of them")
        return formats()[trace_format].read(files, options, name)
    if not groups:
        parts = next(folder.rglob("*.evt"), None)
        if parts is not None:
            trace = parts.relative_to(folder)
            refuse(folder, None, f"has {trace}, but no anchor file of an OTF2 archive, NAME.otf2")
        refuse(folder, None, f"has no trace of a format that can be read: {_titles(formats())}")
    if len(groups) > 1:
        titles = _titles(groups, " and ")
        refuse(folder, None, f"has traces of several formats: {titles}; name one of them")
    ((trace_format, files),) = groups.items()
    places = {path.parent for path in files}
    if len(places) > 1:
        refuse(folder, None, "has traces in several folders; name one of them")
    return formats()[trace_format].read(files, options, name)


def _named(error: ScenarioError, folder: str, name: str) -> ScenarioError:

    def told(fault: Fault) -> Fault:
        return replace(fault, file=fault.file.replace(folder, name, 1))

    return ScenarioError(map(told, error.faults))


def unpack(path: Path, head: bytes, folder: Path) -> None:
    """Unpack the files of a tar, compressed or not, or a compressed file, into an empty folder."""
    opened = next((opener for start, opener in PACKED.items() if head.startswith(start)), None)
    try:
        if opened is not None:
            with opened(path) as file:
                first = file.read(BLOCK)
                if first[257:262] != b"ustar" and not _is_old_tar(path):
                    _single(path, first, file, folder)
                    return
        with tarfile.open(path) as archive:
            remaining = MOST_BYTES
            for count, member in enumerate(archive):
                target = (folder / member.name).resolve()
                if count >= MOST_MEMBERS:
                    refuse(path, None, f"has more than {MOST_MEMBERS} members")
                if not target.is_relative_to(folder.resolve()):
                    refuse(path, None, f"has a member that leads out of it: {member.name!r}")
                if member.isdir():
                    target.mkdir(parents=True, exist_ok=True)
                    continue
                if not member.isfile():
                    refuse(path, None, f"has a member that is no file: {member.name!r}")
                remaining -= member.size
                if remaining < 0:
                    refuse(path, None, f"has more than {MOST_BYTES} bytes")
                target.parent.mkdir(parents=True, exist_ok=True)
                source = archive.extractfile(member)
                assert source is not None
                with source, target.open("wb") as out:
                    shutil.copyfileobj(source, out)
    except (tarfile.TarError, EOFError, OSError, ValueError, *DAMAGED) as error:
        refuse(path, None, f"cannot be unpacked: {error}")


def _is_old_tar(path: Path) -> bool:
    try:
        with tarfile.open(path):
            return True
    except (tarfile.TarError, EOFError, OSError, ValueError, *DAMAGED):
        return False


def _single(path: Path, first: bytes, file: IO[bytes], folder: Path) -> None:
    name = path.stem if path.stem and "." in path.name[1:] else "trace"
    remaining = MOST_BYTES
    with (folder / name).open("wb") as out:
        part = first
        while part:
            remaining -= len(part)
            if remaining < 0:
                refuse(path, None, f"has more than {MOST_BYTES} bytes")
            out.write(part)
            part = file.read(1 << 20)
