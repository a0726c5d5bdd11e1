"""Does docs/asynchronous.md show what happens, and the examples as they are?"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from bridge_job import LIMIT_S
from compiled import EXAMPLES, ROOT

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


def broker_down(folder, environment):
    command = ["dvsim", "broker", "down", "--dir", "job"]
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)


def test_a_new_user_sees_what_the_page_says(tmp_path):
    for example in EXAMPLES.glob("*.py"):
        shutil.copy(example, tmp_path)
    script = "".join(f"echo '== {n}'\n{command}\n" for n, (command, _) in enumerate(session()))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    with (tmp_path / "said").open("wb") as out:
        bash = subprocess.Popen(
            ["bash", "-c", script], cwd=tmp_path, env=environment, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        bash.wait(LIMIT_S)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(bash.pid, signal.SIGTERM)  # what a session that went wrong has left
        bash.wait()
        broker_down(tmp_path, environment)
    text = (tmp_path / "said").read_text("utf-8")
    said = re.split(r"^== \d+\n", text, flags=re.MULTILINE)[1:]
    for (command, expected), printed in zip(session(), said, strict=True):
        assert printed.splitlines() == expected, f"{command}\n{text}"
