"""Does progress show that something happens, and stay out of the way when nobody can see it?"""

import io
import sys
import threading

import pytest

from dvsim import progress
from dvsim.progress import Progress

DONE = ("h3/fdr-8", 1, {"events/s": 10, "simulated s per s": 2})


class Heard(io.StringIO):
    """A stream that tells when it was written to."""

    def __init__(self):
        super().__init__()
        self.written = threading.Event()

    def write(self, text):
        self.written.set()
        return super().write(text)


class Full(io.StringIO):
    def write(self, text):
        raise OSError(28, "No space left on device")


def test_a_long_iteration_is_seen_to_run(monkeypatch):
    stream = Heard()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "QUIET_S", 0.01)
    with Progress(20, visible=True):
        assert stream.written.wait(30)
    assert stream.getvalue().startswith("starting: 0/20 iterations, running for 0 s\n")


def test_the_last_line_says_that_all_is_done(monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream := io.StringIO())
    with Progress(1, visible=True) as shown:
        shown.done(*DONE)
    assert stream.getvalue().startswith("done: 1/1 iterations, ")
    assert stream.getvalue().endswith(" simulated s per s, 0 s left\n")


@pytest.mark.parametrize("stream", [Full(), None], ids=["full", "none"])
def test_a_stream_that_takes_nothing_is_no_error(monkeypatch, stream):
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "QUIET_S", 0)
    with Progress(1, visible=True) as shown:
        shown.done(*DONE)


def test_a_closed_stream_is_no_error(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress(1, visible=True):
        stream.close()


def test_invisible_progress_is_quiet(capsys):
    with Progress(1, visible=False) as shown:
        shown.done(*DONE)
    assert capsys.readouterr().err == ""
