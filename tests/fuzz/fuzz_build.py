"""Compiles the targets: for libFuzzer by clang, or to replay inputs by any compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "emulator"))
from emulator_build import build as emulator

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SANITIZERS = "-fsanitize=address,undefined"
COMMON = ["-std=gnu11", "-g", "-O1", "-pthread", SANITIZERS, "-fno-sanitize-recover=all"]
CLANG = next((name for name in ("clang", "clang-14") if shutil.which(name)), None)
LAUNCHER = ("options", "programs", "faults", "cardfile", "hosts_list", "serve", "exits", "look",
            "coordinator", "coordinator_barrier", "coordinator_stuck",
            "coordinator_events", "coordinator_fabric")  # fmt: skip
"""Of vicrun: what reads. The rest starts programs."""

AGENT = ("agent", "clocks", "incoming", "news", "outgoing")
"""Of vichost: what agents read and write. frames.c plays libfabric, and has the rest in it."""

MAIN = {"bridge": "main.c", "load": "vicload.c"}
"""Of programs whose other files are all for targets."""

HELP = ("cards", "model", "amqp_server")


@dataclass(frozen=True)
class Target:
    """A file of targets/: the program that it looks at, and calls that it answers itself."""

    room: str = "launcher"
    wraps: tuple[str, ...] = ("job_clock_ns",)
    inputs_bytes: int = 1024  # at most: longer ones find little more, and slowly


TARGETS = {
    "packets": Target(),
    "calls": Target(),
    "vectors": Target(inputs_bytes=2048),
    "teams": Target(),
    "words": Target(inputs_bytes=2048),
    "envelope": Target(inputs_bytes=512),
    "client": Target(wraps=("job_clock_ns", "getrandom")),
    "shared": Target(),
    "timed": Target(wraps=("job_clock_ns", "syscall")),
    "attach": Target(wraps=(), inputs_bytes=512),
    "join": Target(inputs_bytes=512),
    "vicrun_options": Target(wraps=("close",)),
    "vicload_options": Target("load", wraps=()),
    "vicbridge_options": Target("bridge", wraps=()),
    "amqp": Target("bridge", wraps=("message_free_all", "log_error", "log_warning", "log_info")),
    "frames": Target("hosts"),
}


if not emulator.package_flags("libfabric"):  # without it there is no vichost either
    del TARGETS["frames"]


def _sources(room: str) -> list[Path]:
    """Return the C files of a program that targets may need, without its main."""
    here = ROOT / "emulator"
    if room == "launcher":
        return [
            *(here / room / f"{name}.c" for name in LAUNCHER),
            *(here / "base").glob("*.c"),
        ]
    if room == "hosts":
        return [here / room / f"{name}.c" for name in AGENT]
    if room in MAIN:
        found = emulator.program_sources(room)
        return [path for path in found if path.name != MAIN[room]]
    return [
        *emulator.libvic_sources(),
        *emulator.hardware_sources(),
        *(HERE / f"{name}.c" for name in HELP),
    ]


def _newest_header() -> float:
    rooms = (ROOT / "emulator", ROOT / "models", HERE)
    files = (path for room in rooms for path in room.rglob("*.[hc]"))
    headers = (path for path in files if path.suffix == ".h" or path.parent.name == "launcher")
    return max(path.stat().st_mtime for path in headers)


def _compile(source: Path, target: Path, command: Sequence[str], newest: float) -> Path:
    changed = max(source.stat().st_mtime, newest)
    if not target.exists() or target.stat().st_mtime < changed:
        subprocess.run([*command, "-c", str(source), "-o", str(target)], check=True)
    return target


def _ready(source: Path, objects: Path) -> Path | None:
    """Return what a build of the emulator has made of a source already."""
    name = f"{source.parent.name}-{source.stem}.o"
    return next(iter(sorted(objects.glob(f"*/{name}"))), None)


def _room_flags(room: str) -> list[str]:
    """Return what finds the headers of a program; vichost has all of vicrun in it."""
    rooms = [room, "launcher"] if room == "hosts" else [room]
    flags = emulator.package_flags("libfabric") if room == "hosts" else []
    fabric = [flag for flag in flags if not flag.startswith("-l")]
    return [*(f"-I{ROOT / 'emulator' / name}" for name in rooms), *fabric]


def _command(target: Target | None, compiler: Sequence[str]) -> list[str]:
    """Return what compiles a file: that of a target with the headers of its program."""
    room = _room_flags(target.room) if target else []
    return [*compiler, *COMMON, *emulator.WARNINGS, *emulator.INCLUDES, *room]


def syntax_of(source: Path) -> list[str]:
    """Return the command that says whether a file of this folder compiles, and makes nothing."""
    command = _command(TARGETS.get(source.stem), emulator.compiler())
    return [*command, "-Werror", "-fsyntax-only", str(source)]


def build(
    folder: Path, names: Iterable[str], *, replay: Path | None = None, jobs: int | None = None
) -> dict[str, Path]:
    """Build some targets; return their programs.

    Parameters
    ----------
    folder, names
        Where, and which.
    replay
        Objects of a build of the emulator with sanitizers: the programs replay inputs. Otherwise
        clang makes all, with libFuzzer.
    jobs
        Compilers at a time.

    Raises
    ------
    subprocess.CalledProcessError
        If the compiler refuses; its messages are on stderr.
    """
    instrumented = ["-g1", "-Werror"] if replay else ["-fsanitize=fuzzer-no-link"]
    driver = [] if replay else ["-fsanitize=fuzzer"]
    compiler = emulator.compiler() if replay else [CLANG or "clang"]
    command = [*_command(None, compiler), *instrumented]
    chosen = {name: TARGETS[name] for name in names}
    newest = _newest_header()
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        archives = {}
        made = {}
        for room in ("card", *sorted({target.room for target in chosen.values()})):
            include = [] if room == "card" else _room_flags(room)
            (folder / room).mkdir(exist_ok=True)
            sources = _sources(room)
            if replay and room == "card":
                sources.append(HERE / "replay.c")
            ready = {path: replay and _ready(path, replay) for path in sources}
            made[room] = [
                ready[path]
                or pool.submit(
                    _compile,
                    path,
                    folder / room / f"{path.parent.name}-{path.stem}.o",
                    [*command, *include],
                    newest,
                )
                for path in sources
            ]
        for room, objects in made.items():
            archives[room] = folder / f"{room}.a"
            archives[room].unlink(missing_ok=True)
            files = [str(done if isinstance(done, Path) else done.result()) for done in objects]
            subprocess.run(["ar", "rcs", str(archives[room]), *files], check=True)

        def link(name: str, target: Target) -> Path:
            program = folder / name
            parts = [str(HERE / "targets" / f"{name}.c"), *driver]
            parts += _room_flags(target.room)
            parts += [str(archives[target.room]), str(archives["card"])]
            parts += [f"-Wl,--wrap={wrapped}" for wrapped in target.wraps]
            parts += ["-lrabbitmq"] if target.room == "bridge" else []
            parts += emulator.package_flags("libfabric") if target.room == "hosts" else []
            subprocess.run([*command, *parts, "-o", str(program)], check=True)
            return program

        linked = {name: pool.submit(link, name, target) for name, target in chosen.items()}
        return {name: done.result() for name, done in linked.items()}
