"""Runs the tests that a change can touch, nearest first, as many as fit into a minute.

`make check` calls it. What changed is what git sees against the last commit; in a clean tree, the
last commit itself; `make check SINCE=REVISION` compares with another. A test is near if few imports
lie between it and a changed file. Sources that are not imported belong to the tests of ROOMS.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from order import UNKNOWN_S, durations

ROOT = Path(__file__).resolve().parents[2]
WORKERS = 2
MOST_S = 50 * WORKERS
"""Seconds of tests that are run, by the durations that are kept."""
ALWAYS = ("tests/unit/test_tree.py", "tests/unit/test_rooms.py")
SHOWN = 8
PLANNED = 20
"""How many of the test files without time `plan` looks at, nearest first."""
FAR = 4
"""Imports beyond which nearly everything depends on everything."""
ROOMS = {
    "models/cards": ("tests/unit/test_scenario*.py", "tests/golden/test_*.py"),
    "models": (
        "tests/model/test_core*.py",
        "tests/model/test_switch_core.py",
        "tests/model/test_switch_draws.py",
    ),
    "scenarios": (
        "tests/unit/test_scenario*.py",
        "tests/golden/test_*.py",
        "tests/unit/test_*claims*.py",
    ),
    "emulator/launcher": ("tests/emulator/test_launcher*.py", "tests/fuzz/test_replay.py"),
    "emulator/hosts": ("tests/emulator/test_hosts.py", "tests/fuzz/test_replay.py"),
    "emulator/bridge": (
        "tests/broker/test_bridge_parts.py",
        "tests/broker/test_bridge.py",
        "tests/fuzz/test_replay.py",
    ),
    "emulator/src": ("tests/emulator/test_conformance.py", "tests/emulator/test_programs.py"),
    "emulator": ("tests/emulator/test_conformance.py", "tests/emulator/test_install.py"),
    "tests/emulator/programs": ("tests/emulator/test_programs.py",),
    "analysis": ("tests/analysis/test_*.py",),
    "dvsim/view": ("tests/unit/test_report*.py", "tests/browser/test_*.py"),
    "docs": ("tests/docs/test_*.py",),
    "README.md": ("tests/docs/test_*.py",),
    "setup.cfg": ("tests/dist/test_*.py",),
    "tests/conftest.py": ("tests/harness/test_*.py",),
    "tests/harness": ("tests/harness/test_*.py",),
    "tests/mutation": ("tests/mutation/test_*.py",),
    "bench": ("tests/bench/test_table.py",),
}
"""Folders, and the tests of what nobody imports there; the longest name that fits counts."""


def git(*arguments: str) -> list[str]:
    """Return the lines that git prints."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def changed(since: str | None) -> set[str]:
    """Return the files that differ from a revision, and those that git does not know yet."""
    new = git("ls-files", "--others", "--exclude-standard")
    found = {*git("diff", "--name-only", since or "HEAD"), *new}
    return found or set(git("diff", "--name-only", "HEAD~1", "HEAD"))


def imports(path: Path, helpers: dict[str, str]) -> Iterable[str]:
    """Return the files of this project that a Python file imports."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [item.name for item in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{item.name}" for item in node.names)]
        for name in names:
            place = name.replace(".", "/")
            for file in (f"{place}.py", f"{place}/__init__.py", f"tests/{place}.py"):
                if (ROOT / file).exists():
                    yield file
            if name in helpers:
                yield helpers[name]


@cache
def importers() -> dict[str, set[str]]:
    """Return for each Python file the files that import it, and those beside a conftest."""
    files = git("ls-files", "--cached", "--others", "--exclude-standard", "*.py")
    files = [file for file in files if (ROOT / file).exists()]
    helpers = {Path(file).stem: file for file in files if file.startswith("tests/")}
    known: dict[str, set[str]] = defaultdict(set)
    for file in files:
        for other in imports(ROOT / file, helpers):
            known[other].add(file)
        near = Path(file).parent / "conftest.py"
        if near.as_posix() in files and near.parent.name != "tests":
            known[near.as_posix()].add(file)
    return known


def distances(files: set[str]) -> dict[str, int]:
    """Return how many imports lie between each test file and the changed files."""
    known = importers()
    far: dict[str, int] = dict.fromkeys(files, 0)
    edge = set(files)
    for distance in range(1, FAR + 1):
        edge = {other for file in edge for other in known[file]} - far.keys()
        far |= dict.fromkeys(edge, distance)
    for file in files:
        fitting = [room for room in ROOMS if file == room or file.startswith(f"{room}/")]
        for pattern in ROOMS[max(fitting, key=len)] if fitting else ():
            for path in ROOT.glob(pattern):
                far.setdefault(path.relative_to(ROOT).as_posix(), 1)
    return {file: far[file] for file in far if Path(file).name.startswith("test_")}


def choose(files: set[str]) -> tuple[list[str], list[str]]:
    """Return the test files to run, and those for which there is no time."""
    far = distances(files) | dict.fromkeys(ALWAYS, 0)
    known = durations()
    names = {f"test_{Path(file).stem}" for file in files}

    def order(file: str) -> tuple[int, bool, float, str]:
        return far[file], Path(file).stem not in names, known.get(file, UNKNOWN_S), file

    left = MOST_S
    chosen, late = [], []
    for file in sorted(far, key=order):
        if not (ROOT / file).exists():
            continue
        takes = known.get(file, UNKNOWN_S)
        (chosen if takes <= left else late).append(file)
        left -= takes if takes <= left else 0
    return chosen, late


def plan(files: list[str]) -> str:
    """Return what is wrong with the imports and fixtures of test files, which are not run."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "--setup-plan", *files]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    return done.stdout + done.stderr if done.returncode else ""


def main() -> int:
    """Run the tests; return pytest's exit code, or 1 if a file without time could not run."""
    chosen, late = choose(changed(sys.argv[1] if sys.argv[1:] else None))
    command = [sys.executable, "-m", "pytest", "-q", "-n", str(WORKERS), *chosen]
    status = subprocess.run(command, cwd=ROOT, check=False).returncode
    if late:
        wrong = plan(late[:PLANNED])
        print(wrong + f"left to make test: {len(late)} files, first {', '.join(late[:SHOWN])}")
        status = status or int(bool(wrong))
    return status


if __name__ == "__main__":
    sys.exit(main())
