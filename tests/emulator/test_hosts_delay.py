"""Does a job over hosts that are far apart do what it does nearby? Delays of 0.1, 10 and 100 ms."""

import subprocess
import sys
import time
from contextlib import contextmanager

import delay
import namespaces
import pytest
from test_hosts import PATIENT, run

BOTH_WAYS = 2  # a program of these waits for an answer from the other host at least once


@contextmanager
def apart(hosts, milliseconds):
    """Let there be a slow way between both, and yield the options of a job that takes it."""
    words = [sys.executable, delay.__file__, *hosts.names, str(milliseconds)]
    relay = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert relay.stdout.readline() == "ready\n"
        options = hosts.options(1, 2)
        options[options.index(namespaces.LINK)] = delay.DEVICE
        yield [*options, *PATIENT]
        assert relay.poll() is None
    finally:
        relay.communicate(timeout=200)
    assert relay.returncode == 0


@pytest.mark.parametrize(
    ("milliseconds", "names"),
    [
        (0.1, ("exchange", "surprise", "messages", "client_relay", "collectives")),
        (10, ("exchange", "surprise", "vectors", "client_relay")),
        (100, ("exchange", "queries", "peers")),
    ],
)
def test_a_delay(emulator, hosts, milliseconds, names):
    with apart(hosts, milliseconds) as options:
        for name in names:
            start = time.monotonic()
            done = run(emulator, options, name)
            assert (name, done.returncode, done.stderr) == (name, 0, "")
            assert time.monotonic() - start > BOTH_WAYS * milliseconds / 1000


def test_what_differs_is_said_though_answers_are_late(emulator, hosts):
    """The library waits 20 ms for an answer, and then again."""
    with apart(hosts, 30) as options:
        done = run(emulator, options, "lists_apart")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_delay_of_messages(emulator, hosts):
    with apart(hosts, 10) as options:
        done = run(emulator, options, "messages")
    assert (done.returncode, done.stderr) == (0, "")
