"""Shell sessions in Markdown pages: found, run as a reader would, compared with what the page says.

A session is an indented or fenced block with lines ``$ command``; what follows a command is what it
prints. A line ``…`` stands for any lines, ``…`` in a line for any text. Where nothing is shown
anything may be printed, but the command must succeed. All sessions of a page run in one fresh
folder, in order. A comment before a block says how it differs in the tests::

    <!-- session: numbers vary -->          times of a machine: only their places are compared
    <!-- session: quick --scale 0.01 -->    options that dvsim commands get; numbers vary, too
    <!-- session: part, 2 4 8 => 2 -->      a change of the commands; they print how the page begins
    <!-- session: table -->                 all cells of the table that follows are printed
    <!-- session: tested by tests/x.py -->  another test runs it
    <!-- session: not run, sudo -->         and why not
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from harness.in_process import dvsim

from dvsim.native import emulator_prefix

ROOT = Path(__file__).parents[2]
LIMIT_S = 300
SHELL = re.compile(r"[|&;<>$`?(){}\n]|/\*|\s[~*]")
"""What a shell gives a meaning of its own, outside quotes."""
IN_PROCESS = {"XDG_CACHE_HOME", "XDG_STATE_HOME"}
"""Variables that a page may set for commands that run in the process of the tests."""
DIRECTIVE = re.compile(r"^<!-- session: (.*?) -->$")
HOW = ("numbers vary", "quick", "part", "table", "tested by", "not run")
ANY_TEXT = "…"
NUMBER = re.compile(r"[-+]?\d[\d,._]*(?:e[-+]?\d+)?(?: ?(?:ns|us|ms|s|KiB|MiB|GiB|[KMG]?B/s)\b)?")
HASH = re.compile(r"\b(?:emu-)?[0-9a-f]{12}\b")
PROGRESS = re.compile(
    r"\d+ s left|events/s|running for \d+ s|^waiting for |^\w+ [\d.]+: (?:holds|fails)|^\s*$"
    r"|has not called the library for 5 s|computed for [\d.]+ ms between its calls"
)


@dataclass
class Command:
    """One command of a session, the lines it is said to print, and where they are in the page."""

    text: str
    line: int
    expected: list[str] = field(default_factory=list)


@dataclass
class Session:
    """One block of commands; `directive` is what the comment before it says, or nothing."""

    page: Path
    directive: str
    commands: list[Command]
    cells: list[str] = field(default_factory=list)

    @property
    def how(self) -> str:
        """``run``, or the first words of the directive."""
        for word in HOW:
            if self.directive.startswith(word):
                return word
        assert not self.directive, f"{self.page}: unknown directive {self.directive!r}"
        return "run"


def sessions(page: Path) -> list[Session]:
    """Return the sessions of a page, in order."""
    found: list[Session] = []
    current: Session | None = None
    directive, fence = "", None
    for number, line in enumerate(page.read_text("utf-8").splitlines(), start=1):
        said = DIRECTIVE.match(line)
        opens = re.match(r"^```(\w*)$", line)
        if said:
            directive = said[1]
        elif opens and fence is None:
            fence, current = opens[1], None
        elif line == "```":
            fence, current, directive = None, None, ""
        elif fence is not None or line.startswith("    "):
            body = line if fence is not None else line[4:]
            if body.startswith("$ "):
                if current is None:
                    current = Session(page, directive, [])
                    found.append(current)
                current.commands.append(Command(body[2:], number))
            elif current is not None:
                last = current.commands[-1]
                if not last.expected and (last.text.endswith("\\") or body.startswith(">")):
                    last.text += "\n" + body.removeprefix(">").removeprefix(" ")
                else:
                    last.expected.append(body)
        elif line.startswith("|") and found and found[-1].how == "table":
            found[-1].cells += [cell.strip() for cell in line.strip("|").split("|")]
        elif line.strip() or fence is not None:
            current, directive = None, ""
    return found


def quickened(session: Session, text: str) -> str:
    """Return a command as its directive changes it."""
    if session.how == "part":
        old, new = session.directive.removeprefix("part,").split("=>")
        assert old.strip() in text, f"{session.page}: no {old.strip()!r} in {text!r}"
        return text.replace(old.strip(), new.strip())
    if session.how != "quick":
        return text
    options = session.directive.removeprefix("quick").strip()
    return re.sub(r"(dvsim (?:run|validate|limit|sweep|calibrate)\b)", rf"\1 {options}", text)


@dataclass(frozen=True)
class Printed:
    """What a command printed, on either stream, and its exit code."""

    lines: list[str]
    status: int


def run(some: list[Session], folder: Path, environment: dict[str, str]) -> list[Printed]:
    """Run sessions in a folder, one bash for each; return what each command printed."""
    printed: list[Printed] = []
    for session in some:
        if session.how in ("tested by", "not run"):
            printed += [Printed([], 0) for _ in session.commands]
            continue
        texts = [quickened(session, command.text) for command in session.commands]
        words = [plain_words(text) for text in texts]
        if all(words) and not environment.keys() - IN_PROCESS:
            printed += [in_this_process(some, folder, environment) for some in words]
            continue
        said = shell("".join(f"{text}\necho == status $?\n" for text in texts), folder, environment)
        parts = re.split(r"^== status (\d+)\n", said, flags=re.MULTILINE)
        assert len(parts) == 2 * len(session.commands) + 1, said
        for text, status in zip(parts[0::2], parts[1::2], strict=False):
            printed.append(Printed(shown(text), int(status)))
    return printed


def shown(text: str) -> list[str]:
    """Return the lines of an output without those that tell how far a command is."""
    return [line for line in text.splitlines() if not PROGRESS.search(line)]


def plain_words(text: str) -> list[str]:
    """Return the arguments of a `dvsim` command; none if it is another one, or needs a shell."""
    text = text.replace("\\\n", " ")
    if SHELL.search(re.sub(r"'[^']*'|\"[^\"$`]*\"", "", text)):
        return []
    words = shlex.split(text, comments=True)
    return words[1:] if words[0] == "dvsim" and words[1:2] != ["emulate"] else []


def in_this_process(words: list[str], folder: Path, environment: dict[str, str]) -> Printed:
    """Return what `dvsim` with these arguments prints, without the second that a process costs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["dvsim", *words])
        for name, value in environment.items():
            patch.setenv(name, value)
        done = dvsim(*words)
    return Printed(shown(done.output), done.returncode)


def shell(script: str, folder: Path, environment: dict[str, str]) -> str:
    """Return what a script prints on both streams, with this dvsim and vicrun on the path."""
    path = f"{Path(sys.executable).parent}:{emulator_prefix() / 'bin'}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", script], cwd=folder, env={**os.environ, "PATH": path, **environment},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False, timeout=LIMIT_S,
    ).stdout  # fmt: skip


def agrees(session: Session, expected: list[str], printed: Printed) -> bool:
    """Whether a command printed what the page says."""
    if session.how == "table":
        said = "\n".join(printed.lines)
        return printed.status == 0 and all(cell in said for cell in table_cells(session))
    if not "".join(expected).strip():
        return printed.status == 0
    if session.how == "part":
        lines = [line.split() for line in printed.lines]
        return bool(lines) and lines == [line.split() for line in expected[: len(lines)]]
    vary = session.how in ("numbers vary", "quick")
    pattern = ""
    for line in (line for line in expected if line.strip()):
        text = plain(line, vary=vary)
        if text == ANY_TEXT:
            pattern += r"(?:.*\n)*"
        else:
            pattern += re.escape(text).replace(re.escape(ANY_TEXT), ".*") + r"\n"
    text = "".join(plain(line, vary=vary) + "\n" for line in printed.lines if line.strip())
    return re.fullmatch(pattern, text) is not None


def table_cells(session: Session) -> list[str]:
    """Return the cells below the head of the session's table."""
    assert session.cells, f"{session.page}: no table after the session"
    rule = next(n for n, cell in enumerate(session.cells) if set(cell) <= set("-:") and cell)
    return [cell for cell in session.cells[2 * rule :] if cell]


def plain(line: str, *, vary: bool) -> str:
    """Return a line without what may differ: run folders, and numbers if they vary."""
    line = HASH.sub("#", line.rstrip())
    if vary:
        line = re.sub(r"\s+", " ", NUMBER.sub("#", line))
        line = re.sub(r"# ?(?:#|ns|us|ms|s)\b", "#", line)
    return line
