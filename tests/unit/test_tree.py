"""Does every source file open with what it is for, and stay short enough to be read at once?"""

from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("dvsim", "models", "emulator", "analysis", "tests", "bench", "docs")
OPENINGS = {".py": ('"""', 'r"""', "#"), ".c": ("/*",), ".h": ("/*",)}
MADE = {"_core.c", "_emulator", "__pycache__"}
MOST_LINES = 400
FILES = {
    path.relative_to(ROOT): path.read_text(encoding="utf-8")
    for room in ROOMS
    for path in sorted((ROOT / room).rglob("*"))
    if path.suffix in OPENINGS and not MADE & set(path.parts)
}


def test_no_file_has_more_than_400_lines():
    long = {path: lines for path, text in FILES.items() if (lines := text.count("\n")) > MOST_LINES}
    assert not long, "split them by subject"


def opens_with_a_comment(path, text):
    first = text.removeprefix("#define _GNU_SOURCE\n").lstrip()
    return not first or first.startswith(OPENINGS[path.suffix])


def test_every_file_begins_with_what_it_is_for():
    assert not [str(path) for path, text in FILES.items() if not opens_with_a_comment(path, text)]
    assert len(FILES) > 800  # none was overlooked
