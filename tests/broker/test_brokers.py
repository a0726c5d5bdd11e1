"""Private RabbitMQ nodes: are they ready, and on their own?"""

import ssl
import stat

import nodes
import pika
import pika.exceptions
import pytest

from dvsim.errors import DvsimError

LOOPBACK = {"0100007F", "00000000000000000000000001000000"}


def test_a_message_goes_through(broker, connect, unique):
    channel = connect(broker).channel()
    channel.queue_declare(unique, auto_delete=True)
    channel.confirm_delivery()
    channel.basic_publish("", unique, b"\0body", mandatory=True)
    assert channel.basic_get(unique, auto_ack=True)[2] == b"\0body"


def test_everything_listens_on_loopback_only(broker):
    ours = nodes.processes(broker.credentials.parent)
    assert broker.nodes[0].pid in ours
    found = nodes.listening(ours)
    assert {address for address, _ in found} <= LOOPBACK
    ports = {port for _, port in found}
    wanted = broker.nodes[0].ports
    assert set(wanted) == {"management", "mqtt", "prometheus"}
    # beside those: AMQP, AMQP over TLS, between nodes, epmd
    assert len(ports) == 7
    tls_port = int(broker.nodes[0].tls_url.split(":")[2].split("/")[0])
    assert {*wanted.values(), broker.nodes[0].port, tls_port, broker.control.epmd_port} < ports


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


def test_rabbitmqctl_that_fails_says_why(broker):
    with pytest.raises(DvsimError, match="rabbitmqctl list_vhosts nonsense on a1"):
        broker.nodes[0].ctl("list_vhosts", "nonsense")
