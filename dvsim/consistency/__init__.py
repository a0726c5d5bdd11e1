"""What data say by themselves: grids, totals, factors, limits, and contradictions.

`examine` reads published summaries or raw samples and returns findings, each with its evidence,
the chance that it is an accident, and the null model for which that chance holds. No simulation,
no source text: the numbers only. See ``docs/consistency.md`` for the tests and their equations.
"""

from dvsim.consistency.examine import examination, examine
from dvsim.consistency.types import Examination, Finding

__all__ = ["Examination", "Finding", "examination", "examine"]
