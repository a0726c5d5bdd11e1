"""Do all programs of programs/ that can do over two hosts what they do on one machine?"""

import json
import os
import subprocess

import over_hosts
import pytest
from emulator_build import PROGRAMS, SMALL, build
from test_hosts import PATIENT

LINKED = ("ends_halfway", "halfway", "message_wrap")
"""Programs that know the library's own headers."""


def program(emulator, name):
    if name in LINKED:
        return str(emulator.linked(name, [PROGRAMS / f"{name}.c"], build.INCLUDES))
    return str(emulator.program(name))


def run(emulator, options, case, *command):
    vicrun = str(emulator.prefix / "bin" / "vicrun")
    return subprocess.run(
        [vicrun, *SMALL, *case.options, *options, "--", *command],
        capture_output=True, text=True, check=False, timeout=200, stdin=subprocess.DEVNULL,
        env={**os.environ, **case.env},
    )  # fmt: skip


def check(done, case):
    assert done.returncode == case.code, done.stdout + done.stderr
    assert "FAILED" not in done.stderr
    assert done.stderr == "" or case.code != 0
    assert case.said in done.stdout


@pytest.mark.parametrize("case", over_hosts.FUNCTIONAL, ids=str)
def test_functional(emulator, hosts, case):
    options = [*hosts.options(*case.split), *PATIENT]
    check(run(emulator, options, case, program(emulator, case.program), *case.arguments), case)


@pytest.mark.parametrize("case", over_hosts.ALONE, ids=str)
def test_one_card(emulator, hosts, case, tmp_path):
    """The other host's program opens no card, and lasts until the first has ended."""
    over = tmp_path / "over"
    script = f'"$@"; code=$?; touch {over}; exit $code'
    command = ["sh", "-c", script, "-", program(emulator, case.program), *case.arguments]
    until = ["sh", "-c", f"until test -e {over}; do sleep 0.02; done"]
    options = [*hosts.options(*case.split), *PATIENT, "-n", "1"]
    done = run(emulator, options, case, *command, ":", "-n", "1", *until)
    if done.returncode == 77:
        pytest.skip("nobody may be traced here")
    check(done, case)


def test_vicload_publishes_to_another_host(emulator, hosts, tmp_path):
    """The bridge, which is its broker too, is on the first host, who publishes on the second."""
    journal, report = tmp_path / "journal", tmp_path / "report.json"
    line = ["--bridge", "0", "--key", "queue", "--messages", "50", "--bytes", "700"]
    vicload = [str(emulator.prefix / "bin" / "vicload"), "publish", *line]
    vicload += ["--timeout", "60s", "--report", str(report)]
    options = [*hosts.options(1, 1), *PATIENT, "-n", "1"]
    broker = [program(emulator, "fake_broker"), str(journal)]
    case = over_hosts.Case("fake_broker")
    check(run(emulator, options, case, *broker, ":", "-n", "1", *vicload), case)
    said = json.loads(report.read_text())
    assert (said["confirmed"], said["unconfirmed"], said["repeated"]) == (50, 0, 0)
    names = [f"{said['session']}-{i:016x}" for i in range(1, 51)]
    assert journal.read_text().split() == names


def test_each_program_runs_over_hosts_or_says_why_not():
    cases = (*over_hosts.FUNCTIONAL, *over_hosts.ALONE)
    running = {case.program for case in cases}
    there = {path.stem for path in PROGRAMS.glob("*.c") if not path.stem.startswith("timed_")}
    assert running | set(over_hosts.ELSEWHERE) == there
    assert not running & set(over_hosts.ELSEWHERE)
    assert all(len(reason) > 10 for reason in over_hosts.ELSEWHERE.values())
