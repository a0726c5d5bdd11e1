"""Are the traces of a job over hosts one file, on one clock?"""

import json
import re
import socket
import sys
from collections import Counter
from pathlib import Path

import delay
import namespaces
import pytest
from test_hosts import PATIENT, run
from test_hosts_delay import apart

SENDS = ("vic_put", "vic_send", "vic_send_cached", "vic_dma_send", "vic_get")
AHEAD_S = 5000
"""How much later it is on the second host, in a time namespace of its own."""


def ahead(hosts, folder):
    """Return options by which the clock of the second host is ahead."""
    script = folder / "launch"
    script.write_text(
        "#!/bin/sh\nhost=$1; shift\n"
        f'[ $host = {hosts.names[1]} ] && set -- unshare --time --monotonic {AHEAD_S} "$@"\n'
        'exec ip netns exec $host "$@"\n'
    )
    script.chmod(0o700)
    return [*hosts.options(2, 1), *PATIENT, "--launch-with", f"{script} {{host}}"]


def calls(trace, card):
    return [e for e in trace["traceEvents"] if e["ph"] == "X" and e["pid"] == card]


def test_one_clock(emulator, hosts, tmp_path):
    """What comes from another host does so after its sender began, but for what clocks err."""
    file = tmp_path / "trace.json"
    done = run(emulator, [*ahead(hosts, tmp_path), "--trace", str(file)], "exchange")
    assert done.returncode == 0, done.stderr
    known = re.fullmatch(
        rf"vicrun: --trace: one clock for all hosts, that of {hosts.names[0]}:"
        r" the others' are known to ([\d.]+) us\n",
        done.stderr,
    )
    trace = json.loads(file.read_text())
    first, second = trace["metadata"]["hosts"]
    assert (first["offset_ns"], first["error_ns"]) == ([0, 0], 0)
    assert float(known[1]) == pytest.approx(second["error_ns"] / 1e3, abs=0.06)
    for offset in second["offset_ns"]:
        assert abs(offset + AHEAD_S * 10**9) <= second["error_ns"]
    assert [(host["name"], host["cards"]) for host in (first, second)] == list(
        zip(hosts.names, (2, 1), strict=True)
    )
    begins = {card: min(e["ts"] for e in calls(trace, card)) for card in range(3)}
    arrivals = [e for e in trace["traceEvents"] if e["name"] == "packets" and e["ph"] == "i"]
    pairs = {(e["args"]["from"], e["pid"]) for e in arrivals}
    assert {(0, 2), (2, 0), (1, 2), (2, 1)} <= pairs
    for e in arrivals:
        assert e["ts"] + second["error_ns"] / 1e3 >= begins[e["args"]["from"]]
    assert max(begins.values()) < 60e6  # and not 5000 s later
    arrows_lead_from_calls(trace, arrivals)


def test_one_clock_far_apart(emulator, hosts, tmp_path):
    """64 answers of a host 20 ms away would take 2.6 s: fewer have to do, and one is enough."""
    file = tmp_path / "trace.json"
    with apart(hosts, 20) as slow:
        options = ahead(hosts, tmp_path)
        options[options.index(namespaces.LINK)] = slow[slow.index(delay.DEVICE)]
        done = run(emulator, [*options, "--trace", str(file)], "exchange")
    assert done.returncode == 0, done.stderr
    assert "the others' are known to" in done.stderr
    far = json.loads(file.read_text())["metadata"]["hosts"][1]
    for offset in far["offset_ns"]:
        assert abs(offset + AHEAD_S * 10**9) <= far["error_ns"] < 1e9


def arrows_lead_from_calls(trace, arrivals):
    """Check that each begins in a call that sends, on its thread, and ends at an arrival."""
    ends = {e["id"]: e for e in trace["traceEvents"] if e["ph"] == "f"}
    led = Counter()
    for start in (e for e in trace["traceEvents"] if e["ph"] == "s"):
        end = ends.pop(start["id"])
        assert end["ts"] >= start["ts"]
        assert any(
            call["tid"] == start["tid"]
            and call["ts"] - 0.01 <= start["ts"] <= call["ts"] + call["dur"] + 0.01
            and call["name"] in SENDS
            for call in calls(trace, start["pid"])
        )
        led[start["pid"], end["pid"]] += 1
    assert not ends
    came = Counter((e["args"]["from"], e["pid"]) for e in arrivals)
    assert not led - came
    assert all(led[pair] for pair in ((0, 1), (0, 2), (2, 0), (1, 2), (2, 1)))


def test_a_full_disk(emulator, hosts):
    done = run(emulator, [*hosts.options(1, 1), *PATIENT, "--trace", "/dev/full"], "calls")
    assert done.returncode == 1
    here = socket.gethostname()
    assert f"vicrun: --trace: host {here}: cannot write '/dev/full': No space left" in done.stderr


TALKS = """
import os, struct, subprocess, sys, threading, time
child = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
END, TRACE = 0x6873740A, 0x6873740C
def read(stream, n):
    text = b""
    while len(text) < n and (more := stream.read(n - len(text))):
        text += more
    return text
def say_for_ever():
    while True:  # a part of a trace without a record
        os.write(1, struct.pack("<4I", TRACE, 8, 0, 1))
        time.sleep(0.1)
def hear():
    while head := read(sys.stdin.buffer.raw, 8):
        kind, length = struct.unpack("<2I", head)
        text = read(sys.stdin.buffer.raw, length)
        if kind == END:
            say_for_ever()
        child.stdin.write(head + text)
    child.stdin.close()
threading.Thread(target=hear, daemon=True).start()
while more := child.stdout.read(65536):
    os.write(1, more)
"""
"""Keeps the end of the job from vichost, and sends messages in its place for ever."""


def test_a_host_that_only_talks_is_given_up(emulator, tmp_path):
    """Each message used to put off the time by which it has to be gone."""
    script = tmp_path / "talks.py"
    script.write_text(TALKS)
    launch = ["--launch-with", f"{sys.executable} {script} {{host}}", "--interface", "lo"]
    options = ["--hosts", "here:1", *launch, "--trace", str(tmp_path / "trace.json")]
    done = run(emulator, options, Path("/bin/true"))
    assert done.returncode == 1
    assert "host here: its vichost has not ended 10 s after all programs had" in done.stderr
