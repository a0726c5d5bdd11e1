"""Do the parts of vicrun and vicload keep their contracts, if calls fail and memory is nonsense?

Each is a program that calls them, with calls of the system that do what it says.
"""

from __future__ import annotations

import subprocess

import pytest
from builds import archive
from emulator_build import PROGRAMS, ROOT, build
from harness.once import once

WRAPPED = ("fopen", "write", "malloc", "calloc", "realloc", "waitpid", "nanosleep")
ROOMS = [f"-I{ROOT / 'emulator' / room}" for room in ("launcher", "load")]


@pytest.fixture(scope="module")
def parts(emulator):
    """All of vicrun and vicload but their main programs, as they are in these."""
    objects = emulator.prefix.parent / "objects"
    chosen = [path for part in ("vicrun", "hardware") for path in (objects / part).glob("*.o")]
    chosen += (objects / "vicload").glob("load-*.o")
    mains = ("launcher-vicrun.o", "load-vicload.o")

    def make(folder):
        archive(folder, sorted(path for path in chosen if path.name not in mains))

    return once("parts of vicrun and vicload", make) / "all.a"


@pytest.mark.parametrize(
    ("name", "wrapped"),
    [
        ("launcher_files", WRAPPED),
        ("launcher_ends", WRAPPED),
        ("launcher_timed", (*WRAPPED, "job_clock_ns")),
        ("launcher_posts", (*WRAPPED, "job_clock_ns")),
        ("load_parts", WRAPPED),
    ],
)
def test_a_part(parts, emulator, tmp_path, name, wrapped):
    linked = [f"-Wl,--wrap={call}" for call in wrapped]
    sources = [PROGRAMS / f"{name}.c", PROGRAMS / "launcher_parts.c", parts]
    program = emulator.linked(name, sources, [*build.INCLUDES, *ROOMS, *linked])
    done = subprocess.run(
        [program, tmp_path / "file", tmp_path][: 3 if name == "launcher_files" else 2],
        capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "checks passed\n"), done.stdout + done.stderr


def test_no_memory_is_laid_over_other_memory():
    """A page may have 64 KiB: the memory of a job, divided by 4 KiB, cannot be mapped in parts."""
    sources = [*(ROOT / "emulator").rglob("*.[ch]"), *(ROOT / "models").rglob("*.[ch]")]
    assert [str(path) for path in sources if "MAP_FIXED" in path.read_text("utf-8")] == []
