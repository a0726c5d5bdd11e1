"""How long tests wait for what they want to see: the longer, the busier the machine is.

A bound on a wait is there to end a test that hangs. How fast something is, `bench/` measures.
"""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest


def patience(seconds: float) -> float:
    """Return a bound in seconds, stretched by the number of processes that share one core."""
    return seconds * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Stretch the time after which pytest-timeout ends a test, unless the test names its own."""
    kept = item.config.getini("timeout")
    if kept and item.config.getoption("timeout") is None and not item.get_closest_marker("timeout"):
        item.add_marker(pytest.mark.timeout(patience(float(kept))))
    return (yield)
