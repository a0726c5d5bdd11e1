"""A message that the broker refuses goes back to its sender with the reason; all others go on."""

import json
import re
import sys

import pytest
from bridge_job import Job, asked
from compiled import ROOT

from dvsim.broker import Brokers

CLIENT = """
import json, sys
from dvsim import vic
from dvsim.vic import Flag
bridge, prefix, plan = int(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
with vic.open() as card, card.client(returns=True, persistent=True) as client:
    for key, size in plan:
        client.publish(bridge, prefix + key, bytes(size))
    client.flush(40)
    back = []
    while True:
        try:
            d = client.recv(0)
        except vic.TimedOut:
            break
        back.append([d.key[len(prefix):], len(d.body), d.reason, bool(d.flags & Flag.REFUSED)])
    n = client.counts()
    said = [card.number, n.confirmed, n.refused, n.unconfirmed, sorted(back)]
    print(json.dumps(said), flush=True)
"""
LIMIT, LONG = 1 << 20, (1 << 20) + 1
MANY = [["k", 100]] * 40


@pytest.fixture(scope="module")
def strict(tmp_path_factory):
    """A node that takes messages of 1 MiB at most, and keys that begin with ``no`` from nobody."""
    with Brokers(directory=tmp_path_factory.mktemp("strict") / "nodes") as brokers:
        ctl = brokers.nodes[0].ctl
        ctl("eval", f"application:set_env(rabbit, max_message_size, {LIMIT}).")
        yield brokers


@pytest.fixture
def job(tmp_path, strict, unique):
    job = Job(tmp_path, strict, unique)
    yield job
    job.close()


def client(job, bridge, plan):
    return [sys.executable, "-c", CLIENT, str(bridge), f"{job.name}.", json.dumps(plan)]


def answers(job):
    """Return what each client has printed, by card."""
    found = [json.loads(line) for line in job.log.splitlines() if line.startswith("[")]
    return {card: rest for card, *rest in found}


def rights_of_topics(job, pattern):
    job.brokers.nodes[0].ctl(
        "set_topic_permissions", job.brokers.user, f"x{job.name}", pattern, ".*"
    )


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--window", 1),
        ("--connections", 2),
        ("--connections", 3, "--window", 7),
        ("--persistent",),
    ],
)
def test_what_one_card_may_not_publish_is_no_harm_to_others(job, connect, options):
    """Too long, and a key that the user may not use, between and behind good ones."""
    bad = [["k", 10], ["k", LONG], *MANY, ["no.k", 5], ["k", LIMIT], ["k", 2 * LONG], ["k", 11]]
    bridge = job.bridge("--exit-with-clients", *options)
    channel = connect(job.brokers).channel()
    channel.exchange_declare(f"x{job.name}", "topic", durable=True)
    rights_of_topics(job, rf"^{job.name}\.k")
    job.start(client(job, 2, bad), client(job, 2, MANY * 10), bridge).end(3)
    said = answers(job)
    confirmed, refused, left, back = said[0]
    assert (confirmed, refused, left) == (len(bad), 3, 0)
    assert [one[:2] for one in back] == [["k", LONG], ["k", 2 * LONG], ["no.k", 5]]
    assert all(one[3] for one in back)
    assert "406" in back[0][2] and str(LONG) in back[0][2]
    assert "406" in back[1][2] and str(2 * LONG) in back[1][2]
    assert "403" in back[2][2]
    assert said[1][:3] == [400, 0, 0]
    assert job.gauge("refused_total") == 3
    assert job.gauge("confirmed_total") == len(bad) - 3 + 400
    assert job.gauge("reconnects_total") == 0  # channels are opened anew, not connections
    ids = set()
    for method, properties, _ in channel.consume(job.name, inactivity_timeout=1):
        if method is None:
            break
        ids.add(properties.message_id)
    channel.cancel()
    assert len(ids) == len(bad) - 3 + 400


def test_over_tls_too(tmp_path, room, unique, connect):
    job = Job(tmp_path, room, unique)
    tls, node = room.tls, room.nodes[0]
    channel = connect(room).channel()
    channel.exchange_declare(f"x{unique}", "topic", durable=True)
    node.ctl(
        "set_topic_permissions", "-p", room.vhost, room.user, f"x{unique}", rf"^{unique}\.k", ".*"
    )
    keys = ["--cacert", tls / "ca.pem", "--cert", tls / "client.pem"]
    keys += ["--key-file", tls / "client-key.pem"]
    bridge = job.bridge("--exit-with-clients", *keys, url=node.tls_url)
    job.start(client(job, 1, [*MANY, ["no", 300_000], *MANY]), bridge).end(3)
    assert answers(job)[0][:3] == [81, 1, 0]


@pytest.mark.parametrize("declare", [False, True])
def test_an_exchange_that_is_missing_for_a_while(job, connect, declare):
    """Declared anew by the bridge; with --no-declare what is published meanwhile is refused."""
    channel = connect(job.brokers).channel()
    channel.exchange_declare(f"x{job.name}", "topic", durable=True)
    channel.queue_declare(job.name, durable=True)
    channel.queue_bind(job.name, f"x{job.name}", f"{job.name}.#")
    how = [] if declare else ["--no-declare"]
    plan = client(job, 2, [["k", 1]] * 5)
    wait = 'until [ -e "$0" ]; do sleep 0.1; done; exec "$@"'
    first, later = (["sh", "-c", wait, str(job.folder / go), *plan] for go in ("gone", "go"))
    job.start(first, later, job.bridge("--exit-with-clients", *how, declare=declare))
    job.eventually(lambda: "connected to" in job.log, "a connection")
    channel.exchange_delete(f"x{job.name}")
    (job.folder / "gone").touch()
    job.eventually(lambda: 0 in answers(job), "an answer")
    channel.exchange_declare(f"x{job.name}", "topic", durable=True)
    channel.queue_bind(job.name, f"x{job.name}", f"{job.name}.#")
    (job.folder / "go").touch()
    job.end(0 if declare else 3)
    confirmed, refused, left, back = answers(job)[0]
    assert (confirmed, left, answers(job)[1][:3]) == (5, 0, [5, 0, 0])
    assert refused == (0 if declare else 5)
    assert all("404" in one[2] for one in back)
    assert asked(channel, job.name).message_count >= (10 if declare else 5)


def test_a_bridge_that_is_killed_and_restarted_finds_it_again(job):
    plan = [*MANY, ["k", LONG], *MANY * 20]
    job.start(
        client(job, 1, plan), job.bridge("--exit-with-clients"), options=["--if-killed", "restart"]
    )
    job.eventually(lambda: "is refused" in job.log, "the refusal")
    job.kill("vicbridge")
    job.end(None)
    confirmed, refused, left, back = answers(job)[0]
    assert (confirmed, left, refused) == (len(plan), 0, 1)
    assert back[0][1] == LONG


def test_a_bridge_that_is_told_to_end_gives_back_what_it_has_first(job):
    plan = [["k", 9], ["k", LONG], *MANY * 50]
    job.start(client(job, 1, plan), job.bridge("--drain-timeout", 60, "--window", 64))
    job.eventually(lambda: job.total("messages") > 1, "messages")
    job.kill("vicbridge", number=15)
    job.eventually(lambda: not job.pids("vicbridge"), "its end")
    assert "are not confirmed" not in job.log
    assert re.search(r" 1 refused;", job.log), job.log
    job.close()


def test_without_confirms_it_goes_on_too(job):
    plan = [["k", 9], ["k", LONG], ["k", 9]]
    job.start(
        client(job, 2, plan),
        client(job, 2, [["k", 1]] * 50),
        job.bridge("--exit-with-clients", "--at-most-once"),
    ).end(None)
    assert {card: rest[0] for card, rest in answers(job).items()} == {0: 3, 1: 50}


@pytest.mark.parametrize("there", [False, True])
def test_the_loop_of_the_page_ends_without_its_queue(job, connect, there):
    """It is missing, or deleted while the loop waits: in both cases the reason is no message."""
    text = (ROOT / "docs" / "client.md").read_text("utf-8")
    (shown,) = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    for name, ours in (("orders.eu", f"{job.name}.k"), ("orders", job.name)):
        assert f'"{name}"' in shown
        shown = shown.replace(f'"{name}"', repr(ours))
    if not there:
        shown = shown.replace(f"subscribe(bridge, {job.name!r}", "subscribe(bridge, 'nothing'")
    channel = connect(job.brokers).channel()
    if there:
        channel.queue_declare(job.name, durable=True)
        channel.exchange_declare(f"x{job.name}", "topic", durable=True)
        channel.queue_bind(job.name, f"x{job.name}", "#")
    bridge = job.bridge("--exit-with-clients", declare=not there)
    job.start([sys.executable, "-uc", f"bridge = 1\n{shown}"], bridge)
    if there:
        job.eventually(lambda: "b'hello'" in job.log, "the message")
        channel.queue_delete(job.name)
    job.end(None)
    assert "Refused" in job.log and (job.name if there else "nothing") in job.log
    assert ("b'hello'" in job.log) == there
