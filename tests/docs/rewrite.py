"""Write what the sessions of pages print into them: ``python tests/docs/rewrite.py PAGE…``.

Only what is run as shown is rewritten; lines that a page leaves out with ``…`` stay left out, by
their number from either end. Look at the difference afterwards: this makes pages true, not good.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from harness.once import STORE
from sessions import ANY_TEXT, agrees, run, sessions
from setups import prepare


def shortened(expected: list[str], printed: list[str]) -> list[str]:
    """Return the printed lines with the same lines left out as before."""
    expected = [line for line in expected if line.strip()]
    printed = [line for line in printed if line.strip()]
    if ANY_TEXT not in expected:
        return printed
    if expected.count(ANY_TEXT) > 1:
        print("  more than one …: left alone", *expected, sep="\n    ", file=sys.stderr)
        return expected
    at = expected.index(ANY_TEXT)
    after = len(expected) - at - 1
    return [*printed[:at], ANY_TEXT, *(printed[-after:] if after else [])]


def end_of(lines: list[str], first: int, count: int) -> int:
    """Return where `count` lines from `first` on end; blank ones between them do not count."""
    end = first
    while count:
        count -= bool(lines[end].strip())
        end += 1
    return end


def rewrite(page: Path) -> None:
    """Rewrite one page."""
    some = sessions(page)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as store:
        os.environ[STORE] = store
        environment = prepare(page, Path(folder))
        printed = iter(run(some, Path(folder), environment))
    lines = page.read_text("utf-8").splitlines()
    changes: list[tuple[int, int, list[str]]] = []
    for session in some:
        for command in session.commands:
            new = next(printed)
            said = [line for line in command.expected if line.strip()]
            if session.how not in ("run", "numbers vary") or agrees(session, said, new):
                continue
            first = command.line + command.text.count("\n")
            indent = "" if lines[command.line - 1].startswith("$") else "    "
            text = [indent + line for line in shortened(said, new.lines)]
            changes.append((first, end_of(lines, first, len(said)), text))
    for first, last, text in reversed(changes):
        lines[first:last] = text
    page.write_text("\n".join(lines) + "\n", "utf-8")
    print(f"{page}: {len(changes)} changed", file=sys.stderr)


if __name__ == "__main__":
    for given in sys.argv[1:]:
        rewrite(Path(given).resolve())
