"""Do the commands that docs/tutorials/bridge-developer.md has for a relay bring it to RabbitMQ?"""

import os
import re
import subprocess
import sys
from pathlib import Path

from compiled import ROOT

PAGE = ROOT / "docs" / "tutorials" / "bridge-developer.md"
STARTS = ["dvsim broker up", 'eval "$(dvsim broker env)"']
"""What starts a broker; the tests share one."""


def commands():
    """Return the commands of the section on the relay."""
    section = PAGE.read_text("utf-8").split("## A relay, in five commands\n")[1].split("\n## ")[0]
    return re.findall(r"^    \$ (.*)$", section, re.MULTILINE)


def test_a_relay_publishes_into_rabbitmq(tmp_path, room, connect):
    shown = commands()
    assert len(shown) == 5
    run = [command.replace(" 1000", " 50") for command in shown if command not in STARTS]
    assert len(run) == 3
    (tmp_path / "emulator").symlink_to(ROOT / "emulator")
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "VICBRIDGE_URL": room.nodes[0].url,
        "VICBRIDGE_CREDENTIALS": str(room.credentials),
    }
    done = subprocess.run(
        ["bash", "-ec", "\n".join(run)], cwd=tmp_path, env=environment, timeout=200,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == 2 * "relay: 100 messages, 100 confirmed, 0 of them had no queue\n"
    channel = connect(room).channel()
    assert channel.queue_declare("readings", passive=True).method.message_count == 100
    channel.queue_delete("readings")
