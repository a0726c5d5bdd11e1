"""May a key be shortened to an end that no other key has, and is the rest refused with its name?"""

import pytest

import dvsim
from dvsim.contract.load import load, load_campaign
from dvsim.errors import ScenarioError


@pytest.mark.parametrize("key", ["sockets", "bridge.sockets", "system.bridge.sockets"])
def test_any_end_of_a_key_that_is_the_only_one_will_do(key):
    scenario = load("h3/dv-2048", [f"{key}=4"])
    assert scenario.system.bridge.parameters["sockets"].value == 4


def test_short_keys_mean_the_same_from_python():
    assert dvsim.load("switch/angles", height=64) == dvsim.load("switch/angles", switch__height=64)


def test_an_end_that_several_keys_have_is_refused_with_all_of_them():
    with pytest.raises(ScenarioError) as refused:
        load("amps/queues", ["threads=4"])
    said = str(refused.value)
    assert said.startswith("overrides: threads: is the end of 'system.")
    assert said.count(".threads'") == 2


def test_a_key_that_is_nearly_right_is_offered_in_full():
    with pytest.raises(ScenarioError) as refused:
        load("h3/dv-2048", ["bridge.socket=4"])
    assert str(refused.value) == (
        "overrides: bridge.socket: unknown key; did you mean 'system.bridge.sockets'?"
    )


def test_of_several_scenarios_those_without_the_key_go_without():
    runs = load_campaign("h3/published", ["sockets=2"])
    assert [
        one.system.bridge.parameters["sockets"].value for one in runs if "bridge" in one.cards
    ] == [2] * 5
    assert len(runs) == 10
