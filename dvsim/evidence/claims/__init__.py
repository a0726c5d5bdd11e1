"""Sentences of a source, decided by runs: what ``scenarios/SOURCE/claims.py`` is written with.

source.py        a source, its claims and their ranges; where the sources are
figures.py       the figures of several runs and studies, from which claims are decided
decide.py        from values to verdicts, and why a claim is not confirmed
jackknife.py     the interval of a value over replications
"""

from dvsim.evidence.claims.figures import MOVING_AVERAGE, Estimate, Evidence, Missing
from dvsim.evidence.claims.source import Finding, Source, load_source, sources
from dvsim.study.number_text import four_digits

__all__ = ["MOVING_AVERAGE", "Estimate", "Evidence", "Finding", "Missing", "Source"]
__all__ += ["four_digits", "load_source", "sources"]
