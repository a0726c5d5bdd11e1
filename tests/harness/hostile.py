"""Runs the tests where people run them: `make test-hostile`, every night.

All tests, each way after the other; what they printed is in build/hostile. The ways `path` and
`user` run `make test` in a clone of the last commit, the others run in this folder.

    python tests/harness/hostile.py [WAY ...] [--tests "FILE ..."]
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOGS = Path("build", "hostile")
MAKE = ["make", "--no-print-directory", "test"]
DEAF = ("sh", "-c", "trap '' INT QUIT HUP; exec \"$@\"", "sh")
LOAD = 8
NOBODY = "nobody"
SUMMARY = re.compile(r"^=+ (.*(?:passed|failed|error).*) in [\d.]+s", re.MULTILINE)

Started = subprocess.Popen[bytes]


def start(way: str, command: Sequence[str], cwd: Path = ROOT) -> Started:
    """Start a command without a terminal; what it prints goes into `way`.log in this folder."""
    with Path(f"{way}.log").open("wb") as log:
        return subprocess.Popen(
            command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip


def tests(files: Sequence[str], *options: str, workers: int = 2) -> list[str]:
    """Return the command that runs tests here."""
    return [sys.executable, "-m", "pytest", "-n", str(workers), *options, *files]


def wait(*started: Started) -> bool:
    """Return whether all have ended well."""
    codes = [one.wait() for one in started]
    return not any(codes)


@contextlib.contextmanager
def clone(name: str) -> Iterator[Path]:
    """Yield a clone of the last commit in a folder of this name."""
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        folder = Path(place) / name
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
        yield folder


def nohup(files: Sequence[str]) -> bool:
    """SIGINT, SIGQUIT and SIGHUP ignored by the starter."""
    return wait(start("nohup", ["nohup", *DEAF, *tests(files)]))


def terminal(files: Sequence[str]) -> bool:
    """No terminal, no input."""
    return wait(start("terminal", tests(files)))


def load(files: Sequence[str]) -> bool:
    """Eight busy processes beside."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(LOAD)]
    try:
        return wait(start("load", tests(files)))
    finally:
        for one in busy:
            one.kill()
            one.wait()


def user(files: Sequence[str]) -> bool:
    """A user who is not root, in a home that was never used."""
    command = [*MAKE, f"TESTS={' '.join(files)}"]
    if os.getuid():
        return wait(start("user", command))
    them = pwd.getpwnam(NOBODY)
    with clone("dvsim") as folder, tempfile.TemporaryDirectory() as home:
        for place in (folder, Path(home)):
            subprocess.run(["chown", "-R", f"{them.pw_uid}:{them.pw_gid}", place], check=True)
        become = ["setpriv", f"--reuid={them.pw_uid}", f"--regid={them.pw_gid}", "--clear-groups"]
        there = ["env", f"HOME={home}", f"USER={NOBODY}", f"LOGNAME={NOBODY}"]
        return wait(start("user", [*become, *there, *command], folder))


def path(files: Sequence[str]) -> bool:
    """A path with spaces and umlauts."""
    with clone("däs ist der Ördner") as folder:
        return wait(start("path", [*MAKE, f"TESTS={' '.join(files)}"], folder))


def twice(files: Sequence[str]) -> bool:
    """Two runs at the same time."""
    return wait(*[start(way, tests(files)) for way in ("twice", "twice-2")])


def one(files: Sequence[str]) -> bool:
    """One worker."""
    return wait(start("one", tests(files, workers=1)))


def eight(files: Sequence[str]) -> bool:
    """Eight workers."""
    return wait(start("eight", tests(files, workers=8)))


def shuffle(files: Sequence[str]) -> bool:
    """Random order, another one each time."""
    return wait(start("shuffle", tests(files, "--shuffle", str(int(time.time()) % 1_000_000))))


WAYS: dict[str, Callable[[Sequence[str]], bool]] = {
    way.__name__: way for way in (nohup, terminal, load, user, path, twice, one, eight, shuffle)
}


def main() -> int:
    """Run the ways and print a table; return 1 if one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("ways", nargs="*", metavar="WAY", help=f"of {', '.join(WAYS)}; all of them")
    parser.add_argument("--tests", default="", help="files, instead of all")
    parser.add_argument("--out", type=Path, default=ROOT / LOGS, help="folder of the logs")
    asked = parser.parse_args()
    for way in asked.ways:
        if way not in WAYS:
            parser.error(f"no way {way!r}; there are {', '.join(WAYS)}")
    shutil.rmtree(asked.out, ignore_errors=True)
    asked.out.mkdir(parents=True)
    os.chdir(asked.out)
    failed = 0
    for way in asked.ways or WAYS:
        begun = time.monotonic()
        good = WAYS[way](asked.tests.split())
        failed += not good
        said = SUMMARY.findall(Path(f"{way}.log").read_text("utf-8", "replace"))
        print(
            f"{way:9} {'good' if good else 'FAILED':6} {time.monotonic() - begun:6.0f} s"
            f"  {said[-1] if said else 'no summary'}  ({WAYS[way].__doc__})",
            flush=True,
        )
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
