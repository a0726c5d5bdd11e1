"""What is wrong with a call in Python, in the words of Python: by argument, not by option."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from difflib import get_close_matches

from dvsim.errors import Fault, ScenarioError

NAMES = {"--set": "overrides", "--zip": "together"}
"""Options whose argument has another name; that of all others is the option without its dashes."""


@contextmanager
def by_argument(arguments: Sequence[str]) -> Iterator[None]:
    """Let a `ScenarioError` name arguments where it names options of the command line.

    Args:
        arguments: Of the call: the nearest is offered for a keyword that is no key of a scenario
            either.
    """
    try:
        yield
    except ScenarioError as error:
        raise ScenarioError(_said(fault, arguments) for fault in error.faults) from None


def _said(fault: Fault, arguments: Sequence[str]) -> Fault:
    """Return a fault in the words of Python.

    >>> print(_said(Fault("--seed", None, "", "-1 is negative"), ["seed"]))
    seed: -1 is negative
    >>> print(_said(Fault("--set", None, "replication", "unknown key"), ["seed", "replications"]))
    overrides: replication: unknown key; did you mean 'replications'?
    """
    if fault.file != "overrides" and not fault.file.startswith("--"):
        return fault
    name = NAMES.get(fault.file, fault.file.removeprefix("--").replace("-", "_"))
    near = get_close_matches(fault.key, arguments, 1, cutoff=0.8) if name == "overrides" else []
    return replace(fault, file=name, hint=near[0] if near else fault.hint)
