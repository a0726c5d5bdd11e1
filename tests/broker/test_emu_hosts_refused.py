"""What keeps an emulated run over several hosts from beginning: each time the host is named."""

import os
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from harness.patience import patience
from harness.processes import until
from test_emu_hosts import WITHIN, processes_on

from dvsim.broker.compile_bridge import vicbridge
from dvsim.emulation.amqp import Target
from dvsim.emulation.child import Child
from dvsim.emulation.settings import LAUNCH_WITH, Emulation, Hosts
from dvsim.emulation.targets import broker_targets
from dvsim.emulation.team import Host, Team
from dvsim.errors import RunFailed, ScenarioError
from dvsim.native import emulator_prefix

sys.path.insert(0, str(Path(__file__).parents[1] / "emulator"))

import namespaces


@pytest.fixture(scope="module")
def hosts():
    namespaces.need(emulator_prefix(), "rabbitmqctl")
    with namespaces.hosts(f"{os.getpid()}r", "abc") as made:
        yield made


def failing(hosts, /, launch_with=WITHIN, **named):
    """Return what is said of hosts that cannot be used: dvsim waits 8 s for one."""
    a, b, c = hosts.names
    named = {"hosts": f"{a}:2,{b}:2", "broker_hosts": c, "interface": namespaces.LINK} | named
    asked = Emulation(clusters=1, nodes=1, hosts=Hosts.of(launch_with=launch_with, **named))
    start = time.monotonic()
    with pytest.raises(RunFailed) as said, broker_targets(asked):
        pass
    assert time.monotonic() - start < patience(20)
    for number in range(2):
        until(lambda number=number: not processes_on(hosts, number), "an empty host")
    return str(said.value)


def test_a_host_that_does_not_exist(hosts):
    said = failing(hosts, hosts=f"{hosts.names[0]}:2,vic-nowhere:2")
    assert said.startswith("host vic-nowhere: dvsim there: ended with exit code ")
    assert 'Cannot open network namespace "vic-nowhere"' in said


def test_a_launch_command_that_has_ended_leaves_nothing_open(monkeypatch):
    """It may end before it is greeted: then nobody but `Host` knows of it."""
    ended = []
    monkeypatch.setattr(Child, "reads", lambda child, line: False)
    monkeypatch.setattr(Child, "end", lambda child, real=Child.end: ended.append(real(child)))
    with pytest.raises(RunFailed, match="host a: dvsim there: ended with exit code 1"):
        Host("a", Hosts.of("a:1", launch_with="/bin/false {host}"), broker=False)
    assert len(ended) == 1


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
    assert said.startswith(f"host {hosts.names[2]}: it has no interface 'eth77'")
    assert namespaces.LINK in said


def test_a_launch_command_that_prints(hosts, tmp_path):
    said = failing(hosts, script(tmp_path, hosts.names[0], "echo Welcome"))
    assert f"host {hosts.names[0]}: answers 'Welcome': does " in said


def test_a_launch_command_that_is_missing(hosts):
    said = failing(hosts, "nosuchcommand {host}")
    assert said == f"host {hosts.names[0]}: launch_with: there is no 'nosuchcommand'"


def test_a_host_without_a_compiler(hosts, tmp_path):
    there = f"export CC=nosuchcc XDG_CACHE_HOME={tmp_path}"
    said = failing(hosts, script(tmp_path, hosts.names[1], there))
    assert said.startswith(f"host {hosts.names[1]}: ")
    assert "nosuchcc" in said


@contextmanager
def disk(folder, options):
    """A small disk for a test."""
    path = folder / "disk"
    path.mkdir()
    namespaces.run("mount", "-t", "tmpfs", "-o", options, "none", str(path))
    try:
        yield path
    finally:
        namespaces.run("umount", "--lazy", str(path))


@contextmanager
def team(hosts, launch_with=WITHIN):
    a, b, _ = hosts.names
    asked = Hosts.of(f"{a}:1,{b}:1", None, launch_with, namespaces.LINK)
    with closing(Team(asked, receivers=1, clusters=0)) as made:
        yield made


def test_a_file_that_does_not_fit(hosts, tmp_path):
    """Afterwards the host still answers."""
    vicbridge()  # no compiler wants the small disk
    with disk(tmp_path, "size=8k") as small:
        launch = script(tmp_path, hosts.names[1], f"export TMPDIR={small}")
        with team(hosts, launch) as made:
            with pytest.raises(RunFailed, match="write: No space left on device") as said:
                made.place(1).write("big", "x" * 20_000)
            made.place(1).write("small", "x")
        assert str(said.value).startswith(f"host {hosts.names[1]}: ")
        assert list(small.iterdir()) == []


@pytest.mark.parametrize(
    ("rule", "said"),
    [("drop", "no answer in 5 s: is there a firewall?"), ("accept", "connection refused")],
)
def test_a_bridge_whose_host_does_not_reach_the_broker(hosts, rule, said):
    start = time.monotonic()
    with team(hosts) as made, hosts.firewall(f"ip saddr 10.77.0.2 {rule}", host=2):
        with pytest.raises(RunFailed) as error:
            made.place(1).reach(Target("amqp://10.77.0.3:5672/%2f", "me", "secret"))
        assert time.monotonic() - start < patience(20)
    broker = f"host {hosts.names[1]}: a bridge there does not reach the broker 10.77.0.3:5672"
    assert str(error.value) == f"{broker}: {said}"


@pytest.mark.parametrize("name", ["../outside", "/tmp/outside", ".."])
def test_a_member_keeps_to_its_folder(hosts, tmp_path, name):
    with team(hosts) as made:
        for ask in (lambda: made.place(1).write(name, "x"),
                    lambda: made.place(1).fetch(name, tmp_path / "x")):  # fmt: skip
            with pytest.raises(RunFailed, match="is not the name of a file"):
                ask()


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"hosts": "a:2,a:2"}, "hosts: host a stands there twice"),
        ({"hosts": "a:x"}, "hosts: 'a:x' is not a host and its number of cards"),
        ({"hosts": "-oProxyCommand=x:2"}, "is not a host and its number"),
        ({"hosts": "a:2", "broker_hosts": "-x"}, "broker_hosts: '-x' is not the name of a host"),
        ({"hosts": "a:2", "launch_with": "ssh a"}, "launch_with: 'ssh a' says nowhere {host}"),
    ],
)
def test_options_that_cannot_be(named, said):
    with pytest.raises(ScenarioError) as error:
        Hosts.of(**named)
    assert said in str(error.value)


def test_what_does_not_fit_a_scenario():
    def faults(hosts, clusters):
        return [str(fault) for fault in hosts.faults("s", 2, clusters)]

    wrong = "hosts: the hosts have 3 cards; 2 senders and 2 bridges need 4"
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
