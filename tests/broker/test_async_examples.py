"""The examples of bridges and shovels: is every message there at the end, by id and MD5?

They are those of docs/asynchronous.md.
"""

import signal
import types
from contextlib import closing

import nodes
import pytest
from async_job import marked
from bridge_job import Job, take
from compiled import EXAMPLES, compiled
from cutting_proxy import CuttingProxy
from mosquitto_broker import Mosquitto, Taker

# ---- to MQTT


@pytest.fixture
def mosquitto(tmp_path):
    with closing(Mosquitto(tmp_path / "mosquitto")) as mosquitto:
        mosquitto.start()
        yield mosquitto


@pytest.fixture
def taker(mosquitto, unique):
    taker = Taker(compiled("mqtt_taker"), mosquitto, f"{unique}/#")
    yield taker
    taker.close()


@pytest.fixture
def job(tmp_path, unique):
    job = Job(tmp_path, types.SimpleNamespace(password="there is none"), unique)
    yield job
    job.close()


def to_mqtt(job, port):
    return marked(job, compiled("mqtt_bridge"), "127.0.0.1", port)


def all_there(job, taker):
    """Wait for as many different messages as were published, and look whether they are the same."""
    published = sum(int(str(job.report(number)["messages"])) for number in range(len(job.reports)))
    nodes.eventually(lambda: len(taker.digests()) == published, "all messages")
    digests = taker.digests()
    sessions = {job.report(number)["session"] for number in range(len(job.reports))}
    assert {name.split("-")[0] for name in digests} == sessions
    assert sum(digests.values()) % 2**64 == job.expected()
    return len(taker.messages()) - published


def some_at(job, taker, messages):
    job.eventually(lambda: len(taker.messages()) > messages, f"{messages} messages")


def tries_again(job):
    said = job.log.count("not connected, trying again")
    job.eventually(lambda: job.log.count("not connected, trying again") > said, "a bridge")


def test_the_mqtt_bridge_is_what_was_promised():
    text = (EXAMPLES / "mqtt_bridge.c").read_text("ascii")
    assert len(text.splitlines()) < 100


def test_what_mqtt_has_confirmed_is_confirmed_to_cards(job, mosquitto, taker):
    what = {"a.b": (1500, 8), "a": (300, 4096), "c": (20, 300_000)}
    publishers = [job.publish(*of, key=key, bridge=3) for key, of in what.items()]
    job.start(*publishers, to_mqtt(job, mosquitto.port)).end()
    assert all_there(job, taker) == 0
    assert [job.report(number)["confirmed"] for number in range(3)] == [1500, 300, 20]
    assert {topic for _, topic, _ in taker.messages()} == {
        f"{job.name}/{t}" for t in ("a/b", "a", "c")
    }


def test_a_key_that_is_no_topic_is_refused(job, mosquitto):
    job.start(job.publish(5, 8, key="a.+"), to_mqtt(job, mosquitto.port)).end(3)
    assert (job.report()["refused"], job.report()["confirmed"]) == (5, 5)


def test_an_mqtt_bridge_that_is_killed_loses_nothing(job, mosquitto, taker):
    publishers = [job.publish(4000, 64, "--rate", 1500, bridge=2) for _ in range(2)]
    job.start(*publishers, to_mqtt(job, mosquitto.port), options=["--if-killed", "restart"])
    for share in (500, 1500, 2500):
        some_at(job, taker, share)
        job.eventually(lambda: job.pids("mqtt_bridge"), "a bridge")
        job.kill("mqtt_bridge")
    job.end(None)
    repeated = sum(int(str(job.report(number)["repeated"])) for number in range(2))
    assert 0 <= all_there(job, taker) <= repeated


def test_an_mqtt_broker_that_goes_and_comes_loses_nothing(job, mosquitto, taker):
    job.start(job.publish(4000, 64, "--rate", 2000), to_mqtt(job, mosquitto.port))
    for share in (300, 1000):
        some_at(job, taker, share)
        mosquitto.stop()
        tries_again(job)
        mosquitto.start()
    job.end()
    all_there(job, taker)
    assert job.report()["repeated"] == 0  # nothing of this is seen by the senders


def test_connections_to_mqtt_that_are_cut_in_the_middle_of_a_packet(job, mosquitto, taker):
    cuts = [20_001, 7, 150_003, 60_000]
    with CuttingProxy(mosquitto.port, cuts) as proxy:
        job.start(job.publish(3000, 200), to_mqtt(job, proxy.port)).end()
        assert proxy.cut == len(cuts)
    all_there(job, taker)


# ---- from one RabbitMQ to another


@pytest.fixture
def sides(tmp_path, broker, room, unique):
    """The job, with the bridge to the first broker; and what belongs to the second one.

    They are virtual hosts of one node: for their clients two brokers.
    """
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    near, far = Job(tmp_path / "first", broker, unique), Job(tmp_path / "second", room, unique)
    yield near, far
    near.close()


def shovelled(near, far, messages, *rate, options=(), declare=True, ends=True):
    """Start: a publisher, the shovel, and a bridge to each of the brokers."""
    publisher = near.publish(messages, 200, "--persistent", *rate, bridge=2)
    shovel = marked(near, compiled("shovel"), 2, near.name, 3, *[messages] * ends)
    both = ("--exit-with-clients=2", "--prefetch", 300)
    bridges = near.bridge(*both), far.bridge(*both, declare=declare)
    near.start(publisher, shovel, *bridges, options=options)


def test_each_message_of_a_queue_goes_to_the_other_broker_once(sides, connect):
    near, far = sides
    shovelled(near, far, 3000)
    near.end()
    taken = take(connect(far.brokers).channel(), far.name)
    assert (len(taken.ids), taken.duplicates, taken.digest) == (3000, 0, near.expected())
    assert sorted(int(name.split("-")[1], 16) for name in taken.ids) == list(range(1, 3001))
    assert len({name.split("-")[0] for name in taken.ids}) == 1
    assert take(connect(near.brokers).channel(), near.name).ids == {}


def kill_anew(job, side):
    """Kill the bridge of a side, and wait until there is another one."""
    old = side.pids("vicbridge")
    side.kill("vicbridge")
    job.eventually(lambda: set(side.pids("vicbridge")) - set(old), "a new bridge")


@pytest.mark.parametrize("killed", ["first", "second"])
def test_either_bridge_of_a_shovel_may_be_killed(sides, connect, killed):
    near, far = sides
    shovelled(near, far, 6000, "--rate", 1500, options=["--if-killed", "restart"])
    victim = near if killed == "first" else far
    for _ in range(3):
        near.eventually(lambda: far.total("confirmed") > 200, "messages at the other end")
        kill_anew(near, victim)
    near.end(None)
    taken = take(connect(far.brokers).channel(), far.name)
    assert (len(taken.ids), taken.digest) == (6000, near.expected())
    left = take(connect(near.brokers).channel(), near.name)  # came a second time, after the end
    assert len(left.ids) == len(left.of(str(near.report()["session"])).ids) < 6000


def test_a_shovel_that_is_killed_loses_nothing(sides, connect):
    near, far = sides
    shovelled(near, far, 3000, "--rate", 1500, options=["--if-killed", "restart"], ends=False)
    for share in (500, 1500):
        reaches(near, far, share)
        near.kill("shovel")
    near.eventually(lambda: near.total("acked") == 3000, "the last message")
    near.kill("shovel", number=signal.SIGTERM)
    near.end(None)
    bodies = set(take(connect(far.brokers).channel(), far.name).ids.values())
    assert len(bodies) == 3000
    assert sum(crc for _, crc in bodies) % 2**64 == near.expected()
    assert take(connect(near.brokers).channel(), near.name).ids == {}


def reaches(near, far, messages):
    near.eventually(lambda: far.total("confirmed") > messages, f"{messages} messages over there")
    near.eventually(lambda: near.pids("shovel"), "a shovel")


def test_what_the_second_broker_has_no_queue_for_stays_with_the_first(sides, connect):
    near, far = sides
    shovelled(near, far, 50, options=["--if-killed", "leave"], declare=False)
    near.end(None)
    assert "no queue for a message" in near.log
    taken = take(connect(near.brokers).channel(), near.name)
    assert (len(taken.ids), taken.digest) == (50, near.expected())
