"""Comparison of runs with what was published.

types.py      what a comparison says: rows, columns, claims
reference.py  the published numbers, as data
verdict.py    one run beside its published columns, statistic by statistic
evidence.py   the figures of several runs, from which claims are decided
claims.py     the sentences of a source, each decided by runs; h3_claims.py those of one paper,
              dv_claims.py those about the switch, zeromq_claims.py, amps_claims.py and
              osu_claims.py those of messaging over hosts
assess.py     all of it for a set of runs, and its tallies
text.py       the same as lines of plain text
"""

from dvsim.validation.assess import validate

__all__ = ["validate"]
