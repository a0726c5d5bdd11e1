"""What only a terminal shows: tables with a heading, a bar that moves.

The only module that knows rich, and imported only when a terminal is written to. Everything here
has a plain counterpart for files and pipes. ``NO_COLOR`` and the width of the terminal are heeded.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table as Grid
from rich.text import Text

from dvsim.cli.plain_text import plain
from dvsim.study.table import GAP, Table

if TYPE_CHECKING:
    from dvsim.progress import Shown

BAR = 30  # characters of a bar, at most
GOOD, BAD = ("pass", "confirmed", "met"), ("fail", "refuted", "missed")
VERDICTS = dict.fromkeys(GOOD, "green") | dict.fromkeys(BAD, "red")
FEWEST = 20  # characters of the narrowest terminal that a bar is drawn on


def print_table(table: Table, indent: int) -> None:
    """Print a table to stdout, in parts if it is wider than the terminal.

    A part that still is has lines that are too long: half a number would be another number.
    """
    console = Console(highlight=False)
    width = max(console.width - indent, FEWEST)
    parts = list(table.parts(width))
    least = max(_least(table, columns, fits=len(parts) > 1) for columns in parts)
    console.width = max(console.width, indent + least)
    for number, columns in enumerate(parts):
        if number:
            console.print()
        console.print(_grid(table, columns, indent, fits=len(parts) > 1))


def _least(table: Table, columns: Sequence[int], *, fits: bool) -> int:
    cells = list(zip(*table.all_rows, strict=True))
    width = dict.fromkeys(columns, 0)
    for column in columns:
        whole = column in table.right or fits
        parts = cells[column] if whole else " ".join(cells[column]).split()
        width[column] = max(map(len, parts), default=0)
        width[column] = width[column] if whole else min(width[column], FEWEST)
    return sum(width.values()) + GAP * len(columns)


def _grid(table: Table, columns: Sequence[int], indent: int, *, fits: bool) -> Grid:
    grid = Grid(
        box=None,
        pad_edge=False,
        padding=(0, GAP, 0, 0),
        header_style="bold",
        show_header=bool(table.head),
    )
    for column in columns:
        right, name = column in table.right, table.head[column] if table.head else ""
        style = "dim" if name == "±" else ""
        grid.add_column(
            Text(plain(name)),
            justify="right" if right else "left",
            style=style,
            no_wrap=right or fits,
            overflow="fold",
        )
    for row in table.rows:
        cells = (plain(row[column]) for column in columns)
        grid.add_row(*(Text(cell, style=VERDICTS.get(cell, "")) for cell in cells))
    if not indent:
        return grid
    shifted = Grid.grid(padding=(0, 0, 0, 0))
    shifted.add_column(width=indent)
    shifted.add_column()
    shifted.add_row("", grid)
    return shifted


class Screen:
    """The lower end of a terminal: a bar, drawn over and over in place.

    It is there from the first thing that is drawn until it is closed.
    """

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._live: Live | None = None
        self._lock = threading.RLock()  # progress has a thread of its own

    def paint(self, shown: Shown) -> None:
        """Draw the bar of `dvsim.progress`."""
        with self._lock:
            if self._live is None:
                self._live = Live(
                    console=self._console,
                    auto_refresh=False,
                    transient=True,
                    redirect_stdout=False,
                    redirect_stderr=False,
                )
                self._live.start()
            self._live.update(_bar(shown, self._console.width), refresh=True)

    def note(self, text: str) -> None:
        """Print something that stays, above."""
        self._console.print(Text(plain(text)), soft_wrap=True)

    def close(self) -> None:
        """Take the bar away."""
        with self._lock:
            if self._live is not None:
                live, self._live = self._live, None
                live.update(Text())
                try:
                    live.stop()
                except IndexError:  # Ctrl-C interrupted its start: there is no hook to remove
                    self._console.show_cursor()


def _bar(shown: Shown, width: int) -> RenderableType:
    done = f"{int(shown.done)}/{shown.tasks} {shown.unit}"
    elapsed = f"running for {clock(shown.elapsed_s)}"
    time = elapsed if shown.left_s is None else f"{clock(shown.left_s)} left"
    line = Text(no_wrap=True, overflow="ellipsis")
    line.append(plain(shown.what), style="bold")
    line.append(f"  {done}  {time}")
    length = min(BAR, width - len(line) - GAP)
    rates = Text(", ".join(shown.rates), style="dim", no_wrap=True, overflow="ellipsis")
    if length < BAR // 3:
        return Group(line, rates) if shown.rates else line
    grid = Grid.grid(padding=(0, GAP, 0, 0))
    bar = ProgressBar(total=shown.tasks, completed=shown.done, width=length)
    grid.add_row(line, bar)
    return Group(grid, rates) if shown.rates else grid


def clock(seconds: float) -> str:
    """Return a time as a person reads it.

    >>> clock(7.4), clock(75), clock(7300)
    ('7 s', '1:15', '2:01:40')
    """
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"


_screen: Screen | None = None


def the_screen() -> Screen:
    """Return the screen of this process: there is one terminal."""
    global _screen  # noqa: PLW0603 - one for all
    if _screen is None:
        _screen = Screen()
    return _screen
