"""A C compiler before the real one: what it makes of models/ and emulator/ counts its branches.

`c.py` puts it first on the path as `cc`, so that whoever compiles in a test, with whatever flags,
gets counters. Each source is compiled once for each set of flags into a folder that keeps its
counts, whatever becomes of the program; without optimization, and without the sanitizers, whose
checks would count as branches.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

COUNTED = ("models", "emulator", "tests")
"""Folders of sources with counters; tests, as they may include what they test."""
COUNTERS = ("-O0", "--coverage", "-fprofile-update=atomic", "-w")
DROPPED = ("-O", "-fsanitize", "-fno-sanitize")
LINKING = ("-l", "-L", "-Wl,", "-shared", "-c")
REAL, TREE, KEPT = (os.environ.get(f"COUNTING_{name}", "") for name in ("CC", "TREE", "KEPT"))


def counted(word: str) -> Path | None:
    """Return the file of the tree that a word names, if its lines are to be counted."""
    tree = Path(TREE)
    if not word.endswith(".c"):
        return None
    path = Path(word).resolve()
    if path.parts[-3:-1] == ("share", "bridge"):  # an installation brings copies
        rooms = (tree / "emulator" / room for room in ("bridge", "base"))
        path = next((room / path.name for room in rooms if (room / path.name).exists()), path)
    if not path.is_relative_to(tree) or not path.is_file():
        return None
    room, *rest = path.relative_to(tree).parts
    return path if room in COUNTED and "examples" not in rest else None


def compiled(source: Path, flags: list[str]) -> Path:
    """Return the object of a source; its notes and counts lie beside it."""
    name = hashlib.sha256("\0".join(flags).encode()).hexdigest()[:12]
    made = (Path(KEPT) / name / source.relative_to(TREE)).with_suffix(".o")
    made.parent.mkdir(parents=True, exist_ok=True)
    with made.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            command = [REAL, *flags, *COUNTERS, "-c", str(source), "-o", str(made)]
            status = subprocess.run(command, check=False).returncode
            if status != 0:
                made.unlink(missing_ok=True)
                raise SystemExit(status)
    return made


def flags_of(words: list[str]) -> list[str]:
    """Return what of a command says how to compile, with folders that hold from anywhere."""
    flags, rest = [], iter(words)
    for word in rest:
        if word == "-o":
            next(rest)
        elif word.startswith("-I"):
            flags.append(f"-I{Path(word[2:] or next(rest)).resolve()}")
        elif word.startswith("-") and not word.startswith(LINKING):
            flags.append(word)
    return flags


def main() -> None:
    """Do what the real compiler would, with counters."""
    words = [word for word in sys.argv[1:] if not word.startswith(DROPPED)]
    sources = {word: path for word in words if (path := counted(word))}
    if "-E" in words or not (sources or any(word.endswith(".o") for word in words)):
        os.execvp(REAL, [REAL, *words])
    flags = flags_of(words)
    # the headers of copies lie beside them, those of what they are copies of in two rooms
    copies = {Path(word).resolve().parent for word, path in sources.items()} - {
        path.parent for path in sources.values()
    }
    flags += [f"-I{folder}" for folder in sorted(copies)]
    made = {word: compiled(path, flags) for word, path in sources.items()}
    if "-c" in words:
        for word, path in made.items():
            target = words[words.index("-o") + 1] if "-o" in words else f"{Path(word).stem}.o"
            shutil.copy(path, target)
        words = [word for word in words if word not in made]
        if not any(word.endswith(".c") for word in words):
            return
    else:
        words = [str(made.get(word, word)) for word in words]
        words += [f"{KEPT}/flush.o", "--coverage", "-Wl,--wrap=_exit,--wrap=execvp"]
    os.execvp(REAL, [REAL, *words])


if __name__ == "__main__":
    main()
