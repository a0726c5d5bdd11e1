"""Binding of the C core under models/: the hardware's behaviour, written once, seen from Python."""

from dvsim.core.card import Burst, VortexCard
from dvsim.core.host import DramRing

__all__ = ["Burst", "DramRing", "VortexCard"]
