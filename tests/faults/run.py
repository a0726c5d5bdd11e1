"""The long form: every call of every subject fails once; a table of what came of it.

python tests/faults/run.py [--plain] [--only NAME] [--most N]
"""

from __future__ import annotations

import argparse
import errno
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from fault import SANITIZE, Fault, Outcome, shim
from python_cards import PYTHON_CARDS, python_bench
from subjects import SUBJECTS, Bench, Subject, bench, faults_of
from writers import COMMANDS, Desk


def table(name: str, judged: Iterable[tuple[Fault, Outcome, str]]) -> int:
    """Print a line for each call and error; return how many were wrong."""
    found: dict[tuple[str, int], Counter[str]] = {}
    bad = []
    for fault, outcome, wrong in judged:
        key = "wrong" if wrong else "right" if outcome.code == 0 else "refused"
        found.setdefault((fault.call, fault.error), Counter())[key] += outcome.failed > 0
        if wrong:
            bad.append(f"  {fault} at {outcome.where}: {wrong}")
    print(
        f"{name}\n  {'call':<18} {'error':<12} {'failed':>6} {'right':>6} "
        f"{'refused':>7} {'wrong':>5}"
    )
    for (call, error), counts in found.items():
        cells = [sum(counts.values()), counts["right"], counts["refused"], counts["wrong"]]
        text = errno.errorcode.get(error, "half of it")
        print(f"  {call:<18} {text:<12} {cells[0]:>6} {cells[1]:>6} {cells[2]:>7} {cells[3]:>5}")
    print(*bad, sep="\n", end="\n" if bad else "", flush=True)
    return len(bad)


def jobs(built: Bench, subjects: Sequence[Subject], most: int) -> int:
    """Fail calls in jobs; return how many went wrong."""
    wrong = 0
    for subject in subjects:
        chosen = list(faults_of(built.counted(subject).counts))
        if len(chosen) > most:
            chosen = random.Random(1).sample(chosen, most)
        wrong += table(subject.name, ((f, *built.judge(subject, f)) for f in chosen))
    return wrong


def main() -> int:
    """Run what was asked for; 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plain", action="store_true", help="without sanitizers: ten times faster")
    parser.add_argument("--only", default="", help="subjects whose names have this")
    parser.add_argument("--most", type=int, default=sys.maxsize, help="faults of a subject, drawn")
    asked = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        library = shim(Path(folder))
        subjects = [subject for subject in SUBJECTS if asked.only in subject.name]
        if subjects:
            flags = ["-O1"] if asked.plain else SANITIZE
            wrong += jobs(bench(Path(folder), library, flags), subjects, asked.most)
        python = [subject for subject in PYTHON_CARDS if asked.only in subject.name]
        wrong += jobs(python_bench(Path(folder), library), python, asked.most)
        commands = [name for name in COMMANDS if asked.only in name]
        with Desk(Path(folder) / "desk", library) as desk:
            for name in commands:
                chosen = desk.faults(name)[: asked.most]
                wrong += table(name, ((f, *desk.judge(name, f)) for f in chosen))
    print("wrong:", wrong)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
