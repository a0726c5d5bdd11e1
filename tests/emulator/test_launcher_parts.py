"""Do the parts of vicrun and vicload keep their contracts, if calls fail and memory is nonsense?

Each is a program that calls them, with calls of the system that do what it says.
"""

from __future__ import annotations

import subprocess

import pytest
from emulator_build import PROGRAMS, ROOT, build

WRAPPED = ("fopen", "write", "malloc", "calloc", "realloc", "waitpid", "nanosleep")
FLAGS = ["-std=c11", "-g", "-pthread", *build.WARNINGS, *build.INCLUDES]
ROOMS = [f"-I{ROOT / 'emulator' / room}" for room in ("launcher", "load")]


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """All of vicrun and vicload but their main programs."""
    folder = tmp_path_factory.mktemp("launcher-parts")
    sources = [*build.launcher_sources(), PROGRAMS / "launcher_parts.c"]
    sources += [path for path in build.program_sources("load") if path.parent.name == "load"]
    for room in {source.parent for source in sources}:  # two rooms may have files of one name
        (folder / room.name).mkdir()
        files = [str(source) for source in sources if source.parent == room]
        command = [*build.compiler(), "-c", *FLAGS, *ROOMS, *files]
        subprocess.run(command, check=True, cwd=folder / room.name)
    objects = [path for path in folder.glob("*/*.o") if path.stem not in ("vicrun", "vicload")]
    subprocess.run(["ar", "rcs", "parts.a", *map(str, objects)], check=True, cwd=folder)
    return folder / "parts.a"


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
def test_a_part(archive, emulator, tmp_path, name, wrapped):
    lib, program = emulator.prefix / "lib", tmp_path / name
    linked = [f"-Wl,--wrap={call}" for call in wrapped]
    linked += [f"-L{lib}", f"-Wl,-rpath,{lib}", "-lvic"]
    build.compile_c(
        [PROGRAMS / f"{name}.c", archive], program, [*FLAGS, "-Werror", *ROOMS, *linked]
    )
    done = subprocess.run(
        [program, tmp_path / "file", tmp_path][: 3 if name == "launcher_files" else 2],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "checks passed\n"), done.stdout + done.stderr
