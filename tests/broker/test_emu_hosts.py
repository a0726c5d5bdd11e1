"""The whole path over several hosts, which are network namespaces: cards, bridge and broker apart.

Host a has the senders, b the bridges, c the brokers. All tests but one share a broker.
"""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from bridge_job import Job
from harness.patience import patience
from harness.processes import until
from harness.replies import Told

from dvsim.contract.load import load
from dvsim.emulation.settings import Hosts
from dvsim.emulation.team import Team
from dvsim.native import emulator_prefix
from dvsim.session import run_scenarios

sys.path.insert(0, str(Path(__file__).parents[1] / "emulator"))

import namespaces

WITHIN = "ip netns exec {host}"
OPTIONS = ["--launch-with", WITHIN, "--interface", namespaces.LINK]
SMALL = ["h3/dv-256", "--backend", "emu", "--set", "workload.iterations=1"]
SLOW = ["--set", "workload.messages_per_second=1000", "--set", "loop=open"]
PATIENT = ["--host-timeout", "20s"]


@pytest.fixture(scope="module")
def hosts():
    namespaces.need(emulator_prefix(), "rabbitmqctl")
    with namespaces.hosts(f"{os.getpid()}e", "abc") as made:
        yield made


@pytest.fixture(scope="module")
def broker(hosts, tmp_path_factory):
    """A broker on host c, as somebody may have one there."""
    c = hosts.names[2]
    asked = Hosts.of(f"{c}:2", c, WITHIN, namespaces.LINK)
    with closing(Team(asked, receivers=1, clusters=1)) as team:
        (found,) = team.start_brokers(1)
        credentials = tmp_path_factory.mktemp("broker") / "credentials"
        credentials.touch(0o600)
        credentials.write_text(f"{found['user']}:{found['password']}\n", "utf-8")
        node = SimpleNamespace(url=found["url"])
        yield SimpleNamespace(
            nodes=[node], credentials=credentials, password=found["password"], team=team
        )


def processes_on(hosts, number):
    command = ["ip", "netns", "pids", hosts.names[number]]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {int(pid) for pid in listed.split()}


def begun(hosts, out, *more, share="{0}:2,{1}:2", **variables):
    """Start ``dvsim run`` on host a."""
    words = [*SMALL, "--hosts", share.format(*hosts.names), *OPTIONS, *more, "--out", str(out)]
    return subprocess.Popen(
        ["ip", "netns", "exec", hosts.names[0], sys.executable, "-m", "dvsim", "run", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **variables},
    )  # fmt: skip


def ended(process, seconds=120):
    try:
        output, errors = process.communicate(timeout=seconds)
    finally:
        process.kill()
    return process.returncode, output, errors


def at(broker):
    return ["--url", broker.nodes[0].url, "--credentials", str(broker.credentials)]


def test_a_bridge_between_a_card_and_a_broker_of_other_hosts(hosts, broker, tmp_path):
    """There and back: two cards on a, their bridge on b, the broker on c."""
    job = Job(tmp_path, broker, "there")
    sizes = {8: 400, 2048: 200, 131072: 12}
    publishers = [job.publish(n, size, "--seed", size, bridge=3) for size, n in sizes.items()]
    options = [*hosts.options(2, 2, 0), *PATIENT]
    with closing(job):
        job.start(*publishers, job.bridge("--exit-with-clients"), options=options).end()
        expected, total = job.expected(), sum(sizes.values())
        assert [job.report(k)["confirmed"] for k in range(3)] == list(sizes.values())
        options = [*hosts.options(1, 1, 0), *PATIENT]
        job.start(job.consume(total), job.bridge("--exit-with-clients"), options=options).end()
    report = job.report(len(sizes))
    assert (report["messages"], report["duplicates"]) == (total, 0)
    assert int(report["digest"], 16) == expected
    assert job.total("delivered") == job.total("acked") == total


def test_both_ways_at_once(hosts, broker, tmp_path):
    """A message is on its way to a consumer while its confirm is on its way to its publisher."""
    job = Job(tmp_path, broker, "both")
    programs = [job.publish(1500, 64, bridge=2), job.consume(1500, bridge=2)]
    options = [*hosts.options(2, 1, 0), *PATIENT]
    with closing(job):
        job.start(*programs, job.bridge("--exit-with-clients"), options=options).end()
    sent, got = job.report(0), job.report(1)
    assert sent["confirmed"] == got["messages"] == 1500
    assert sent["digest"] == got["digest"]


@pytest.fixture(scope="module")
def whole(hosts, tmp_path_factory):
    """A run with brokers of its own on host c, whose usual ports are taken."""
    folder = tmp_path_factory.mktemp("whole")
    script = "import socket, time\n"
    script += "".join(f"s{p} = socket.create_server(('', {p}))\n" for p in (5672, 4369, 25672))
    script += "print('listens', flush=True)\ntime.sleep(600)\n"
    word = [*WITHIN.format(host=hosts.names[2]).split(), sys.executable, "-c", script]
    taken = subprocess.Popen(word, stdout=subprocess.PIPE, text=True)
    try:
        assert taken.stdout.readline() == "listens\n"
        own = ["--broker-hosts", hosts.names[2], "--clusters", "1", "--nodes", "1"]
        run = begun(hosts, folder / "runs", *own, "--scale", "0.001",
                    "--report", str(folder / "run.html"))  # fmt: skip
        listening: set[str] = set()

        def seen():
            listening.update(listeners(hosts.names[2]))
            return run.poll() is not None

        until(seen, "the end of the run")
    finally:
        taken.kill()
        taken.communicate()
    return folder, ended(run), listening


def listeners(name):
    """Return the addresses on which somebody listens on a host, as /proc has them."""
    words = [*WITHIN.format(host=name).split(), "cat", "/proc/net/tcp"]
    lines = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    rows = [line.split() for line in lines[1:]]
    return {row[1] for row in rows if row[3] == "0A"}


def test_a_run_is_kept_and_names_the_machine_of_each_host(hosts, whole):
    folder, (code, output, errors), _ = whole
    assert code == 0, errors
    a, b, c = hosts.names
    assert f"cards on {a}:2,{b}:2" in output
    (path,) = folder.glob("runs/h3/dv-256/emu-*/manifest.json")
    known = json.loads(path.read_text("utf-8"))["emulated"]
    had = [(one["name"], one["cards"], one["clusters"]) for one in known["hosts"]]
    assert had == [(a, 2, 0), (b, 2, 0), (c, 0, 1)]
    assert all(one["cpu"] and one["cores"] and one["system"] for one in known["hosts"])
    assert [one["url"].split(":")[1] for one in known["brokers"]] == ["//10.77.0.3"] * 2
    assert "Data Vortex, emulated" in (folder / "run.html").read_text("utf-8")
    assert "CPU per message: sender" in output and "broker" in output


def test_it_is_compared_with_a_simulated_run(whole):
    folder, _, _ = whole
    (run,) = folder.glob("runs/h3/dv-256/emu-*")
    scenario = load("h3/dv-256", ["workload.iterations=1"])
    (simulated,) = run_scenarios([scenario], backend="sim", out=folder / "runs", scale=0.001)
    pair = [str(simulated.folder), str(run)]
    command = [sys.executable, "-m", "dvsim", "compare", *pair, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)
    assert done.returncode == 0, done.stderr
    assert [one["backend"] for one in Told(done.stdout).facts["results"]] == ["sim", "emu"]


def test_brokers_listen_on_the_address_of_their_host_and_never_on_all(whole):
    """The first three were there before."""
    _, _, listening = whole
    ports = {text.split(":")[1] for text in listening if text.startswith("00000000")}
    assert ports == {f"{port:04X}" for port in (5672, 4369, 25672)}
    assert any(text.startswith("03004D0A") for text in listening)


def test_nothing_is_left_on_any_host(hosts, whole):
    for number in range(2):
        until(lambda number=number: not processes_on(hosts, number), "an empty host")


def test_a_host_that_is_killed_ends_the_run(hosts, broker, tmp_path):
    run = begun(hosts, tmp_path, *at(broker), *SLOW)
    try:
        until(lambda: "vicbridge" in commands_on(hosts, 1), "the bridges")
        start = time.monotonic()
        for pid in processes_on(hosts, 1):
            os.kill(pid, signal.SIGKILL)
        code, _, errors = ended(run)
        took = time.monotonic() - start
    finally:
        run.kill()
    assert code == 1
    assert f"host {hosts.names[1]}" in errors
    assert took < patience(20)
    assert not list(tmp_path.rglob("manifest.json"))
    until(lambda: not processes_on(hosts, 0) | processes_on(hosts, 1), "empty hosts")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_harness_that_is_ended_leaves_no_host_at_work(hosts, broker, tmp_path, number):
    """One that is killed leaves its own folder to the next run, and hosts leave nothing."""
    (tmp_path / "files").mkdir()
    run = begun(hosts, tmp_path / "runs", *at(broker), *SLOW, TMPDIR=str(tmp_path / "files"))
    try:
        until(lambda: "vicbridge" in commands_on(hosts, 1), "the bridges")
        run.send_signal(number)
        code, _, errors = ended(run)
    finally:
        run.kill()
    assert code == (-number if number == signal.SIGKILL else 128 + number), errors
    until(lambda: not processes_on(hosts, 0) | processes_on(hosts, 1), "empty hosts")
    assert not list(tmp_path.rglob("manifest.json"))  # hosts have removed their folders by now
    left = {path.name.rpartition("-")[0] for path in (tmp_path / "files").iterdir()}
    assert left == ({"dvsim-emu"} if number == signal.SIGKILL else set())


def commands_on(hosts, number):
    found = []
    for pid in processes_on(hosts, number):
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            found.append(Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode())
    return " ".join(found)


def test_a_broker_whose_host_is_cut_off_ends_the_run(hosts, broker, tmp_path):
    run = begun(hosts, tmp_path, *at(broker), *SLOW)
    try:
        until(lambda: "vicbridge" in commands_on(hosts, 1), "the bridges")
        hosts.cut(off=True, host=2)
        code, _, errors = ended(run)
    finally:
        run.kill()
        hosts.cut(off=False, host=2)
    assert code == 1
    assert f"broker {broker.nodes[0].url}: " in errors
    until(lambda: not processes_on(hosts, 0) | processes_on(hosts, 1), "empty hosts")


def test_no_broker_at_the_url(hosts, broker, tmp_path):
    urls = ["--url", "amqp://10.77.0.3:1", *at(broker)[2:]]
    code, _, errors = ended(begun(hosts, tmp_path, *urls))
    assert (code, "broker amqp://10.77.0.3:1: connection refused" in errors) == (1, True)


def test_a_wrong_password(hosts, broker, tmp_path):
    wrong = tmp_path / "credentials"
    wrong.touch(0o600)
    wrong.write_text("me:wrong\n", "utf-8")
    urls = [*at(broker)[:2], "--credentials", str(wrong)]
    code, _, errors = ended(begun(hosts, tmp_path, *urls))
    refused = f"broker {broker.nodes[0].url}: it refuses the user or password"
    assert (code, refused in errors, "me:wrong" in errors) == (1, True, False)


def test_a_firewall_between_the_cards(hosts, broker, tmp_path):
    with hosts.firewall("ip saddr 10.77.0.2 meta l4proto tcp drop"):
        code, _, errors = ended(begun(hosts, tmp_path, *at(broker), *SLOW))
    assert (code, "firewall" in errors) == (1, True)
    assert any(f"host {name}: " in errors for name in hosts.names[:2])
    until(lambda: not processes_on(hosts, 0) | processes_on(hosts, 1), "empty hosts")


def test_a_disk_that_fills_during_a_run(hosts, broker, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    launch = tmp_path / "launch"
    launch.write_text(f'#!/bin/sh\n[ $1 != {hosts.names[1]} ] || export TMPDIR={disk}\n'
                      'exec ip netns exec "$@"\n', "utf-8")  # fmt: skip
    launch.chmod(0o700)
    namespaces.run("mount", "-t", "tmpfs", "-o", "size=12k", "none", str(disk))
    try:
        more = ["--launch-with", f"{launch} {{host}}", *at(broker), *SLOW]
        code, _, errors = ended(begun(hosts, tmp_path / "runs", *more))
        left = list(disk.iterdir())
    finally:
        namespaces.run("umount", "--lazy", str(disk))
    assert (code, "No space left on device" in errors) == (1, True)
    assert f"host {hosts.names[1]}: the job of emulated cards: ended with exit code 1" in errors
    assert left == []
    until(lambda: not processes_on(hosts, 0) | processes_on(hosts, 1), "empty hosts")


def test_two_runs_at_once_on_the_same_hosts(hosts, broker, tmp_path):
    """Each takes ports that are free, and queues of its own."""
    scale = ["--scale", "0.0005", *at(broker)]
    runs = [begun(hosts, tmp_path / name, *scale) for name in ("one", "two")]
    try:
        assert [(code, errors) for code, _, errors in map(ended, runs) if code] == []
    finally:
        for one in runs:
            one.kill()
