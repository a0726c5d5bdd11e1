"""vicbridge when something breaks: is every message there at the end, by id and MD5?"""

import os
import re
import shlex
import signal
import time
from pathlib import Path

import pytest
from bridge_job import PLAIN, Job, compiled, take
from cutting_proxy import CuttingProxy

from dvsim.broker import Brokers


@pytest.fixture(scope="module")
def fragile():
    """A node that these tests kill, freeze and fill."""
    with Brokers(memory=1 << 30) as brokers:
        yield brokers


@pytest.fixture
def job(tmp_path, fragile, unique):
    job = Job(tmp_path, fragile, unique)
    yield job
    job.close()


def everything(job, connect, *numbers):
    """Return what the queue holds after a look that it is all that was published."""
    taken = take(connect(job.brokers).channel(), job.name)
    chosen = numbers or range(len(job.reports))
    assert len(taken.ids) == sum(int(str(job.report(number)["messages"])) for number in chosen)
    assert taken.digest == job.expected(*chosen)
    return taken


def test_a_broker_that_is_killed_and_started_again(job, connect):
    node = job.brokers.nodes[0]
    publishers = [
        job.publish(6000, 256, "--persistent", "--rate", 2500, bridge=2) for _ in range(2)
    ]
    job.start(*publishers, job.bridge("--exit-with-clients", "--connections", 2))
    job.eventually(lambda: job.total("confirmed") > 1500, "some confirmed messages")
    node.kill()
    job.eventually(lambda: job.last("connected") == 0, "a bridge that notices")
    node.start()
    job.end()
    taken = everything(job, connect)
    assert job.total("republished") >= taken.duplicates
    assert "again in" in job.log
    assert job.total("confirmed") == 12000


def test_connections_that_are_cut_in_the_middle_of_a_frame(job, connect):
    cuts = [150_000, 60_001, 1_000_003, 131_073, 7, 3_000_017, 400_000]
    with CuttingProxy(job.brokers.nodes[0].port, cuts) as proxy:
        publishers = [job.publish(3000, 8, bridge=3), job.publish(500, 8192, bridge=3),
                      job.publish(40, 300_000, bridge=3)]  # fmt: skip
        bridge = job.bridge("--exit-with-clients", url=f"amqp://127.0.0.1:{proxy.port}")
        job.start(*publishers, bridge).end()
        assert proxy.cut == len(cuts)
    everything(job, connect)


@pytest.mark.parametrize("alarm", ["memory_alarm", "disk_alarm"])
def test_an_alarm_of_the_broker_is_waited_for(job, connect, alarm):
    node, size, window = job.brokers.nodes[0], 131072, 64
    job.flags = PLAIN  # the sanitizers' own memory is no matter here
    publisher = job.publish(700, size, "--seed", 3)
    getattr(node, alarm)(True)
    try:
        job.start(publisher, job.bridge("--exit-with-clients", "--window", window))
        job.eventually(lambda: job.last("blocked") == 1, "a bridge that knows")
        job.eventually(lambda: job.last("in_flight") == window, "a full window")
        status = Path(f"/proc/{job.pids('vicbridge')[0]}/status").read_text("ascii")
        (resident,) = re.findall(r"VmHWM:\s+(\d+) kB", status)
        assert int(resident) * 1024 < window * size + (64 << 20)
        assert job.last("connected") == 1
    finally:
        getattr(node, alarm)(False)
    job.end()
    everything(job, connect)
    assert job.last("in_flight") == 0
    assert ("low on memory" if alarm == "memory_alarm" else "low on disk") in job.log


def test_a_bridge_that_is_killed_again_and_again(job, connect):
    publishers = [job.publish(5000, 64, "--rate", 2000, bridge=2) for _ in range(2)]
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


def test_a_broker_that_stops_answering_is_left(job, connect):
    node = job.brokers.nodes[0]
    job.start(
        job.publish(4000, 64, "--rate", 2000), job.bridge("--exit-with-clients", "--heartbeat", 1)
    )
    job.eventually(lambda: job.total("confirmed") > 500, "some confirmed messages")
    os.kill(node.pid, signal.SIGSTOP)
    try:
        job.eventually(lambda: "nothing was heard" in job.log, "a bridge that notices")
    finally:
        os.kill(node.pid, signal.SIGCONT)
    job.end()
    everything(job, connect)


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


def test_a_bridge_that_cannot_finish_says_what_is_open(job):
    node = job.brokers.nodes[0]
    bridge = job.bridge("--drain-timeout", 0.5, "--window", 50, "--reconnect", "0.1:0.2")
    job.start(job.publish(500, 1000), bridge, options=["--if-killed", "leave"])
    job.eventually(lambda: job.total("confirmed") > 50, "some confirmed messages")
    node.memory_alarm(True)
    try:
        job.eventually(
            lambda: job.total("confirmed") == 500 or job.last("in_flight") == 50, "a stop"
        )
        if job.total("confirmed") < 500:
            job.kill("vicbridge", number=signal.SIGTERM)
            job.eventually(
                lambda: re.search("5[01] messages were taken and are not confirmed", job.log),
                "an account",
            )
    finally:
        node.memory_alarm(False)
    job.end(None)


def test_only_refusals_count_as_refusals(job):
    """A link that had nothing to do and was closed four times: rights have their five tries."""
    node, user, go = job.brokers.nodes[0], job.brokers.user, job.folder / "go"
    late = shlex.join(job.publish(5, 8))
    wait = ["sh", "-c", f"until [ -e {go} ]; do sleep 0.1; done; exec {late}"]
    job.start(wait, job.bridge(declare=False), options=["--if-killed", "leave"])
    for connected in range(1, 5):
        job.eventually(
            lambda n=connected: job.log.count("publisher 0: connected") == n, "a connection"
        )
        node.ctl("close_all_connections", "--vhost", "/", "for a test")
    job.eventually(lambda: job.log.count("publisher 0: connected") == 5, "the last connection")
    node.ctl("set_permissions", user, ".*", "", ".*")
    try:
        go.touch()
        job.eventually(lambda: "messages taken" in job.log, "the end of the bridge")
    finally:
        node.ctl("set_permissions", user, ".*", ".*", ".*")
    assert job.log.count("warning: " + job.url().partition("/%2f")[0]) == 4 + 5, job.log
    assert job.log.count("publishing: 403 ACCESS_REFUSED") == 5 + 1
    job.close()


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
