"""`make mutants`: do the tests notice when the hardware's code or the logic of the claims is wrong?

Draws a sample of small changes, the same for the same seed and sources, and runs the tests against
each in a private copy of the tree. Results are kept, so that an interrupted run goes on.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import shutil
import sys
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path

import operators_c
import operators_python
import table
from mutant import Mutant
from tree import ROOT, Tree, preload, prepare
from trial import Bench, Outcome

C = ("models/*/*.c", "models/*/*.h", "models/*/*.inc")
CLAIMS = ("dvsim/evidence/validation.py", "dvsim/evidence/text.py", "dvsim/evidence/verdicts.py",
          "dvsim/evidence/published.py", "dvsim/evidence/goals.py", "dvsim/evidence/claims/*.py",
          "scenarios/*/claims.py", "dvsim/evidence/ledger.py", "dvsim/evidence/overview.py",
          "dvsim/table/estimate.py")  # fmt: skip
ENOUGH = 0.85

bench: Bench


def drawn(patterns: tuple[str, ...], seed: int) -> list[Mutant]:
    """Return every mutant of some files, in an order that the seed decides."""
    found: list[Mutant] = []
    for path in sorted({path for pattern in patterns for path in ROOT.glob(pattern)}):
        operators = operators_python if path.suffix == ".py" else operators_c
        name = str(path.relative_to(ROOT))
        found += operators.mutants(name, path.read_text("utf-8"))
    random.Random(seed).shuffle(found)
    return found


def begin(folder: Path, numbers: multiprocessing.Queue[int]) -> None:
    """Make the tree of one worker, and see that the tests pass in it."""
    global bench  # noqa: PLW0603 - one for each process
    own = folder / f"w{numbers.get()}"
    shutil.rmtree(own, ignore_errors=True)
    shutil.copytree(folder / "base", own)
    bench = Bench(Tree(own), folder / "usual.jsonl")


def attempt(mutant: Mutant, wide: bool) -> Outcome:
    """Run the tests against a mutant, in a worker."""
    bench.learn(mutant.path, wide=wide)
    return bench.outcome(mutant, wide=wide)


class Kept:
    """Outcomes by the key of the mutant, in a file of JSON lines."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.found: dict[str, Outcome] = {}
        if file.exists():
            for line in file.read_text("utf-8").splitlines():
                row = json.loads(line)
                self.found[row.pop("key")] = Outcome(row["word"], row["by"], row["seconds"])

    def add(self, key: str, mutant: Mutant, outcome: Outcome) -> None:
        """Keep one."""
        self.found[key] = outcome
        row = {"key": key, **outcome._asdict(), **vars(mutant)}
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def counts(outcome: Outcome) -> bool:
    """Return whether an outcome is one of the sample: it compiled, to something else."""
    return outcome.word in ("killed", "late", "survived")


class Sample:
    """The mutants of a run, and who tries them."""

    def __init__(self, pool: ProcessPoolExecutor, kept: Kept, workers: int, again: bool) -> None:
        self.pool, self.kept, self.workers, self.again = pool, kept, workers, again

    def quick(self, order: list[Mutant], wanted: int) -> dict[Mutant, Outcome]:
        """Return the outcomes of the first mutants, as many as it takes for `wanted` that count."""
        done: dict[Mutant, Outcome] = {}
        running: dict[Future[Outcome], Mutant] = {}
        rest = iter(order)
        while True:
            missing = wanted - sum(map(counts, done.values())) - len(running)
            mutant = next(rest, None) if missing and len(running) < self.workers else None
            if mutant is not None:
                old = self.kept.found.get(mutant.key(source(mutant)))
                if old is not None and not (self.again and old.word == "survived"):
                    done[mutant] = old
                else:
                    running[self.pool.submit(attempt, mutant, False)] = mutant
            elif running:
                self.collect(running, done)
            else:
                return done

    def wide(self, done: dict[Mutant, Outcome]) -> None:
        """Let the survivors of the quick tests pass the others."""
        rest = [mutant for mutant, outcome in done.items() if outcome[:2] == ("survived", "quick")]
        running = {self.pool.submit(attempt, mutant, True): mutant for mutant in rest}
        while running:
            self.collect(running, done)

    def collect(self, running: dict[Future[Outcome], Mutant], done: dict[Mutant, Outcome]) -> None:
        """Wait for some, and keep them."""
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            mutant = running.pop(future)
            done[mutant] = future.result()
            self.kept.add(mutant.key(source(mutant)), mutant, done[mutant])
            print(f"{len(done)}: {done[mutant]}\n{mutant.diff(source(mutant))}", file=sys.stderr)


def source(mutant: Mutant) -> str:
    """Return the file that a mutant changes."""
    return (ROOT / mutant.path).read_text("utf-8")


def main() -> int:
    """Run the sample, print the table and the survivors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--c", type=int, default=220, help="mutants of models/")
    parser.add_argument("--python", type=int, default=110, help="mutants of the claims logic")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--again", action="store_true", help="try what has survived once more")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "mutants")
    asked = parser.parse_args()
    os.nice(5)
    asked.folder.mkdir(parents=True, exist_ok=True)
    (asked.folder / "usual.jsonl").unlink(missing_ok=True)
    kept = Kept(asked.folder / "outcomes.jsonl")
    numbers: multiprocessing.Queue[int] = multiprocessing.Queue()
    for number in range(asked.workers):
        numbers.put(number)
    preload()
    prepare(asked.folder / "base")
    with ProcessPoolExecutor(
        asked.workers, initializer=begin, initargs=(asked.folder, numbers)
    ) as pool:
        sample = Sample(pool, kept, asked.workers, asked.again)
        done = sample.quick(drawn(C, asked.seed), asked.c)
        done |= sample.quick(drawn(CLAIMS, asked.seed), asked.python)
        sample.wide(done)
    return 0 if table.show(done) >= ENOUGH else 1


if __name__ == "__main__":
    raise SystemExit(main())
