"""Does a run fail when a component loses or invents a message?"""

import pytest

from dvsim.contract.load import load
from dvsim.core import DramRing
from dvsim.core.probe import IntervalProbe
from dvsim.errors import RunFailed
from dvsim.kinds.rabbitmq.broker import Broker
from dvsim.kinds.rabbitmq.iteration import run_iteration
from dvsim.kinds.rabbitmq.tcp import Link, Publisher


def run(name):
    scenario = load(name, ["workload.messages=20_000"])
    return run_iteration(scenario, seed=1, replication=1, iteration=1)


def loses_one(stage, monkeypatch):
    """Make a kind of stage forget one message of each batch."""
    work = stage.work_ps

    def careless(self, messages):
        self.messages -= 1
        return work(self, messages)

    monkeypatch.setattr(stage, "work_ps", careless)


@pytest.mark.parametrize("name", ["h3/dv-2048", "h3/fdr-2048"])
def test_a_broker_that_loses_a_message(name, monkeypatch):
    loses_one(Broker, monkeypatch)
    with pytest.raises(RunFailed, match="queued"):
        run(name)


@pytest.mark.parametrize("stage", [Publisher, Link])
def test_a_tcp_stage_that_loses_a_message(stage, monkeypatch):
    loses_one(stage, monkeypatch)
    with pytest.raises(RunFailed, match=r"published \d+, carried"):
        run("h3/fdr-2048")


def test_a_ring_whose_books_do_not_balance(monkeypatch):
    monkeypatch.setattr(DramRing, "balanced", lambda _: False)
    with pytest.raises(RunFailed, match="receiver 1: the DRAM ring's books do not balance"):
        run("h3/dv-2048")


def test_a_probe_that_misses_a_burst(monkeypatch):
    record = IntervalProbe.record
    monkeypatch.setattr(
        IntervalProbe,
        "record",
        lambda self, first, last, n: record(self, first, last, max(1, n - 1)),
    )
    with pytest.raises(RunFailed, match="seen by the probe"):
        run("h3/dv-2048")


def test_a_broker_whose_memory_does_not_hold_its_queue(monkeypatch):
    monkeypatch.setattr(Broker, "balanced", lambda _: False)
    with pytest.raises(RunFailed, match=r"broker.1: memory and disk do not hold what is queued"):
        run("h3/fdr-2048")
