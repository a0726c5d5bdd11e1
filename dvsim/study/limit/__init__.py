"""How far something can be pushed: the limit of a key up to which a criterion holds.

criterion.py  what must hold, read from text and judged from replications
axis.py       the values that a key can take between two bounds
search.py     bisection with confidence
"""

from dvsim.study.limit.search import Limit, Probe, find_limits

__all__ = ["Limit", "Probe", "find_limits"]
