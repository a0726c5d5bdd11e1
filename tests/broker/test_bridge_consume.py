"""vicbridge, from queues to cards: to one of those who subscribed, until it is acknowledged?"""

import shlex
import time

import nodes
import pika
import pytest
from bridge_job import Job
from compiled import compiled

SIZES = {0: 20, 8: 500, 2048: 300, 131072: 30, 1 << 20: 5}


@pytest.fixture
def job(tmp_path, broker, unique):
    job = Job(tmp_path, broker, unique)
    yield job
    job.close()


@pytest.fixture
def channel(broker, connect):
    return connect(broker).channel()


def fill(job, channel, count, size=64, queue=None):
    channel.queue_declare(queue or job.name, durable=True)
    for number in range(count):
        named = pika.BasicProperties(message_id=f"{1:016x}-{number + 1:016x}")
        body = number.to_bytes(8, "little") * (size // 8)
        channel.basic_publish("", queue or job.name, body, named)


def left_in(channel, queue):
    return channel.queue_declare(queue, passive=True).method.message_count


def test_there_and_back_again_nothing_changes(job, connect):
    publishers = [
        job.publish(n, size, "--seed", size, bridge=len(SIZES)) for size, n in SIZES.items()
    ]
    job.start(*publishers, job.bridge("--exit-with-clients")).end()
    expected, total = job.expected(), sum(SIZES.values())
    job.start(job.consume(total), job.bridge("--exit-with-clients", "--prefetch", 40)).end()
    report = job.report(len(SIZES))
    assert (report["messages"], report["duplicates"]) == (total, 0)
    assert int(report["digest"], 16) == expected
    assert job.total("delivered") == job.total("acked") == total
    assert left_in(connect(job.brokers).channel(), job.name) == 0


def test_a_group_of_consumers_shares_a_queue(job, channel):
    fill(job, channel, 3000)
    shares = [job.consume(1000, "--credit", 16, bridge=3) for _ in range(3)]
    job.start(*shares, job.bridge("--exit-with-clients", declare=False)).end()
    reports = [job.report(number) for number in range(3)]
    assert [report["messages"] for report in reports] == [1000] * 3
    sums = sum(int(report["digest"], 16) for report in reports) % 2**64
    everything = Job(job.folder, job.brokers, job.name)
    fill(job, channel, 3000)
    everything.start(
        everything.consume(3000), everything.bridge("--exit-with-clients", declare=False)
    ).end()
    assert everything.expected() == sums


def holder(job, count):
    return [str(compiled("holder")), "2", job.name, str(count), str(job.folder)]


def test_what_a_killed_program_held_goes_to_another(job, channel):
    fill(job, channel, 400)
    go = job.folder / "go"  # the other one comes when the first has its share
    wait = f"until [ -e {shlex.quote(str(go))} ]; do sleep 0.05; done; exec "
    other = ["sh", "-c", wait + shlex.join(job.consume(400, bridge=2))]
    job.start(
        holder(job, 100), other, job.bridge("--exit-with-clients"), options=["--if-killed", "leave"]
    )
    job.eventually(lambda: "holding 100" in job.log, "a program that acknowledges nothing")
    go.touch()
    job.eventually(lambda: job.total("acked") == 300, "all that the other one can have")
    job.kill("holder")
    job.end(None)
    assert (job.report()["messages"], left_in(channel, job.name)) == (400, 0)
    assert "beyond its credit" not in job.log


def test_a_consumer_that_has_nothing_to_say_stays_connected(job, channel):
    fill(job, channel, 20)
    job.start(holder(job, 10), holder(job, 10), job.bridge("--heartbeat", 2))
    job.eventually(lambda: job.log.count("holding 10") == 2, "programs that acknowledge nothing")
    time.sleep(8)  # the broker hangs up on who is silent for two to three heartbeats
    assert job.log.count("consumer: connected") == 1, job.log
    assert "beyond its credit" not in job.log


def test_a_rejected_message_is_delivered_again(job, channel):
    fill(job, channel, 30)
    job.start(
        [str(compiled("rejecter")), "1", job.name, "30"], job.bridge("--exit-with-clients")
    ).end()
    assert "30 messages, each rejected once" in job.log
    assert job.total("delivered") == 60
    assert left_in(channel, job.name) == 0


def test_a_queue_that_is_not_there_is_refused(job):
    consumer = job.consume(5, "--timeout", "60s", queue=f"{job.name}.nowhere")
    job.start(consumer, job.bridge("--exit-with-clients")).end(1)
    assert f"404 NOT_FOUND - no queue '{job.name}.nowhere'" in job.log


def test_a_queue_that_is_not_served_is_refused(job, channel):
    fill(job, channel, 5, queue=f"{job.name}.other")
    consumer = job.consume(5, "--timeout", "60s", queue=f"{job.name}.other")
    job.start(consumer, job.bridge("--exit-with-clients", "--consume", job.name)).end(1)
    assert "this bridge does not serve it" in job.log


def test_a_queue_that_is_deleted_meanwhile_is_refused(job, channel):
    fill(job, channel, 5, queue=f"{job.name}.short")
    consumer = job.consume(6, "--timeout", "60s", queue=f"{job.name}.short")
    job.start(consumer, job.bridge("--exit-with-clients"))
    job.eventually(lambda: job.total("acked") == 5, "five messages")
    channel.queue_delete(f"{job.name}.short")
    job.end(1)
    assert "the queue was deleted" in job.log


def test_a_queue_of_the_bridge_is_declared_again_when_it_is_deleted(job, channel):
    fill(job, channel, 5)
    job.start(job.consume(8), job.bridge("--exit-with-clients"))
    job.eventually(lambda: job.total("acked") == 5, "five messages")
    channel.queue_delete(job.name)
    job.eventually(lambda: "cancelled the consumer" in job.log, "a bridge that notices")
    for number in range(5, 8):  # the same queue, whoever is first to declare it
        channel.queue_declare(job.name, durable=True)
        named = pika.BasicProperties(message_id=f"{1:016x}-{number + 1:016x}")
        channel.basic_publish("", job.name, number.to_bytes(8, "little"), named)
    job.end()


def test_nothing_is_lost_when_the_connection_of_a_consumer_is_closed(
    tmp_path, room, connect, unique
):
    job = Job(tmp_path, room, unique)
    fill(job, connect(room).channel(), 3000)
    job.start(job.consume(3000, "--credit", 8), job.bridge("--exit-with-clients", "--prefetch", 8))
    try:
        job.eventually(lambda: job.total("acked") > 100, "some messages")
        room.nodes[0].ctl("close_all_connections", "--vhost", room.vhost, "for a test")
        job.end()
    finally:
        job.close()
    assert job.report()["messages"] == 3000
    other = connect(room).channel()
    nodes.eventually(lambda: left_in(other, job.name) == 0, "an empty queue")
