"""How long does the command line take to answer, against the import of click alone?

Medians of alternating runs, so that a change of the machine's speed touches both alike.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from functools import partial
from pathlib import Path

from rows import row, seconds

RUNS = 15
DVSIM = str(Path(sys.executable).with_name("dvsim"))
COMMANDS = {
    "import click": [sys.executable, "-c", "import click"],
    "dvsim --help": [DVSIM, "--help"],
    "dvsim list": [DVSIM, "list"],
}


def main() -> None:
    """Time the commands in turn and print medians and ratios."""
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(RUNS):
        for name, command in COMMANDS.items():
            run = partial(subprocess.run, command, check=True, stdout=subprocess.DEVNULL)
            taken[name].append(seconds(run))
    limit = statistics.median(taken["import click"])
    for name, times in taken.items():
        median = statistics.median(times)
        print(f"{name:<14}{median * 1000:>8.0f} ms   {median / limit:>5.2f} x import click")
        if name != "import click":
            pairs = [own / other for own, other in zip(times, taken["import click"], strict=True)]
            row(f"{name}, time", "`import click`", median / limit, "less", pairs)


if __name__ == "__main__":
    main()
