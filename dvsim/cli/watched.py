"""A program that is watched while it runs: it stays a child of this process, which draws."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import TYPE_CHECKING

from dvsim.cli.terminal import is_fancy
from dvsim.cli.watching import CardView

if TYPE_CHECKING:
    from dvsim.emu.lines import CardLines

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def watch(command: Sequence[str], program: Sequence[str]) -> int:
    """Run ``vicrun`` with options and a program, show its cards, and return its exit code.

    What the programs write to this terminal appears above the table: it then comes through a pipe.

    Returns
    -------
    int
        128 + n if it was ended by signal n.
    """
    from dvsim.broker.process import bound
    from dvsim.emu.lines import CardLines

    view = CardView()
    with CardLines(view.take) as lines:
        seen = [word for name, value in lines.options.items() for word in (name, str(value))]
        whole = bound([*command, *seen, "--", *program], signal.SIGTERM)
        piped = [is_fancy(sys.stderr) and is_fancy(stream) for stream in (sys.stdout, sys.stderr)]
        out, err = (subprocess.PIPE if pipe else None for pipe in piped)
        sys.stdout.flush()
        child = subprocess.Popen(whole, pass_fds=lines.keeps, stdout=out, stderr=err)
        lines.started()
        try:
            with _passing(child):
                _attend(child, lines)
        finally:
            view.end()
            if child.poll() is None:  # an error of ours
                child.terminate()
        code = child.wait()
    return code if code >= 0 else 128 - code


@contextlib.contextmanager
def _passing(child: subprocess.Popen[bytes]) -> Iterator[None]:
    """Let signals be the business of vicrun; a terminal has sent it those of the keyboard."""

    def pass_on(number: int, frame: FrameType | None) -> None:
        if not (number in (signal.SIGINT, signal.SIGQUIT) and sys.stdin.isatty()):
            child.send_signal(number)

    before = {number: signal.signal(number, pass_on) for number in PASSED_ON}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _attend(child: subprocess.Popen[bytes], lines: CardLines) -> None:
    """Read until all streams are at their end."""
    from dvsim.cli.screen import the_screen

    with selectors.DefaultSelector() as selector:
        selector.register(lines, selectors.EVENT_READ)
        for stream in (child.stdout, child.stderr):
            if stream is not None:
                selector.register(stream, selectors.EVENT_READ, data=b"")
        while selector.get_map():
            for key, _ in selector.select():
                if key.fileobj is lines:
                    if not lines.read():
                        selector.unregister(lines)
                    continue
                data = os.read(key.fd, 1 << 16)
                whole, _, rest = (key.data + data).rpartition(b"\n")
                if whole or (rest and not data):
                    the_screen().note((whole or rest).decode(errors="backslashreplace"))
                if data:
                    selector.modify(key.fileobj, selectors.EVENT_READ, data=rest)
                else:
                    selector.unregister(key.fileobj)
