"""Keywords of a call in Python: keys of a scenario, or the nearest argument."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from dvsim.errors import Argument, Fault, ScenarioError, nearest


@contextmanager
def by_argument(arguments: Sequence[str]) -> Iterator[None]:
    """Let a `ScenarioError` about a keyword offer the nearest of these arguments of the call."""
    try:
        yield
    except ScenarioError as error:
        raise ScenarioError(_nearest(fault, arguments) for fault in error.faults) from None


def _nearest(fault: Fault, arguments: Sequence[str]) -> Fault:
    """Return a fault with the argument that may have been meant, if one is near.

    >>> unknown = Fault(Argument("overrides"), None, "replication", "unknown key")
    >>> print(_nearest(unknown, ["seed", "replications"]))
    overrides: replication: unknown key; did you mean 'replications'?
    """
    if fault.file != Argument("overrides"):
        return fault
    near = nearest(fault.key, arguments, 0.7)
    return replace(fault, hint=near) if near else fault
