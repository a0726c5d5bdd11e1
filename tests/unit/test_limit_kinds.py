"""Does the same search find limits of messaging over hosts and of systems under an offered load?"""

import math

import pytest
from click.testing import CliRunner
from harness.replies import Told

from dvsim.cli.limit import limit
from dvsim.contract.find import kind_named, kind_of
from dvsim.contract.load import load
from dvsim.errors import ScenarioError
from dvsim.study.limit import find_limits
from dvsim.study.limit.criterion import parse_criterion
from dvsim.study.limit.search import Scaled, Whole, axis_of

MESSAGING_KEYS, SYSTEM_KEYS = (kind_named(name).orders for name in ("messaging", "rabbitmq"))
STREAM = ["workload.streams=1", "workload.message_bytes=256", "workload.messages=10_000"]
SYSTEM = ["workload.messages=10_000"]


def limits(scenario, key, axis, until, **options):
    criterion = parse_criterion(until, kind_of(scenario).metrics(scenario))
    return list(find_limits(scenario, key, axis, criterion, workers=1, **options))


def test_a_stream_carries_what_its_threads_do_and_no_more():
    """Beyond that messages wait for each other, and the last wait longest."""
    scenario = load("zeromq/throughput", STREAM)
    (found,) = limits(scenario, "rate", Scaled(1e4, 1e8, 0.5), "p99 < 1 ms", replications=4)
    assert found.outcome == "found" and found.holds < found.fails
    fastest = kind_of(scenario).replicate(scenario.at(0), 1, 1).metrics["rate_out"]
    assert found.holds < 3 * fastest and found.fails > 0.5 * fastest


def test_the_offered_load_that_a_system_keeps_up_with():
    """A socket is the bottleneck: with two the limit is about twice as high."""
    limit_of = []
    for sockets in (1, 2):
        scenario = load("h3/dv-2048", [*SYSTEM, f"system.bridge.sockets={sockets}"])
        axis = Scaled(1e4, 3e5, 0.3)
        (found,) = limits(scenario, "messages_per_second", axis, "behind < 30 ms", replications=4)
        assert found.outcome == "found"
        limit_of.append(math.sqrt(found.holds * found.fails))
    assert 1.3 < limit_of[1] / limit_of[0] < 3


def test_every_metric_of_a_system_is_known_before_it_runs():
    scenario = load("h3/dv-8", ["workload.messages=400"])
    kind = kind_of(scenario)
    found = kind.replicate(scenario, 1, 1).metrics
    assert set(found) <= set(kind.metrics(scenario))
    assert {"delivered_rate", "behind", "r1_p99", "busy_broker"} <= set(found)


def test_a_criterion_about_what_a_run_does_not_have_is_refused():
    scenario = load("zeromq/throughput", STREAM)  # as fast as it goes: no latency to speak of
    with pytest.raises(ScenarioError, match="until: zeromq/throughput has no p99 at streams 1"):
        limits(scenario, "streams", Whole(1, 4), "p99 < 1 ms", replications=2)
    alone = load("h3/dv-8", ["workload.messages=400"])  # brokers without a cluster have no queues
    with pytest.raises(ScenarioError, match="until: h3/dv-8 has no busy_queue at"):
        limits(alone, "messages_per_second", Scaled(1e4, 1e5, 0.5), "busy_queue < 0.5")


def test_a_scenario_refuses_what_cannot_be_before_anything_is_run():
    with pytest.raises(ScenarioError, match=r"workload\.rate: is of a flow"):
        limits(load("zeromq/latency"), "rate", Scaled(1e3, 1e5, 0.1), "p99 < 1 ms")


def test_a_number_may_have_the_unit_of_its_metric():
    metrics = {"p99": "us", "behind": "s", "megabytes": "MB/s", "fairness": "1"}
    criterion = parse_criterion("latency_p99 < 1 ms and behind<=20 ms and fairness > 0.9", metrics)
    assert [term.bound for term in criterion.terms] == [1000, 0.02, 0.9]
    assert str(criterion) == "p99 < 1000 us and behind <= 0.02 s and fairness > 0.9"
    assert parse_criterion("megabytes > 1 GB/s", metrics).terms[0].bound == 1000
    for text in ("fairness > 1 ms", "p99 < 3 MB", "p99 < 3 apples"):
        with pytest.raises(ScenarioError, match="is no number"):
            parse_criterion(text, metrics)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("rate", (0, 10), None, MESSAGING_KEYS), "a rate is from 0.001 to 1e"),
        (("streams", (1, 65), None, MESSAGING_KEYS), "'streams' must be at most 64, not 65"),
        (("streams", (0, 4), None, MESSAGING_KEYS), "'streams' must be at least 1, not 0"),
        (("window", None, None, MESSAGING_KEYS), "between: missing; 'window' needs a range"),
        (("rats", None, None, MESSAGING_KEYS), "did you mean 'rate'"),
        (("load", None, None, SYSTEM_KEYS), "no order to search in; one of messages_per_second"),
        (("rate", None, 0.0, MESSAGING_KEYS), "tolerance: 0 is not from"),
    ],
)
def test_a_wrong_axis_is_told(arguments, said):
    with pytest.raises(ScenarioError, match=said):
        axis_of(*arguments)


def test_middles_of_rates_come_to_an_end():
    axis = Scaled(1e3, 1e7, 0.01)
    low, high = axis.low, axis.high
    while (middle := axis.middle(low, high)) is not None:
        assert low < middle < high
        low = middle
    assert high / low <= 1.011


def test_the_verb_searches_the_offered_load_of_a_system_by_itself():
    arguments = ["h3/fdr-8", "--until", "behind < 1 s", "--scale", "0.0002", "--json"]
    found = CliRunner().invoke(limit, [*arguments, "--replications", "2", "--workers", "1"])
    assert found.exit_code == 0, found.output
    content = Told(found.stdout).facts
    assert content["vary"] == "messages_per_second" and content["until"] == "behind < 1 s"
    assert content["limits"][0]["outcome"] == "everywhere"
