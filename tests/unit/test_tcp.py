"""Does the slowest of publishers, links and brokers set the rate of the TCP path?"""

import pytest

from dvsim.contract.load import load
from dvsim.core.schedule import share
from dvsim.kinds.rabbitmq.iteration import run_iteration

CALM = (
    "system.publisher.publish_scatter=0",
    "system.publisher.run_spread=0",
    "system.broker.scatter=0",
    "system.broker.run_spread=0",
    "system.broker.stall=0 s",
    "system.broker.read_cost=0 s",
    "system.card.latency=0 s",
    "workload.messages=100_000",
)


def seconds(size, *overrides):
    scenario = load(f"h3/fdr-{size}", [*CALM, *overrides])
    result = run_iteration(scenario, seed=1, replication=1, iteration=1)
    counters = {(c.component, c.metric): c.value for c in result.counters}
    assert counters["conservation", "queued"] == 100_000
    return counters["run", "simulated_s"]


def test_publishers_limit_a_fast_broker():
    broker = "system.broker.service=1 us"
    taken = seconds(8, broker, "system.publisher.publish=40 us", "system.publisher.processes=4")
    assert taken == pytest.approx(100_000 * 40e-6 / 4)


def test_brokers_limit_fast_publishers():
    taken = seconds(8, "system.broker.service=10 us", "system.publisher.publish=1 us")
    assert taken == pytest.approx(100_000 * 10e-6 / 2)


def test_links_limit_large_messages():
    taken = seconds(
        131072,
        "system.broker.service=1 us",
        "system.publisher.publish=1 us",
        "system.broker.frame_overhead=0 B",
        "system.card.rate=1 GB/s",
    )
    assert taken == pytest.approx(100_000 * 131072 / 2 / 1e9)


def test_an_odd_batch_is_shared_to_the_last_message():
    assert [share(10, 3, index) for index in range(3)] == [4, 3, 3]
    assert [share(2, 3, index) for index in range(3)] == [1, 1, 0]


OPEN = ("loop=open", "system.broker.service=10 us", "system.publisher.publish=1 us")


def test_an_open_loop_below_saturation_takes_as_long_as_its_schedule():
    taken = seconds(8, *OPEN, "workload.messages_per_second=50_000")
    assert taken == pytest.approx(90_000 / 50_000 + 10_000 * 10e-6 / 2)  # the last of ten batches


def test_an_open_loop_beyond_saturation_falls_behind_and_says_so():
    overrides = [*CALM, *OPEN, "workload.messages_per_second=400_000", "probe.batch=1_000"]
    result = run_iteration(load("h3/fdr-8", overrides), seed=1, replication=1, iteration=1)
    record = result.records[0]
    assert record.duration_ps[-1] > 50 * record.duration_ps[0]  # waiting counts from the schedule
    counters = {(c.component, c.metric): c.value for c in result.counters}
    assert counters["run", "behind_schedule_s"] == pytest.approx(0.25, rel=0.02)  # 0.5 s - 0.25 s


def test_the_last_batch_may_be_short():
    scenario = load("h3/fdr-8", [*CALM[:-1], "workload.messages=25_000", "probe.batch=10_000"])
    record = run_iteration(scenario, seed=1, replication=1, iteration=1).records[0]
    assert record.messages.tolist() == [10_000, 10_000, 5_000]
