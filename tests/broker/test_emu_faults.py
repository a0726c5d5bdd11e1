"""Does an emulated run that cannot go on say why, and leave nothing behind? Real processes."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

import dvsim.broker
from dvsim.backends.emu import emulate
from dvsim.emu.asked import Emulation
from dvsim.errors import RunFailed
from dvsim.scenario.load import load

DVSIM = [sys.executable, "-m", "dvsim"]
LONG = ["h3/fdr-8", "--backend", "emu", "--scale", "1", "--set", "system.publisher.processes=2"]
DEADLINE_S = 120


def start(out, *arguments):
    return subprocess.Popen(
        [*DVSIM, "run", *arguments, "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def dvsim_fails(*arguments):
    done = subprocess.run(
        [*DVSIM, "run", *arguments], capture_output=True, text=True, check=False, timeout=DEADLINE_S
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr.strip()


def at(brokers):
    return ["--url", brokers.nodes[0].url, "--credentials", str(brokers.credentials)]


def publishers_of(process):
    """Wait until both publishers of a run are there."""
    wait_for(lambda: process.poll() is not None or len(children_of(process.pid)) == 2)
    assert process.poll() is None, process.communicate()
    return children_of(process.pid)


def children_of(pid):
    children = Path(f"/proc/{pid}/task/{pid}/children")  # of the main thread
    return [int(child) for child in children.read_text().split()] if children.exists() else []


def wait_for(condition):
    end = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def gone(pids):
    """Whether none of these processes is there, or is more than a name."""

    def there(pid):
        with suppress(OSError):
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            return state not in "ZX"
        return False

    return not any(map(there, pids))


def queues_of(brokers):
    names = brokers.nodes[0].ctl("list_queues", "-q", "name").split()
    return [name for name in names if name.startswith("dv-")]


def has_messages(brokers):
    depths = brokers.nodes[0].ctl("list_queues", "-q", "messages").split()
    return any(depth.isdigit() and int(depth) for depth in depths)


def test_an_interrupted_run_leaves_nothing(broker, tmp_path):
    process = start(tmp_path / "runs", *LONG, *at(broker))
    try:
        publishers = publishers_of(process)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=DEADLINE_S)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert said.strip().splitlines()[-1] == "interrupted"
    wait_for(lambda: gone(publishers))
    assert not (tmp_path / "runs").exists()
    assert queues_of(broker) == []


def test_publishers_end_with_a_harness_that_was_killed(broker, tmp_path):
    process = start(tmp_path / "runs", *LONG, *at(broker))
    try:
        publishers = publishers_of(process)
    finally:
        process.kill()
        process.communicate()
    wait_for(lambda: gone(publishers))
    for name in queues_of(broker):  # they would expire after a day; other tests use this broker
        broker.nodes[0].ctl("delete_queue", name)


def test_a_broker_that_is_killed_while_messages_are_sent_ends_the_run(own_broker, tmp_path):
    brokers = own_broker()
    process = start(tmp_path / "runs", *LONG, *at(brokers))
    try:
        publishers = publishers_of(process)
        wait_for(lambda: has_messages(brokers))
        os.kill(brokers.nodes[0].pid, signal.SIGKILL)
        _, said = process.communicate(timeout=DEADLINE_S)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 1, said
    assert re.search(r"h3/fdr-8, iteration 1: .*connection was lost", said, re.DOTALL), said
    assert "Traceback" not in said
    wait_for(lambda: gone(publishers))
    assert not (tmp_path / "runs").exists()


def test_the_death_of_a_private_node_is_told_with_its_log(monkeypatch):
    made = []

    class Own(dvsim.broker.Brokers):
        def __init__(self, **how):
            super().__init__(memory=1 << 30, **how)
            made.append(self)

    monkeypatch.setattr(dvsim.broker, "Brokers", Own)
    scenario = load("h3/fdr-8", ["system.publisher.processes=1"])

    def on_phase(what, share, rate):
        if rate:
            made[0].nodes[0].kill()

    found = emulate(
        [scenario],
        Emulation(clusters=1, nodes=1),
        on_task=lambda *_: None,
        on_phase=on_phase,
    )
    with pytest.raises(RunFailed, match=r"^h3/fdr-8, iteration 1: broker a1 at .* died\n  20"):
        next(found)
    assert not any(node.alive for node in made[0].nodes)


def test_no_broker_at_the_url(tmp_path):
    options = [
        "h3/fdr-8",
        "--backend",
        "emu",
        "--url",
        "amqp://127.0.0.1:1",
        "--out",
        str(tmp_path),
    ]
    code, said = dvsim_fails(*options)
    assert code == 1
    assert said.splitlines()[-1] == (
        "h3/fdr-8, iteration 1: broker amqp://127.0.0.1:1: connection refused"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_password_and_a_wrong_virtual_host(broker, tmp_path):
    wrong = tmp_path / "credentials"
    wrong.write_text(f"{broker.user}:wrong\n")
    wrong.chmod(0o600)
    url = broker.nodes[0].url
    options = [*LONG, "--out", str(tmp_path / "runs"), "--credentials"]
    code, said = dvsim_fails(*options, str(wrong), "--url", url)
    assert (code, said.splitlines()[-1]) == (
        1,
        f"h3/fdr-8, iteration 1: broker {url}: it refuses the user or password",
    )
    code, said = dvsim_fails(
        *options, str(broker.credentials), "--url", url.replace("%2f", "nowhere")
    )
    assert code == 1
    assert "nowhere" in said.splitlines()[-1]


EMU = ["--backend", "emu"]
SECRET = "amqp://me:secret@h"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--backend", "emo"],
            "--backend: no such backend 'emo'; there are sim and emu; did you mean 'emu'?",
        ),
        (["--url", "amqp://h"], "--url: is for --backend emu"),
        (
            [*EMU, "--workers", "2"],
            "--workers: is for backend sim; an emulated run has its own processes",
        ),
        (
            [*EMU, "--url", "http://h"],
            "--url: http://h: 'http' is not amqp; did you mean 'amqp'?",
        ),
        (
            [*EMU, "--url", SECRET],
            "--url: amqp://…@h: a name or password must not stand in a command line; "
            "use --credentials FILE",
        ),
        (
            [*EMU, "--url", "amqp://h", "--nodes", "2"],
            "--nodes: is for private brokers, and --url names others",
        ),
        (
            [*EMU, "--credentials", "f"],
            "--credentials: is for --url; private brokers have their own",
        ),
        ([*EMU, "--nodes", "12"], "--nodes: must be 1 to 9, is 12"),
        (
            [*EMU, "--clusters", "3"],
            "--clusters: 3 brokers for 2 receivers: some would have no queue",
        ),
        (
            [*EMU, "--url", "amqp://h", "--credentials", "/nowhere"],
            "--credentials: /nowhere: No such file or directory",
        ),
    ],
)
def test_options_that_cannot_be_are_refused_before_anything_starts(tmp_path, options, message):
    code, said = dvsim_fails("h3/fdr-8", "--out", str(tmp_path), *options)
    assert code == 2
    assert message in said.splitlines()
    assert "secret" not in said


def test_a_switch_alone_cannot_be_emulated(tmp_path):
    code, said = dvsim_fails("switch/load-latency", "--backend", "emu", "--out", str(tmp_path))
    assert code == 2
    assert said == (
        "switch/load-latency: is of a switch or network alone, which only backend sim can run"
    )
