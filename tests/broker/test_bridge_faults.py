"""vicbridge when programs and connections break: is all there at the end, by id and MD5?"""

import os
import re
import shlex
import signal
import time

import pytest
from bridge_job import Job, everything, take
from compiled import compiled
from cutting_proxy import CuttingProxy


@pytest.fixture
def job(tmp_path, broker, unique):
    job = Job(tmp_path, broker, unique)
    yield job
    job.close()


def test_connections_that_are_cut_in_the_middle_of_a_frame(job, connect):
    cuts = [150_000, 60_001, 1_000_003, 131_073, 7, 3_000_017, 400_000]
    with CuttingProxy(job.brokers.nodes[0].port, cuts) as proxy:
        publishers = [job.publish(3000, 8, bridge=3), job.publish(500, 8192, bridge=3),
                      job.publish(40, 300_000, bridge=3)]  # fmt: skip
        bridge = job.bridge("--exit-with-clients", url=f"amqp://127.0.0.1:{proxy.port}")
        job.start(*publishers, bridge).end()
        assert proxy.cut == len(cuts)
    everything(job, connect)


def test_a_broker_that_takes_nothing_more_in_the_middle_of_a_frame(job, connect):
    """Over TLS, where a call of the library waits for it: after two heartbeats the next try."""
    node, tls = job.brokers.nodes[0], job.brokers.tls
    tls_port = int(node.tls_url.split(":")[2].split("/")[0])
    with CuttingProxy(tls_port, [20_000], holds=True) as proxy:
        bridge = job.bridge(
            "--exit-with-clients", "--heartbeat", 1, "--cacert", tls / "ca.pem",
            "--cert", tls / "client.pem", "--key-file", tls / "client-key.pem",
            url=f"amqps://127.0.0.1:{proxy.port}",
        )  # fmt: skip
        job.start(job.publish(20, 300_000), bridge)
        job.eventually(lambda: proxy.connections == 2, "a second connection")
        job.end()
        assert proxy.cut == 1
    assert job.log.count("took nothing for two heartbeats, in the middle of a frame") == 1, job.log
    everything(job, connect)


def test_a_bridge_without_heartbeats_can_be_ended_in_the_middle_of_a_frame(job):
    """Nothing tells it that the broker takes nothing more; a signal ends the call that waits."""
    node, tls = job.brokers.nodes[0], job.brokers.tls
    tls_port = int(node.tls_url.split(":")[2].split("/")[0])
    with CuttingProxy(tls_port, [20_000], holds=True) as proxy:
        bridge = job.bridge(
            "--heartbeat", 0, "--drain-timeout", 1, "--cacert", tls / "ca.pem",
            "--cert", tls / "client.pem", "--key-file", tls / "client-key.pem",
            url=f"amqps://127.0.0.1:{proxy.port}",
        )  # fmt: skip
        job.start(job.publish(20, 300_000), bridge)
        job.eventually(lambda: proxy.cut == 1, "a broker that takes nothing more")
        job.kill("vicbridge", number=signal.SIGTERM)
        job.end(128 + signal.SIGTERM)
        assert proxy.connections == 1
    assert "have not been told" in job.log, job.log


def test_without_confirms_a_broker_that_does_not_answer_at_the_end_is_an_error(job):
    """It may not have taken everything."""
    with CuttingProxy(job.brokers.nodes[0].port, [3000], holds=True) as proxy:
        bridge = job.bridge("--at-most-once", "--exit-with-clients", "--drain-timeout", 1,
                            url=f"amqp://127.0.0.1:{proxy.port}")  # fmt: skip
        job.start(job.publish(50, 100, "--at-most-once"), bridge).end(1)
        assert proxy.cut == 1
    assert job.total("published") == 50
    assert job.log.count("what was published last may be lost") == 1, job.log


def test_a_bridge_that_is_killed_again_and_again(job, connect):
    publishers = [job.publish(5000, 64, "--rate", 1000, bridge=2) for _ in range(2)]
    job.start(*publishers, job.bridge("--exit-with-clients"), options=["--if-killed", "restart"])
    killed: set[int] = set()

    def works():
        return job.total("confirmed") > 300 and set(job.pids("vicbridge")) - killed

    for _ in range(3):
        job.eventually(works, "a bridge that works")
        (bridge,) = set(job.pids("vicbridge")) - killed
        os.kill(bridge, signal.SIGKILL)
        killed.add(bridge)
    job.end(None)
    taken = everything(job, connect)
    repeated = sum(int(str(job.report(number)["repeated"])) for number in range(2))
    assert repeated > 0 and taken.duplicates <= repeated
    assert all(job.report(number)["confirmed"] == 5000 for number in range(2))


def test_a_sender_that_is_killed_leaves_the_others_whole(job, connect):
    publishers = [
        job.publish(100_000, 512, "--rate", 3000, bridge=2),
        job.publish(3000, 512, bridge=2),
    ]
    job.start(*publishers, job.bridge("--exit-with-clients"), options=["--if-killed", "leave"])
    job.eventually(lambda: job.total("confirmed") > 3500, "messages of both")
    job.kill("vicload")
    job.end(None)
    report = job.report(1)
    taken = take(connect(job.brokers).channel(), job.name)
    assert taken.of(str(report["session"])).digest == job.expected(1)
    assert len(taken.ids) == job.total("confirmed") == job.total("messages")


def test_asked_to_stop_it_finishes_what_it_took(job, connect):
    publisher = job.publish(200_000, 256, "--timeout", "30s")
    job.start(publisher, job.bridge(), options=["--if-killed", "leave"])
    job.eventually(lambda: job.total("confirmed") > 2000, "some confirmed messages")
    job.kill("vicbridge", number=signal.SIGTERM)
    job.eventually(lambda: "messages taken" in job.log, "the bridge's last words")
    job.eventually(lambda: not job.pids("vicbridge"), "its end")
    job.end(None)
    taken = take(connect(job.brokers).channel(), job.name)
    assert len(taken.ids) == job.total("messages") == job.total("confirmed")
    assert taken.duplicates == 0
    assert "were taken and are not confirmed" not in job.log


@pytest.fixture
def apart(tmp_path, room, unique):
    """A job in a virtual host of its own, whose connections and rights may be taken away."""
    job = Job(tmp_path, room, unique)
    yield job
    job.close()


def test_a_right_that_is_taken_away_ends_nothing(apart, room):
    """What is published meanwhile is refused; that the link was closed four times is no harm."""
    job = apart
    node, user = job.brokers.nodes[0], job.brokers.user

    def waits(command):
        go = job.folder / f"go{len(job.reports)}"
        script = f"until [ -e {go} ]; do sleep 0.1; done; exec {shlex.join(command)}"
        return ["sh", "-c", script], go

    (first, go), (second, later) = (waits(job.publish(5, 8, bridge=2)) for _ in range(2))
    bridge = job.bridge("--reconnect", "0.2:0.4", "--exit-with-clients", declare=False)
    job.start(first, second, bridge, options=["--if-killed", "leave"])
    for connected in range(1, 5):
        job.eventually(
            lambda n=connected: job.log.count("publisher 0: connected") == n, "a connection"
        )
        node.ctl("close_all_connections", "--vhost", room.vhost, "for a test")
    job.eventually(lambda: job.log.count("publisher 0: connected") == 5, "the last connection")
    node.ctl("set_permissions", "-p", room.vhost, user, ".*", "", ".*")
    try:
        go.touch()
        job.eventually(job.reports[0].exists, "the first report")
    finally:
        node.ctl("set_permissions", "-p", room.vhost, user, ".*", ".*", ".*")
    later.touch()
    job.end(None)
    assert (job.report(0)["refused"], job.report(1)["refused"]) == (5, 0)
    assert (job.report(0)["confirmed"], job.report(1)["confirmed"]) == (5, 5)
    assert job.log.count("403 ACCESS_REFUSED") >= 5


def test_asked_to_stop_while_nothing_is_taken_it_ends(job):
    """The broker has gone and the window is full: what was waited with for room is the last."""
    with CuttingProxy(job.brokers.nodes[0].port, [40_000, *[0] * 99]) as proxy:
        url = f"amqp://127.0.0.1:{proxy.port}"
        bridge = job.bridge("--drain-timeout", 0.5, "--window", 50, "--reconnect", "60:60", url=url)
        publisher = job.publish(20_000, 1000, "--timeout", "20s")
        job.start(publisher, bridge, options=["--if-killed", "leave"])
        job.eventually(lambda: job.last("connected") == 0, "a bridge that notices")
        job.eventually(lambda: job.last("in_flight") == 50, "a full window")
        time.sleep(0.5)  # the next message is off the card
        job.kill("vicbridge", number=signal.SIGTERM)
        job.eventually(lambda: not job.pids("vicbridge"), "its end")
        assert re.search("5[01] messages were taken and are not confirmed", job.log), job.log
        job.end(None)


def test_whatever_cards_send_it_goes_on(job, connect):
    hostile = [str(compiled("hostile")), "2", job.name, "20000"]
    job.start(hostile, job.publish(2000, 700, bridge=2), job.bridge("--exit-with-clients")).end(
        None
    )
    report = job.report(1 - 1)
    taken = take(connect(job.brokers).channel(), job.name)
    assert taken.of(str(report["session"])).digest == job.expected()
    assert report["confirmed"] == 2000
    assert "hostile: done, refused" in job.log
    assert job.gauge("malformed_total") > 1000
