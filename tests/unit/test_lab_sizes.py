"""Does a size that only the laboratory has get a scenario, and is nothing else run?"""

import pytest

from dvsim.contract.load import load, load_campaign
from dvsim.evidence.lab.match import answer, at_all_sizes, chosen
from dvsim.evidence.lab.read import read_lab


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "lab.csv"
    path.write_text("message_bytes,mean (msg/s)\n500,15000\n2048,13000\n9000,9000\n")
    return read_lab(path)


def test_the_sizes_of_a_laboratory_are_made_of_the_nearest_scenarios(data):
    asked = chosen(at_all_sizes(load_campaign("h3/dv-*"), data), data, None)
    found = [(one.name, one.workload.message_bytes, one.reference is None) for one in asked]
    assert found == [
        ("h3/dv-2048", 2048, False),  # that size is there, with its published data
        ("h3/dv-512", 500, True),
        ("h3/dv-8192", 9000, True),
    ]


def test_one_scenario_is_made_once_for_each_size(tmp_path):
    path = tmp_path / "lab.csv"
    path.write_text("message_bytes,run,mean (msg/s)\n500,a,15000\n500,b,15100\n900,a,14000\n")
    asked = at_all_sizes([load("h3/dv-2048")], read_lab(path))
    assert [one.workload.message_bytes for one in asked] == [2048, 500, 900]


def test_published_data_have_the_sizes_that_they_have():
    scenarios = load_campaign("h3/dv-*")
    assert at_all_sizes(scenarios, read_lab("h3_message_rates.csv")) == scenarios


def test_a_point_of_messaging_is_made_too(tmp_path):
    path = tmp_path / "lab.csv"
    path.write_text("client,message_bytes,mean (us)\nzeromq-0.2,3000,90\n")
    path.with_suffix(".toml").write_text('[lab]\nmetric = "latency"\n')
    data = read_lab(path)
    (case,) = data.cases
    found = answer(case, [load("zeromq/latency")], data)
    assert (found.get("client"), found.get("message_bytes"), len(found.points)) == (
        "zeromq-0.2",
        3000,
        1,
    )


def test_messaging_varies_its_size_over_that_of_the_laboratory(tmp_path):
    path, asked = tmp_path / "lab.csv", [load("zeromq/latency", ["client=zeromq-0.2"])]
    path.write_text("message_bytes,mean (us)\n3000,90\n64,40\n")
    (found,) = at_all_sizes(asked, read_lab(path))
    assert [point["message_bytes"] for point in found.points] == [64, 3000]
    path.write_text("message_bytes,mean (us)\n64,40\n")
    assert at_all_sizes(asked, read_lab(path)) == asked


def test_a_size_alone_does_not_choose_between_points(tmp_path):
    path = tmp_path / "lab.csv"
    path.write_text("message_bytes,mean (us)\n3000,90\n")
    path.with_suffix(".toml").write_text('[lab]\nmetric = "latency"\n')
    data = read_lab(path)
    assert (
        answer(data.cases[0], [load("zeromq/latency")], data) == "zeromq/latency has no such point"
    )


def test_a_value_that_no_point_has_is_named_with_the_nearest(tmp_path):
    path = tmp_path / "lab.csv"
    path.write_text("message_bytes,client,mean (us)\n64,zeromq-0.3,90\n")
    data = read_lab(path)
    assert answer(data.cases[0], [load("zeromq/latency")], data) == (
        "zeromq/latency has no such point: client is zeromq-0.2 or raw-tcp, not zeromq-0.3; "
        "did you mean 'zeromq-0.2'?"
    )
