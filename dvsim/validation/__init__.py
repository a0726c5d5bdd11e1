"""Comparison of runs with what was published.

types.py      what a comparison says: rows, columns, claims
reference.py  the published numbers, as data
verdict.py    one run beside its published columns, statistic by statistic
evidence.py   the figures of several runs, from which claims are decided; study_figures.py those of
              studies
claims.py     the sentences of a source, and how runs give their values; h3_claims.py those of one
              paper, dv_claims.py those about the switch, zeromq_claims.py, amps_claims.py and
              osu_claims.py those of messaging over hosts
decide.py     from values to verdicts; resample.py their intervals, explain.py why not confirmed
goals.py      what the model of the 2018 study was to reach, and the floor
assess.py     all of it for a set of runs, and its tallies
text.py       the same as lines of plain text
"""

from dvsim.validation.assess import validate

__all__ = ["validate"]
