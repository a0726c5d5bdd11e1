"""Does the bar of a terminal give the cursor back, wherever Ctrl-C stops it?"""

import io

import pytest
from rich.console import Console

from dvsim.cli.screen import Screen
from dvsim.progress import Shown

HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"  # the cursor
BAR = Shown("h3/dv-8", 1, 4, "iterations", [], 1.0, 3.0)


class Interrupted(io.StringIO):
    """A terminal whose user presses Ctrl-C before or after its nth writing."""

    def __init__(self, at, before):
        super().__init__()
        self.at, self.before = at, before

    def write(self, text):
        self.at -= 1
        if self.at == 0 and self.before:
            raise KeyboardInterrupt
        size = super().write(text)
        if self.at == 0:
            raise KeyboardInterrupt
        return size


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("at", [1, 2, 3, 4])
def test_the_cursor_comes_back_whatever_is_interrupted(at, before):
    terminal, screen = Interrupted(at, before), Screen()
    screen._console = Console(file=terminal, force_terminal=True, width=80)
    with pytest.raises(KeyboardInterrupt):
        for _ in range(4):
            screen.paint(BAR)
    screen.close()
    shown = terminal.getvalue()
    assert shown.rfind(SHOW) >= shown.rfind(HIDE)
