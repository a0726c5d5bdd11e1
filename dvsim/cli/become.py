"""Another program in the place of this one."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn


def become(command: Sequence[str]) -> NoReturn:
    """Let a program take this process over: signals and the exit code are its own then."""
    sys.stdout.flush()
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)  # Python ignores them, and a program would inherit it
    os.execv(command[0], list(command))
