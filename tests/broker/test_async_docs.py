"""Does docs/asynchronous.md show what happens, and the examples as they are?"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from async_job import EXAMPLES
from bridge_job import LIMIT_S, ROOT

TEXT = (ROOT / "docs" / "asynchronous.md").read_text("utf-8")
END = "## From one RabbitMQ to another\n"


def session():
    """Return the commands of the first sections, each with the lines that it is said to print."""
    text = re.sub(r"^```.*?^```$", "", TEXT.split(END)[0], flags=re.DOTALL | re.MULTILINE)
    commands = []
    for line in re.findall(r"^    (.*)$", text, re.MULTILINE):
        if line.startswith("$ "):
            commands.append((line[2:], []))
        else:
            commands[-1][1].append(line)
    return commands


def test_the_page_shows_the_example_as_it_is():
    (shown,) = re.findall(r"^```python\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    assert shown in (EXAMPLES / "consumer.py").read_text("utf-8")


def test_a_new_user_sees_what_the_page_says(tmp_path):
    for example in EXAMPLES.glob("*.py"):
        shutil.copy(example, tmp_path)
    script = "".join(f"echo '== {n}'\n{command}\n" for n, (command, _) in enumerate(session()))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    try:
        done = subprocess.run(
            ["bash", "-c", script], cwd=tmp_path, env=environment, timeout=LIMIT_S, check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
    finally:
        subprocess.run(
            ["dvsim", "broker", "down", "--dir", "job"], cwd=tmp_path, env=environment,
            capture_output=True, check=False,
        )  # fmt: skip
    said = re.split(r"^== \d+\n", done.stdout, flags=re.MULTILINE)[1:]
    for (command, expected), printed in zip(session(), said, strict=True):
        assert printed.splitlines() == expected, f"{command}\n{done.stdout}"
