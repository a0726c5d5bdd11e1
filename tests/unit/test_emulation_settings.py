"""What is asked of an emulated run: how many messages, which batches, whose brokers?"""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from dvsim.contract.find import kind_named
from dvsim.contract.load import load
from dvsim.emulation.credentials import credentials_of
from dvsim.emulation.settings import (
    Emulation,
    check_emulation,
    redacted,
)
from dvsim.errors import ScenarioError
from dvsim.kinds.rabbitmq.size import BYTES, MESSAGES, fitted, own_scale, size_facts, size_text
from dvsim.study.emulated_text import cost_text, made_text
from dvsim.table.manifest import Emulated, Question

SYSTEM = kind_named("rabbitmq")


@pytest.mark.parametrize(
    ("name", "messages"), [("h3/dv-8", 200_000), ("h3/dv-8192", 31_250), ("h3/fdr-131072", 1_953)]
)
def test_an_iteration_is_short_unless_a_scale_is_given(name, messages):
    scenario = load(name)
    sized = SYSTEM.sized(scenario, None, Emulation())
    work = sized.workload
    assert work.messages == messages <= MESSAGES
    assert work.messages * work.message_bytes <= BYTES
    assert (
        SYSTEM.sized(scenario, 0.5, Emulation()).workload.messages
        == scenario.workload.messages // 2
    )
    assert SYSTEM.sized(scenario, None, None) == scenario


def test_a_short_scenario_is_sent_whole():
    small = load("h3/fdr-8", ["workload.messages=1000"])
    assert own_scale(small) == 1
    assert (
        SYSTEM.sized(small, None, Emulation()) == small
    )  # with its batch of 10,000, as it was asked


def test_batches_shrink_with_the_messages():
    scenario = load("h3/fdr-131072")  # 600,000 messages in batches of 2,500
    assert fitted(scenario) == scenario
    sized = SYSTEM.sized(scenario, None, Emulation())
    assert sized.probe.batch == 1_953 // 20
    text = size_text(sized, scenario, Emulation())
    assert text == (
        "h3/fdr-131072: 1,953 messages of 131,072 B in each of 8 iterations, 0.00326 of 600,000 "
        "by the scale, in batches of 97 instead of 2,500; at most once"
    )
    assert size_facts(sized, scenario) == {
        "scale": 1_953 / 600_000,
        "messages_asked": 600_000,
        "batch_asked": 2_500,
    }


def test_the_question_knows_the_brokers_and_not_the_credentials():
    private = Emulation(clusters=1, nodes=2, at_least_once=True)
    assert private.question() == {"clusters": 1, "nodes": 2, "promise": "at least once"}
    theirs = Emulation(urls=("amqp://h",), credentials=Path("f"))
    assert theirs.question() == {"urls": ["amqp://h"], "promise": "at most once"}
    assert replace(theirs, credentials=None).question() == theirs.question()


def test_a_machine_with_little_memory_gets_one_node(monkeypatch):
    from dvsim.broker import install as limits

    monkeypatch.setattr(limits, "machine_bytes", lambda: 4 << 30)
    assert Emulation().resolved().nodes == 1
    monkeypatch.setattr(limits, "machine_bytes", lambda: 16 << 30)
    assert Emulation().resolved().nodes == 3
    assert Emulation(nodes=2).resolved().nodes == 2


def test_every_fault_is_told_at_once():
    other = load("h3/dv-8", ["workload.messages=1"])
    with pytest.raises(ScenarioError) as caught:
        check_emulation([load("switch/load-latency"), other], Emulation(clusters=0), {"workers": 2})
    assert [str(fault).partition(":")[0] for fault in caught.value.faults] == [
        "switch/load-latency",
        "h3/dv-8",
        "clusters",
        "workers",
    ]


@pytest.mark.parametrize(
    ("emulation", "option"),
    [(Emulation(clusters=3), "clusters"), (Emulation(urls=("amqp://h",) * 3), "urls")],
)
def test_brokers_without_a_receiver_are_refused(emulation, option):
    with pytest.raises(ScenarioError, match=f"^{option}: 3 brokers for 2 receivers"):
        check_emulation([load("h3/dv-8")], emulation, {})
    fewer = replace(emulation, clusters=2, urls=emulation.urls[:2])
    check_emulation([load("h3/dv-8")], fewer, {})


@pytest.mark.parametrize(
    "url", ["amqp://h:0", "amqp://", "amqp://h:x", "amqp://h?a=b", "amqps://h", "h", "amqp://u@h"]
)
def test_urls_that_are_refused(url):
    assert list(Emulation(urls=(url,)).faults())


@pytest.mark.parametrize(
    "url", ["amqp://h", "amqp://h:5672", "amqp://[::1]:5672/%2f", "amqp://h/v"]
)
def test_urls_that_are_taken(url):
    assert not list(Emulation(urls=(url,)).faults())


@pytest.mark.parametrize(
    ("content", "mode", "said"),
    [
        (b"me:secret", 0o644, "others may read it; chmod 600 "),
        (b"mesecret", 0o600, "has no user:password in its first line"),
        (b":secret", 0o600, "has no user:password in its first line"),
        (b"secret:\xff", 0o600, "it is not text"),
    ],
)
def test_a_file_that_holds_no_credentials_is_refused_and_not_shown(tmp_path, content, mode, said):
    path = tmp_path / "credentials"
    path.write_bytes(content)
    path.chmod(mode)
    with pytest.raises(ScenarioError, match=f"^credentials: {path}: {said}") as caught:
        credentials_of(path)
    assert "secret" not in str(caught.value)
    with pytest.raises(ScenarioError, match=r"^credentials: .*: No such file or directory"):
        credentials_of(tmp_path / "other")


def test_credentials_come_from_a_pipe_too():
    reading, writing = os.pipe()
    os.write(writing, b"me:se:cret\n")
    os.close(writing)
    try:
        assert credentials_of(Path(f"/dev/fd/{reading}")) == ("me", "se:cret")
    finally:
        os.close(reading)


def test_a_password_is_never_repeated():
    assert redacted("amqp://me:se@cret@h/v") == "amqp://…@h/v"


def test_a_run_without_counters_or_brokers_has_words_too():
    from run_builder import counters

    assert cost_text(counters({})) == "CPU per message: not counted"
    assert made_text(Emulated(question=Question(promise="at most once"))).endswith("; at most once")
    counted = counters({
        ("publisher.1", "cpu_per_message"): 2e-5,
        ("publisher.2", "cpu_per_message"): 4e-5,
        ("broker", "cpu_per_message"): 1e-5,
        ("machine", "busy"): 0.5,
        ("bridge.1", "republished"): 3,
        ("bridge.1", "blocked_s"): 1.5,
    })  # fmt: skip
    assert cost_text(counted) == (
        "CPU per message: publisher 30.0 us, broker 10.0 us; all cores of the machine 50% busy "
        "while sending; 3.0 published again per iteration; blocked by the broker for 1.5 s per "
        "iteration"
    )


def test_the_environment_of_a_shell_names_brokers_and_credentials(tmp_path, monkeypatch):
    from dvsim.cli.run import _chosen

    def chosen(backend="emu", clusters=None):
        hosts = dict.fromkeys(("hosts", "broker_hosts", "launch_with", "interface", "bridge"))
        return _chosen(backend, (), None, clusters, None, at_least_once=False, **hosts)

    path = tmp_path / "credentials"
    path.write_text("me:secret\n", "utf-8")
    path.chmod(0o600)
    for name in ("USER", "PASSWORD"):
        monkeypatch.delenv(f"VICBRIDGE_{name}", raising=False)
    monkeypatch.setenv("VICBRIDGE_URL", "amqp://h:1 amqp://h:2")
    monkeypatch.setenv("VICBRIDGE_CREDENTIALS", str(path))
    assert chosen().urls == ("amqp://h:1", "amqp://h:2")
    assert chosen(clusters=1).urls == ()
    assert chosen("sim") == "sim"
    assert credentials_of(None) == ("me", "secret")
    monkeypatch.setenv("VICBRIDGE_USER", "you")
    assert credentials_of(None) == ("you", "guest")
