"""What goes to the terminal: readable, harmless, and no reason to fail when nobody can read it."""

from __future__ import annotations

import io
import os
import re
import shutil
import signal
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NoReturn, TextIO

import click

if TYPE_CHECKING:
    from dvsim.progress import Painter
    from dvsim.study.text_table import Table

_INDENT, _WIDTH = "  ", 100  # of sentences

# control characters but the line feed, and those that turn the direction of the text around them
_CONTROL = re.compile("[\0-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    r"""Return a text with its control characters spelled out; a file may hold any.

    >>> print(plain("a\x1b[31mtitle"))
    a\x1b[31mtitle
    """
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def say(text: object) -> None:
    """Print a text to stdout."""
    click.echo(plain(str(text)))


def tell(lines: Iterable[str | Table], indent: int) -> None:
    """Print lines to stdout, and the tables among them, these indented."""
    for line in lines:
        if not isinstance(line, str):
            say_table(line, indent)
        elif is_fancy(sys.stdout):
            say(_wrapped(line))
        else:
            say(line)


def _wrapped(line: str) -> str:
    """Return a line that begins with blanks as lines that fit the terminal and begin so, too."""
    blanks = len(line) - len(line.lstrip())
    room = shutil.get_terminal_size().columns
    more = " " * (blanks + 2)
    filler = textwrap.TextWrapper(room, subsequent_indent=more)
    filler.break_long_words = filler.break_on_hyphens = False  # a path stays whole
    return filler.fill(line) or line


def say_table(table: Table, indent: int = 0) -> None:
    """Print a table to stdout: plain lines, or on a terminal one that fits it."""
    if is_fancy(sys.stdout):
        from dvsim.cli.screen import print_table

        print_table(table, indent)
        return
    for line in table.lines():
        say(" " * indent + line)


def is_fancy(stream: TextIO) -> bool:
    """Return whether a stream is a terminal that can do more than print."""
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def painter() -> Painter:
    """Return what shows progress on this terminal."""
    from dvsim.cli.screen import the_screen

    return the_screen()


def complain(text: object) -> None:
    """Print a text to stderr, if that can be."""
    try:
        click.echo(plain(str(text)), err=True)
    except OSError:
        discard(2)


def open_streams() -> None:
    """Give a process that was started without standard streams some that lead nowhere.

    Else the next file that is opened would take their place, and the text that is meant for them.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            discard(number)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal without µ is no error


def discard(number: int) -> None:
    """Let a standard stream lead nowhere: what still waits for it must not fail at the exit."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    if nowhere == number:
        os.set_inheritable(number, True)
    else:
        os.dup2(nowhere, number)
        os.close(nowhere)


def wrapped(text: str) -> list[str]:
    """Break a sentence below a heading into lines, but not between a figure and its unit."""
    glued = re.sub(r"(?<=\d) (?=[%±]|[KkMGT]?i?B\b|[mun]?s\b)|(?<=[±x]) (?=\d)", "\xa0", text)
    lines = textwrap.wrap(glued, _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT)
    return [line.replace("\xa0", " ") for line in lines]


def become(command: Sequence[str]) -> NoReturn:
    """Let a program take this process over: signals and the exit code are its own then."""
    sys.stdout.flush()
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)  # Python ignores them, and a program would inherit it
    os.execv(command[0], list(command))
