"""Are scenarios of messaging read, checked, written back and varied as others are?"""

import pytest

from dvsim.contract.load import check_file, load, load_card
from dvsim.errors import ScenarioError
from dvsim.kinds.hosts.spec import ROLES, MessagingScenario
from dvsim.scenario.card_kinds import KINDS
from dvsim.scenario.find import list_cards, list_scenarios
from dvsim.scenario.render import to_toml

NAMES = [entry.name for entry in list_scenarios() if entry.kind == "messaging"]
BASE = """
kind = "messaging"
title = "t"
question = "q"
source = "s"

[workload]
mode = "flow"
message_bytes = 100
messages = 1000

[system]
pattern = "broker"
buffer = "8 KiB"
client = "qpid-client-m3"
link = "1gige"
host = "xeon-quad-dual"
broker = "qpid-m3"
storage = "memory"
"""


@pytest.fixture
def scenario(tmp_path):
    def write(text=BASE, *overrides):
        path = tmp_path / "mine.toml"
        path.write_text(text)
        return load(path, overrides)

    return write


def faults(write, text=BASE, *overrides):
    with pytest.raises(ScenarioError) as caught:
        write(text, *overrides)
    return str(caught.value)


def test_there_are_scenarios_of_all_four_sources():
    assert {name.split("/")[0] for name in NAMES} == {"zeromq", "amps", "osu-qpid", "pivotal"}


@pytest.mark.parametrize("name", NAMES)
def test_a_packaged_scenario_survives_being_written_and_read(name, tmp_path):
    asked = load(name)
    path = tmp_path / "again.toml"
    path.write_text(to_toml(asked))
    assert load(path) == asked
    assert check_file(path) == []


@pytest.mark.parametrize(
    "name", [entry.name for entry in list_cards() if entry.kind in ROLES.values()]
)
def test_every_number_of_a_card_has_a_source_and_a_fit_names_a_claim(name):
    card = load_card(name)
    assert list(card.parameters) == list(KINDS[card.kind])
    for parameter in card.parameters.values():
        assert len(parameter.source) > 5
        if parameter.confidence == "calibrated":
            assert any(mark in parameter.fitted for mark in ("ZMQ-", "AMPS-", "OSU-", "H3-"))


def test_points_cross_tables_and_cards_are_values_like_others(scenario):
    asked = scenario(
        BASE + '[[vary]]\nlink = ["1gige", "ipoib-ddr"]\n[[vary]]\nconsumers = [1, 2]\n'
    )
    assert isinstance(asked, MessagingScenario)
    assert [(p["link"].name, p["consumers"]) for p in asked.points] == [
        ("1gige", 1),
        ("1gige", 2),
        ("ipoib-ddr", 1),
        ("ipoib-ddr", 2),
    ]
    assert asked.at(3).cards["link"].name == "ipoib-ddr"
    assert asked.at(3).get("link") == "ipoib-ddr"


def test_a_key_on_the_command_line_is_not_varied_any_more(scenario):
    text = BASE + "[[vary]]\nconsumers = [1, 2]\npublishers = [4, 8]\n"
    asked = scenario(text, "workload.consumers=2")
    assert asked.keys == ()
    assert (asked.workload.consumers, asked.workload.publishers) == (2, 8)


def test_a_parameter_of_a_card_can_be_set(scenario):
    asked = scenario(BASE, "system.link.latency=5 us")
    parameter = asked.cards["link"].parameters["latency"]
    assert (parameter.value, parameter.confidence) == (5_000_000, "assumed")


def test_scaling_changes_the_messages_of_every_point(scenario):
    asked = scenario(BASE + "[[vary]]\nmessages = [100, 1000]\nconsumers = [1, 2]\n")
    half = asked.scaled(0.5)
    assert [half.at(point).workload.messages for point in (0, 1)] == [50, 500]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('link = "1gige"', "", "system.link: missing, and not varied"),
        ('storage = "memory"', "", "system.storage: missing, and not varied"),
        (
            'link = "1gige"',
            'link = "memory"',
            "'memory' is a storage card; role 'link' needs one of kind port",
        ),
        ('link = "1gige"', 'link = "1gig"', "did you mean '1gige'?"),
        ("message_bytes = 100", "message_bytes = 0", "workload.message_bytes"),
        ("message_bytes = 100", "", "workload.message_bytes: missing, and not varied"),
        ("messages = 1000", "mesages = 1000", "did you mean 'messages'?"),
        ('mode = "flow"', 'mode = "ping"\nconsumers = 2', "from one publisher to one consumer"),
        ('mode = "flow"', 'mode = "ping"\nrate = 10.0', "is of a flow"),
        ("messages = 1000", "messages = 1000\nwindow = 5\nrate = 1.0", "not beside rate"),
        ("messages = 1000", "messages = 1", "must be at least 2, is 1"),
        ('pattern = "broker"', 'pattern = "broker"\nexchange = "queue"', "prefetch: missing"),
        ('pattern = "broker"', 'pattern = "broker"\nprefetch = 5', "go together"),
        (
            'pattern = "broker"',
            'pattern = "broker"\nprefetch = 5\nacknowledge = 6',
            "must be at most prefetch 5",
        ),
        (
            'pattern = "broker"',
            'pattern = "broker"\nbrokers = 2',
            "at most the number of consumers",
        ),
        ('pattern = "broker"', 'pattern = "peer"\ndurability = "batched"', "is of a broker"),
        ('buffer = "8 KiB"', "buffer = 8", "has no unit of size"),
    ],
)
def test_what_cannot_be_is_said_with_its_place(scenario, old, new, said):
    assert old in BASE
    text = faults(scenario, BASE.replace(old, new))
    assert said in text
    assert "mine.toml" in text


def test_what_is_wrong_at_a_point_names_the_point(scenario):
    text = faults(scenario, BASE + "[[vary]]\nbrokers = [1, 4]\n")
    assert "at brokers 4: must be at most the number of consumers" in text


def test_two_cards_of_one_name_cannot_be_told_apart(scenario):
    two = '[[vary]]\nlink = ["1gige", { name = "1gige", latency = "5 us" }]\n'
    assert "has two cards of one name" in faults(scenario, BASE + two)


def test_a_list_is_varied_once_and_lists_of_a_table_are_of_one_length(scenario):
    twice = "[[vary]]\nconsumers = [1]\n[[vary]]\nconsumers = [2]\n"
    assert "is varied twice" in faults(scenario, BASE + twice)
    uneven = "[[vary]]\nconsumers = [1, 2]\npublishers = [1]\n"
    assert "of one length" in faults(scenario, BASE + uneven)
