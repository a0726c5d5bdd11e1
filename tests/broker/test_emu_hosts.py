"""The whole path over several hosts, which are network namespaces: cards, bridge and broker apart.

Host a has the senders, b the bridges, c the brokers. All tests but one share a broker.
"""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from bridge_job import Job
from harness.processes import until

from dvsim.emulation.asked import Emulation
from dvsim.emulation.hosts import LAUNCH_WITH, Hosts
from dvsim.emulation.site import site
from dvsim.emulation.team import Team
from dvsim.errors import RunFailed, ScenarioError
from dvsim.kinds.load import load
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


def begun(hosts, out, *more, share="{0}:2,{1}:2"):
    """Start ``dvsim run`` on host a."""
    words = [*SMALL, "--hosts", share.format(*hosts.names), *OPTIONS, *more, "--out", str(out)]
    return subprocess.Popen(
        ["ip", "netns", "exec", hosts.names[0], sys.executable, "-m", "dvsim", "run", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
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
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [one["backend"] for one in found["runs"]] == ["sim", "emu"]


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
    assert took < 10 or os.getloadavg()[0] > 2
    assert not list(tmp_path.rglob("manifest.json"))
    until(lambda: not processes_on(hosts, 0) | processes_on(hosts, 1), "empty hosts")


def commands_on(hosts, number):
    found = (Path(f"/proc/{pid}/cmdline") for pid in processes_on(hosts, number))
    return " ".join(path.read_bytes().replace(b"\0", b" ").decode() for path in found
                    if path.exists())  # fmt: skip


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


def failing(hosts, launch_with=WITHIN, **named):
    """Return what is said of hosts that cannot be used, within ten seconds."""
    a, b, c = hosts.names
    named = {"cards": f"{a}:2,{b}:2", "brokers": c, "interface": namespaces.LINK} | named
    asked = Emulation(clusters=1, nodes=1, hosts=Hosts.of(launch_with=launch_with, **named))
    start = time.monotonic()
    with pytest.raises(RunFailed) as said, site(asked):
        pass
    assert time.monotonic() - start < 10 or os.getloadavg()[0] > 2
    for number in range(2):
        until(lambda number=number: not processes_on(hosts, number), "an empty host")
    return str(said.value)


def test_a_host_that_does_not_exist(hosts):
    said = failing(hosts, cards=f"{hosts.names[0]}:2,vic-nowhere:2")
    assert said.startswith("host vic-nowhere: dvsim there: ended with exit code ")
    assert 'Cannot open network namespace "vic-nowhere"' in said


def test_a_host_that_says_nothing(hosts, tmp_path):
    said = failing(hosts, script(tmp_path, hosts.names[1], "exec sleep 60"))
    assert f"host {hosts.names[1]}: has not answered in " in said


def script(folder, name, instead):
    """Return a launch command that does something else on one host."""
    path = folder / "launch"
    path.write_text(f'#!/bin/sh\nhost=$1 python=$2\nshift\nif [ $host = {name} ]; then\n{instead}\n'
                    'fi\nexec ip netns exec $host "$@"\n', "utf-8")  # fmt: skip
    path.chmod(0o700)
    return f"{path} {{host}}"


def test_a_host_without_dvsim(hosts, tmp_path):
    said = failing(
        hosts, script(tmp_path, hosts.names[0], 'shift; set -- /usr/bin/python3 -S "$@"')
    )
    assert said.startswith(f"host {hosts.names[0]}: dvsim there: ended with exit code 1\n")
    assert "No module named 'dvsim'" in said


def test_a_host_with_another_version(hosts, tmp_path):
    text = "import runpy, dvsim._version as own; own.__version__ = '9.9.9'"
    text += "; runpy.run_module('dvsim.emulation.member', run_name='__main__')"
    said = failing(hosts, script(tmp_path, hosts.names[1], f'set -- $python -c "{text}"'))
    assert said.startswith(f"host {hosts.names[1]}: has dvsim 9.9.9; the run was started by ")


def test_a_host_without_rabbitmq(hosts, tmp_path):
    said = failing(hosts, script(tmp_path, hosts.names[2], "export DVSIM_RABBITMQ=/nowhere"))
    assert said.startswith(f"host {hosts.names[2]}: DVSIM_RABBITMQ: no rabbitmq-server")


def test_a_host_without_the_interface(hosts):
    said = failing(hosts, interface="eth77")
    assert said.startswith(f"host {hosts.names[2]}: --interface: it has no 'eth77'")
    assert namespaces.LINK in said


def test_a_launch_command_that_prints(hosts, tmp_path):
    said = failing(hosts, script(tmp_path, hosts.names[0], "echo Welcome"))
    assert f"host {hosts.names[0]}: answers 'Welcome': does " in said


def test_a_launch_command_that_is_missing(hosts):
    said = failing(hosts, "nosuchcommand {host}")
    assert said == f"host {hosts.names[0]}: --launch-with: there is no 'nosuchcommand'"


def test_no_broker_at_the_url(hosts, broker, tmp_path):
    urls = ["--url", "amqp://10.77.0.3:1", *at(broker)[2:]]
    code, _, errors = ended(begun(hosts, tmp_path, *urls))
    assert (code, "broker amqp://10.77.0.3:1: connection refused" in errors) == (1, True)


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"cards": "a:2,a:2"}, "--hosts: host a stands there twice"),
        ({"cards": "a:x"}, "--hosts: 'a:x' is not a host and its number of cards"),
        ({"cards": "-oProxyCommand=x:2"}, "is not a host and its number"),
        ({"cards": "a:2", "brokers": "-x"}, "--broker-hosts: '-x' is not the name of a host"),
        ({"cards": "a:2", "launch_with": "ssh a"}, "--launch-with: 'ssh a' says nowhere {host}"),
    ],
)
def test_options_that_cannot_be(named, said):
    with pytest.raises(ScenarioError) as error:
        Hosts.of(**named)
    assert said in str(error.value)


def test_what_does_not_fit_a_scenario():
    def faults(hosts, clusters):
        return [str(fault) for fault in hosts.faults(2, clusters)]

    wrong = "--hosts: the hosts have 3 cards; 2 senders and 2 bridges need 4"
    assert faults(Hosts.of("a:3"), 2) == [wrong]
    assert faults(Hosts.of("a:2,b:2", "c,d"), 2) == []
    assert "3 hosts for 2 clusters" in faults(Hosts.of("a:2,b:2", "c,d,e"), 2)[0]
    assert "is for private brokers" in faults(Hosts.of("a:4", "c"), 0)[0]


def test_where_cards_and_clusters_are():
    hosts = Hosts.of("a:2,b:1,c:1")
    assert [hosts.of_card(card) for card in range(4)] == ["a", "a", "b", "c"]
    assert [hosts.of_cluster(n, 2) for n in range(2)] == ["b", "c"]
    hosts = Hosts.of("a:2,b:2", "c")
    assert [hosts.of_cluster(n, 2) for n in range(2)] == ["c", "c"]


def test_ssh_hands_its_command_to_a_shell():
    hosts = Hosts.of("a:2", launch_with="/usr/bin/ssh -n {host}")
    assert hosts.command("a", "/it's/python") == ["/usr/bin/ssh", "-n", "a", "'/it'\"'\"'s/python'"]
    assert Hosts.of("a:2").launch_with == LAUNCH_WITH
