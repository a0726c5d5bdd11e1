"""Nodes of a cluster that are killed, frozen and full: what of all that was sent is there after?

One cluster for all: it is of three nodes, and what breaks is the second of them. What becomes of
the messages of an emulated run is what docs/rabbitmq-model.md says.
"""

import os
import re
import signal
import threading
from pathlib import Path

import emulated
import nodes
import pika
import pytest
from bridge_job import Job, everything
from compiled import plain
from harness import left

from dvsim.broker import Brokers
from dvsim.contract.load import load
from dvsim.emulation.alarms import Death
from dvsim.emulation.messages import Asked
from dvsim.emulation.queues import Place, declared, measured
from dvsim.emulation.settings import Emulation
from dvsim.errors import RunFailed
from dvsim.progress import Progress


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Three nodes in a folder with spaces, made by a thread that has ended since."""
    made = []
    folder = tmp_path_factory.mktemp("with spaces") / "and a name"
    how = {"nodes": 3, "plugins": ["rabbitmq_management"], "directory": folder, "memory": 1 << 30}
    maker = threading.Thread(target=lambda: made.append(Brokers(**how)))
    maker.start()
    maker.join()
    with made[0] as brokers:
        yield brokers
    assert not folder.exists()


@pytest.fixture
def node(cluster):
    """The second one; it runs."""
    second = cluster.nodes[1]
    second.start()
    yield second
    left.keep(second.pid)  # whoever started it again, it is the cluster's


@pytest.fixture
def jobs(tmp_path, cluster, node, unique):
    """Two jobs whose bridges publish to the second node."""
    made = [Job(tmp_path / name, cluster, unique + name, node) for name in "ab"]
    for job in made:
        job.folder.mkdir()
    yield made
    for job in made:
        job.close()


def test_nodes_form_a_cluster(cluster):
    (known,) = cluster.clusters
    assert (known.name, [node.name for node in known.nodes]) == ("a", ["a1", "a2", "a3"])
    seen = cluster.control.status("a3")["running_nodes"]
    assert sorted(seen) == ["a1@localhost", "a2@localhost", "a3@localhost"]


def test_a_node_says_what_it_is(cluster, node):
    assert node.url == f"amqp://127.0.0.1:{node.port}/%2f"
    assert node.tls_url is None
    assert node.management_port == node.ports["management"]
    assert Path(f"/proc/{node.pid}/exe").resolve().name == "beam.smp"
    assert repr(node) == f"<Node a2 at {node.url}, pid {node.pid}>"
    said = f"started TCP listener on 127.0.0.1:{node.port}"
    nodes.eventually(lambda: said in node.log, "what the node writes when it is ready")
    assert cluster.version in node.ctl("version")


@pytest.mark.usefixtures("node")
@pytest.mark.parametrize("queue", ["quorum", "classic"])
@pytest.mark.parametrize(("balanced", "leaders"), [(True, ["a1", "a2", "a3"]), (False, ["a1"])])
def test_nodes_lead_queues_as_asked(cluster, unique, queue, balanced, leaders):
    names = [f"{unique}{number}" for number in range(3)]
    asked = Asked(64, 1, 1, queue=queue, queues=3, balanced=balanced)
    with declared(Place.of(cluster), names, asked):
        rows = cluster.nodes[0].ctl("list_queues", "--quiet", "--silent", "name", "leader", "pid")
    own = [row for row in rows.splitlines() if row.startswith(unique)]
    assert len(own) == 3
    assert sorted({re.search(r"(a\d)@localhost", row)[1] for row in own}) == leaders


@pytest.mark.parametrize("queue", ["quorum", "classic"])
@pytest.mark.usefixtures("node")
def test_each_message_of_an_emulated_run_is_somewhere_though_a_node_dies(cluster, queue):
    """Clients of the dead one go to others; what belongs to its classic queue waits for it."""
    due = [number / 300 for number in range(450)]
    asked = Asked(64, 450, 50, due=due, queue=queue, copies=3 if queue == "quorum" else None,
                  publishers=3, queues=3, consumers=3, away_s=0.2,
                  deaths=[Death(0.5, 0.8, range(1, 2))])  # fmt: skip
    seen = measured(Place.of(cluster), asked)
    assert seen.published == seen.confirmed == seen.delivered == 450
    assert (seen.refused, seen.queued) == (0, 0)
    (down,) = seen.downs
    assert down.node == "a2"
    assert 0.5 <= down.died < down.back
    if queue == "classic":  # a third of what was published meanwhile
        assert 0 < seen.resent <= 150
        assert seen.received_s > down.died + 0.3
    else:
        assert len(seen.syncs) == 2  # of those that did not die
        assert seen.resent <= 150  # the windows of its publishers, full when it died


def test_a_killed_node_comes_back_with_its_durable_queues(cluster, node, jobs, connect, unique):
    """And a bridge that publishes to it goes on; meanwhile the others are a broker."""
    first, _, third = cluster.nodes
    channel = connect(cluster, node).channel()
    channel.confirm_delivery()
    channel.queue_declare(unique, durable=True)
    node.sync()
    kept = pika.BasicProperties(delivery_mode=2)
    for number in range(50):
        channel.basic_publish("", unique, b"%d" % number, kept, mandatory=True)
    connect(cluster, third).channel().queue_declare(f"{unique}third")
    others = connect(cluster, first).channel()
    others.confirm_delivery()
    others.basic_publish("", f"{unique}third", b"by way of another node", mandatory=True)

    job, _ = jobs
    publishers = [
        job.publish(3000, 256, "--persistent", "--rate", 2000, bridge=2) for _ in range(2)
    ]
    job.start(*publishers, job.bridge("--exit-with-clients", "--connections", 2))
    job.eventually(lambda: job.total("confirmed") > 300, "some confirmed messages")
    before = node.pid
    node.kill()
    assert not node.alive
    assert node.pid is None
    assert node.management_port is None
    node.kill()
    job.eventually(lambda: job.last("connected") == 0, "a bridge that notices")
    assert others.basic_get(f"{unique}third", auto_ack=True)[2] == b"by way of another node"
    node.start()
    assert node.alive
    assert node.pid not in {before, None}
    node.start()  # it runs

    job.end()
    taken = everything(job, connect)
    assert job.total("republished") >= taken.duplicates
    assert "again in" in job.log
    assert job.total("confirmed") == 6000
    channel = connect(cluster, node).channel()
    taken = [channel.basic_get(unique, auto_ack=True)[2] for _ in range(50)]
    assert taken == [b"%d" % number for number in range(50)]


@pytest.mark.parametrize("resource", ["memory", "disk"])
def test_an_alarm_blocks_publishers_until_it_ends(cluster, node, jobs, connect, unique, resource):
    """One in Python, a bridge that waits, and a bridge that is asked to end meanwhile."""
    size, window, alarm = 131072, 64, getattr(node, f"{resource}_alarm")
    connection = connect(cluster, node)
    said = []
    connection.add_on_connection_blocked_callback(lambda *_: said.append("blocked"))
    connection.add_on_connection_unblocked_callback(lambda *_: said.append("unblocked"))
    channel = connection.channel()
    channel.queue_declare(unique, auto_delete=True)
    job, impatient = jobs
    job.vicbridge = plain()  # the sanitizers' own memory is no matter here
    alarm(True)
    try:
        assert [a["resource"] for a in cluster.control.status("a2")["alarms"]] == [resource]
        channel.basic_publish("", unique, b"waits")
        publisher = job.publish(300, size, "--seed", 3)
        job.start(publisher, job.bridge("--exit-with-clients", "--window", window))
        bridge = impatient.bridge("--drain-timeout", 0.5, "--window", 50, "--reconnect", "0.1:0.2")
        impatient.start(impatient.publish(500, 1000), bridge, options=["--if-killed", "leave"])
        nodes.eventually(lambda: pumped(connection) or said, "connection.blocked")
        job.eventually(lambda: job.last("blocked") == 1, "a bridge that knows")
        job.eventually(lambda: job.last("in_flight") == window, "a full window")
        status = Path(f"/proc/{job.pids('vicbridge')[0]}/status").read_text("ascii")
        (resident,) = re.findall(r"VmHWM:\s+(\d+) kB", status)
        assert int(resident) * 1024 < window * size + (64 << 20)
        assert job.last("connected") == 1
        impatient.eventually(lambda: impatient.last("in_flight") == 50, "a full window")
        impatient.kill("vicbridge", number=signal.SIGTERM)
        open_still = "5[01] messages were taken and are not confirmed"
        impatient.eventually(lambda: re.search(open_still, impatient.log), "an account")
    finally:
        alarm(False)
    nodes.eventually(lambda: pumped(connection) or said[-1] == "unblocked", "connection.unblocked")
    assert said == ["blocked", "unblocked"]
    nodes.eventually(lambda: channel.basic_get(unique, auto_ack=True)[0], "the message that waited")
    impatient.end(None)
    job.end()
    everything(job, connect)
    assert job.last("in_flight") == 0
    assert ("low on memory" if resource == "memory" else "low on disk") in job.log


def pumped(connection):
    connection.process_data_events(0.05)
    return False


def test_a_broker_that_stops_answering_is_left(node, jobs, connect):
    job, _ = jobs
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


def test_a_broker_that_is_killed_while_messages_are_sent_ends_the_runs(
    cluster, node, tmp_path, monkeypatch
):
    """One over TCP, as a command, and one over cards."""
    at = ["--url", node.url, "--credentials", str(cluster.credentials)]
    over_tcp = emulated.start(tmp_path / "runs", *emulated.LONG, *at)
    emulation = Emulation(urls=(node.url,), credentials=cluster.credentials)
    cards = load("h3/dv-8", ["workload.messages_per_second=20_000", 'loop="open"'])

    def under_way(progress, what, share, rate):
        if rate:
            os.kill(node.pid, signal.SIGKILL)

    try:
        publishers = emulated.publishers_of(over_tcp)
        nodes.eventually(lambda: messages_in(node), "messages over TCP")
        monkeypatch.setattr(Progress, "under_way", under_way)
        with pytest.raises(RunFailed, match=r"^h3/dv-8, iteration 1: "):
            emulated.ask(cards, emulation)
        _, said = over_tcp.communicate(timeout=nodes.DEADLINE_S)
    finally:
        over_tcp.kill()
        over_tcp.wait()
    assert over_tcp.returncode == 1, said
    assert re.search(r"h3/fdr-8, iteration 1: .*connection was lost", said, re.DOTALL), said
    assert "Traceback" not in said
    nodes.eventually(lambda: emulated.gone(publishers), "the end of the publishers")
    assert not (tmp_path / "runs").exists()
    assert emulated.jobs(node.url) == []


def messages_in(node):
    """Return whether a queue of an emulated run has any."""
    asked = ("list_queues", "--no-table-headers", "name", "messages")
    rows = [line.split() for line in node.ctl(*asked).splitlines()]
    return [name for name, depth in rows if name.startswith("dv-") and int(depth)]


def test_a_node_that_is_told_to_stop_does_so_tidily(cluster):
    _, second, third = cluster.nodes
    second.kill()
    third.stop()
    assert [node.alive for node in cluster.nodes] == [True, False, False]
    assert "stopped" in third.log
    third.stop()
