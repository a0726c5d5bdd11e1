"""Are scenarios, campaigns and cards found by name, and listed in reading order?"""

import re
from pathlib import Path

import pytest

from dvsim.errors import ScenarioError
from dvsim.scenario import find


@pytest.fixture
def roots(tmp_path, monkeypatch):
    """A scenario root and a card root of our own."""
    files = {
        "scenarios/a/dv.toml": 'abstract = true\ntitle = "common"',
        "scenarios/a/dv-8.toml": 'title = "eight"',
        "scenarios/a/dv-16.toml": 'title = "sixteen"',
        "scenarios/a/_part.toml": 'title = "a part"',
        "scenarios/a/all.toml": 'title = "all"\ncampaign = ["dv-8"]',
        "scenarios/b/broken.toml": 'title = "brok',
        "scenarios/b/odd.toml": "title = 3",
        "cards/big-link.toml": 'title = "big"\nkind = "link"',
        "cards/a-vortex.toml": 'title = "v"\nkind = "vortex"',
    }
    for name, text in files.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / "scenarios/b/binary.toml").write_bytes(b"\xff\xfe\x00")
    monkeypatch.setattr(find, "scenario_root", lambda: tmp_path / "scenarios")
    monkeypatch.setattr(find, "cards_root", lambda: tmp_path / "cards")
    return tmp_path


def refusal(name):
    with pytest.raises(ScenarioError) as caught:
        find.resolve_name(name)
    return str(caught.value)


def test_scenarios_are_listed_in_reading_order_without_common_parts(roots):
    names = [entry.name for entry in find.list_scenarios()]
    assert names == ["a/all", "a/dv-8", "a/dv-16", "b/binary", "b/broken", "b/odd"]


def test_a_campaign_is_told_from_a_scenario(roots):
    kinds = {entry.name: entry.kind for entry in find.list_scenarios()}
    assert (kinds["a/all"], kinds["a/dv-8"]) == ("campaign", "scenario")


@pytest.mark.parametrize("name", ["b/binary", "b/broken", "b/odd"])
def test_a_broken_file_does_not_stop_the_list(roots, name):
    titles = {entry.name: entry.title for entry in find.list_scenarios()}
    assert titles[name] == "(cannot be read: see `dvsim check`)"


def test_cards_are_listed_by_kind(roots):
    cards = [(entry.name, entry.kind, entry.title) for entry in find.list_cards()]
    assert cards == [("big-link", "link", "big"), ("a-vortex", "vortex", "v")]


def test_a_name_is_a_path_under_the_root(roots):
    assert find.resolve_name("a/dv-8") == roots / "scenarios/a/dv-8.toml"


def test_a_name_means_the_same_in_every_folder(roots, monkeypatch):
    other = roots / "elsewhere"
    (other / "a").mkdir(parents=True)
    (other / "a/dv-8.toml").write_text("")
    monkeypatch.chdir(other)
    assert find.resolve_name("a/dv-8") == roots / "scenarios/a/dv-8.toml"


def test_what_ends_in_toml_is_a_path(roots, monkeypatch):
    monkeypatch.chdir(roots / "cards")
    assert find.resolve_name("big-link.toml") == Path("big-link.toml")


def test_a_misspelt_name_gets_the_nearest(roots):
    assert refusal("a/dv-6") == "a/dv-6: no such scenario; did you mean 'a/dv-16'?"


def test_a_part_of_a_name_gets_the_scenario_that_has_it(roots):
    (roots / "scenarios/a/validation.toml").write_text('campaign = ["dv-8"]')
    (roots / "scenarios/a/deep").mkdir()
    (roots / "scenarios/a/deep/bridges.toml").write_text("")
    assert find.nearest_name("a2") == "a/validation"
    assert find.nearest_name("bridge") == "a/deep/bridges"
    assert find.nearest_name("big-lin", find.card_names()) == "big-link"


def test_a_name_that_is_near_to_none_is_told_where_they_are(roots):
    assert (
        refusal("a/quite/other") == "a/quite/other: no such scenario; `dvsim list` names them all"
    )


@pytest.mark.parametrize("name", ["lab.csv", "raw.parquet"])
def test_a_file_of_measurements_is_no_scenario(roots, name):
    wanted = (
        f"{name}: no such scenario; with measurements: `dvsim validate SCENARIO --against {name}`"
    )
    assert refusal(name) == wanted


def test_a_misspelt_path_gets_the_nearest_of_its_folder(roots):
    path = roots / "scenarios/a"
    expected = f"{path}/dv-88.toml: no such file; did you mean '{path}/dv-8.toml'?"
    assert refusal(path / "dv-88.toml") == expected


def test_a_path_into_nowhere_is_refused(roots):
    assert refusal("/no/where.toml") == "/no/where.toml: no such file"


def test_a_folder_is_no_scenario(roots):
    assert refusal(roots) == f"{roots}: is a folder, not a scenario file"


@pytest.mark.parametrize("name", ["../cards/big-link", "/etc/passwd", "", ".", "a"])
def test_a_name_cannot_leave_the_root(roots, name):
    what = "is a folder, not a scenario" if name == "." else "no such scenario"
    assert re.match(re.escape(name) + f": {what}", refusal(name))


@pytest.mark.parametrize("name", ["../cards/big-link", "/etc/passwd", "", "nul\0", "none"])
def test_a_card_name_cannot_leave_its_folder(roots, name):
    assert find.find_card(name) is None


def test_a_card_beside_the_scenario_comes_before_the_packaged_one(roots):
    own = roots / "mine/cards/big-link.toml"
    own.parent.mkdir(parents=True)
    own.write_text("")
    assert find.find_card("big-link", [roots / "mine"]) == own
    assert find.find_card("big-link") == roots / "cards/big-link.toml"


def test_the_roots_of_a_checkout_exist():
    for root in (find.scenario_root(), find.cards_root(), find.reference_root()):
        assert root.is_dir()
        assert root.is_absolute()


def test_packed_data_come_before_the_checkout(tmp_path, monkeypatch):
    monkeypatch.setattr(find, "_PACKAGE", tmp_path / "dvsim")
    assert find.cards_root() == tmp_path / "models/cards"
    assert find.scenario_root() == tmp_path / "scenarios"
    for name in ("cards", "scenarios"):
        (tmp_path / "dvsim/_data" / name).mkdir(parents=True)
    assert find.cards_root() == tmp_path / "dvsim/_data/cards"
    assert find.reference_root() == tmp_path / "dvsim/_data/scenarios/reference"
