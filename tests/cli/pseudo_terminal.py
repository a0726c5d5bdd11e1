"""A program on a terminal of a given size: what it writes, and what then stands there."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios

from harness.patience import patience

CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-7]|4[0-7]|9[0-7]|38|48)(?:;\d+)*m")


def run(command, columns, *, env=None, stdin=None, stdout=None, until=None, rows=50, timeout=120):
    """Run a program whose streams are a terminal; return its exit code and all that came.

    `stdin` and `stdout` may be something else than the terminal. `until` is a text, and the signal
    that the program gets when it has written that.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", **(env or {})}
    for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"):
        if name not in (env or {}):
            environment.pop(name, None)
    child = subprocess.Popen(
        command, stdin=stdin or theirs, stdout=stdout or theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    parts = []
    timeout = patience(timeout)
    try:
        while True:
            ready, _, _ = select.select([ours], [], [], timeout)
            assert ready, f"nothing for {timeout:.0f} s"
            try:
                data = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not data:
                break
            parts.append(data)
            if until is not None and until[0].encode() in b"".join(parts):
                child.send_signal(until[1])
                until = None
        code = child.wait(timeout)
    finally:
        child.kill()
        child.wait()
        os.close(ours)
    return code, b"".join(parts).decode()


def lines(text):
    """Return the lines of a text without the controls in it."""
    return [line.rstrip() for line in CONTROL.sub("", text).replace("\r", "").split("\n")]


def standing(text):
    """Return the lines that stand on the terminal in the end, those scrolled away included."""
    rows, row, column = [""], 0, 0
    for move, key, letter in re.findall(r"\x1b\[([0-9;?]*)([A-Za-z])|([\s\S])", text):
        if key == "A":
            row -= int(move or 1)
            assert row >= 0
        elif key == "K":
            rows[row] = "" if move == "2" else rows[row][:column]
        elif letter == "\r":
            column = 0
        elif letter == "\n":
            row += 1
            rows += [""] * (row == len(rows))
        elif letter:
            rows[row] = rows[row][:column].ljust(column) + letter + rows[row][column + 1 :]
            column += 1
        else:
            assert key in "mhl", f"CSI {move}{key}"
    return [line.rstrip() for line in rows]
