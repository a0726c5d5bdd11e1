"""Does vicrun stay silent about an idle bridge, and report a deadlock of the other cards?"""

from __future__ import annotations

import sys
import time

import pytest
from bridge_job import Job

STUCK = "from dvsim import vic; card = vic.open(); card.counter_set(5, 1); card.counter_wait(5)"


@pytest.fixture
def job(tmp_path, broker, unique):
    job = Job(tmp_path, broker, unique)
    yield job
    job.close()


def test_a_consumer_and_a_bridge_without_messages_are_no_standstill(job):
    job.start(job.consume(1), job.bridge())
    job.eventually(lambda: "takes messages" in job.log, "the bridge is there")
    time.sleep(9)  # a report comes after 7 s
    assert "standstill" not in job.log


def test_a_deadlock_of_others_is_told(job):
    stuck = [sys.executable, "-c", STUCK]
    job.start(stuck, stuck, job.bridge())
    job.eventually(lambda: "standstill" in job.log, "the report")
    job.eventually(lambda: "card 1 waits for counter 5 to read 0 (it reads 1)" in job.log, "card 1")
