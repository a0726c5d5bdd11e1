"""What a reader is given: some named files, as one text that can be kept, looked at and changed.

A case begins each of its files with a line ``=== NAME ===``. Where a target has a good folder of
its own, the files of a case lie over it; ``-NAME`` takes one away.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

Files = dict[str, bytes]

HEAD = re.compile(rb"^=== ([\w.-]+) ===\n", re.MULTILINE)


def pack(files: Mapping[str, bytes]) -> bytes:
    """Return files as one case."""
    return b"".join(b"=== %s ===\n%s\n" % (name.encode(), text) for name, text in files.items())


def unpack(case: bytes) -> Files:
    """Return the files of a case."""
    heads = list(HEAD.finditer(case))
    ends = [head.start() for head in heads[1:]] + [len(case)]
    return {
        head[1].decode(): case[head.end() : end - 1] for head, end in zip(heads, ends, strict=True)
    }


def lay(files: Mapping[str, bytes], folder: Path) -> None:
    """Write the files of a case into a folder, and remove what it takes away."""
    for name, text in files.items():
        if name.startswith("-"):
            (folder / name[1:]).unlink(missing_ok=True)
        else:
            (folder / name).write_bytes(text)


def kept(folder: Path) -> Iterable[tuple[str, Files]]:
    """Return the cases that are kept in a folder, by name."""
    for path in sorted(folder.glob("*")):
        yield path.name, unpack(path.read_bytes())
