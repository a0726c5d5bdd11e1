"""Tar files of traces, unpacked into a folder that nothing in them can leave."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path

from dvsim.kinds.workload.readers.text import MOST_BYTES, refuse

MOST_MEMBERS = 1 << 20


def unpack(path: Path, folder: Path) -> None:
    """Unpack the files of a tar, compressed or not, into an empty folder.

    Raises
    ------
    ScenarioError
        If it is damaged, too large, or a member is a link, a device, or leads out of the folder.
    """
    try:
        with tarfile.open(path) as archive:
            left = MOST_BYTES
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
                left -= member.size
                if left < 0:
                    refuse(path, None, f"has more than {MOST_BYTES} bytes")
                target.parent.mkdir(parents=True, exist_ok=True)
                source = archive.extractfile(member)
                assert source is not None
                with source, target.open("wb") as out:
                    shutil.copyfileobj(source, out)
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        refuse(path, None, f"cannot be unpacked: {error}")
