"""Publishers and consumers that come and go while a job runs: is nothing lost, and all heard?"""

import os
import signal
import sys
import types

import pika
import pytest
from async_job import Serving
from compiled import EXAMPLES, compiled

BRIDGE = 0
HOLD = """
import sys
from dvsim import vic
with vic.open() as card, card.client() as client:
    client.subscribe(0, sys.argv[1], credit=100)
    held = [client.recv() for _ in range(100)]
    print("holding 100", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def job(tmp_path, broker, unique):
    job = Serving(tmp_path, broker, unique)
    yield job
    job.close()


@pytest.fixture
def channel(broker, connect):
    return connect(broker).channel()


def python(name, *arguments):
    return (sys.executable, EXAMPLES / f"{name}.py", *arguments)


def fill(job, channel, count):
    channel.queue_declare(job.name, durable=True)
    for number in range(count):
        named = pika.BasicProperties(message_id=f"{1:016x}-{number + 1:016x}")
        channel.basic_publish("", job.name, number.to_bytes(8, "little"), named)


def left_in(channel, queue):
    return channel.queue_declare(queue, passive=True).method.message_count


def test_publishers_and_consumers_join_and_leave(job, channel):
    """Five publishers and three consumers of a group, on four cards, in any order."""
    job.serve(job.bridge(), empty=4)
    first = job.join(*job.consume(700, "--credit", 20, bridge=BRIDGE))
    early = [job.join(*job.publish(600, 100, "--seed", n, bridge=BRIDGE)) for n in range(2)]
    for guest in (*early, first):
        guest.end()
    late = [job.join(*job.publish(500, 100, "--seed", 10 + n, bridge=BRIDGE)) for n in range(3)]
    second = job.join(*job.consume(800, "--credit", 20, bridge=BRIDGE))
    for guest in (*late, second):
        guest.end()
    job.join(*job.consume(1200, bridge=BRIDGE)).end()
    reports = [job.report(number) for number in range(len(job.reports))]
    took = [r for r in reports if "session" in r and r["messages"] in (700, 800, 1200)]
    sent = [r for r in reports if r["messages"] in (600, 500)]
    assert [sum(r["messages"] for r in part) for part in (took, sent)] == [2700, 2700]
    sums = [sum(int(r["digest"], 16) for r in part) % 2**64 for part in (took, sent)]
    assert sums[0] == sums[1]
    assert left_in(channel, job.name) == 0
    job.stop()


def test_what_a_killed_consumer_held_goes_to_the_others(job, channel):
    fill(job, channel, 500)
    job.serve(job.bridge(declare=False), empty=3, options=["--if-killed", "leave"])
    holder = job.join(compiled("holder"), BRIDGE, job.name, 100, job.folder)
    holder.says("holding 100")
    other = job.join(*job.consume(500, bridge=BRIDGE))
    job.eventually(lambda: job.total("acked") == 400, "all that the other one can have")
    job.kill("holder")
    holder.end(128 + signal.SIGKILL)
    other.end()
    assert job.report()["duplicates"] == 0
    assert left_in(channel, job.name) == 0
    job.stop()


def test_a_bridge_that_is_killed_while_consumers_hold_messages(job, channel):
    """Its broker has them again, and gives them to those who call for more."""
    fill(job, channel, 500)
    job.serve(job.bridge(declare=False), empty=3, options=["--if-killed", "restart"])
    holder = job.join(sys.executable, "-c", HOLD, job.name)
    holder.says("holding 100")
    other = job.join(*job.consume(500, "--credit", 10, bridge=BRIDGE))
    job.eventually(lambda: job.total("acked") == 400, "all that the other one can have")
    (old,) = job.pids("vicbridge")
    os.kill(old, signal.SIGKILL)
    job.eventually(lambda: set(job.pids("vicbridge")) - {old}, "a new bridge")
    other.end()
    assert job.report()["messages"] == 500
    holder.process.stdin.close()
    holder.end()
    assert left_in(channel, job.name) == 0
    job.stop()


def test_consumers_in_asyncio_share_a_queue(job):
    """The examples in Python, on two cards, with publishers that join later."""
    job.serve(job.bridge(), empty=3)
    consumers = [job.join(*python("consumer", BRIDGE, job.name, 3)) for _ in range(2)]
    words = ["ash", "beech", "cherry", "elm", "fir", "hazel"]
    publisher = job.join(*python("publisher", BRIDGE, f"{job.name}.k", *words)).end()
    assert publisher.lines == ["6 confirmed, 0 of them had no queue"]
    lines = [line for guest in consumers for line in guest.end().lines]
    assert sorted(lines) == [f"{job.name}.k: {word}" for word in words]
    job.stop()


def test_topics_go_to_all_that_want_them_by_then(tmp_path):
    job = Serving(tmp_path, types.SimpleNamespace(password="there is none"), "topics")
    try:
        job.serve(empty=4, options=["--if-killed", "leave"])
        deaf = job.join(*python("fanout", "listen", "weather.#", 1))
        speaker = job.join(*python("fanout", "say", "news.eu.today"))
        patterns = {"news.#": 60, "news.*.today": 10}
        listeners = [job.join(*python("fanout", "listen", p, n)) for p, n in patterns.items()]
        for listener, count in zip(listeners, patterns.values(), strict=True):
            lines = listener.end().lines
            first = int(lines[0].split()[1])
            assert lines == [f"news.eu.today: {first + k}" for k in range(count)]
        speaker.process.terminate()
        speaker.end(128 + signal.SIGTERM)
        assert deaf.process.poll() is None and deaf.lines == []
    finally:
        job.close()
