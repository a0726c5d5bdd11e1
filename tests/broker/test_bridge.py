"""vicbridge, from cards to a broker: does all arrive, unchanged, and is it said if it does not?"""

import itertools
import re
import subprocess

import pytest
from bridge_job import LIMIT_S, Job, asked, take
from compiled import ROOT, compiled, plain
from cutting_proxy import CuttingProxy

SIZES = {0: 300, 1: 300, 8: 2000, 256: 2000, 2048: 1000, 8192: 500, 131072: 60, 1 << 20: 8}


@pytest.fixture
def job(tmp_path, broker, unique):
    job = Job(tmp_path, broker, unique)
    yield job
    job.close()


def run(*arguments, **environment):
    program = compiled("vicbridge")
    return subprocess.run(
        [program, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=200,
        env={"PATH": "/usr/bin:/bin", **environment},
    )  # fmt: skip


def test_every_message_of_every_size_arrives_once(job, connect):
    publishers = [
        job.publish(count, size, "--seed", size, bridge=len(SIZES), key=f"k.{size}")
        for size, count in SIZES.items()
    ]
    job.start(*publishers, job.bridge("--connections", 3, "--exit-with-clients")).end()
    taken = take(connect(job.brokers).channel(), job.name)
    assert (len(taken.ids), taken.duplicates) == (sum(SIZES.values()), 0)
    assert taken.digest == job.expected()
    messages, size_total = sum(SIZES.values()), sum(size * count for size, count in SIZES.items())
    for column in ("messages", "published", "confirmed"):
        assert job.total(column) == messages
    assert job.total("bytes") == size_total
    assert job.total("republished") == job.total("returned") == job.total("nacked") == 0


def test_statistics_count_what_came_off_the_card(job):
    bridge = job.bridge("--exit-with-clients", "--stats-interval", "2ms", "--piece-words", 131)
    job.start(job.publish(500, 2048), bridge).end()
    comment, header = job.stats.read_text("ascii").splitlines()[:2]
    assert re.fullmatch(r"# CLOCK_MONOTONIC of the first row: \d+ ns", comment)
    assert header == (
        "start_ns,duration_ns,pieces,messages,bytes,published,confirmed,returned,nacked,"
        "republished,delivered,acked,in_flight,blocked,connected"
    )
    rows = job.rows()
    assert rows[0]["start_ns"] == 0
    for before, after in itertools.pairwise(rows):
        assert after["start_ns"] == before["start_ns"] + before["duration_ns"]
    assert max(row["in_flight"] for row in rows) <= 256
    assert job.total("pieces") == 1000  # 2048 B are 256 words: two pieces of 131
    for name in ("messages", "pieces", "published", "confirmed"):
        assert job.gauge(f"{name}_total") == job.total(name)
    assert job.gauge("confirm_seconds_count") == 500
    assert job.gauge("in_flight") == 0


def test_a_sender_keeps_its_order(job, connect):
    job.start(job.publish(3000, 8), job.bridge("--exit-with-clients", "--connections", 2)).end()
    channel = connect(job.brokers).channel()
    numbers = []
    for method, properties, body in channel.consume(job.name, inactivity_timeout=LIMIT_S):
        assert method is not None
        assert int(properties.message_id.split("-")[1], 16) == len(numbers) + 1
        assert properties.delivery_mode == 1
        numbers.append(int.from_bytes(body, "little"))
        if len(numbers) == 3000:
            channel.basic_ack(method.delivery_tag, multiple=True)
            break
    assert numbers == list(range(3000))
    channel.cancel()
    assert asked(channel, job.name).message_count == 0


def test_a_message_without_a_queue_is_reported(job):
    lost = job.publish(50, 100, key="nobody", bridge=2)
    job.start(lost, job.publish(70, 100, bridge=2), job.bridge("--exit-with-clients")).end(3)
    assert (job.report(0)["returned"], job.report(1)["returned"]) == (50, 0)
    assert job.total("returned") == 50
    assert job.total("confirmed") == 70
    assert job.log.count(f"no queue for routing key '{job.name}.nobody'") == 1
    assert "50 messages had no queue or were refused" in job.log


def test_without_mandatory_the_broker_drops_it(job):
    job.start(job.publish(50, 8, key="nobody"), job.bridge("--exit-with-clients", "--no-mandatory",
              declare=False)).end()  # fmt: skip
    assert (job.total("returned"), job.total("confirmed")) == (0, 50)


def test_what_the_broker_refuses_for_good_is_reported(job, connect):
    connect(job.brokers).channel().queue_declare(
        f"{job.name}.full",
        durable=True,
        arguments={"x-max-length": 5, "x-overflow": "reject-publish"},
    )
    bridge = job.bridge("--exit-with-clients", declare=False)
    bridge[bridge.index("--exchange") + 1] = ""
    job.start(job.publish(9, 10, key="full"), bridge).end(3)
    report = job.report()
    assert (report["refused"], report["confirmed"]) == (4, 9)
    assert job.total("nacked") == 4 * 6  # again and again, with pauses
    assert job.total("republished") == 4 * 5


def test_at_most_once_is_drained_too(job, connect):
    publisher = job.publish(4000, 256, "--at-most-once")
    job.start(publisher, job.bridge("--at-most-once", "--exit-with-clients")).end()
    taken = take(connect(job.brokers).channel(), job.name, unconfirmed=4000)
    assert (len(taken.ids), taken.digest) == (4000, job.expected())
    assert (job.total("published"), job.total("confirmed")) == (4000, 0)


def test_over_tls_with_a_certificate_of_its_own(job, connect):
    tls = job.brokers.tls
    bridge = job.bridge(
        "--exit-with-clients", "--cacert", tls / "ca.pem", "--cert", tls / "client.pem",
        "--key-file", tls / "client-key.pem", url=job.brokers.nodes[0].tls_url,
    )  # fmt: skip
    job.start(job.publish(500, 2048, bridge=2), job.publish(5, 1 << 20, bridge=2), bridge).end()
    taken = take(connect(job.brokers).channel(), job.name)
    assert (len(taken.ids), taken.digest) == (505, job.expected())


def test_the_second_broker_is_tried_when_the_first_is_not_there(job):
    bridge = job.bridge("--exit-with-clients", url="amqp://127.0.0.1:1")
    job.start(job.publish(20, 8), [*bridge, "--url", job.url()]).end()
    assert "127.0.0.1:1, vhost /: connecting: Connection refused; the next one" in job.log


def test_what_cannot_work_is_said_at_once_and_not_tried_again(job, tmp_path):
    node, brokers = job.brokers.nodes[0], job.brokers
    stranger = tmp_path / "stranger.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-noenc", "-subj", "/CN=stranger", "-keyout", tmp_path / "stranger.key", "-out", stranger,
         "-days", "2"],
        check=True, capture_output=True,
    )  # fmt: skip
    tls_port = int(node.tls_url.split(":")[2].split("/")[0])
    ca, us = ["--cacert", brokers.tls / "ca.pem"], ["--credentials", brokers.credentials]
    own = ["--cert", stranger, "--key-file", tmp_path / "stranger.key"]
    absent = ["--no-declare", "--exchange"]
    with CuttingProxy(node.port, []) as plain, CuttingProxy(tls_port, []) as tls:
        url, tls_url = f"amqp://127.0.0.1:{plain.port}/%2f", f"amqps://127.0.0.1:{tls.port}/%2f"
        nowhere, strange = url.replace("%2f", "nowhere"), "certificate|cert verification"
        for number, (expected, *arguments) in enumerate([
            ("403 ACCESS_REFUSED", "--url", url, "--exchange", "x"),
            ("530 NOT_ALLOWED", "--url", nowhere, *us),
            (strange, "--url", tls_url, *us, "--cacert", stranger),
            (strange, "--url", tls_url, *us, *ca, "--server-name", "other.example"),
            ("another --cert", "--url", tls_url, *us, *ca, *own),
            ("404 NOT_FOUND", "--url", url, *us, *absent, "nowhere"),
            ("404 NOT_FOUND", "--url", url, *us, *absent, "amq.topic", "--queue", "nowhere"),
            ("406 PRECONDITION_FAILED", "--url", url, *us, "--exchange", "amq.direct"),
        ], start=1):  # fmt: skip
            done = run(
                "--check", *arguments, VICBRIDGE_USER="somebody", VICBRIDGE_PASSWORD="s3cret-wrong"
            )
            assert done.returncode == 1, (arguments, done.stderr)
            wanted = f"vicbridge: error: amqps?://127.0.0.1:.*({expected})"
            assert re.search(wanted, done.stderr), done.stderr
            assert done.stderr.count("\n") == 1
            assert "s3cret" not in done.stderr
            assert plain.connections + tls.connections == number
        assert run("--check", "--url", url, *us).returncode == 0


def test_a_bridge_without_a_broker_takes_nothing_off_the_card(job):
    bridge = job.bridge("--exit-with-clients", declare=False)
    bridge[bridge.index("--credentials") + 1] = job.folder / "wrong"
    (job.folder / "wrong").touch(0o600)
    (job.folder / "wrong").write_text("somebody:s3cret-wrong\n", "ascii")
    job.start(job.publish(5, 8, "--timeout", "60s"), [str(word) for word in bridge]).end(1)
    assert "403 ACCESS_REFUSED" in job.log
    assert "s3cret" not in job.log
    assert not job.stats.exists()


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--windw", "3"], "no such option '--windw'; did you mean '--window'?"),
        (["--window", "0"], "--window: '0' is not a whole number, 1 .. 1000000"),
        (["--window"], "--window: needs a value"),
        (["--persistent=yes"], "--persistent: 'yes' is too much: it has no value"),
        (["--url", "http://x"], "--url: 'http://x' is not amqp://HOST"),
        (["--url", "amqp://me:pass-w@x"], "--url: has a password, which everybody"),
        (["--url", "amqp://x?heartbeat=5"], "has parameters (?...)"),
        (["--url", "amqps://x"], "--cacert: amqps needs the file"),
        (["--stats-interval", "5 parsecs"], "'5 parsecs' is not a time"),
        (["--reconnect", "5:1"], "'5:1' is not MIN:MAX in seconds"),
        (["--queue", "=x"], "'=x' is not NAME or NAME=BINDING"),
        (["--cert", "/dev/null"], "--cert: goes with --key-file"),
        (["--exit-with-clients=many"], "'many' is not a number of cards"),
        (["--credentials", "/nowhere"], "--credentials: '/nowhere' No such file"),
        ([], "the job has no other card"),
    ],
)
def test_a_wrong_command_line_is_refused(arguments, said):
    done = run(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "pass-w" not in done.stderr


def test_credentials_that_others_can_read_are_refused(tmp_path):
    path = tmp_path / "credentials"
    path.write_text("user:pass-w\n", "ascii")
    path.chmod(0o640)
    done = run("--credentials", path)
    assert done.returncode == 2
    assert "others can read it; chmod 600 first" in done.stderr


def test_help_is_short_and_names_every_option():
    told = run("--help").stdout
    assert told.count("\n") < 60
    assert max(map(len, told.splitlines())) <= 120
    manual = (ROOT / "emulator" / "bridge" / "vicbridge.1").read_text("utf-8").replace("\\-", "-")
    document = (ROOT / "docs" / "bridge.md").read_text("utf-8")
    for option in set(re.findall(r"--[a-z-]+", told)):
        assert option in manual, f"the manual page does not have {option}"
        assert option in document, f"docs/bridge.md does not have {option}"


def test_a_ring_that_does_not_fit_is_said(job):
    job.start(["true"], job.bridge("--exit-with-clients", "--ring", "16MiB")).end(1)
    assert "messages cannot be opened: no room in SRAM" in job.log


def test_a_key_for_those_without_and_the_end_of_some_cards(job, connect):
    """With a Prometheus file alone; what is not a client may go on."""
    publisher = job.publish(5, 8, bridge=2)
    publisher[publisher.index("--key") + 1] = ""
    bridge = job.bridge("--exit-with-clients=1", "--key", f"{job.name}.k.default")
    at = bridge.index("--stats")
    job.start(publisher, ["sh", "-c", "sleep 1"], [*bridge[:at], *bridge[at + 2 :]]).end()
    assert not job.stats.exists()
    assert job.gauge("confirmed_total") == 5
    channel = connect(job.brokers).channel()
    method, _, _ = channel.basic_get(job.name)
    assert method.routing_key == f"{job.name}.k.default"


def test_timed_mode_is_refused(job):
    job.vicbridge = plain()  # timed mode preloads a library
    bridge = job.bridge("--exit-with-clients")
    job.start(["true"], bridge, options=["--mode", "timed"]).end(2)
    assert "this job runs in timed mode, a broker does not" in job.log
