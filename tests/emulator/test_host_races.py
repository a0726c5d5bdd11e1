"""Do the threads of vichost race, and is its time that of its programs from the first packet on?"""

import json
import subprocess
import sys

import builds
import pytest
from emulator_build import ROOT, SMALL, build, in_place
from harness.once import once

PATIENT = ["--host-timeout", "20s"]
LAUNCHER = ("children", "exits", "launch", "look", "loop", "writer")
"""Of the launcher, what runs beside the agent."""


@pytest.fixture(scope="module")
def watched():
    """Return the folder of a vicrun whose vichost has the thread sanitizer in it."""
    plain = builds.built_plain()
    if not (plain / "prefix" / "bin" / "vichost").exists():
        pytest.skip("needs libfabric")

    def make(folder):
        here = ROOT / "emulator"
        fabric = build.package_flags("libfabric")
        flags = [*build.COMMON, *build.VICHOST, "-O1", "-g1", "-fsanitize=thread"]
        launcher = [here / "launcher" / f"{name}.c" for name in LAUNCHER]
        library = [path for path in build.libvic_sources() if path.parent.name == "functional"]
        library += [path for path in build.libvic_sources() if path.parent.name == "src"]
        agent = sorted((here / "hosts").glob("*.c"))
        hardware = (plain / "objects" / "hardware").glob("*.o")
        objects = {path.name: path for path in sorted(hardware)}
        for room, sources in (("libvic", library), ("vicrun", launcher), ("vichost", agent)):
            own = folder / "objects" / room
            made = builds.objects_but(plain / "objects" / room, sources, own, flags)
            objects = {path.name: path for path in made} | objects
        del objects["launcher-vicrun.o"]
        build.compile_c([*objects.values()], folder / "vichost", [*flags, *fabric])
        (folder / "vicrun").write_bytes((plain / "prefix" / "bin" / "vicrun").read_bytes())
        (folder / "vicrun").chmod(0o755)

    return once("vichost under the thread sanitizer", make)


def job(vicrun, launch, options, *program):
    """Run two cards on two hosts that are this machine."""
    hosts = ["--hosts", "a:1,b:1", "--launch-with", launch, "--interface", "lo", *PATIENT]
    return subprocess.run(
        [vicrun, *SMALL, *hosts, *options, "--", *map(str, program)],
        capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip


def raced(watched, folder, *program):
    """Return how a job with a trace ended, and what the sanitizer says of it."""
    launch = " ".join([*in_place(), "env", f"TSAN_OPTIONS=log_path={folder}/race", "HOST={host}"])
    done = job(watched / "vicrun", launch, ["--trace", str(folder / "trace.json")], *program)
    return done, [path.read_text() for path in folder.glob("race*")]


@pytest.mark.parametrize("name", ["exchange", "surprise"])
def test_threads_of_a_host_do_not_race(watched, emulator, tmp_path, name):
    done, races = raced(watched, tmp_path, emulator.program(name))
    assert (races, done.returncode, done.stdout) == ([], 0, "")


def test_the_agent_says_that_a_host_is_lost_beside_the_launcher(watched, emulator, tmp_path):
    script = f"test $VIC_CARD = 0 || kill -9 $PPID; exec {emulator.program('opens')} wait"
    done, races = raced(watched, tmp_path, "sh", "-c", script)
    assert (races, done.returncode) == ([], 137)
    assert "host a: host b has hung up: the job ends" in done.stderr


LATE = """
import os, struct, subprocess, sys, threading, time
child = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, bufsize=0)
START = 0x68737405
def read(n):
    text = b""
    while len(text) < n and (more := os.read(0, n - len(text))):
        text += more
    return text
def hear():
    while head := read(8):
        kind, length = struct.unpack("<2I", head)
        if kind == START and sys.argv[1] == "b":
            time.sleep(1)
        child.stdin.write(head + read(length))
    child.stdin.close()
threading.Thread(target=hear, daemon=True).start()
os._exit(child.wait())
"""
"""The second host is told a second later that the job begins."""


def test_no_packet_comes_before_or_behind_the_programs(emulator, tmp_path):
    """Those that came before the programs of a host ran were marked with a later time."""
    script, file = tmp_path / "late.py", tmp_path / "trace.json"
    script.write_text(LATE)
    launch = f"{sys.executable} {script} {{host}}"
    vicrun = emulator.prefix / "bin" / "vicrun"
    done = job(vicrun, launch, ["--trace", str(file)], emulator.program("early_put"))
    assert done.returncode == 0, done.stderr
    events = json.loads(file.read_text())["traceEvents"]
    calls = [event for event in events if event["ph"] == "X"]
    arrivals = [
        event["ts"] for event in events if event["name"] == "packets" and event["ph"] == "i"
    ]
    assert arrivals
    assert max(arrivals) <= max(event["ts"] + event["dur"] for event in calls)
