"""vicbridge, compiled where it is used.

Its C sources come with dvsim; librabbitmq comes from the distribution, in the version that the
distribution has. So it is compiled when it is asked for first, and kept.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shlex
import shutil
import stat
import subprocess
from collections.abc import Sequence
from pathlib import Path

from dvsim.errors import DvsimError, OutputError
from dvsim.machine import user_folder
from dvsim.native import emulator_prefix

FLAGS = ("-std=c11", "-O2", "-g", "-pthread")
ADVICE = "apt install librabbitmq-dev pkg-config"


def vicbridge(prefix: Path | None = None) -> Path:
    """Return the program ``vicbridge``; compile it if this has not been done with what there is.

    Args:
        prefix: The folder of libvic and of the sources. Default: the one that comes with dvsim.

    Returns:
        pathlib.Path: In ``$XDG_CACHE_HOME/dvsim/vicbridge-…`` (default ``~/.cache``); the name of
        the folder tells sources, headers, libvic's place, librabbitmq and flags.
    """
    prefix = (prefix or emulator_prefix()).resolve()
    sources = sorted((prefix / "share" / "bridge").glob("*.[ch]"))
    if not sources:
        raise DvsimError(f"no sources of vicbridge in '{prefix}': install dvsim again")
    compiler = _compiler()
    lib = prefix / "lib"
    flags = [*FLAGS, f"-I{prefix / 'include'}", f"-L{lib}", f"-Wl,-rpath,{lib}", "-lvic"]
    linked, version = _librabbitmq()
    flags += linked
    read = [*sources, *sorted((prefix / "include").glob("*.h"))]
    digest = _digest(read, [*compiler, *flags, version])
    folder = user_folder("CACHE", ".cache") / f"vicbridge-{digest}"
    program = folder / "vicbridge"
    if not os.path.isfile(program):  # noqa: PTH113 - that of pathlib raises
        files = [str(path) for path in sources if path.suffix == ".c"]
        _compile([*compiler, *files, *flags], program)
    check_ours(program)
    return program


def check_ours(program: Path) -> None:
    """Refuse a compiled program that somebody else may have put there: it is run."""
    for path in (program, program.parent):
        status = path.stat()
        if status.st_uid not in (0, os.geteuid()) or status.st_mode & stat.S_IWOTH:
            text = f"'{path}' is not run: others can write it; remove it, or set XDG_CACHE_HOME"
            raise OutputError(text)


def _compiler() -> list[str]:
    command = shlex.split(os.environ.get("CC") or "cc")
    if shutil.which(command[0]) is None:
        text = f"vicbridge is compiled on this machine, and there is no C compiler '{command[0]}'"
        raise DvsimError(f"{text}: apt install gcc libc6-dev, or set CC")
    return command


def _librabbitmq() -> tuple[list[str], str]:
    if shutil.which("pkg-config") is None:
        raise DvsimError(f"vicbridge needs pkg-config to find librabbitmq: {ADVICE}")
    answers = []
    for question in (["--cflags", "--libs"], ["--modversion"]):
        command = ["pkg-config", *question, "librabbitmq"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise DvsimError(f"vicbridge needs librabbitmq, which is not installed: {ADVICE}")
        answers.append(done.stdout)
    return shlex.split(answers[0]), answers[1].strip()


def _digest(files: Sequence[Path], words: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for part in (*words, *(part for path in files for part in (path.name, path.read_bytes()))):
        data = part if isinstance(part, bytes) else part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:16]


def _compile(command: Sequence[str], program: Path) -> None:
    new = program.with_name(f".{program.name}.{secrets.token_hex(4)}")
    try:
        program.parent.mkdir(parents=True, exist_ok=True)
        new.touch(0o700)
    except OSError as error:
        text = f"cannot write '{program.parent}': {error.strerror}"
        raise OutputError(f"{text}; XDG_CACHE_HOME names another cache") from error
    try:
        done = subprocess.run(
            [*command, "-o", str(new)], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise DvsimError(f"vicbridge cannot be compiled:\n{done.stderr.rstrip()}")
        new.replace(program)
    finally:
        new.unlink(missing_ok=True)
