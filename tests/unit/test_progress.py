"""Does progress show that something happens, and stay out of the way when nobody can see it?"""

import io
import sys
import threading

import pytest

from dvsim import progress
from dvsim.contract.find import kind_of
from dvsim.contract.load import load_campaign
from dvsim.progress import Part, Progress

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


class Clock:
    """A clock that is set, in the place of the module `time`."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now


MEASURED = {
    "h3/dv-8": 0.38, "h3/fdr-8": 0.25, "h3/dv-256": 0.48, "h3/fdr-256": 0.26, "h3/dv-2048": 0.86,
    "h3/fdr-2048": 0.15, "h3/dv-8192": 3.28, "h3/fdr-8192": 0.12, "h3/dv-131072": 2.22,
    "h3/fdr-131072": 0.03, "h3/memory": 0.27, "pivotal/record": 0.49,
}  # fmt: skip
"""Seconds that an iteration took on one machine."""


def left_after_each(monkeypatch, tasks, parts, workers=2):
    """How far it was and what was left, true and told, after each (part, seconds) of `tasks`."""
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    shown = Progress(len(tasks), visible=False, parts=parts)
    ends, told = [0.0] * workers, []
    for part, took_s in tasks:
        free = ends.index(min(ends))
        ends[free] += took_s
        clock.now = max(clock.now, ends[free])  # results are taken in order
        shown.done("it", 1, {}, part, took_s)
        told.append((clock.now, shown.shown("it").left_s))
    whole = max(ends)
    return [(now / whole, whole - now, left) for now, left in told]


def wrong(told):
    """The largest error of the time left, as a share, after a tenth and before the last tasks."""
    found = [abs(left / true - 1) for share, true, left in told if 0.1 <= share <= 0.8]
    assert len(found) > 10
    return max(found)


@pytest.mark.parametrize("slower", [1, 7])
@pytest.mark.parametrize("replications", [3, 10])
def test_the_time_left_is_right_within_a_third_although_sizes_cost_differently(
    monkeypatch, replications, slower
):
    expected, tasks = {}, []
    for scenario in load_campaign("h3/validation"):
        each = scenario.workload.iterations
        expected[scenario.name] = replications, kind_of(scenario).seconds(scenario)
        tasks += [(scenario.name, slower * each * MEASURED[scenario.name])] * replications

    def parts():
        return {name: Part(*known) for name, known in expected.items()}

    assert wrong(left_after_each(monkeypatch, tasks, parts())) < 1 / 3
    alike = {name: Part(number) for name, (number, _) in expected.items()}
    assert wrong(left_after_each(monkeypatch, tasks, alike)) > 1 / 3  # what it is made for


def test_a_task_under_way_counts_with_its_share(monkeypatch):
    monkeypatch.setattr(progress, "time", clock := Clock())
    shown = Progress(2, visible=False, parts={"short": Part(1, 1), "long": Part(1, 9)})
    assert shown.shown("it").left_s is None
    clock.now = 1.0
    shown.done("it", 1, {}, "short")
    assert shown.shown("it").left_s == pytest.approx(9)
    clock.now = 4.0
    shown.under_way("it", 1 / 3, 0)
    assert shown.shown("it").left_s == pytest.approx(6)


def test_the_time_left_falls_while_a_task_that_tells_no_share_runs(monkeypatch):
    monkeypatch.setattr(progress, "time", clock := Clock())
    shown = Progress(2, visible=False, parts={"short": Part(1, 1), "long": Part(1, 2)})
    clock.now = 30.0
    shown.done("it", 1, {}, "short", 30.0)
    assert shown.shown("it").left_s == pytest.approx(60)
    clock.now = 70.0
    assert shown.shown("it").left_s == pytest.approx(20)
    clock.now = 95.0  # longer than was thought: nobody knows how long
    assert shown.shown("it").left_s is None
    shown.done("it", 1, {}, "long", 65.0)
    assert shown.shown("it").left_s == 0


def test_the_first_task_under_way_tells_the_rest(monkeypatch):
    monkeypatch.setattr(progress, "time", clock := Clock())
    shown = Progress(4, visible=False)
    shown.under_way("it", 0, 0)
    clock.now = 5.0
    shown.under_way("it", 0.5, 0)
    assert shown.shown("it").left_s == pytest.approx(35)


EVENTS = {
    "amps/acknowledgements": 62936, "amps/queues": 28287, "osu-qpid/exchanges": 11176,
    "osu-qpid/latency": 6236, "zeromq/latency": 1175, "zeromq/buffers": 12503,
    "zeromq/throughput": 6633,
}  # fmt: skip
"""What SimPy would schedule in a run, on the average over the points."""


def test_studies_of_messaging_cost_about_what_their_events_do():
    """Messages that travel alone have a hundred times the events of those in batches."""
    ratios = {}
    for name, events in EVENTS.items():
        study = load_campaign(name)[0]
        points = [study.at(point) for point in range(len(study.points))]
        seconds = sum(map(kind_of(study).seconds, points)) / len(points)
        ratios[name] = seconds / events
    assert max(ratios.values()) / min(ratios.values()) < 20
