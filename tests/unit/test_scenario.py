"""What a scenario says after inheritance, units and `--set`."""

import pickle
import shutil
from dataclasses import FrozenInstanceError

import pytest

from dvsim.contract.load import check_file, load, load_campaign, load_card, resolve
from dvsim.errors import ScenarioError
from dvsim.scenario import find
from dvsim.scenario.render import to_toml
from dvsim.scenario.sampled import Column, Tolerance
from dvsim.scenario.units import Law


def refusal(call, *args):
    with pytest.raises(ScenarioError) as caught:
        call(*args)
    return str(caught.value)


# what is loaded


def test_a_file_wins_over_what_it_extends(desk):
    scenario = load(desk / "mine.toml")
    assert (scenario.title, scenario.question) == ("mine", "how fast?")
    assert scenario.workload.messages == 500
    assert scenario.workload.iterations == 2


def test_a_message_size_may_have_a_unit(desk):
    assert load(desk / "mine.toml").workload.message_bytes == 2048


def test_values_are_in_base_units(desk):
    scenario = load(desk / "mine.toml")
    assert scenario.probe.interval_ps == 5_001_000_000
    assert scenario.system.card["sram"] == 1024**2
    assert scenario.system.card["vic_to_dram"] == Law(1_000_000, 1_000_000)
    assert load(desk / "tcp.toml").system.card["rate"] == 7e9


def test_a_parameter_knows_what_is_known_about_it(desk):
    sram = load(desk / "mine.toml").system.card.parameters["sram"]
    assert (sram.text, sram.confidence, sram.source) == ("1 MiB", "assumed", "a test")
    assert sram.origin == "small-vortex.toml:17"


def test_a_system_has_the_cards_of_its_transport(desk):
    assert list(load(desk / "mine.toml").system.cards) == ["card", "bridge", "broker"]
    assert list(load(desk / "tcp.toml").system.cards) == ["card", "publisher", "broker"]


def test_a_column_names_a_receiver_and_iterations(desk):
    assert load(desk / "mine.toml").probe.columns == {"r1": Column(1, (1,))}


def test_without_columns_everything_is_one(desk):
    assert load(desk / "tcp.toml").probe.columns == {"all": Column(0, (1, 2))}
    desk.edit("base.toml", "r1 = { receiver = 1, iterations = [1] }", "")
    columns = load(desk / "mine.toml").probe.columns
    assert columns == {"r1": Column(1, (1, 2)), "r2": Column(2, (1, 2))}


def test_without_a_reference_there_are_usual_tolerances(desk):
    assert load(desk / "mine.toml").tolerance == Tolerance(0.15, 0.05, 0.30, 0.30, 0.50)


def test_a_scenario_is_frozen(desk):
    scenario = load(desk / "mine.toml")
    with pytest.raises(FrozenInstanceError):
        scenario.title = "other"


def test_a_scenario_travels_to_another_process(desk):
    scenario = load(desk / "mine.toml")
    assert pickle.loads(pickle.dumps(scenario)) == scenario


def test_faults_travel_to_another_process(desk):
    with pytest.raises(ScenarioError) as caught:
        load(desk / "base.toml")
    assert pickle.loads(pickle.dumps(caught.value)).faults == caught.value.faults


def test_the_place_of_a_file_makes_no_difference(desk, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    shutil.copytree(desk.path, other, dirs_exist_ok=True)
    assert load(other / "mine.toml") == load(desk / "mine.toml")


def test_the_current_folder_makes_no_difference(desk, tmp_path_factory, monkeypatch):
    expected = load(desk / "mine.toml")
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert load(desk / "mine.toml") == expected


def test_cards_of_an_extended_file_are_found_beside_it(desk):
    (desk / "deeper").mkdir()
    file = desk / "deeper/own.toml"
    file.write_text('extends = "../mine.toml"\ntitle = "own"\n')
    assert load(file).system.card.name == "small-vortex"


def test_cards_beside_the_file_itself_come_first(desk):
    (desk / "deeper/cards").mkdir(parents=True)
    card = (desk / "cards/small-vortex.toml").read_text().replace('"1 MiB"', '"9 MiB"')
    (desk / "deeper/cards/small-vortex.toml").write_text(card)
    file = desk / "deeper/own.toml"
    file.write_text('extends = "../mine.toml"\n')
    assert load(file).system.card["sram"] == 9 * 1024**2


def test_a_name_in_the_file_is_not_handed_on(desk):
    desk.edit("base.toml", 'title = "base"', 'title = "base"\nname = "a/b"')
    assert load(desk / "mine.toml").name == "mine"


def test_a_byte_order_mark_is_no_key(desk):
    file = desk / "mine.toml"
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert load(file).title == "mine"


def test_windows_line_ends_are_read(desk):
    file = desk / "mine.toml"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert load(file).workload.messages == 500


# overrides


@pytest.mark.parametrize(
    ("option", "get", "value"),
    [
        ("workload.messages=7", lambda s: s.workload.messages, 7),
        ("workload.messages = 7_000", lambda s: s.workload.messages, 7000),
        ("workload.message_bytes=4 KiB", lambda s: s.workload.message_bytes, 4096),
        ("probe.interval=1 ms", lambda s: s.probe.interval_ps, 10**9),
        ('probe.interval="1 ms"', lambda s: s.probe.interval_ps, 10**9),
        ("system.card.sram=64 MiB", lambda s: s.system.card["sram"], 64 * 1024**2),
        (
            "system.broker.service=1 us + 2 ns/B",
            lambda s: s.system.broker["service"].fixed_ps,
            10**6,
        ),
        ("title=a = b", lambda s: s.title, "a = b"),
        ("probe.columns.r2={ receiver = 2, iterations = [2] }", lambda s: len(s.probe.columns), 2),
    ],
)
def test_an_option_sets_a_value(desk, option, get, value):
    assert get(load(desk / "mine.toml", [option])) == value


def test_an_overridden_parameter_is_assumed_and_says_so(desk):
    sram = load(desk / "mine.toml", ["system.card.sram=64 MiB"]).system.card.parameters["sram"]
    assert (sram.confidence, sram.origin) == ("assumed", "overrides")
    assert sram.source == "set on the command line"


def test_an_override_leaves_the_other_parameters(desk):
    plain = load(desk / "mine.toml").system.card
    card = load(desk / "mine.toml", ["system.card.sram=64 MiB"]).system.card
    others = {name: p for name, p in card.parameters.items() if name != "sram"}
    assert others == {name: p for name, p in plain.parameters.items() if name != "sram"}


def test_a_table_overrides_parameters_of_a_card(desk):
    table = '{ name = "small-vortex", sram = "3 MiB" }'
    desk.edit("base.toml", '"small-vortex"', table)
    sram = load(desk / "mine.toml").system.card.parameters["sram"]
    assert (sram.value, sram.confidence) == (3 * 1024**2, "assumed")
    assert (sram.source, sram.origin) == ("set by the scenario", "base.toml:15")


def test_a_file_overrides_a_parameter_of_the_card_it_inherits(desk):
    with (desk / "mine.toml").open("a") as file:
        file.write('[system.card]\nsram = "3 MiB"\n')
    card = load(desk / "mine.toml").system.card
    assert card.name == "small-vortex"
    assert card.parameters["sram"].origin == "mine.toml:8"


def test_an_overridden_parameter_can_bring_its_source(desk):
    table = '{ value = "3 MiB", confidence = "published", source = "a book" }'
    with (desk / "mine.toml").open("a") as file:
        file.write(f"[system.card]\nsram = {table}\n")
    sram = load(desk / "mine.toml").system.card.parameters["sram"]
    assert (sram.confidence, sram.source) == ("published", "a book")


def test_a_new_value_does_not_keep_the_old_source(desk):
    card = desk / "cards/small-link.toml"
    text = card.read_text().replace('"assumed"', '"published"').replace('"a test"', '"a book"')
    card.write_text(text)
    inline = desk / "inline.toml"
    inline.write_text(to_toml(load(desk / "tcp.toml")))
    assert load(inline).system.card.parameters["rate"].source == "a book"
    rate = load(inline, ["system.card.rate=1 GB/s"]).system.card.parameters["rate"]
    assert (rate.confidence, rate.source) == ("assumed", "set on the command line")


def test_a_new_table_does_not_keep_the_old_fit(desk):
    statement = 'value = "56 Gb/s"\nconfidence = "calibrated"\nfitted = "x"'
    desk.edit("cards/small-link.toml", 'value = "56 Gb/s"\nconfidence = "assumed"', statement)
    (desk / "inline.toml").write_text(to_toml(load(desk / "tcp.toml")))
    other = desk / "other.toml"
    other.write_text('extends = "inline.toml"\n[system.card.rate]\nvalue = "1 GB/s"\n')
    rate = load(other).system.card.parameters["rate"]
    assert (rate.confidence, rate.fitted, rate.source) == ("assumed", None, "set by the scenario")


def test_a_table_that_names_a_card_drops_the_overrides_of_the_first(desk):
    desk.edit("base.toml", '"small-vortex"', '{ name = "small-vortex", sram = "3 MiB" }')
    with (desk / "mine.toml").open("a") as file:
        file.write('[system.card]\nname = "small-vortex"\nring = "1 KiB"\n')
    card = load(desk / "mine.toml").system.card
    assert (card["sram"], card["ring"]) == (1024**2, 1024)


def test_naming_another_card_drops_the_overrides_of_the_first(desk):
    desk.edit("base.toml", '"small-vortex"', '{ name = "small-vortex", sram = "3 MiB" }')
    card = load(desk / "mine.toml", ["system.card=small-vortex"]).system.card
    assert card["sram"] == 1024**2


def test_where_each_value_was_written_is_known(desk):
    resolved = resolve(desk / "mine.toml", ["workload.iterations=3"])
    assert resolved.origin(("workload", "messages")) == "mine.toml:6"
    assert resolved.origin(("probe", "interval")) == "base.toml:21"
    assert resolved.origin(("workload", "iterations")) == "overrides"
    assert resolved.origin(("probe", "columns", "r1", "receiver")) == "base.toml:24"
    assert resolved.origin(("tolerance", "mean")) == "default"


# campaigns and cards


def test_a_campaign_gives_its_scenarios_in_order(desk):
    file = desk / "all.toml"
    file.write_text('title = "t"\nquestion = "q"\ncampaign = ["tcp", "mine"]\n')
    scenarios = load_campaign(file, ["workload.messages=9"])
    assert [scenario.name for scenario in scenarios] == ["tcp", "mine"]
    assert {scenario.workload.messages for scenario in scenarios} == {9}


def two_transports(desk):
    text = 'title = "t"\nquestion = "q"\ncampaign = ["mine", "tcp"]\n'
    (desk / "all.toml").write_text(text)
    return desk / "all.toml"


def test_an_option_passes_by_members_that_have_no_such_card(desk):
    options = ["system.bridge.sockets=3", "workload.messages=7"]
    vortex, tcp = load_campaign(two_transports(desk), options)
    assert vortex.system.bridge["sockets"] == 3
    assert tcp.system.bridge is None
    assert (vortex.workload.messages, tcp.workload.messages) == (7, 7)


def test_an_option_passes_by_members_whose_card_has_no_such_parameter(desk):
    vortex, tcp = load_campaign(two_transports(desk), ["system.card.mtu=4 KiB"])
    assert "mtu" not in vortex.system.card.parameters
    assert tcp.system.card["mtu"] == 4096


def test_an_option_that_no_member_has_is_told_by_each(desk):
    with pytest.raises(ScenarioError) as caught:
        load_campaign(two_transports(desk), ["system.card.mut=4 KiB"])
    assert [str(fault) for fault in caught.value.faults] == [
        "overrides: system.card.mut: unknown key",
        "overrides: system.card.mut: unknown key; did you mean 'mtu'?",
    ]


def test_an_option_that_no_member_uses_is_a_fault(desk):
    (desk / "all.toml").write_text('title = "t"\nquestion = "q"\ncampaign = ["tcp"]\n')
    with pytest.raises(ScenarioError, match=r"system\.bridge: not used by transport 'tcp'"):
        load_campaign(desk / "all.toml", ["system.bridge.sockets=3"])


def test_a_campaign_can_name_another_folder(desk):
    (desk / "deeper").mkdir()
    file = desk / "deeper/all.toml"
    file.write_text('title = "t"\nquestion = "q"\ncampaign = ["../mine"]\n')
    assert [scenario.name for scenario in load_campaign(file)] == ["mine"]


def test_a_scenario_is_a_campaign_of_one(desk):
    assert load_campaign(desk / "mine.toml") == [load(desk / "mine.toml")]


def test_a_pattern_gives_the_matching_scenarios(desk, monkeypatch):
    monkeypatch.setattr(find, "scenario_root", lambda: desk.path)
    assert [scenario.name for scenario in load_campaign("m*")] == ["mine"]
    assert refusal(load_campaign, "x*") == "x*: no scenario has such a name"


def test_a_card_is_loaded_by_path_and_by_name(desk, monkeypatch):
    monkeypatch.setattr(find, "cards_root", lambda: desk / "cards")
    card = load_card("small-link")
    assert card == load_card(desk / "cards/small-link.toml")
    assert (card.kind, card["mtu"]) == ("link", 2044)


def test_an_unknown_card_gets_the_nearest_name(desk, monkeypatch):
    monkeypatch.setattr(find, "cards_root", lambda: desk / "cards")
    expected = "small-lnk: no such card; did you mean 'small-link'?"
    assert refusal(load_card, "small-lnk") == expected


# what the repository ships


@pytest.mark.parametrize(
    "path",
    [
        *sorted(set(find.scenario_root().rglob("*.toml")) - set(find.reference_root().iterdir())),
        *sorted(find.cards_root().glob("*.toml")),
    ],
    ids=lambda path: path.stem,
)
def test_every_packaged_file_is_good(path):
    assert check_file(path) == []
