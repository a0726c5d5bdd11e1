"""Keywords of a call in Python: keys of a scenario, or the nearest argument."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from dvsim.errors import Argument, Fault, ScenarioError, nearest
from dvsim.scenario.document import OVERRIDES, KeyPath
from dvsim.scenario.override import Setting, read_python

WORKLOAD = ("messages", "message_bytes", "iterations")  # need no name of their table


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


def read_keywords(given: Mapping[str, object]) -> list[Setting | Fault]:
    """Read keywords of Python: ``messages=1000``, ``system__card__sram="64 MiB"``."""
    settings: list[Setting | Fault] = []
    for keyword, value in given.items():
        path = path_of(keyword)
        try:
            settings.append(Setting(path, read_python(value), f"{keyword}={value!r}"))
        except TypeError as error:
            settings.append(OVERRIDES.fault(path, str(error)))
    return settings


def path_of(keyword: str) -> KeyPath:
    """Return the path of a keyword: ``messages``, ``system__card__sram``."""
    return ("workload", keyword) if keyword in WORKLOAD else tuple(re.split(r"__|\.", keyword))
