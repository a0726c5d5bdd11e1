"""The claims of all sources: run, decided, weighed, written down.

gather.py   runs everything that a claim of any source speaks about
sent.py     the emulated runs of the claim that no simulation can decide
moves.py    what each fitted parameter moves, so that one that serves a single claim shows
types.py    the ledger, and its tally
page.py     the page docs/claims.md
"""

from dvsim.ledger.gather import gather
from dvsim.ledger.types import ENOUGH, Ledger, Tally

__all__ = ["ENOUGH", "Ledger", "Tally", "gather"]
