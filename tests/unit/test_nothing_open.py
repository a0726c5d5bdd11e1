"""Is everything closed when something fails, or when another thread or process is late?

A file, process or folder that is forgotten is a ResourceWarning, which is an error here.
"""

import gc
import sys
import threading
from types import SimpleNamespace

import pytest

from dvsim.broker import service
from dvsim.broker.service import StateFolder
from dvsim.emulation import team
from dvsim.emulation.alarms import Alarm, Alarms
from dvsim.emulation.child import Child
from dvsim.emulation.clients import Loop
from dvsim.emulation.messages import Asked
from dvsim.emulation.queues import Place
from dvsim.emulation.settings import Hosts
from dvsim.errors import RunFailed


@pytest.fixture(autouse=True)
def nothing_open():
    yield
    gc.collect()  # now, so that this test fails and no other


def test_a_host_is_ended_before_its_listener_has_read_to_the_end(monkeypatch, tmp_path):
    came, on = threading.Event(), threading.Event()

    class Slow:
        """Keeps the thread that listens from its next line."""

        def put(self, line):
            if line:
                came.set()
                on.wait(60)
            else:
                listened.set()

    listened = threading.Event()
    monkeypatch.setattr(team.queue, "SimpleQueue", Slow)
    says = tmp_path / "says"
    says.write_text("#!/bin/sh\necho something\ncat > /dev/null\n")
    says.chmod(0o700)
    host = team.Host("a", Hosts.of("a:1", launch_with=f"{says} {{host}}"), broker=False)
    assert came.wait(60)
    host.hang_up()
    host.wait()
    on.set()
    assert listened.wait(60)


def test_a_child_that_cannot_be_started_keeps_no_file():
    with pytest.raises(ValueError, match="null byte"):
        Child("odd", [sys.executable, "-c", "\0"])


def test_a_keeper_that_ends_before_it_has_read_is_told_of(monkeypatch, tmp_path):
    ended = tmp_path / "python"
    ended.write_text("#!/bin/sh\necho why >&2\nexit 3\n")
    ended.chmod(0o700)
    monkeypatch.setattr(service.sys, "executable", str(ended))

    def dumps(_):
        """Return more than a pipe holds, so that writing waits until nobody reads."""
        return "x" * (1 << 20)

    monkeypatch.setattr(service.json, "dumps", dumps)
    with pytest.raises(RunFailed, match=r"has ended with code 3:\n.*why"):
        service.up(tmp_path / "nodes", {}, print)
    assert StateFolder(tmp_path / "nodes").read() is None


def test_nodes_that_cannot_be_told_of_an_alarm_leave_no_folder():
    def fail(*_):
        raise RunFailed("no node")

    brokers = SimpleNamespace(nodes=[SimpleNamespace(name="a1")], control=SimpleNamespace(run=fail))
    with pytest.raises(RunFailed), Alarms(brokers, [Alarm("disk", 0, 1, range(1))]):
        pass


@pytest.mark.parametrize("asked_to_stop", [False, True])
def test_a_loop_ends_only_when_brokers_have_answered_its_goodbyes(asked_to_stop):
    loop = Loop(Place(()), [], Asked(8, messages=0, window=1, publishers=0, consumers=0))

    class Slow:
        """A client whose broker answers late."""

        gone = False

        def close(self):
            loop.loop.call_later(0.3, self.left)
            if asked_to_stop:  # as a second look does that finds everything done
                loop.loop.call_later(0.05, loop.loop.stop)

        def left(self):
            self.gone = True

    loop.receivers = [slow := Slow()]
    loop._open = lambda _: loop.loop.stop()  # there is nothing to be received
    loop.run()
    assert slow.gone
