"""A bridge of the user's in vicbridge's place: how it is started, and what a run knows of it.

docs/emulated-runs.md has the contract. The command runs in a shell; what a bridge must know is in
its environment, and nothing of it is secret.
"""

from __future__ import annotations

import hashlib
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from dvsim.errors import Argument, Fault

VERSION_S = 5.0  # to answer --version
LONGEST = 200  # characters of a version


class OwnBridge:
    """A command that starts a bridge.

    Args:
        command: For ``sh -c``.
    """

    def __init__(self, command: str) -> None:
        self.command = command

    def __eq__(self, other: object) -> bool:
        """Compare commands and what they run."""
        return isinstance(other, OwnBridge) and self.question() == other.question()

    def __hash__(self) -> int:
        """Return the hash of the command."""
        return hash(self.command)

    def __repr__(self) -> str:
        """Name the command."""
        return f"OwnBridge({self.command!r})"

    def faults(self) -> Iterator[Fault]:
        """Yield why it cannot be started."""
        argument = Argument("bridge")
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            yield argument.fault(f"{self.command!r}: {error}")
            return
        program = next((word for word in words if "=" not in word), None)
        if program is None:
            yield argument.fault("must be a command")
        elif subprocess.run(
            ["sh", "-c", 'command -v -- "$1"', "sh", program], capture_output=True, check=False
        ).returncode:
            what = "is no program" if Path(program).exists() else "is not there"
            yield argument.fault(f"'{program}' {what}")

    @cached_property
    def _files(self) -> dict[str, str]:
        places = {word: Path(shutil.which(word) or word) for word in shlex.split(self.command)}
        return {
            word: hashlib.sha256(path.read_bytes()).hexdigest()
            for word, path in places.items()
            if path.is_file()
        }

    @cached_property
    def _version(self) -> str:
        command = ["sh", "-c", f"{self.command} --version"]
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=VERSION_S,
                check=True,
            )
        except (OSError, subprocess.SubprocessError):
            return ""
        return done.stdout.decode("utf-8", "replace").strip().partition("\n")[0][:LONGEST]

    def question(self) -> dict[str, Any]:
        """Return what an answer depends on: the command, its version, and SHA-256 of its files."""
        return {"command": self.command, "version": self._version, "files": self._files}

    def words(self, environment: Mapping[str, object]) -> list[str]:
        """Return the command of a job that starts it with an environment."""
        return ["env", *(f"{key}={value}" for key, value in environment.items()), "sh", "-c",
                self.command]  # fmt: skip
