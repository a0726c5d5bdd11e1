"""Are messages and clients in Python those of C: typed, without needless copies, in asyncio too?"""

from __future__ import annotations

import asyncio
import contextlib
import doctest
import signal
import subprocess
import sys
import threading
import time
from itertools import product

import numpy as np
import pytest
from emulator_build import ROOT
from python_job import run_python

import dvsim.vic.client
import dvsim.vic.messages
from dvsim import vic
from dvsim.vic import binding

EXAMPLE = ROOT / "emulator" / "examples" / "messages.py"


@pytest.fixture
def messages(card):
    with card.messages() as messages:
        yield messages


@pytest.fixture
def client(card):
    """A client that is its own bridge."""
    with card.client(bridge=True, returns=True, window_messages=4) as client:
        yield client


@pytest.mark.parametrize("module", [dvsim.vic.client, dvsim.vic.messages])
def test_the_examples_in_the_docstrings(installed, module):
    assert doctest.testmod(module).failed == 0


def test_every_call_of_the_headers_is_there(installed):
    prefix = installed.prefix / "include"
    for name, kind in (("message", vic.Messages), ("client", vic.Client)):
        text = binding.declarations((prefix / f"vic_{name}.h").read_text())
        calls = set(binding.re.findall(rf"\bvic_{name}_(\w+)\(", text))
        # open is a method of the card; body and reason are copied; the client asks for ends
        plain = {call.removesuffix("_sized").removesuffix("_within") for call in calls}
        assert plain - set(dir(kind)) <= {"open", "release", "reason", "ends"}


def test_constants_are_those_of_the_header(installed):
    lib = binding.libvic().lib
    for group in (vic.Kind, vic.Flag):
        for item in group:
            assert getattr(lib, f"VIC_{item.name}") == item
    for name, bit in dvsim.vic.client.FLAGS.items():
        assert getattr(lib, f"VIC_CLIENT_{name.upper()}") == bit


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x",
        bytearray(range(200)),
        memoryview(b"abcdef")[2:5],
        np.arange(1000, dtype=np.float64),
        b"long" * 100_000,
    ],
    ids=["nothing", "bytes", "bytearray", "memoryview", "array", "long"],
)
def test_whatever_offers_its_memory_is_sent(messages, data):
    messages.send(0, data)
    assert messages.recv(10) == (0, bytes(data))
    messages.flush_to(0, 10)
    messages.flush(10)


@pytest.mark.parametrize("data", ["text", 5, None, np.arange(10)[::2]])
def test_what_is_no_buffer_is_refused(messages, data):
    with pytest.raises(vic.InvalidArgument, match=type(data).__name__):
        messages.send(0, data)


def test_it_is_received_where_it_belongs(messages):
    array = np.zeros(4, dtype=np.uint64)
    messages.send(0, np.arange(3, dtype=np.uint64))
    assert messages.recv_into(array, 10) == (0, 24)
    assert array.tolist() == [0, 1, 2, 0]
    messages.send(0, b"too long for it")
    with pytest.raises(vic.NoSpace, match="bytes=15"):
        messages.recv_into(bytearray(8), 10)
    assert messages.recv(10) == (0, b"too long for it")  # it stayed
    with pytest.raises(vic.InvalidArgument, match="writable"):
        messages.recv_into(b"fixed")


def test_timeouts_are_seconds(messages):
    start = time.monotonic()
    for timeout in (0, 0.001, 0.12):
        with pytest.raises(vic.TimedOut, match=r"vic_message_recv\(timeout="):
            messages.recv(timeout)
    assert time.monotonic() - start >= 0.12


def test_errors_say_what_was_asked(card, messages):
    with pytest.raises(vic.OutOfRange, match="dest=7"):
        messages.send(7, b"")
    with pytest.raises(vic.OutOfRange, match="dest=-1"):
        messages.send(-1, b"")
    with pytest.raises(vic.OutOfRange, match="dest=1"):
        messages.flush_to(1)
    with pytest.raises(vic.Busy):
        card.messages()
    with pytest.raises(vic.InvalidArgument, match="max_bytes=-1"):
        card.messages(max_bytes=-1)


def test_loops_end_when_messages_are_closed(card):
    messages = card.messages()
    for data in (b"one", b"two"):
        messages.send(0, data)
    taken = []

    def take():
        for _, data in messages:
            taken.append(data)

    thread = threading.Thread(target=take)
    thread.start()
    while len(taken) < 2:
        time.sleep(0.001)
    messages.close()
    messages.close()
    thread.join(200)
    assert not thread.is_alive() and taken == [b"one", b"two"]
    with pytest.raises(vic.Closed):
        messages.recv(0)


def test_asyncio_goes_on_while_messages_are_waited_for(messages):
    turns = 0

    async def others():
        nonlocal turns
        while True:
            turns += 1
            if turns == 20:
                messages.send(0, b"at last")
            await asyncio.sleep(0.001)

    async def first():
        background = asyncio.create_task(others())
        item = await anext(aiter(messages))
        background.cancel()
        return item

    assert asyncio.run(first()) == (0, b"at last")
    assert turns >= 20


def test_a_cancelled_task_loses_nothing(messages):
    async def one():
        return await anext(aiter(messages))

    async def impatient():
        for number in range(30):
            task = asyncio.create_task(one())
            await asyncio.sleep(0.001 * (number % 3))
            if number % 5 == 0:
                messages.send(0, b"%d" % number)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                taken.append((await task)[1])

    taken = []
    asyncio.run(impatient())
    while len(taken) < 6:
        taken.append(messages.recv(10)[1])
    assert taken == [b"%d" % number for number in range(0, 30, 5)]


def test_what_was_received_for_a_cancelled_task_goes_into_a_buffer_too(messages):
    messages.send(0, b"kept")
    messages._fetch(0, bool)  # as the thread of a task does that is cancelled meanwhile
    with pytest.raises(vic.NoSpace, match="capacity=3, bytes=4"):
        messages.recv_into(bytearray(3))
    buffer = bytearray(8)
    assert messages.recv_into(buffer) == (0, 4)
    assert buffer == b"kept\0\0\0\0"
    with pytest.raises(vic.TimedOut):
        messages.recv_into(buffer, 0)


def test_a_crowd_of_messages_lets_other_tasks_run(messages):
    async def main():
        for _ in range(200):
            messages.send(0, b"")
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        task, count = asyncio.create_task(tick()), 0
        async for _ in messages:
            count += 1
            if count == 200:
                break
        task.cancel()
        return ticks

    assert asyncio.run(main()) >= 4


def test_a_wait_answers_control_c(installed):
    code = (
        "from dvsim import vic\n"
        "with vic.open() as card, card.messages() as messages:\n"
        "    print('waits', flush=True)\n"
        "    messages.recv()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "waits\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=200)
    assert "KeyboardInterrupt" in errors


@pytest.mark.parametrize("cards", [1, 3])
def test_the_example(installed, cards):
    program = f"import runpy, sys; sys.argv = ['x', '3']; runpy.run_path({str(EXAMPLE)!r})"
    done = run_python(installed, cards, program)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"messages: ok, {3 * (cards - 1)} texts\n"


# ---- the client


def test_publish_and_confirm(client):
    client.publish(0, "some.key", np.arange(3, dtype=np.uint8))
    delivery = client.recv(10)
    assert delivery.kind is vic.Kind.PUBLISH and vic.Flag.CONFIRM_WANTED in delivery.flags
    assert (delivery.key, delivery.body, delivery.src, delivery.id) == ("some.key", b"\0\1\2", 0, 1)
    assert delivery.session == client.counts().session
    assert delivery.message_id == f"{delivery.session:016x}-{1:016x}"
    with pytest.raises(vic.TimedOut):
        client.flush(0)
    client.ack(delivery)
    client.flush(10)
    with pytest.raises(vic.InvalidArgument):
        client.ack(delivery)
    counts = client.counts()
    assert (counts.published, counts.confirmed, counts.unconfirmed) == (1, 1, 0)


def test_a_refused_message_comes_back(client):
    client.publish(0, "k", b"body")
    client.ack(client.recv(10), reject=True)
    back = client.recv(10)
    assert back.kind is vic.Kind.CONFIRM and back.flags == vic.Flag.REFUSED
    assert (back.key, back.body) == ("k", b"body")
    client.ack(back)
    assert client.counts().refused == 1


def test_a_full_window_times_out(client):
    for _ in range(4):
        client.publish(0, "k", b"")
    with pytest.raises(vic.TimedOut, match=r"vic_client_publish\('k', bridge=0, bytes=1\)"):
        client.publish(0, "k", b"x", timeout=0.01)
    for _ in range(4):
        client.ack(client.recv(10))
    client.flush(10)
    assert client.counts().published == 4


def test_topics(client):
    client.bind("a.#")
    while client.topic("a.b", b"\x80") == 0:
        pass
    assert client.topic("b", b"") == 0
    delivery = client.recv(10)
    assert delivery.kind is vic.Kind.TOPIC and delivery.body == b"\x80"
    client.ack(delivery)
    client.unbind("a.#")
    while client.topic("a.b") > 0:
        client.recv(10)
    with pytest.raises(vic.InvalidArgument, match=r"'a\.#'"):
        client.unbind("a.#")


def test_what_cannot_be_is_said(card, client):
    with pytest.raises(vic.Busy):
        card.client()
    with pytest.raises(vic.OutOfRange, match="bridge=9"):
        client.publish(9, "k")
    with pytest.raises(vic.InvalidArgument, match="credit=0"):
        client.subscribe(0, "q", credit=0)
    with pytest.raises(vic.InvalidArgument, match="no name has"):
        client.bind("a\0b")
    with pytest.raises(vic.InvalidArgument):
        client.publish(0, "k" * 256)
    with pytest.raises(vic.InvalidArgument):
        client.unsubscribe(1)


def test_settings_that_do_not_exist_are_named(card):
    with pytest.raises(TypeError, match="'windows'"):
        card.client(windows=3)


def test_closing_says_what_is_not_confirmed(card):
    client = card.client()
    client.publish(0, "k")
    with pytest.raises(vic.PeerDied, match="not all that was published is confirmed"):
        client.close()
    client.close()
    with pytest.raises(vic.Closed):
        client.recv(0)
    card.close()
    with pytest.raises(vic.Closed):
        card.client()


QUEUE = """
import asyncio
from dvsim import vic

async def bridge(client, cards):
    left = 50 * (cards - 1)
    async for delivery in client:
        assert delivery.body == delivery.key.encode() * 3
        client.ack(delivery)
        left -= 1
        if left == 0:
            return

with vic.open() as card, card.client(bridge=True) as client:
    attr = card.query_attr()
    if attr.card == 0:
        asyncio.run(bridge(client, attr.cards))
    else:
        for number in range(50):
            client.publish(0, f"{attr.card}.{number}", f"{attr.card}.{number}".encode() * 3)
        client.flush()
        print(client.counts().confirmed)
    card.barrier()
"""


@pytest.mark.parametrize("options", [[], ["--reorder", "3"]], ids=["in-order", "reordered"])
def test_a_bridge_in_python(installed, options):
    done = run_python(installed, 3, QUEUE, *options)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["50", "50"]
    assert done.stderr == ""


BYSTANDER = """
from dvsim import vic

with vic.open() as card:
    me = card.query_attr().card
    with card.client(bridge=me == 0, at_most_once=me == 1) as client:
        card.barrier()
        if me == 0:
            for number in range(10):
                delivery = client.recv(20)
                assert delivery.body == b"%d" % number and not delivery.flags
        if me == 1:
            for number in range(10):
                client.publish(0, "k", b"%d" % number)
            client.flush(20)
            print(client.counts().published)
        card.barrier()  # card 2 has taken nothing at all until here
"""


def test_who_takes_no_part_does_not_hold_up_a_flush(installed):
    done = run_python(installed, 3, BYSTANDER)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "10\n"


LONG = """
from dvsim import vic

BODY = bytes(range(256)) * (LENGTH // 256)

def until_done(call, *arguments):
    for tries in range(300_000):
        try:
            return call(*arguments, timeout=0)
        except vic.TimedOut:
            pass
    raise AssertionError("it never gets through")

with vic.open() as card:
    me = card.number
    with card.messages() as messages:
        card.barrier()
        if me == 0:
            try:  # a part of another one, of the same length, of which nothing may be received
                messages.send(1, b"x" * len(BODY), timeout=0)
            except vic.TimedOut:
                pass
            until_done(messages.send, 1, BODY)
            until_done(messages.send, 1, b"last")
            messages.flush(60)
        if me == 1:
            got = [messages.recv(60)[1] for _ in range(2)]
            print(got[-2:] == [BODY, b"last"] or [len(one) for one in got])
        card.barrier()
    with card.client(bridge=me == 1, at_most_once=ONCE) as client:
        card.barrier()
        if me == 0:
            for key in "ab":
                until_done(client.publish, 1, key, BODY)
            client.flush(60)
            print(client.counts().published)
        if me == 1:
            for key in "ab":
                delivery = client.recv(60)
                client.ack(delivery)
                assert (delivery.key, delivery.body) == (key, BODY)
        card.barrier()
"""


ASKED = """
from dvsim import vic

with vic.open() as card:
    me = card.number
    if me == 1:
        with card.messages():
            card.barrier()
            card.barrier()  # what the client of card 0 asks for is never received
    else:
        card.barrier()
    with card.client(bridge=me == 1, at_most_once=True) as client:
        if me == 0:
            card.barrier()
        card.barrier()
        if me == 0:
            client.publish(1, "key", b"body")
            client.flush(60)
            print(client.counts().published)
        else:
            print(client.recv(60).body.decode())
        card.barrier()
"""


def test_a_flush_tells_of_messages_and_not_of_what_the_client_has_asked_for(installed):
    done = run_python(installed, 2, ASKED)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split()) == ["1", "body"]


@pytest.mark.parametrize("once", [False, True])
def test_a_message_longer_than_its_ring_gets_through_with_timeout_0(installed, once):
    """It goes on where it was: a second message of the same length has no part of the first."""
    code = LONG.replace("LENGTH", str(5 << 20)).replace("ONCE", str(once))
    done = run_python(installed, 2, code)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split()) == ["2", "True"]


@pytest.mark.parametrize(
    ("call", "numbers"),
    [
        (lambda card: card.messages().send(0, bytes((16 << 20) + 1)), (16 << 20, (16 << 20) + 1)),
        (lambda card: card.messages(max_bytes=100).send(0, bytes(101)), (100, 101)),
        (lambda card: card.client().publish(0, "k", bytes(16 << 20)), (16 << 20,)),
        (lambda card: card.client(max_bytes=100).publish(0, "key", bytes(74)), (100, 74)),
        (lambda card: card.client(max_bytes=100).topic("key", bytes(74)), (100, 74)),
        (lambda card: card.client().publish(0, "k" * 256), (255, 256)),
        (lambda card: card.client().subscribe(0, "q" * 256), (255, 256)),
        (lambda card: card.client().bind("b" * 256), (255, 256)),
        (lambda card: card.messages(max_bytes=(1 << 30) + 1), (1 << 30, (1 << 30) + 1)),
        (lambda card: card.messages(window_bytes=(16 << 20) + 1), (16 << 20, (16 << 20) + 1)),
        (lambda card: card.client(max_bytes=(1 << 30) + 1), (1 << 30, (1 << 30) + 1)),
    ],
)
def test_what_is_too_long_is_said_with_the_limit(call, numbers):
    """For each call that has one: the limit, and what was given."""
    with pytest.raises(vic.InvalidArgument) as raised, vic.open() as card:
        try:
            call(card)
        finally:
            card.close()
    assert all(str(number) in str(raised.value) for number in numbers), raised.value


MODES = ("functional", "timed")
DEATH = """
import asyncio, os, traceback
from dvsim import vic

async def over(stream):
    async for _ in stream:
        pass

def waits(card, what):
    if what == "team":
        return card.team().barrier()
    if what == "counter":
        card.counter_set(3, 2)
        return card.counter_wait(3)
    stream = card.client() if "client" in what else card.messages()
    return asyncio.run(over(stream)) if "async" in what else stream.recv()

with vic.open() as card:
    card.counter_set(3, 2)
    card.barrier()
    if card.number == 1:
        if HOW == "dies":
            os._exit(3)
    else:
        try:
            waits(card, WHAT)
        except vic.VicError as error:
            lines = traceback.format_exception(error)
            print(type(error).__name__, len("".join(lines).splitlines()) < 30,
                  "During handling" in "".join(lines), error, sep="|")
"""


@pytest.mark.parametrize(
    ("what", "how", "mode"),
    [
        *product(("messages", "client", "counter"), ("dies", "ends"), MODES),
        # in model time the loop of asyncio, a thread outside of the calls, may still end the wait
        *product(("async messages", "async client"), ("ends",), MODES[:1]),
        *product(("async messages", "async client"), ("dies",), MODES),
        *product(("team",), ("dies",), MODES),  # who has left a team is a dead peer of it
    ],
)
def test_a_wait_says_which_end_it_was(installed, what, how, mode):
    code = DEATH.replace("HOW", repr(how)).replace("WHAT", repr(what))
    done = run_python(installed, 2, code, "--mode", mode)
    if how == "ends" and "async" in what:
        assert done.stdout == "", done.stderr  # the loop ends
        return
    kind, short, chained, text = done.stdout.strip().split("|", 3)
    assert (short, chained) == ("True", "False"), done.stdout
    if how == "dies":
        assert (kind, "card 1 died" in text) == ("PeerDied", True), text
    else:
        assert (kind, "all other cards" in text, "closed" in text) == ("Closed", True, False), text
        assert ("ounter 3 reads 2" in text, " reads " in text) == (what == "counter",) * 2, text


def test_a_card_that_the_program_closed_is_said_to_be_closed():
    card = vic.open()
    messages = card.messages()
    card.close()
    for call in (lambda: card.counter_get(1), lambda: messages.recv(0)):
        with pytest.raises(vic.Closed) as raised:
            call()
        assert "closed" in str(raised.value) and "job" not in str(raised.value), raised.value
