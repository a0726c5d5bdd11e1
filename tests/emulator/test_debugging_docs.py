"""Do the sessions of docs/emulator-debugging.md print what it says, where the tool is there?"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest
from emulator_build import ROOT

PAGE = (ROOT / "docs" / "emulator-debugging.md").read_text(encoding="utf-8")
TEXTS = re.findall(r"^```c\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
PROGRAMS = dict(zip(("stuck.c", "short.c"), TEXTS, strict=True))
SECTIONS = ("Who waits for what", "Every call", "gdb", "valgrind", "perf")
TOOLS = {"gdb", "valgrind", "perf"}


def commands(title):
    """Return the commands of a section, each with the lines that it prints."""
    section = PAGE.split(f"## {title}\n")[1].split("\n## ")[0]
    section = re.sub(r"^```.*?^```$", "", section, flags=re.DOTALL | re.MULTILINE)
    blocks = re.split(r"^    \$ ", section, flags=re.MULTILINE)[1:]
    for block in blocks:
        command, *printed = block.splitlines()
        yield command, [line[4:] for line in printed if line.startswith("    ")]


def comparable(line):
    """Return a line without times, addresses, numbers of processes and lines of code."""
    line = re.sub(r"==\d+==", "==PID==", line)
    return re.sub(r"0x[0-9a-f]+|\d+\.\d+|(?<=\.c:)\d+", "N", line)


@pytest.mark.parametrize("title", SECTIONS)
def test_a_developer_sees_what_the_page_says(title, tmp_path):
    if title in TOOLS and shutil.which(title) is None:
        pytest.skip(f"{title} is not installed")
    for name, text in PROGRAMS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"  # noqa: PTH120
    flags = "$(dvsim emulate --cflags --libs)"
    compiled = [f"cc -g {name}.c -o {name} {flags}" for name in ("stuck", "short")]
    for command, printed in [*((one, []) for one in compiled), *commands(title)]:
        done = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=200,
        )  # fmt: skip
        found = [comparable(line) for line in done.stdout.splitlines()]
        said = [comparable(line) for line in printed]
        if "…" in said:  # and more of the like
            assert {*said} - {"…"} <= {*found}, done.stdout
        else:
            assert found == said, command
