"""Does an emulated run that cannot go on say why, and leave nothing behind? Real processes."""

import signal

import emulated
import nodes
import pytest
from harness.in_process import dvsim

from dvsim import broker
from dvsim.contract.find import kind_of
from dvsim.contract.kind import How, Job
from dvsim.contract.load import load
from dvsim.emulation import targets
from dvsim.emulation.settings import Emulation
from dvsim.errors import RunFailed
from dvsim.progress import Progress
from dvsim.scenario.render import to_toml
from dvsim.study.emulated_text import costs_of


def dvsim_fails(*arguments):
    """Return the exit code of `dvsim run` and what it says."""
    done = dvsim("run", *arguments)
    return done.returncode, done.stderr.strip()


def at(brokers):
    return ["--url", brokers.nodes[0].url, "--credentials", str(brokers.credentials)]


def test_an_interrupted_run_leaves_nothing(room, tmp_path):
    before = room.queues()  # of other tests
    process = emulated.start(tmp_path / "runs", *emulated.LONG, *at(room))
    try:
        publishers = emulated.publishers_of(process)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=nodes.DEADLINE_S)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert said.strip().splitlines()[-1] == "interrupted"
    nodes.eventually(lambda: emulated.gone(publishers), "the end of the publishers")
    assert not (tmp_path / "runs").exists()
    assert room.queues() == before


def test_publishers_end_with_a_harness_that_was_killed(room, connect, tmp_path):
    process = emulated.start(tmp_path / "runs", *emulated.LONG, *at(room))
    try:
        publishers = emulated.publishers_of(process)
    finally:
        process.kill()
        process.communicate()
    nodes.eventually(lambda: emulated.gone(publishers), "the end of the publishers")
    channel = connect(room).channel()
    for name in room.queues():  # they would expire after a day; other tests look at this room
        channel.queue_delete(name)


def test_a_private_node_has_a_cost_and_its_death_is_told_with_its_log(monkeypatch):
    """Of two runs on one node: the first is complete, the second is not."""
    made = []

    class Own(broker.Brokers):
        def __init__(self, **how):
            super().__init__(memory=1 << 30, **how)
            made.append(self)

    monkeypatch.setattr(targets, "Brokers", Own)
    short = load("h3/dv-8", ["workload.messages=20_000", "workload.iterations=1"])
    long = load(
        "h3/fdr-8",
        ["system.publisher.processes=1", "workload.messages_per_second=2000", 'loop="open"'],
    )

    def on_phase(what, share, rate):
        if rate and what.startswith("h3/fdr-8"):
            made[0].nodes[0].kill()

    asked = Emulation(clusters=1, nodes=1)
    monkeypatch.setattr(Progress, "under_way", lambda _, *what: on_phase(*what))
    job = Job(How("", 1, 1, asked), 1, False, "", {to_toml(one): one for one in (short, long)})
    found = kind_of(short).made([short, long], job)
    costs = costs_of(next(found).values)
    assert list(costs) == ["sender", "bridge", "broker"]
    assert all(value > 0 for value in costs.values())
    assert asked.question()["nodes"] == 1
    with pytest.raises(RunFailed, match=r"^h3/fdr-8, iteration 1: broker a1 at .* died\n  20"):
        next(found)
    (brokers,) = made
    assert not any(node.alive for node in brokers.nodes)


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
    options = [*emulated.LONG, "--out", str(tmp_path / "runs"), "--credentials"]
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
            "--url: amqp://…@h: a name or password must not stand in a URL; "
            "write a file for --credentials",
        ),
        (
            [*EMU, "--url", "amqp://h", "--nodes", "2"],
            "--nodes: is for private brokers, and --url names others",
        ),
        (
            [*EMU, "--credentials", "f"],
            "--credentials: is for brokers of a URL; private ones have their own",
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
