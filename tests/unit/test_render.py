"""Is a scenario written as text the same scenario when it is read again?"""

import shutil
import tomllib
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dvsim.contract.load import load
from dvsim.scenario import find
from dvsim.scenario.render import to_toml


def reloaded(desk, text):
    file = desk / "resolved.toml"
    file.write_text(text, "utf-8")
    return load(file)


@pytest.mark.parametrize("name", ["mine.toml", "tcp.toml"])
def test_the_text_gives_an_equal_scenario(desk, name):
    scenario = load(desk / name)
    assert reloaded(desk, to_toml(scenario)) == scenario


def test_the_text_of_the_text_is_the_same(desk):
    text = to_toml(load(desk / "mine.toml"))
    assert to_toml(reloaded(desk, text)) == text


def test_the_text_stands_alone(desk):
    scenario = load(desk / "mine.toml")
    text = to_toml(scenario)
    shutil.rmtree(desk / "cards")
    (desk / "base.toml").unlink()
    assert reloaded(desk, text) == scenario


def test_the_text_remembers_what_was_overridden(desk):
    overrides = ["system.card.sram=3 MiB", "system.broker.scatter=0.25", "probe.interval=1 ms"]
    scenario = load(desk / "mine.toml", overrides)
    again = reloaded(desk, to_toml(scenario))
    assert again == scenario
    assert again.system.card["sram"] == 3 * 1024**2
    assert again.system.card.parameters["sram"].confidence == "assumed"


def test_the_spelling_of_a_value_leaves_no_trace(desk):
    before = to_toml(load(desk / "mine.toml"))
    desk.edit("cards/small-vortex.toml", '"1 MiB"', '"1048576 B"')
    desk.edit(
        "cards/small-vortex.toml", '"1 us + 1 ns/B"', '{ fixed = "1 us", per_byte = "1 ns/B" }'
    )
    desk.edit("base.toml", '"5.001 ms"', '"5001 us"')
    assert to_toml(load(desk / "mine.toml")) == before


def test_a_changed_value_changes_the_text(desk):
    before = to_toml(load(desk / "mine.toml"))
    desk.edit("cards/small-vortex.toml", '"1 MiB"', '"2 MiB"')
    assert to_toml(load(desk / "mine.toml")) != before


def test_the_name_survives_a_move(desk):
    scenario = reloaded(desk, to_toml(load(desk / "mine.toml")))
    assert scenario.name == "mine"


def test_a_reference_is_written(desk, monkeypatch):
    monkeypatch.setattr(find, "reference_root", lambda: desk.path)
    header = "transport,message_bytes,run,published_column,statistic,value\n"
    (desk / "data.csv").write_text(header + "x,8,1,8B_r1,mean,5\n")
    with (desk / "base.toml").open("a") as file:
        file.write('[reference]\nfile = "data.csv"\ntransport = "x"\nfitted = ["r1"]\n')
        file.write(
            "[tolerance]\nmean = 1\nempty_share = 0\nquantile = 0.1\nstd = 0.2\nextreme = 2\n"
        )
    scenario = load(desk / "mine.toml")
    assert scenario.reference.fitted == ("r1",)
    assert scenario.tolerance.mean == 1.0
    assert reloaded(desk, to_toml(scenario)) == scenario


@given(st.text(min_size=1, alphabet=st.characters(exclude_categories=["Cs"])))
@example('\x7f\0\n\t\\"')
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_any_title_survives(desk, title):
    scenario = replace(load(desk / "mine.toml"), title=title)
    assert tomllib.loads(to_toml(scenario))["title"] == title


def test_any_column_label_survives(desk):
    desk.edit("base.toml", "r1 =", '"8 B, \\"r1\\".x" =')
    scenario = load(desk / "mine.toml")
    assert list(scenario.probe.columns) == ['8 B, "r1".x']
    assert reloaded(desk, to_toml(scenario)) == scenario


@pytest.mark.parametrize(
    "entry", [e for e in find.list_scenarios() if e.kind == "scenario"], ids=lambda e: e.name
)
def test_every_packaged_scenario_survives(desk, entry):
    scenario = load(entry.name)
    assert reloaded(desk, to_toml(scenario)) == scenario
