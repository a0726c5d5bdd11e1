"""Does docs/emulator.md show the programs as they are, and does it print what the page says?"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from emulator_build import ROOT

TEXT = (ROOT / "docs" / "emulator.md").read_text(encoding="utf-8")
PROGRAMS = {
    "Your first bridge in C": "first_bridge.c",
    "Your first bridge in Python": "first_bridge.py",
    "An event loop": "event_loop.py",
}


def section(title):
    return TEXT.split(f"## {title}\n")[1].split("\n## ")[0]


def program(title):
    return re.search(r"^```(?:c|python)\n(.*?)^```$", section(title), re.DOTALL | re.MULTILINE)[1]


def session(title):
    """Return the commands of a section, each with the lines that it is said to print."""
    text = re.sub(r"^```.*?^```$", "", section(title), flags=re.DOTALL | re.MULTILINE)
    commands = []
    for line in re.findall(r"^    (.*)$", text, re.MULTILINE):
        if line.startswith("$ "):
            commands.append((line[2:], []))
        else:
            commands[-1][1].append(line)
    return commands


def comparable(lines):
    """Lines of several processes come in any order, and times are what they are."""
    return sorted(re.sub(r"[\d.]+ us", "… us", line) for line in lines)


@pytest.mark.parametrize("title", PROGRAMS)
def test_the_page_shows_the_program_of_the_examples(title):
    example = ROOT / "emulator" / "examples" / PROGRAMS[title]
    assert program(title) == example.read_text(encoding="utf-8")


@pytest.mark.parametrize("title", PROGRAMS)
def test_a_new_user_sees_what_the_page_says(title, tmp_path):
    (tmp_path / PROGRAMS[title]).write_text(program(title), encoding="utf-8")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    assert len(session(title)) >= 1
    for command, expected in session(title):
        done = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=200,
        )  # fmt: skip
        printed, said = comparable(done.stdout.splitlines()), comparable(expected)
        if "…" in said:  # and more of the like
            assert set(said) - {"…"} <= set(printed), command
        else:
            assert printed == said, command
