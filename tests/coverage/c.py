"""How much of models/ and emulator/ do the tests run? Lines and branches, a row for each file.

The tree is copied, built and tested with a compiler that adds counters (`counting_cc.py`); gcovr
adds up what all processes wrote. Not counted: branches that the compiler makes for itself, the
examples, a process that is killed in that moment, and what a source excludes by GCOVR_EXCL, which
says why. Exit code 1 if tests fail, 2 or 4 below the bound (lines, branches).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BOUND = 95
TESTS = (
    "tests/emulator",
    "tests/broker",
    "tests/faults",
    *(f"tests/model/test_{name}.py" for name in (
        "core_c", "core_limits", "core_bytes", "core_state", "switch_core", "network_core",
        "cycle", "replay_core")),
    *(f"tests/unit/test_{name}.py" for name in (
        "switch_api", "switch_input", "switch_paths", "switch_settled",
        "network_api", "network_input", "replay_faults", "skeletons", "workload_kind",
        "workload_fit", "bounds", "disorder", "word_card")),
)  # fmt: skip
LEFT_OUT = (
    "tests/emulator/test_races.py",
    "tests/emulator/test_install.py",
    "tests/emulator/test_lines.py",
)
"""They need the sanitizer that counters replace, packages before the tree, and memory that no
counter touches."""
NOT_RUN = (
    "test_a_leak_is_seen",
    "test_a_failing_call_below_python",
    "test_compiles_without_a_warning",
    "test_a_host_without_dvsim",
)
"""They need sanitizers, calls of malloc that are not of the counters, a compiler that makes no
program, and a path without the tree."""
NATIVE = (
    ("setup.py", "-q", "build_ext", "--inplace"),
    ("emulator/build.py", "dvsim/_emulator"),
)


def copy(tree: Path) -> None:
    """Copy what git knows or would know."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)


def surroundings(work: Path) -> dict[str, str]:
    """Return the environment in which every compiler is the counting one."""
    front, kept = work / "bin", work / "objects"
    front.mkdir()
    kept.mkdir()
    script = f'#!/bin/sh\nexec {sys.executable} -S {HERE / "counting_cc.py"} "$@"\n'
    for name in ("cc", "gcc"):
        (front / name).write_text(script, "utf-8")
        (front / name).chmod(0o755)
    real = shutil.which("gcc")
    if real is None:
        raise SystemExit("coverage is measured with gcc and gcov: apt install gcc")
    flush = ["-fPIC", "-fvisibility=hidden", "-c", str(HERE / "flush.c")]
    subprocess.run([real, *flush, "-o", str(kept / "flush.o")], check=True)
    return {
        **os.environ,
        "PATH": f"{front}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "CC": "cc",
        "PYTHONPATH": str(work / "tree"),
        "XDG_CACHE_HOME": str(work / "cache"),
        "COUNTING_CC": real,
        "COUNTING_TREE": str(work / "tree"),
        "COUNTING_KEPT": str(kept),
        "FAULTS_LEFT_OUT": "malloc",  # those of the counters would fail, too
    }


def table(work: Path, bound: float) -> int:
    """Print lines and branches of each file, and compare the sums with the bound."""
    tree, status, whole = work / "tree", 0, work / "whole.json"
    run = [sys.executable, "-m", "gcovr", "--root", str(tree)]
    run += ["--exclude-unreachable-branches", "--exclude-throw-branches"]
    run += ["--exclude-function", "bridge_main"]  # vicbridge's main() where a test has its own
    read = ["--filter", "models/", "--filter", "emulator/", "--merge-mode-functions", "separate"]
    read += ["--gcov-ignore-parse-errors=all", "--json", str(whole), str(work / "objects")]
    subprocess.run([*run, *read], check=True, cwd=tree)
    for room in ("models", "emulator"):
        for what in ("line", "branch"):
            show = ["--add-tracefile", str(whole), "--filter", f"{room}/", "--txt", "-"]
            show += ["--txt-metric", what, f"--fail-under-{what}", str(bound)]
            status |= subprocess.run([*run, *show], check=False, cwd=tree).returncode
    return status


def main() -> int:
    """Copy, build, test and count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "coverage")
    parser.add_argument("--bound", type=float, default=BOUND, help="percent of lines and branches")
    parser.add_argument("tests", nargs="*", default=TESTS, help="instead of all that use C")
    asked = parser.parse_args()
    work = asked.work.resolve()
    tree = work / "tree"
    shutil.rmtree(work, ignore_errors=True)
    tree.mkdir(parents=True)
    copy(tree)
    env = surroundings(work)
    for build in NATIVE:
        subprocess.run([sys.executable, *build], cwd=tree, env=env, check=True)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--no-loadscope-reorder"]
    command += [f"--ignore={name}" for name in LEFT_OUT]
    command += ["-k", " and ".join(f"not {name}" for name in NOT_RUN)]
    command += [name for name in asked.tests if (tree / name).exists()]
    failed = subprocess.run(command, cwd=tree, env=env, check=False).returncode
    return table(work, asked.bound) or failed


if __name__ == "__main__":
    raise SystemExit(main())
