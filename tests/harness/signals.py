"""Signals as programs expect them, whoever started the tests.

Under `nohup`, or in the background of a script, SIGINT, SIGQUIT and SIGHUP are ignored, and every
program that a test starts would inherit that. The processes that run tests take the default
action again; a terminal that closes must not end them, so they leave its session first.
"""

from __future__ import annotations

import contextlib
import os
import signal

import pytest

IGNORED = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)


def pytest_configure(config: pytest.Config) -> None:
    """Take the default actions again in a process that runs tests."""
    runs_tests = hasattr(config, "workerinput") or not config.getoption("numprocesses", None)
    ignored = [one for one in IGNORED if signal.getsignal(one) == signal.SIG_IGN]
    if not runs_tests or not ignored:
        return
    with contextlib.suppress(PermissionError):  # it leads a session already
        os.setsid()
    for one in ignored:
        default = signal.default_int_handler if one == signal.SIGINT else signal.SIG_DFL
        signal.signal(one, default)
