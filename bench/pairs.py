"""How often the interval of few pairs covers what many pairs say: why it has a least width.

Real pairs of runs, of one seed, `PAIRS` replications each; the mean over all is taken as true.
Groups of a few are drawn from them, and each gives an interval: Student's, and as dvsim gives it.
"""

from __future__ import annotations

import numpy as np

from dvsim.contract.load import load
from dvsim.session import run_scenarios
from dvsim.table import estimate as paired
from dvsim.table.estimate import Each, change

PAIRS, GROUPS, MESSAGES = 200, 600, 60_000
QUESTIONS = (
    ("h3/dv-2048", "system.bridge.sockets=2"),
    ("h3/dv-2048", "system.bridge.sockets=4"),
    ("h3/fdr-2048", "system.publisher.processes=2"),
)


def coverage(first: Each, other: Each, size: int, narrowest: float) -> float:
    """Return the share of groups whose interval covers the mean over all pairs."""
    whole = change(first, other, "ratio", common=True)
    assert whole is not None
    random, covered = np.random.default_rng(1), 0
    paired.NARROWEST = narrowest
    for _ in range(GROUPS):
        group = random.choice(sorted(first), size, replace=False).tolist()
        found = change(
            {n: first[n] for n in group}, {n: other[n] for n in group}, "ratio", common=True
        )
        assert found is not None and found.low is not None and found.high is not None
        covered += found.low <= whole.value <= found.high
    return covered / GROUPS


def main() -> None:
    """Print a line for each question and size of a group."""
    least = paired.NARROWEST
    print(f"{'':42}{'pairs':>6}{'Student':>9}{'dvsim':>7}")
    for name, changed in QUESTIONS:
        asked = [f"workload.messages={MESSAGES}"]
        both = [load(name, asked), load(name, [*asked, changed])]
        runs = run_scenarios(both, replications=PAIRS, workers=1, out=None, seed=7)
        first, other = (run.headline().values for run in runs)
        for size in (5, 10, 20):
            shares = [coverage(first, other, size, narrowest) for narrowest in (0.0, least)]
            print(f"{name} {changed:<30}{size:>6}{shares[0]:>9.1%}{shares[1]:>7.1%}", flush=True)


if __name__ == "__main__":
    main()
