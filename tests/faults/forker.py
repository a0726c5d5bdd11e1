"""Runs dvsim's command line in forks of this process, which has imported already what takes long.

Reads requests, one JSON object a line: `argv`, `env`, `cwd`, `out`, `err` (files), `seconds`, and
`warm`: here, without a fork. Answers with the exit code, or null if it had to be ended. It is
started with fail.c before all libraries; only what it forks is armed.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from dvsim.cli.main import cli, main


def warm(request: dict[str, Any]) -> int:
    """Run the command here, so that all is imported that it needs."""
    os.chdir(request["cwd"])
    with (
        Path(request["out"]).open("w") as out,
        Path(request["err"]).open("w") as err,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        cli(request["argv"], prog_name="dvsim", standalone_mode=False)
    return 0


def become(request: dict[str, Any]) -> None:
    """In the child: run the command and end."""
    os.setsid()
    os.chdir(request["cwd"])
    for name, number in (("out", 1), ("err", 2)):
        os.dup2(os.open(request[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    os.environ.update(request["env"])
    sys.argv = ["dvsim", *request["argv"]]
    ctypes.CDLL(None).fail_arm()
    code: object = 1
    try:
        main()
        code = 0
    except SystemExit as end:
        code = end.code or 0
    except BaseException:  # as Python would do
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 1)


def wait(pid: int, seconds: float) -> int | None:
    """Return its exit code, -n for a signal, None after ending it."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


if __name__ == "__main__":
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["warm"]:
            print(json.dumps(warm(asked)), flush=True)
            continue
        child = os.fork()
        if child == 0:
            become(asked)
        print(json.dumps(wait(child, asked["seconds"])), flush=True)
