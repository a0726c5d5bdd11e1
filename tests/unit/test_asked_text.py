"""Do studies of all kinds say what was changed, how long they were, and their units?"""

import pytest

import dvsim
from dvsim.contract.find import kind_of
from dvsim.contract.load import load


def text_of(name, scale=0.005, **how):
    study = dvsim.run(name, scale=scale, replications=2, **how)
    lines = kind_of(study.scenario).lines(study)
    return [line for line in lines if isinstance(line, str)]


@pytest.mark.parametrize(
    ("name", "how", "said"),
    [
        ("rabbit/one", {"nodes": 3}, "rabbit/one with 3 nodes"),
        ("workload/halo", {"ranks": 8, "scale": 1}, "workload/halo with 8 ranks"),
        ("irregular/fdr", {"latency": "2 us"}, "irregular/fdr with latency 2 us"),
    ],
)
def test_the_first_line_says_what_was_changed(name, how, said):
    assert text_of(name, **how)[0].startswith(said)


def test_a_share_of_the_length_is_said_and_is_no_change():
    lines = text_of("rabbit/one", seconds=1800, scale=0.01)
    assert lines[0].startswith("rabbit/one: ")
    assert lines[1].startswith("  0.01 of the seconds of rabbit/one, seed 1, 2 replications")


def test_the_table_of_a_cluster_has_units_and_digits_by_the_interval():
    study = dvsim.run("rabbit/one", scale=0.005, replications=2)
    table = list(kind_of(study.scenario).lines(study))[2]
    assert "rate_out msg/s" in table.head and "p99 ms" in table.head
    assert "25,000" in table.rows[0]


@pytest.mark.parametrize("name", ["pivotal/clients", "pivotal/sizes", "zeromq/throughput"])
def test_scaled_messages_are_enough_for_all_who_send(name):
    scaled = load(name).scaled(0.0001)
    points = [scaled.at(number) for number in range(len(scaled.points))]
    assert all(one.workload.messages >= one.least for one in points)


def test_a_scale_that_leaves_enough_is_taken_as_it_is():
    scenario = load("zeromq/throughput")
    half = scenario.scaled(0.5)
    for number in range(len(scenario.points)):
        whole = scenario.at(number).workload.messages
        assert half.at(number).workload.messages == whole // 2
