"""Does every source file open with what it is for, and stay short enough to be read at once?"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("dvsim", "models", "emulator", "analysis", "tests", "bench", "docs")
OPENINGS = {".py": ('"""', 'r"""', "#"), ".c": ("/*",), ".h": ("/*",)}
MADE = {"_core.c", "_emulator", "__pycache__"}
MOST_LINES = 800
FILES = {
    path.relative_to(ROOT): path.read_text(encoding="utf-8")
    for room in ROOMS
    for path in sorted((ROOT / room).rglob("*"))
    if path.suffix in OPENINGS and not MADE & set(path.parts)
}


def test_no_file_is_too_long_to_be_read():
    long = {path: lines for path, text in FILES.items() if (lines := text.count("\n")) > MOST_LINES}
    assert not long, "split them by subject"


def opens_with_a_comment(path, text):
    first = text.removeprefix("#define _GNU_SOURCE\n").lstrip()
    return not first or first.startswith(OPENINGS[path.suffix])


def test_every_file_begins_with_what_it_is_for():
    assert not [str(path) for path, text in FILES.items() if not opens_with_a_comment(path, text)]
    assert len(FILES) > 800  # none was overlooked


HEADS = re.compile(r"\b(?:if|for|while|switch) (?=\()|\b(?:else|do)\b")
NO_CODE = re.compile(
    r'/\*.*?\*/|^[ \t]*#(?:\\\n|[^\n])*|"(?:\\.|[^"\\\n])*"', re.DOTALL | re.MULTILINE
)


def behind(code, at):
    """Return what stands behind the parentheses that open at a place."""
    depth = 0
    for end in range(at, len(code)):
        depth += (code[end] == "(") - (code[end] == ")")
        if depth == 0:
            return code[end + 1 :].lstrip()
    return ""


def bare_bodies(text):
    """Return the bodies of conditions and loops of C that have no braces, by their beginnings."""
    code = NO_CODE.sub("", text)
    for head in HEADS.finditer(code):
        body = behind(code, head.end()) if code[head.end()] == "(" else code[head.end() :].lstrip()
        of_do = head[0] == "while " and body.startswith(";")
        if not (body.startswith("{") or of_do or (head[0] == "else" and body.startswith("if ("))):
            yield body[:40]


def test_all_bodies_of_c_have_braces():
    rooms = {path: text for path, text in FILES.items() if path.parts[0] in ("models", "emulator")}
    bare = {
        str(path): list(bare_bodies(text)) for path, text in rooms.items() if path.suffix != ".py"
    }
    assert not {path: found for path, found in bare.items() if found}
    assert list(bare_bodies("if (a)\n    b = 1;\nelse if (c) {\n} else\n    d();")) == [
        "b = 1;\nelse if (c) {\n} else\n    d();",
        "d();",
    ]
    assert not list(bare_bodies("do {\n} while (f(a));\nfor (;;) {\n}"))
