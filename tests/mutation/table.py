"""What a run of mutants prints: a table by file, then who survived."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from mutant import Mutant
from tree import ROOT
from trial import Outcome

COLUMNS = ("tried", "killed", "late", "survived", "equal", "broken")
COLUMN = {"killed": "killed", "late": "late", "survived": "survived", "same": "equal",
          "broken": "broken"}  # fmt: skip


def show(done: dict[Mutant, Outcome]) -> float:
    """Print everything; return the share that was killed."""
    by_file: dict[str, Counter[str]] = {}
    rooms: dict[str, Counter[str]] = {}
    for mutant, outcome in done.items():
        for name, where in ((mutant.path, by_file), (str(Path(mutant.path).parent), rooms)):
            count = where.setdefault(name, Counter())
            count[COLUMN[outcome.word]] += 1
            count["tried"] += outcome.word in ("killed", "late", "survived")
    total = sum(rooms.values(), Counter[str]())
    width = max(map(len, [*by_file, "file"])) + 2
    print(f"{'file':{width}}" + "".join(f"{name:>9}" for name in COLUMNS) + "    share")
    for part in (by_file, rooms, {"all": total}):
        print()
        for name, count in sorted(part.items()):
            cells = "".join(f"{count[column]:>9}" for column in COLUMNS)
            print(f"{name:{width}}{cells}{share_of(count):>9.1%}")
    print("\nkilled with late: a mutant on which the tests do not end is noticed.")
    print("Not counted: equal (compiles to the same object code) and broken (does not compile).")
    survivors = [mutant for mutant, outcome in done.items() if outcome.word == "survived"]
    print(f"\n{len(survivors)} survived:\n")
    for mutant in sorted(survivors, key=lambda one: (one.path, one.start)):
        print(mutant.diff((ROOT / mutant.path).read_text("utf-8")) + "\n")
    return share_of(total)


def share_of(count: Counter[str]) -> float:
    """Return which share of what was tried was killed."""
    return (count["killed"] + count["late"]) / count["tried"] if count["tried"] else 1.0
