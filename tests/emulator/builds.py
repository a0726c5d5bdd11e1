"""The emulator built in several ways, and programs on it: each made once for all tests of a run."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from emulator_build import PROGRAMS, ROOT, SANITIZE, SMALL, build, in_place
from harness.once import once
from harness.patience import patience

LIBRARY = [*build.WARNINGS, *build.INCLUDES]
"""Flags for what includes the library's own headers."""
CHECKED = [*SANITIZE, "-Werror"]


@dataclass
class Emulator:
    """One build: vicrun, and programs compiled against it when they are first asked for."""

    name: str
    prefix: Path
    flags: Sequence[str]
    before: Sequence[str] = ()

    def program(self, name: str) -> Path:
        """Return a program of programs/, linked with the shared library."""
        sources = [PROGRAMS / f"{name}.c"]
        text = sources[0].read_text("utf-8")
        if "void run(const struct self" in text:
            sources.append(PROGRAMS / "harness.c")
        return self.linked(name, sources, build.INCLUDES if "/emulator/src/" in text else ())

    def linked(self, name: str, sources: Sequence[Path], flags: Sequence[str]) -> Path:
        """Return a program of some sources, which may want flags of their own."""

        def make(folder: Path) -> None:
            lib = self.prefix / "lib"
            own = ["-std=c11", *build.WARNINGS, "-Werror", f"-I{self.prefix / 'include'}", *flags]
            own += ["-pthread", f"-L{lib}", f"-Wl,-rpath,{lib}", "-lvic", *self.flags]
            build.compile_c(sources, folder / name, own)

        return once(f"{name} for the emulator, {self.name}", make) / name

    def run(self, cards: int, name: str | Path, *arguments: str, options=SMALL, env=None):
        """Run a program under vicrun: one of programs/, or another."""
        program = self.program(name) if isinstance(name, str) else name
        vicrun = str(self.prefix / "bin" / "vicrun")
        command = [*self.before, vicrun, "-n", str(cards), *options, "--"]
        return subprocess.run(
            [*command, str(program), *arguments],
            capture_output=True, text=True, check=False, timeout=patience(200),
            env={**os.environ, **(env or {})},
        )  # fmt: skip


def built_plain() -> Path:
    """Return a folder with `prefix` and `objects` as installed: copies, or built anew if older."""

    def make(folder: Path) -> None:
        sources = [ROOT / "emulator" / "build.py"]
        for room in ("emulator", "models"):
            sources += [path for end in ("[ch]", "inc") for path in ROOT.glob(f"{room}/**/*.{end}")]
        prefix, objects = ROOT / "dvsim" / "_emulator", ROOT / "build" / "emulator"
        made = min((path.stat().st_mtime for path in objects.glob("*/*.o")), default=0)
        if made > max(path.stat().st_mtime for path in sources):
            shutil.copytree(prefix, folder / "prefix")
            shutil.copytree(objects, folder / "objects")
        else:
            build.build(folder / "prefix", ["-O2", "-Werror"], folder / "objects")

    return once("the emulator as it is installed", make)


def plain() -> Emulator:
    """Return the emulator as it is installed."""
    return Emulator("plain", built_plain() / "prefix", ["-O1"])


def part_with_sanitizers(part: str) -> Path:
    """Return a folder with the objects of a part, in a folder of its name."""
    return once(
        f"{part} for addresses and behaviour",
        lambda folder: build.compile_part(part, folder, CHECKED),
    )


def built_with_sanitizers() -> Path:
    """Return a folder with `prefix` and `objects` for addresses and undefined behaviour."""

    def make(folder: Path) -> None:
        objects = folder / "objects"
        for part in build.parts():
            shutil.copytree(
                part_with_sanitizers(part) / part, objects / part, copy_function=os.link
            )
        build.build(folder / "prefix", CHECKED, objects)

    return once("the emulator, sanitized", make)


def sanitized() -> Emulator:
    """Return launcher, library and programs under the sanitizers of addresses and behaviour."""
    prefix = built_with_sanitizers() / "prefix"
    return Emulator("sanitized", prefix, [*SANITIZE, "-O0"], in_place())


def with_race_points(name: str, flag: str) -> Emulator:
    """Return the emulator whose files with race.h are compiled with a flag of that."""
    plain = built_plain()

    def make(folder: Path) -> None:
        shutil.copytree(plain / "prefix", folder / "prefix")
        races = [path for path in build.libvic_sources() if '"race.h"' in path.read_text("utf-8")]
        flags = [*build.COMMON, "-O1", "-fPIC", flag]
        objects = objects_but(plain / "objects" / "libvic", races, folder / "new", flags)
        library = folder / "prefix" / "lib" / build.SONAME
        library.unlink()
        build.link_library(objects, library, [])

    return Emulator(name, once(f"the emulator, {name}", make) / "prefix", ["-O1"])


def racing() -> Emulator:
    """Return the emulator with pauses where two things race (emulator/src/race.h)."""
    return with_race_points("racing", "-DVIC_RACES")


def stepping() -> Emulator:
    """Return the emulator whose programs die at the step of a call that VIC_STEP names."""
    return with_race_points("stepping", "-DVIC_STEPS")


def objects_but(
    objects: Path, sources: Sequence[Path], folder: Path, flags: Sequence[str]
) -> list[Path]:
    """Return the objects of a folder, those of some sources made anew with other flags."""
    assert sources
    new = build.compile_objects(sources, folder, flags)
    names = {path.name for path in new}
    return [*new, *(path for path in sorted(objects.glob("*.o")) if path.name not in names)]


class Threaded:
    """Programs with the cards as threads of one process, under the thread sanitizer."""

    FLAGS = ("-std=c11", "-g1", "-O1", "-pthread", *LIBRARY, "-Werror",
             f"-I{ROOT / 'emulator' / 'launcher'}", "-fsanitize=thread",
             "-DIN_PROCESS")  # fmt: skip

    def __init__(self, name: str, archive: Path) -> None:
        self.name, self.archive = name, archive

    def program(self, name: str) -> Path:
        """Return a program of programs/; one with a main function of its own is a process."""

        def make(folder: Path) -> None:
            build.compile_c([PROGRAMS / f"{name}.c", self.archive], folder / name, self.FLAGS)

        return once(f"{name} with threads, {self.name}", make) / name

    def __call__(self, name: str, *options: str):
        """Run a program of programs/ with options of vicrun."""
        return subprocess.run(
            [*in_place(), str(self.program(name)), *options, "--", "x"],
            capture_output=True, text=True, check=False, timeout=patience(200),
        )  # fmt: skip


def archive(folder: Path, objects: Sequence[Path]) -> Path:
    """Return an archive of objects."""
    made = folder / "all.a"
    subprocess.run(["ar", "rcs", str(made), *map(str, objects)], check=True)
    return made


def threaded_objects() -> Path:
    """Return a folder with `libvic` and `rest`: objects for threads of one process."""

    def make(folder: Path) -> None:
        here = ROOT / "emulator"
        names = ("options", "programs", "faults", "cardfile", "hosts_list")
        rest = [here / "launcher" / f"{name}.c" for name in names]
        rest += sorted((here / "launcher").glob("coordinator*.c"))
        rest += [*sorted((here / "base").glob("*.c")), *build.hardware_sources()]
        rest += [PROGRAMS / "harness.c"]
        for room, sources in (("libvic", build.libvic_sources()), ("rest", rest)):
            build.compile_objects(sources, folder / room, Threaded.FLAGS)

    return once("objects under the thread sanitizer", make)


def threaded() -> Threaded:
    """Return what runs programs as threads."""
    objects = threaded_objects()

    def make(folder: Path) -> None:
        archive(folder, sorted(objects.glob("*/*.o")))

    return Threaded("threaded", once("threaded", make) / "all.a")


def ordered() -> Threaded:
    """Return the same with words that are ordinary memory: what no counter orders is a race."""
    objects = threaded_objects()

    def make(folder: Path) -> None:
        words = [path for path in build.libvic_sources() if path.parent.name == "functional"]
        flags = [*Threaded.FLAGS, "-DPLAIN_WORDS"]
        of_library = objects_but(objects / "libvic", words, folder / "new", flags)
        archive(folder, [*of_library, *sorted((objects / "rest").glob("*.o"))])

    return Threaded("ordered", once("ordered", make) / "all.a")
