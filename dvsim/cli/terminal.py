"""What goes to the terminal: readable, harmless, and no reason to fail when nobody can read it."""

from __future__ import annotations

import io
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NoReturn, TextIO

import click

from dvsim.cli.plain_text import folded, plain

if TYPE_CHECKING:
    from dvsim.progress import Painter
    from dvsim.study.table import Table
    from dvsim.table.reply import Reply


def typed() -> list[str]:
    """Return the command that was typed."""
    return ["dvsim", *sys.argv[1:]]


def typed_text() -> str:
    """Return the command that was typed, as a shell takes it."""
    return shlex.join(typed())


def say(text: object) -> None:
    """Print a text to stdout."""
    click.echo(plain(str(text)))


def say_json(reply: Reply) -> None:
    """Print a reply to stdout, with the command that it is of."""
    reply.facts.command = typed_text()
    click.echo(reply.text())


def tell(lines: Iterable[str | Table], indent: int, width: int | None = None) -> None:
    """Print lines to stdout, folded to a width or to that of a terminal; tables indented."""
    if is_fancy(sys.stdout):
        width = shutil.get_terminal_size().columns
    for line in lines:
        if not isinstance(line, str):
            say_table(line, indent)
        else:
            say(line if width is None else folded(line, width))


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


def become(command: Sequence[str]) -> NoReturn:
    """Let a program take this process over: signals and the exit code are its own then."""
    sys.stdout.flush()
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)  # Python ignores them, and a program would inherit it
    os.execv(command[0], list(command))
