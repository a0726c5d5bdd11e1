"""What do connection requests without the key of the job cost the agent of a host? Nothing."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import time
from pathlib import Path

import pytest
from emulator_build import PROGRAMS, SMALL
from harness.processes import children, until
from test_death import gone

ONE_BY_ONE = """#!/bin/sh
host=$1; shift
ulimit -n 80
test $host = localhost || until test -e {go}; do sleep 0.02; done
exec "$@"
"""
PROGRAM = "echo >{there}.$VIC_CARD; until test -e {end}; do sleep 0.02; done; exit 3"


def doors(pid):
    """Return the addresses and ports at which a process listens; none if it has ended."""
    found, own = [], set()
    with contextlib.suppress(OSError):
        for path in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):  # closed meanwhile
                own.add(str(path.readlink()))
        for table, address in (("tcp", "127.0.0.1"), ("tcp6", "::1")):
            for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
                row = line.split()
                if row[3] == "0A" and f"socket:[{row[9]}]" in own:
                    found.append((address, str(int(row[1].rsplit(":", 1)[1], 16))))
    return found


def descriptors(pid):
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def seconds(pid):
    """Return the CPU time of a process."""
    row = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(row[11]) + int(row[12])) / os.sysconf("SC_CLK_TCK")


def test_requests_without_a_key_cost_a_running_job_nothing(emulator, tmp_path):
    """They need more descriptors than the agent may have, if each of them costs one."""
    if not (emulator.prefix / "bin" / "vichost").exists():
        pytest.skip("needs libfabric")
    ask = emulator.linked("late_connect", [PROGRAMS / "late_connect.c"], ["-lfabric"])
    names = {name: tmp_path / name for name in ("go", "there", "end")}
    (tmp_path / "start").write_text(ONE_BY_ONE.format(**names))
    (tmp_path / "start").chmod(0o700)
    command = [emulator.prefix / "bin" / "vicrun", *SMALL, "--hosts", "localhost:1,127.0.0.1:1",
               "--launch-with", f"{tmp_path}/start {{host}}", "--host-timeout", "20s", "--",
               "sh", "-c", PROGRAM.format(**names)]  # fmt: skip
    mark = f"LATE_CONNECT={os.getpid()}-{time.monotonic_ns()}"
    env = {**os.environ, **dict([mark.split("=")])}
    with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True) as job:
        try:
            at = {}

            def listens():
                at.update({pid: doors(pid) for pid in children(job.pid)})
                return any(at.values())

            until(listens, "the first agent to listen")
            names["go"].touch()
            until(lambda: all((tmp_path / f"there.{card}").exists() for card in (0, 1)), "programs")
            agent, ((address, port), *_) = next((pid, found) for pid, found in at.items() if found)
            before = descriptors(agent)
            subprocess.run([ask, address, port, "300"], check=True, timeout=200)
            until(lambda: descriptors(agent) <= before, "no descriptor more", 20)
            begin, used = time.monotonic(), seconds(agent)
            time.sleep(0.5)
            assert seconds(agent) - used < 0.5 * (time.monotonic() - begin)
            names["end"].touch()
            _, said = job.communicate(timeout=200)
            assert (job.returncode, re.findall("descriptor|Too many", said)) == (3, [])
        finally:
            job.kill()
    assert gone(mark, "environ")
