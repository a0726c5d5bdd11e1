"""How far something can be pushed: the limit of a key up to which a criterion holds.

criterion.py  what must hold, read from text and judged from replications
search.py     the values of a key between two bounds, bisection with confidence
"""

from dvsim.study.limit.search import Limit, Probe, find_limits

__all__ = ["Limit", "Probe", "find_limits"]
