"""Private RabbitMQ nodes: are they ready, on their own, and breakable?"""

import os
import shutil
import ssl
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import nodes
import pika
import pika.exceptions
import pytest

import dvsim
from dvsim.broker import Brokers
from dvsim.errors import DvsimError

LOOPBACK = {"0100007F", "00000000000000000000000001000000"}


@pytest.fixture(scope="module")
def rich(tmp_path_factory):
    """One node with plug-ins, in a folder with spaces, made by a thread that has ended since."""
    made = []
    plugins = ["rabbitmq_management", "rabbitmq_mqtt", "rabbitmq_prometheus"]
    folder = tmp_path_factory.mktemp("with spaces") / "and a name"
    how = {"plugins": plugins, "directory": folder, "memory": 1 << 30}
    maker = threading.Thread(target=lambda: made.append(Brokers(**how)))
    maker.start()
    maker.join()
    with made[0] as brokers:
        yield brokers
    assert not folder.exists()


def test_a_message_goes_through(broker, connect, unique):
    channel = connect(broker).channel()
    channel.queue_declare(unique, auto_delete=True)
    channel.confirm_delivery()
    channel.basic_publish("", unique, b"\0body", mandatory=True)
    assert channel.basic_get(unique, auto_ack=True)[2] == b"\0body"


def test_a_node_says_what_it_is(broker):
    (cluster,) = broker.clusters
    (node,) = cluster.nodes
    assert (cluster.name, node.name) == ("a", "a1")
    assert node.url == f"amqp://127.0.0.1:{node.port}/%2f"
    assert node.tls_url.startswith("amqps://127.0.0.1:")
    assert node.management_port is None
    assert Path(f"/proc/{node.pid}/exe").resolve().name == "beam.smp"
    said = f"started TCP listener on 127.0.0.1:{node.port}"
    nodes.eventually(lambda: said in node.log, "what the node writes when it is ready")
    assert broker.version in node.ctl("version")


def test_everything_listens_on_loopback_only(rich):
    ours = nodes.processes(rich.credentials.parent)
    assert rich.nodes[0].pid in ours
    found = nodes.listening(ours)
    assert {address for address, _ in found} <= LOOPBACK
    ports = {port for _, port in found}
    wanted = rich.nodes[0].ports
    assert set(wanted) == {"management", "mqtt", "prometheus"}
    # beside those: AMQP, between nodes, epmd
    assert len(ports) == 6
    assert {*wanted.values(), rich.nodes[0].port, rich.control.epmd_port} < ports


def test_nobody_else_learns_the_password(broker):
    folder = broker.credentials.parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(broker.credentials.stat().st_mode) == 0o600
    assert broker.credentials.read_text("utf-8") == f"{broker.user}:{broker.password}\n"
    everybody = map(nodes.known_of, nodes.all_processes())
    assert not any(broker.password in said for said in everybody)
    assert broker.password not in broker.nodes[0].log


@pytest.mark.parametrize("user", ["guest", None])
def test_there_is_no_other_user(broker, user):
    credentials = pika.PlainCredentials(user or broker.user, "guest")
    where = pika.ConnectionParameters("127.0.0.1", broker.nodes[0].port, credentials=credentials)
    with pytest.raises(pika.exceptions.ProbableAuthenticationError):
        pika.BlockingConnection(where)


def test_tls_is_verified_by_both_sides(broker, connect):
    port = int(broker.nodes[0].tls_url.split(":")[2].split("/")[0])
    trusting = ssl.create_default_context(cafile=broker.tls / "ca.pem")
    trusting.load_cert_chain(broker.tls / "client.pem", broker.tls / "client-key.pem")

    def parameters(context):
        return pika.ConnectionParameters(
            "127.0.0.1",
            port,
            credentials=pika.PlainCredentials(broker.user, broker.password),
            ssl_options=pika.SSLOptions(context, "localhost"),
        )

    pika.BlockingConnection(parameters(trusting)).close()
    for name in ("ca-key.pem", "server-key.pem", "client-key.pem"):
        assert stat.S_IMODE((broker.tls / name).stat().st_mode) == 0o600
    with pytest.raises(ssl.SSLCertVerificationError):
        pika.BlockingConnection(parameters(ssl.create_default_context()))


def test_a_killed_node_comes_back_with_its_durable_queues(rich, connect, unique):
    (node,) = rich.nodes
    channel = connect(rich).channel()
    channel.confirm_delivery()
    channel.queue_declare(unique, durable=True)
    node.sync()
    kept = pika.BasicProperties(delivery_mode=2)
    for number in range(50):
        channel.basic_publish("", unique, b"%d" % number, kept, mandatory=True)
    before = node.pid
    node.kill()
    assert not node.alive
    assert node.pid is None
    assert node.management_port is None
    node.kill()
    node.start()
    assert node.alive
    assert node.pid not in {before, None}
    assert repr(node) == f"<Node a1 at {node.url}, pid {node.pid}>"
    node.start()  # it runs
    channel = connect(rich).channel()
    taken = [channel.basic_get(unique, auto_ack=True)[2] for _ in range(50)]
    assert taken == [b"%d" % number for number in range(50)]


@pytest.mark.parametrize("resource", ["memory", "disk"])
def test_an_alarm_blocks_a_publisher_until_it_ends(rich, connect, unique, resource):
    node = rich.nodes[0]
    alarm = getattr(node, f"{resource}_alarm")
    connection = connect(rich)
    said = []
    connection.add_on_connection_blocked_callback(lambda *_: said.append("blocked"))
    connection.add_on_connection_unblocked_callback(lambda *_: said.append("unblocked"))
    channel = connection.channel()
    channel.queue_declare(unique, auto_delete=True)
    alarm(True)
    try:
        assert [a["resource"] for a in rich.control.status("a1")["alarms"]] == [resource]
        channel.basic_publish("", unique, b"waits")
        nodes.eventually(lambda: pumped(connection) or said, "connection.blocked")
    finally:
        alarm(False)
    nodes.eventually(lambda: pumped(connection) or said[-1] == "unblocked", "connection.unblocked")
    assert said == ["blocked", "unblocked"]
    nodes.eventually(lambda: channel.basic_get(unique, auto_ack=True)[0], "the message that waited")


def pumped(connection):
    connection.process_data_events(0.05)
    return False


def test_rabbitmqctl_that_fails_says_why(broker):
    with pytest.raises(DvsimError, match="rabbitmqctl list_vhosts nonsense on a1"):
        broker.nodes[0].ctl("list_vhosts", "nonsense")


def test_nodes_form_a_cluster(own_broker, connect, unique):
    brokers = own_broker(nodes=3)
    seen = brokers.control.status("a3")["running_nodes"]
    assert sorted(seen) == ["a1@localhost", "a2@localhost", "a3@localhost"]
    first, second, third = brokers.nodes
    connect(brokers, third).channel().queue_declare(unique)
    channel = connect(brokers, first).channel()
    channel.confirm_delivery()
    channel.basic_publish("", unique, b"by way of another node", mandatory=True)
    second.kill()
    assert channel.basic_get(unique, auto_ack=True)[2] == b"by way of another node"
    third.stop()
    assert [node.alive for node in brokers.nodes] == [True, False, False]
    assert "stopped" in third.log
    third.stop()


@pytest.fixture
def public():
    """A folder with dvsim that everybody can read, wherever the checkout is."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        here = Path(dvsim.__file__).parent
        shutil.copytree(here, Path(folder) / "dvsim", ignore=shutil.ignore_patterns("__pycache__"))
        yield folder


@pytest.mark.skipif(os.getuid() != 0, reason="every other test here is run by an ordinary user")
def test_an_ordinary_user_can_run_nodes(public):
    script = (
        "import os\n"
        "from dvsim.broker import Brokers\n"
        "with Brokers() as brokers:\n"
        "    print(os.getuid(), 'administrator' in brokers.nodes[0].ctl('list_users'))\n"
    )
    done = subprocess.run(
        [python_for_all(), "-c", script],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        env={"PATH": os.environ["PATH"], "PYTHONPATH": public},
        user=65534,
        group=65534,
        extra_groups=[],
    )
    assert (done.returncode, done.stdout) == (0, "65534 True\n"), done.stderr


def python_for_all():
    """Return a Python that others may run: a .venv, and what it was made with, may be private."""
    for python in (Path(sys.executable).resolve(), Path("/usr/bin/python3")):
        if all(folder.stat().st_mode & 0o001 for folder in (python, *python.parents)):
            return python
    pytest.fail("no Python here that others may run: apt install python3")
