"""What is fuzzed: every reader of dvsim that gets a file or text of which nobody knows the writer.

A target lays a case into an empty folder and reads it. It returns what came out in a few words, or
raises one of the errors that the reader promises; anything else is a defect, and so is a result
that is not what was written. Heavy imports wait until a target is used.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from case_files import Files
from hypothesis import strategies as st

CORPUS = Path(__file__).parent / "corpus"

MODULES = {
    "scenario": "target_scenarios",
    "card": "target_scenarios",
    "set": "target_texts",
    "option": "target_texts",
    "lab": "target_data",
    "consistency": "target_data",
    "published": "target_data",
    "importance": "target_data",
    "trace": "target_data",
    "left": "target_data",
    "result": "target_results",
    "sweep": "target_sweeps",
    "nodes": "target_nodes",
    "drained": "target_nodes",
    "otf2": "target_traces",
    "dumpi": "target_traces",
    "chakra": "target_traces",
    "chakra-json": "target_traces",
    "simgrid": "target_traces",
    "goal": "target_traces",
    "goal-packed": "target_traces",
    "liballprof": "target_traces",
}
"""Name of a target -> the module that has it, as ``TARGETS``."""


@dataclass(frozen=True)
class Target:
    """A reader with its cases.

    Attributes
    ----------
    seeds
        Good cases, or nearly.
    read
        Lays a case into an empty folder, reads it and says what came out.
    refusals
        The errors that the reader promises.
    changed
        Makes bad cases of a pool.
    """

    seeds: Callable[[], Sequence[Files]]
    read: Callable[[Files, Path], str]
    refusals: tuple[type[Exception], ...]
    changed: Callable[[Sequence[Files]], st.SearchStrategy[Files]]


def target_of(name: str) -> Target:
    """Return a target by its name."""
    targets: dict[str, Target] = importlib.import_module(MODULES[name]).TARGETS
    return targets[name]
