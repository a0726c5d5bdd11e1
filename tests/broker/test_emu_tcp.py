"""Does an emulated run over TCP send all, record it by batches, prove it, and keep it?"""

import json
import re
import zlib
from dataclasses import replace

import pytest
from emulated import ask

import dvsim
from dvsim.contract.load import load
from dvsim.emulation import drain as drain_module
from dvsim.emulation.messages import Bodies, Digest
from dvsim.emulation.settings import Emulation
from dvsim.errors import RunFailed, ScenarioError
from dvsim.kinds.rabbitmq.emu import iteration
from dvsim.study.emulated_text import costs_of
from dvsim.study.store import load_result
from dvsim.view import write_results


@pytest.fixture(scope="module")
def at(room):
    return Emulation(urls=(room.nodes[0].url,), credentials=room.credentials)


FIRST = ["workload.iterations=1", "probe.columns.r2.iterations=[1]"]


def small(size=8, messages=600, iterations=1, processes=2):
    """A run in batches of 100."""
    sets = [f"workload.message_bytes={size}", f"workload.messages={messages}"]
    sets.append(f"system.publisher.processes={processes}")
    return load("h3/fdr-8", [*sets, *FIRST * (iterations == 1), "probe.batch=100"])


@pytest.fixture(scope="module")
def kept(at, tmp_path_factory):
    """A run with its page, and the folder of runs that it is in."""
    runs = tmp_path_factory.mktemp("runs")
    run = ask(small(), at, out=runs)
    write_results(run.folder / "report.html", [run])
    return run, runs


@pytest.mark.parametrize(("size", "iterations"), [(1, 1), (8, 2), (8192, 1)])
def test_every_batch_is_a_sample_and_every_message_is_counted(at, room, size, iterations):
    before = room.queues()
    run = ask(small(size, messages=1_050, iterations=iterations), at)
    first = run.sides["samples"][run.sides["samples"]["iteration"] == 1]
    assert first["messages"].tolist() == [100] * 10 + [50]
    assert (first["pieces"] == first["messages"]).all()
    assert (first["receiver"] == 0).all()
    assert (first["duration_ps"] > 0).all()
    assert first["start_ps"].is_monotonic_increasing
    ends = (first["start_ps"] + first["duration_ps"]).tolist()
    assert all(end <= start for end, start in zip(ends, first["start_ps"][1:], strict=False))
    assert run.sides["samples"]["messages"].sum() == iterations * 1_050
    depth = run.values[run.values["metric"] == "depth"]["value"]
    assert depth.sum() == iterations * 1_050
    assert room.queues() == before


def test_each_program_is_said_to_cost_something(kept):
    costs = costs_of(kept[0].values)
    assert list(costs) == ["publisher"]  # the broker is somebody else's
    assert 1e-6 < costs["publisher"] < 1e-2


def test_a_run_is_kept_with_what_it_was_made_with_and_answers_the_question_again(at, kept):
    run, runs = kept
    assert run.folder.name.startswith("emu-")
    known = json.loads((run.folder / "manifest.json").read_text())
    assert known["backend"] == "emu"
    assert known["host"]["packages"]["pika"]
    emulated = known["emulated"]
    assert emulated["brokers"][0]["product"] == "RabbitMQ"
    assert emulated["question"] == {"urls": list(at.urls), "promise": "at most once"}
    assert "dvsim.emulation.publisher" in emulated["commands"][0]
    page = (run.folder / "report.html").read_text(encoding="utf-8")
    assert ", emulated</h1>" in page and "RabbitMQ 3" in page
    assert "simulated" not in page.partition("</style>")[2].partition("<script>")[0]
    stamp = (run.folder / "manifest.json").stat().st_mtime_ns
    again = ask(small(), at, out=runs)
    assert again.sides["samples"].equals(load_result(run.folder).sides["samples"])
    assert (run.folder / "manifest.json").stat().st_mtime_ns == stamp


def test_no_password_is_kept_or_shown(kept, broker):
    for path in kept[0].folder.iterdir():
        assert broker.password.encode() not in path.read_bytes(), path.name


def test_confirms_are_waited_for_when_asked_for(at, kept):
    run = ask(small(), replace(at, at_least_once=True), out=kept[1])
    assert run.sides["samples"]["messages"].sum() == 600
    assert run.manifest.emulated.question.promise == "at least once"
    assert run.folder != kept[0].folder  # it is another question


def test_an_open_loop_starts_batches_at_their_time(at):
    shape = ["workload.messages=400", "probe.batch=100", "system.publisher.processes=2"]
    pace = ["workload.messages_per_second=1000", 'loop="open"', *FIRST]
    run = ask(load("h3/fdr-8", [*shape, *pace]), at)
    assert run.sides["samples"]["start_ps"].tolist() == [k * 10**11 for k in range(4)]


def lossy(monkeypatch, spoil):
    """Let something happen to a queue between sending and draining."""

    def drained(queue, sent, on_messages):
        spoil(queue)
        return drain_module.drain(queue, sent, on_messages, quiet_s=3)

    monkeypatch.setattr(iteration, "drain", drained)


def test_a_missing_message_is_named(at, monkeypatch, tmp_path):
    def take_one(queue):
        if queue.receiver == 2:
            queue.channel.basic_get(queue.name, auto_ack=True)

    lossy(monkeypatch, take_one)
    with pytest.raises(RunFailed) as caught:
        ask(small(processes=1), at, out=tmp_path)
    text = str(caught.value)
    assert text.startswith("h3/fdr-8, iteration 1: receiver 2: 299 of 300 messages arrived")
    number = re.fullmatch(r".*; missing: 1, number (\d+)", text)[1]
    assert int(number) in range(1, 600, 2)  # receivers take turns: this one has the odd numbers
    assert list(tmp_path.iterdir()) == []


def test_a_message_of_somebody_else_is_noticed(at, monkeypatch):
    def add_one(queue):
        queue.channel.basic_publish(queue.exchange, queue.key, b"\xff" * 8)

    lossy(monkeypatch, add_one)
    with pytest.raises(RunFailed, match=r"receiver 1: 301 of 300 messages.*1 are not of this"):
        ask(small(processes=1), at)


def test_a_changed_message_is_noticed(at, monkeypatch):
    def change_one(queue):
        _, _, body = queue.channel.basic_get(queue.name, auto_ack=True)
        queue.channel.basic_publish(queue.exchange, queue.key, body[:-1] + b"?")

    lossy(monkeypatch, change_one)
    with pytest.raises(RunFailed, match=r"receiver 1: the sum of their CRC-32 is .*, sent was"):
        ask(small(size=100, processes=1), at)


def test_a_duplicate_by_message_id_counts_once(at, monkeypatch):
    import pika

    def say_twice(queue):
        _, properties, body = queue.channel.basic_get(queue.name, auto_ack=True)
        properties = pika.BasicProperties(message_id="the same")
        for _ in range(3):
            queue.channel.basic_publish(queue.exchange, queue.key, body, properties)

    lossy(monkeypatch, say_twice)
    run = ask(small(processes=1), at)
    duplicates = run.values[run.values["metric"] == "duplicates"]["value"]
    assert duplicates.tolist() == [2] * 2  # receivers


def test_bodies_differ_and_their_sum_does_not_depend_on_their_order():
    bodies = Bodies(20, seed=3)
    made = [bodies.body(number) for number in range(5_000)]
    assert len(set(made)) == 5_000
    assert all(body[:8] == number.to_bytes(8, "little") for number, body in enumerate(made))
    assert [Bodies(20, 3).body(7), Bodies(20, 4).body(7)] != [made[7]] * 2
    assert [len(Bodies(size, 1).body(9)) for size in (1, 8, 9, 5_000)] == [1, 8, 9, 5_000]
    forth, back = Digest(), Digest()
    for one, other in zip(made, reversed(made), strict=True):
        forth.add(one)
        back.add(other)
    total = sum(map(zlib.crc32, made)) % 2**64
    assert forth.hex == back.hex == f"{total:016x}"
    assert (forth.messages, forth.bytes) == (5_000, 100_000)


def test_python_asks_as_the_shell_does(at):
    run = dvsim.run("h3/fdr-8", backend=at, messages=400, scale=1, system__publisher__processes=1)
    assert (run.backend, run.replications) == ("emu", 1)
    assert run.manifest.emulated.scale == 1
    assert "at_least_once=False" in run.manifest.command


def test_credentials_that_others_may_read_are_refused(at, tmp_path):
    open_to_all = tmp_path / "credentials"
    open_to_all.write_text("user:password")
    open_to_all.chmod(0o644)
    with pytest.raises(ScenarioError, match="others may read it; chmod 600"):
        ask(small(), Emulation(urls=at.urls, credentials=open_to_all))
