"""Fuzz the C sources and, by python/run.py, the readers of dvsim; a table of what came of it.

    python tests/fuzz/run.py --minutes 60 --only words --only scenario

As many targets at a time as there are cores. What crashes is made as small as it goes and kept in
build/fuzz/crashes/TARGET; --keep puts what a run found into the kept corpus. Exit code: 0 no crash,
1 a crash, 2 the command line or the compiler.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import kept
from fuzz_build import CLANG, ROOT, TARGETS, build

BUILD = ROOT / "build" / "fuzz"
CRASHES = BUILD / "crashes"
PYTHON = Path(__file__).resolve().parent / "python" / "run.py"
MOST_CRASHES = 5
"""After which a target is not begun again."""
SMALLER_S = 20
"""To make an input smaller that crashes."""
TIMEOUT_S = 120
"""For one input, on a busy machine: from then on it is taken for one that never ends."""
KEPT_BYTES = 18_000
"""Of a target's inputs that a run found, in the kept corpus."""


@dataclass
class Outcome:
    """What came of one target."""

    target: str
    executions: int = 0
    features: int | None = None
    seconds: float = 0
    crashes: int = 0


running: set[subprocess.Popen[str]] = set()
ended = False


def _end(number: int, frame: object) -> None:
    global ended  # noqa: PLW0603
    ended = True
    for process in list(running):
        process.send_signal(signal.SIGINT)


@contextlib.contextmanager
def started(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Start a process that ends with this one's table."""
    process = subprocess.Popen(
        command, cwd=BUILD, text=True, errors="replace",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    running.add(process)
    if ended:
        process.send_signal(signal.SIGINT)
    try:
        yield process
    finally:
        running.discard(process)


def smaller(program: Path, crash: Path) -> None:
    """Replace an input by a smaller one that crashes, too."""
    made = crash.with_suffix(".small")
    command = [str(program), "-minimize_crash=1", f"-max_total_time={SMALLER_S}", "-detect_leaks=0"]
    with started([*command, f"-exact_artifact_path={made}", str(crash)]) as process:
        process.communicate()
    if made.exists():
        made.replace(crash)


def fuzz(name: str, program: Path, seconds: float) -> Outcome:
    """Let libFuzzer have a target for some time; begin again after a crash."""
    corpus, crashes = BUILD / "corpus" / name, CRASHES / name
    kept.unpack(name, corpus)
    outcome = Outcome(name)
    begin = time.monotonic()
    while not ended and outcome.crashes < MOST_CRASHES:
        left = int(seconds - (time.monotonic() - begin))
        if left < 1:
            break
        crashes.mkdir(parents=True, exist_ok=True)
        before = set(crashes.iterdir())
        # leaks are looked for when the corpus is replayed: here it takes most of the time
        options = [f"-max_total_time={left}", f"-timeout={TIMEOUT_S}", "-detect_leaks=0"]
        options += [f"-report_slow_units={TIMEOUT_S}", "-rss_limit_mb=2048"]
        options += [f"-max_len={TARGETS[name].inputs_bytes}"]
        options += ["-print_final_stats=1", f"-artifact_prefix={crashes}/", str(corpus)]
        with started([str(program), *options]) as process:
            _, said = process.communicate()
        executions = re.search(r"number_of_executed_units: (\d+)", said)
        outcome.executions += int(executions[1]) if executions else 0
        outcome.features = int((re.findall(r" ft: (\d+)", said) or ["0"])[-1])
        found = set(crashes.iterdir()) - before
        if found:
            print(f"{name}:\n{said[-3000:]}", file=sys.stderr)
        elif process.returncode != 0 and not ended:
            raise RuntimeError(f"{name} ended with {process.returncode}:\n{said[-3000:]}")
        for crash in found:
            smaller(program, crash)
            outcome.crashes += 1
            print(f"{name}: {crash}", file=sys.stderr)
    outcome.seconds = time.monotonic() - begin
    return outcome


def fuzz_python(name: str, minutes: float) -> Outcome:
    """Let a target of python/run.py have its time."""
    command = [sys.executable, str(PYTHON), "--minutes", str(minutes), "--only", name]
    with started(command) as process:
        said, errors = process.communicate()
    sys.stderr.write(errors)
    try:
        found = json.loads(said.splitlines()[-1])
    except (IndexError, ValueError):
        raise RuntimeError(f"{name} ended with {process.returncode}:\n{errors}") from None
    return Outcome(**found)


def keep(name: str, program: Path) -> None:
    """Put into the kept corpus what is left of the inputs when none has nothing new.

    Small ones first, as far as there is room; those with a name stay.
    """
    inputs, merged = kept.named(kept.read(name)), BUILD / "merged" / name
    shutil.rmtree(merged, ignore_errors=True)
    merged.mkdir(parents=True)
    command = [str(program), "-merge=1", "-detect_leaks=0", str(merged)]
    subprocess.run([*command, str(BUILD / "corpus" / name)], check=True, stderr=subprocess.DEVNULL)
    room, number = KEPT_BYTES, 0
    for path in sorted(merged.iterdir(), key=lambda path: (path.stat().st_size, path.name)):
        data = path.read_bytes()
        if len(data) <= room and data not in inputs.values():
            inputs[f"{number:04}"] = data
            room -= len(data)
            number += 1
    kept.write(name, inputs)


def python_targets() -> list[str]:
    """Return the names of the targets that python/run.py has."""
    command = [sys.executable, str(PYTHON), "--list"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def show(outcomes: list[Outcome]) -> None:
    """Print the table."""
    print(f"{'target':20}{'executions':>12}{'features':>10}{'seconds':>9}{'crashes':>9}")
    for o in outcomes:
        features = "-" if o.features is None else o.features
        print(f"{o.target:20}{o.executions:12,}{features:>10}{o.seconds:9.0f}{o.crashes:9}")


def main() -> int:
    """Do what the command line says."""
    by_python = python_targets()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=2, help="for each target [2]")
    parser.add_argument(
        "--only", action="append", choices=[*TARGETS, *by_python], metavar="TARGET",
        help=f"of {', '.join([*TARGETS, *by_python])}; repeatable",
    )  # fmt: skip
    parser.add_argument("--keep", action="store_true", help="add what is found to the corpus")
    asked = parser.parse_args()
    names = asked.only or [*TARGETS, *by_python]
    compiled = [name for name in names if name in TARGETS]
    if compiled and CLANG is None:
        print("fuzz: no clang; tests/install-packages fuzz installs it", file=sys.stderr)
        return 2
    BUILD.mkdir(parents=True, exist_ok=True)
    programs = build(BUILD / "clang", compiled) if compiled else {}
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        waited = [
            pool.submit(fuzz, name, programs[name], asked.minutes * 60)
            if name in programs
            else pool.submit(fuzz_python, name, asked.minutes)
            for name in names
        ]
        outcomes = [done.result() for done in waited]
    show(outcomes)
    crashed = any(outcome.crashes for outcome in outcomes)
    for name in programs if asked.keep and not crashed else ():
        keep(name, programs[name])
    return int(crashed)


if __name__ == "__main__":
    sys.exit(main())
