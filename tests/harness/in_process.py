"""`dvsim` without a process of its own, for tests that ask what it says and keeps."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from typing import NamedTuple, NoReturn
from unittest.mock import patch

import click
from click.testing import CliRunner
from harness.patience import patience

from dvsim.cli.main import cli


class Done(NamedTuple):
    """How a command ended, what it wrote on each stream, and on both in order."""

    returncode: int
    stdout: str
    stderr: str
    output: str


def dvsim(*arguments: object) -> Done:
    """Run a command in this process; what it does not catch is raised here.

    A program that would take the process over, such as vicrun, is run beside it.
    """
    with patch("dvsim.cli.emulate.become", _beside), patch("dvsim.cli.bridge.become", _beside):
        result = CliRunner().invoke(cli, [str(word) for word in arguments], prog_name="dvsim")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Done(result.exit_code, result.stdout, result.stderr, result.output)


def _beside(command: Sequence[str]) -> NoReturn:
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=patience(300)
    )
    click.echo(done.stdout, nl=False)
    click.echo(done.stderr, nl=False, err=True)
    sys.exit(done.returncode)
