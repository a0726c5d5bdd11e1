"""``rabbitmqctl``, for nodes of ours only."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dvsim.broker.files import erlang
from dvsim.errors import DvsimError

TAIL = 15
"""Lines of a log that an error shows."""
ANSWER_S = 180
"""How long rabbitmqctl may take: a busy machine starts its Erlang in many seconds."""


@dataclass(frozen=True)
class Control:
    """How to reach the nodes that share a cookie."""

    program: Path  # ``rabbitmqctl``
    home: Path  # the folder with the cookie
    epmd_port: int  # the port of their epmd

    def run(self, node: str, *arguments: str, timeout_s: float = ANSWER_S) -> str:
        """Run a command on a node and return what it prints."""
        # a time limit of its own: a call to a node that hangs would else never end
        command = [str(self.program), "--quiet", "--node", f"{node}@localhost"]
        command += ["--timeout", str(max(1, int(timeout_s))), *arguments]
        shown = f"rabbitmqctl {' '.join(arguments)} on {node}"
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                env=erlang(self.home, self.epmd_port),
                timeout=timeout_s + 15,
            )
        except subprocess.TimeoutExpired as error:
            raise DvsimError(f"{shown} did not end within {timeout_s:g} s") from error
        if done.returncode != 0:
            raise DvsimError(f"{shown} failed:\n{tail(done.stderr or done.stdout)}")
        return done.stdout

    def status(self, node: str, timeout_s: float = ANSWER_S) -> Mapping[str, Any]:
        """Return what a node says of its cluster: ``running_nodes``, ``alarms``, ``partitions``."""
        text = self.run(node, "cluster_status", "--formatter", "json", timeout_s=timeout_s)
        answer: Mapping[str, Any] = json.loads(text)
        return answer


def tail(text: str) -> str:
    """Return the last lines of a text, set in."""
    return "\n".join(f"    {line}" for line in text.splitlines()[-TAIL:])
