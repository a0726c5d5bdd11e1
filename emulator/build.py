"""Compiles libvic, vicrun, vichost and vicload, and lays them out as C users expect.

The folders are include, lib, bin and share. Of vicbridge, share has the sources, which
dvsim/broker/compile_bridge.py compiles. The setup script calls `build`; tests call it with the
flags of a sanitizer. Standard library only.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic")
LIBRARY = ("src", "src/functional", "src/timed", "src/message", "src/client", "src/collective")
"""Folders whose C files are libvic."""
SHARED = ("src/job.c", "src/config.c", "src/bell.c", "src/seat.c", "src/functional/claims.c")
"""What vicrun has in common with libvic."""
MODELS = HERE.parent / "models"
HOST = ("engine/law.c", "host/pcie.c")
"""The costs of timed mode, in libvic and vicrun alike."""
VICHOST = (f"-I{HERE / 'launcher'}",)
"""vichost has all of vicrun in it."""
HARDWARE = ("card/vic.c", "card/engines.c", "vortex/*.c", "network/*.c")
"""Cards and network of timed mode, in vicrun."""
OWN = ("include", "base", "src", "src/functional")
FOLDERS = (*(HERE / folder for folder in OWN), MODELS)
INCLUDES = tuple(f"-I{folder}" for folder in FOLDERS)
COMMON = ("-std=c11", "-g", "-fvisibility=hidden", "-pthread", *WARNINGS, *INCLUDES)
"""Flags of every build."""
SONAME = "libvic.so.0"


def compiler() -> list[str]:
    """Return the C compiler: ``$CC``, or ``cc``."""
    return shlex.split(os.environ.get("CC", "cc"))


def version() -> str:
    """Return the version that vic.h states."""
    text = (HERE / "include" / "vic.h").read_text("utf-8")
    found = re.search(r'#define VIC_VERSION "([^"]+)"', text)
    if found is None:
        raise RuntimeError("emulator/include/vic.h does not define VIC_VERSION")
    return found[1]


def libvic_sources() -> list[Path]:
    """Return the C files of libvic."""
    own = [path for folder in LIBRARY for path in sorted((HERE / folder).glob("*.c"))]
    return [*own, *(MODELS / name for name in HOST)]


def launcher_sources() -> list[Path]:
    """Return the C files of vicrun, which has the hardware in it, too."""
    shared = [*(HERE / name for name in SHARED), *(MODELS / name for name in HOST)]
    return [*program_sources("launcher"), *shared]


def package_flags(name: str) -> list[str]:
    """Return what compiles and links with a library, or nothing where it is not.

    Without libfabric there is no vichost and no libvic-fi.so.
    """
    tool = shlex.split(os.environ.get("PKG_CONFIG", "pkg-config"))
    command = [*tool, "--cflags", "--libs", name]
    try:
        return shlex.split(
            subprocess.run(command, capture_output=True, text=True, check=True).stdout
        )
    except (OSError, subprocess.CalledProcessError):
        return []


def program_sources(folder: str) -> list[Path]:
    """Return the C files of a program, and of what all programs have in common."""
    return [path for room in (folder, "base") for path in sorted((HERE / room).glob("*.c"))]


def hardware_sources() -> list[Path]:
    """Return the C files of cards and network, which libvic does without."""
    return [path for name in HARDWARE for path in sorted(MODELS.glob(name))]


def parts() -> list[str]:
    """Return what is compiled on this machine: without libfabric no vichost and no provider."""
    always = ["libvic", "hardware", "vicrun", "vicload"]
    return [*always, "vichost", "fi"] if package_flags("libfabric") else always


def own_flags() -> list[str]:
    """Return the user's flags of the compiler, ``$CFLAGS``."""
    return shlex.split(os.environ.get("CFLAGS", ""))


def compile_part(part: str, objects: Path, flags: Sequence[str]) -> list[Path]:
    """Return the objects of one of `parts`, made in a folder of its name."""
    flags = [*COMMON, *flags]
    fast = ["-O3"] if "-O2" in flags else []  # the network is the time that timed mode takes
    sources, more = {
        "libvic": (libvic_sources(), ["-fPIC", "-ftls-model=initial-exec"]),
        "hardware": (hardware_sources(), fast),
        "vicrun": (launcher_sources(), fast),
        "vicload": (program_sources("load"), []),
        "fi": (sorted((HERE / "fi").glob("*/*.c")), ["-fPIC", "-fwrapv"]),
        "vichost": (
            sorted((HERE / "hosts").glob("*.c")),
            [*fast, *VICHOST],
        ),
    }[part]
    return compile_objects(sources, objects / part, [*flags, *more, *own_flags()])


def build(prefix: Path, flags: Sequence[str] = ("-O2",), objects: Path | None = None) -> None:
    """Fill a folder: ``include``, ``lib`` (with pkg-config and CMake files), ``bin``, ``share``.

    Args:
        prefix: The folder.
        flags: Of the compiler, beside those that every build has, and before those of ``$CFLAGS``.
        objects: A folder that keeps the object files, a folder of it for each of `parts`. What an
            earlier call has made there, with the same flags, is taken.

    Raises:
        subprocess.CalledProcessError: If the compiler refuses; its messages are on stderr.
    """
    if objects is None:
        with tempfile.TemporaryDirectory() as folder:
            build(prefix, flags, Path(folder))
        return
    objects_of = {part: compile_part(part, objects, flags) for part in parts()}
    flags = [*COMMON, *flags, *own_flags()]
    for folder in ("include", "lib/pkgconfig", "lib/cmake/vic", "bin"):
        (prefix / folder).mkdir(parents=True, exist_ok=True)
    library, launcher = objects_of["libvic"], [*objects_of["vicrun"], *objects_of["hardware"]]
    link_library(library, prefix / "lib" / SONAME, flags)
    threads = prefix / "lib" / "libvic-threads.so"
    hooks = sorted((HERE / "src" / "threads").glob("*.c"))
    compile_c(hooks, threads, [*flags, "-shared", "-fPIC", "-ldl"])
    compile_c(launcher, prefix / "bin" / "vicrun", flags)
    if "vichost" in objects_of:
        # beside the agent: all of libvic, and of vicrun all but its main
        rest = {path.name: path for path in [*library, *launcher]}
        del rest["launcher-vicrun.o"]
        linked = [*flags, *package_flags("libfabric")]
        compile_c([*objects_of["vichost"], *rest.values()], prefix / "bin" / "vichost", linked)
    # a wheel holds no symbolic links: to the linker this text is one
    (prefix / "lib" / "libvic.so").write_text(f"INPUT({SONAME})\n", "utf-8")
    linked = [f"-L{prefix / 'lib'}", "-Wl,-rpath,$ORIGIN/../lib", "-lvic"]
    if "fi" in objects_of:  # a folder of its own: libfabric loads all that is in FI_PROVIDER_PATH
        (prefix / "lib" / "fi").mkdir(exist_ok=True)
        beside = [f"-L{prefix / 'lib'}", "-Wl,-rpath,$ORIGIN/..", "-lvic"]
        shared = [*flags, "-shared", "-fPIC", *beside, *package_flags("libfabric")]
        compile_c(objects_of["fi"], prefix / "lib" / "fi" / "libvic-fi.so", shared)
    compile_c(objects_of["vicload"], prefix / "bin" / "vicload", [*flags, *linked])
    for header in (HERE / "include").glob("*.h"):
        (prefix / "include" / header.name).write_bytes(header.read_bytes())
    bridge = prefix / "share" / "bridge"  # compiled where there is a librabbitmq
    bridge.mkdir(parents=True, exist_ok=True)
    for room in ("bridge", "base"):  # one flat folder: `cc share/bridge/*.c`
        for source in sorted((HERE / room).glob("*.[ch]")):
            (bridge / source.name).write_bytes(source.read_bytes())
    for name, folder in (
        ("vic.pc", "lib/pkgconfig"),
        ("vicConfig.cmake", "lib/cmake/vic"),
        ("vicConfigVersion.cmake", "lib/cmake/vic"),
    ):
        text = (HERE / "cmake" / f"{name}.in").read_text("utf-8")
        (prefix / folder / name).write_text(text.replace("@VERSION@", version()), "utf-8")


def link_library(objects: Sequence[Path], target: Path, flags: Sequence[str]) -> None:
    """Make libvic of its objects."""
    library = [
        "-shared",
        f"-Wl,-soname,{SONAME}",
        f"-Wl,--version-script={HERE / 'vic.map'}",
        "-Wl,-z,nodelete",  # threads that end, and libvic-threads.so, call into it
    ]
    if not any("-fsanitize" in flag for flag in flags):
        library.append("-Wl,-z,defs")  # a sanitizer is found in the program only
    compile_c(objects, target, [*flags, *library])


def compile_objects(sources: Sequence[Path], folder: Path, flags: Sequence[str]) -> list[Path]:
    """Return the objects of C files, ``ROOM-NAME.o`` each, made on all cores.

    An object that is in the folder already is taken as it is.
    """

    def compiled(source: Path) -> Path:
        made = folder / f"{source.parent.name}-{source.stem}.o"
        if made.exists():
            return made
        command = [*compiler(), *flags, "-c", str(source), "-o", str(made)]
        subprocess.run(command, check=True)
        return made

    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(compiled, sources))


def compile_c(sources: Sequence[Path], target: Path, flags: Sequence[str]) -> None:
    """Compile and link C files in one call of the compiler; the target is replaced at the end."""
    made = target.with_name(f".{target.name}.{os.getpid()}")
    command = [*compiler(), *map(str, sources), "-o", str(made), *flags]
    try:
        subprocess.run(command, check=True)
        made.replace(target)
    finally:
        made.unlink(missing_ok=True)


if __name__ == "__main__":
    import sys

    build(Path(sys.argv[1]), sys.argv[2:] or ("-O2",))
