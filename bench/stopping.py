"""How often the intervals of runs by precision cover the truth, and how many replications it takes.

Normal runs of a known mean, whose standard deviation is the share `spread` of it; 5 % is asked for.
"""

from __future__ import annotations

import numpy as np

from dvsim.study.precision import MOST, PILOT, needed
from dvsim.table.estimate import ends, half_width

RUNS, PRECISION = 20_000, 0.05
SPREADS = (0.01, 0.02, 0.05, 0.08, 0.12, 0.2, 0.3)


def main() -> None:
    """Print a line for each spread."""
    heads = ("spread", "replications", "with pilot", "within 5%", "covered", "early", "covered")
    print("".join(f"{head:>14}" for head in heads))
    random = np.random.default_rng(1)
    for spread in SPREADS:
        pilots = random.normal(1, spread, (RUNS, PILOT))
        shares = half_width(PILOT, pilots.std(axis=1, ddof=1)) / pilots.mean(axis=1)
        times = np.array([needed(share, PRECISION) for share in shares.tolist()])
        values = np.ma.array(
            random.normal(1, spread, (RUNS, MOST)), mask=np.arange(MOST) >= times[:, None]
        )
        means = values.mean(axis=1).data
        low, high = ends(means, times, values.std(axis=1, ddof=1).data)
        covered, early = (low <= 1) & (high >= 1), times < MOST
        within = (high - means <= PRECISION * means).mean()
        mean = times.mean()
        print(
            f"{spread:14.0%}{mean:14.1f}{mean + PILOT:14.1f}{within:14.0%}{covered.mean():14.1%}"
            f"{early.mean():14.0%}{covered[early].mean():14.1%}"
        )


if __name__ == "__main__":
    main()
