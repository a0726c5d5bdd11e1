"""The words that say how a switch is built and what is offered to it, each said once.

Arguments of `dvsim.Switch` and `dvsim.Network`, and keys of scenario files, take the same words.
This module imports nothing, so that a file is checked without NumPy.
"""

from __future__ import annotations

from typing import Literal, get_args

Crossing = Literal["brc", "xor", "random"]
"""How packets cross that stay on their cylinder, see `dvsim.fabric.switch.wiring`."""

Exit = Literal["angle", "any"]
"""Where packets leave: at their angle of the innermost cylinder, or at once."""

Pattern = Literal[
    "uniform",
    "bit-complement",
    "transpose",
    "shuffle",
    "permutation",
    "hot-spot",
    "bursty",
    "trace",
]
"""Where packets go, and when they come: see `dvsim.Switch.start`."""

Injection = Literal["drop", "queue", "saturate"]
"""What becomes of a packet that finds its port taken; a program can also give packets itself."""

CROSSINGS: tuple[str, ...] = get_args(Crossing)
EXITS: tuple[str, ...] = get_args(Exit)
PATTERNS: tuple[str, ...] = get_args(Pattern)
INJECTIONS: tuple[str, ...] = (*get_args(Injection), "given")
