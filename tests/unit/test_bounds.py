"""Is what would overflow, hang or fill the memory refused when it is read, with its limit?"""

import pytest

from dvsim.contract.load import load
from dvsim.errors import ScenarioError
from dvsim.kinds.rabbitmq.checks import extent, least_ps
from dvsim.scenario.card_kinds import KINDS
from dvsim.scenario.fields import bounded
from dvsim.scenario.units import Law, UnitError, parse


def fault_of(name, *overrides):
    with pytest.raises(ScenarioError) as caught:
        load(name, overrides)
    assert len(caught.value.faults) == 1, caught.value
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "override", "fault"),
    [
        ("dv-8", "system.bridge.push_scatter=5.1", "must be at most 5.0, is 5.1"),
        ("dv-8", "system.bridge.stop_scatter=1e300", "must be at most 5.0, is 1e+300"),
        ("dv-8", "system.bridge.run_spread=6", "must be at most 5.0, is 6.0"),
        ("dv-8", "system.broker.scatter=6", "must be at most 5.0, is 6.0"),
        ("fdr-8", "system.publisher.publish_scatter=6", "must be at most 5.0, is 6.0"),
        ("dv-8", "system.card.port_rate=0.5 B/s", "must be at least 1 B/s, is 0.5 B/s"),
        ("fdr-8", "system.card.rate=1001 TB/s", "must be at most 1000 TB/s, is 1001 TB/s"),
        ("fdr-8", "system.card.latency=1000001 s", "must be at most 1000000 s, is 1000001 s"),
        (
            "dv-8",
            "system.bridge.push=1000001 s",
            "must be at most 1000000 s + 1000 s/B, is 1000001 s",
        ),
        (
            "dv-8",
            "system.bridge.push=1001 s/B",
            "must be at most 1000000 s + 1000 s/B, is 1001 s/B",
        ),
        ("dv-8", "system.card.ring=2000 TB", "must be at most 1048576 GiB, is 2000 TB"),
        ("dv-8", "system.bridge.threads=10_001", "must be at most 10000, is 10001"),
        ("dv-8", "system.bridge.sockets=10_001", "must be at most 10000, is 10001"),
        ("fdr-8", "system.publisher.processes=10_001", "must be at most 10000, is 10001"),
        ("dv-8", "system.card.ring_buffers=1_001", "must be at most 1000, is 1001"),
        ("dv-8", f"system.card.group_counters={2**31}", f"must be at most {2**30}, is {2**31}"),
        ("dv-8", f"system.card.piece_words={2**31}", f"must be at most {2**30}, is {2**31}"),
        ("dv-8", f"system.card.fifo_words={2**31}", f"must be at most {2**30}, is {2**31}"),
        ("dv-8", f"system.card.dma_entries={2**31}", f"must be at most {2**30}, is {2**31}"),
        ("dv-8", "system.bridge.release=1000001 s", "must be at most 1000000 s, is 1000001 s"),
        ("dv-8", "system.card.vic_scatter=5.1", "must be at most 5.0, is 5.1"),
        ("dv-8", "system.bridge.poll_interval=999 ns", "must be at least 1 us, is 999 ns"),
        ("dv-8", "system.broker.stall_every=0", "must be at least 1, is 0"),
        ("dv-8", "probe.interval=999 ns", "must be at least 1 us, is 999 ns"),
        ("dv-8", "probe.interval=1000001 s", "must be at most 1000000 s, is 1000001 s"),
        ("fdr-8", f"probe.batch={10**12 + 1}", f"must be at most {10**12}, is {10**12 + 1}"),
        ("fdr-8", f"workload.messages={10**12 + 1}", f"must be at most {10**12}, is {10**12 + 1}"),
        ("dv-8", "workload.iterations=10_001", "must be at most 10000, is 10001"),
        ("dv-8", f"workload.message_bytes={2**41}", f"must be at most {2**40}, is {2**41}"),
        ("fdr-8", "system.receivers=1025", "must be at most 1024, is 1025"),
    ],
)
def test_a_number_out_of_bounds_is_told_with_its_limit(name, override, fault):
    assert fault_of(f"h3/{name}", override) == f"overrides: {override.split('=')[0]}: {fault}"


@pytest.mark.parametrize(
    ("load_", "fault"),
    [("1e-4", "must be at least 0.001, is 0.0001"), ("1e13", "must be at most 10000000000")],
)
def test_an_offered_load_out_of_bounds(load_, fault):
    said = fault_of("h3/fdr-8", "loop=open", f"workload.messages_per_second={load_}")
    assert said.startswith(f"overrides: workload.messages_per_second: {fault}")


@pytest.mark.parametrize(
    ("name", "overrides", "fault"),
    [
        (
            "fdr-8",
            [f"workload.messages={10**11}", "workload.message_bytes=64 MiB"],
            "workload.messages: must be at most 68719476736 of 67108864 B each, is 100000000000",
        ),
        (
            "fdr-8",
            [f"workload.messages={10**9}", "probe.batch=1"],
            "probe.batch: is too small; an iteration has at least 1e+09 batches, and may have "
            "100000000",
        ),
        (
            "fdr-8",
            ["loop=open", "workload.messages_per_second=1"],
            "workload.messages: is 20000000; they take at least 2e+07 s, and an iteration may "
            "take 1000000 s",
        ),
        (
            "dv-8",
            ["probe.interval=1 us", "system.bridge.push=40 us"],
            "probe.interval: is too small; an iteration has at least 4e+08 samples, and may "
            "have 100000000",
        ),
        (
            "dv-8",
            ["system.bridge.poll_interval=1 us", "system.bridge.push=40 us"],
            "system.bridge.poll_interval: is too small; an iteration has at least 4e+08 polls, "
            "and may have 100000000",
        ),
        (
            "dv-8",
            ["system.broker.stall_every=1", "workload.messages=1_000_000_000"],
            "system.broker.stall_every: is too small; an iteration has at least 5e+08 stalls, "
            "and may have 100000000",
        ),
    ],
)
def test_numbers_that_are_too_much_together(name, overrides, fault):
    assert fault_of(f"h3/{name}", *overrides).endswith(fault)


@pytest.mark.parametrize("kind", KINDS)
def test_every_parameter_has_an_upper_bound(kind):
    huge = {"size": 2**62, "time": 2**62, "rate": 1e300, "count": 2**62, "ratio": 1e300}
    units = {"size": "B", "time": "ps", "rate": "B/s"}
    for name, spec in KINDS[kind].items():
        if spec.dimension == "word":  # one of a list
            continue
        given = huge.get(spec.dimension, "2000000 s")
        text = f"{given:.0f} {units[spec.dimension]}" if spec.dimension in units else given
        parse(text, spec.dimension)  # good but for its size
        with pytest.raises(UnitError, match="must be at most"):
            bounded(text, spec)
            pytest.fail(f"{kind} {name} takes {text}")


def test_the_largest_values_are_allowed():
    assert bounded("1000000 s + 1000 s/B", KINDS["bridge"]["push"]) == Law(10**18, 10**18)
    assert bounded("1000 TB/s", KINDS["link"]["rate"]) == 1e15
    assert bounded(5, KINDS["broker"]["scatter"]) == 5.0


@pytest.mark.parametrize("name", ["h3/dv-8", "h3/fdr-131072", "pivotal/record"])
def test_the_packaged_scenarios_are_far_within(name):
    scenario = load(name)
    assert list(extent(scenario)) == []
    assert least_ps(scenario) < 10**16  # ps: less than three hours
