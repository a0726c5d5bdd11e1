"""Tar files of traces, and compressed files, unpacked into a folder that nothing can leave."""

from __future__ import annotations

import bz2
import gzip
import lzma
import shutil
import tarfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from dvsim.kinds.workload.readers.text import MOST_BYTES, refuse

MOST_MEMBERS = 1 << 20


PACKED: Mapping[bytes, Callable[[Path], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\0": lzma.open,
}
"""What opens a compressed file, by how it begins."""

BLOCK = 512  # of a tar: the first one says at its 257th byte that it is one


def unpack(path: Path, head: bytes, folder: Path) -> None:
    """Unpack the files of a tar, compressed or not, or a compressed file, into an empty folder.

    Raises:
        ScenarioError: If it is damaged, too large, or a member is a link, a device, or leads out of
            the folder.
    """
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


DAMAGED = (zlib.error, lzma.LZMAError)


def _is_old_tar(path: Path) -> bool:
    """Return whether a compressed file is a tar of the kind that does not say so."""
    try:
        with tarfile.open(path):
            return True
    except (tarfile.TarError, EOFError, OSError, ValueError, *DAMAGED):
        return False


def _single(path: Path, first: bytes, file: IO[bytes], folder: Path) -> None:
    """Unpack a file that is compressed alone."""
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
