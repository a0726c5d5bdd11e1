"""Does a scenario that was changed say so, and how?"""

import pytest

from dvsim.contract.load import load, load_campaign
from dvsim.scenario.render import card_toml
from dvsim.study.changes import changes_of, of_published_system, of_the_same_length


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("h3/dv-8192", [], []),
        ("h3/dv-8192", ["system.bridge.sockets=1"], []),  # as it is
        (
            "h3/dv-8192",
            ["system.bridge.sockets=4", "system.card.port_rate=10 GB/s"],
            ["port_rate 10 GB/s", "4 sockets"],
        ),
        ("h3/dv-8192", ["workload.message_bytes=16"], ["16 B messages"]),
        ("h3/fdr-8", ["system.receivers=1"], ["1 receiver"]),
        (
            "h3/dv-8",
            ["loop=open", "workload.messages_per_second=5000"],
            ["messages_per_second 5000"],
        ),
        ("h3/dv-8", ["system.fidelity=cycle", "probe.interval=1 ms"],
         ["fidelity cycle", "interval 1 ms"]),
        ("switch/load-latency", ["traffic.load=0.2"], ["load 0.2"]),
        ("switch/zero-load", ["traffic.load=0.2"], ["load 0.2"]),
        ("amps/delivery", ["system.host.cores=1"], ["1 core"]),
    ],
)  # fmt: skip
def test_what_was_set_is_said(name, options, said):
    changes = changes_of(load(name, options))
    assert list(changes.said) == said
    assert changes.name == (f"{name} with {', '.join(said)}" if said else name)
    assert changes.base == load(name)


def test_how_long_a_run_is_is_no_change_of_what_is_run():
    base = load("h3/dv-8192")
    changes = changes_of(base.scaled(0.01))
    assert (changes.said, changes.length, changes.name) == ((), 0.01, "h3/dv-8192")


def test_many_changes_are_counted():
    options = [f"system.card.{key}" for key in ("sram=4 MiB", "planes=1", "port_rate=1 GB/s")]
    options += ["system.bridge.sockets=4", "probe.interval=1 ms"]
    name = changes_of(load("h3/dv-8192", options)).name
    assert name.startswith("h3/dv-8192 with ") and name.endswith(", 1 more")


def test_another_card_is_named(tmp_path):
    mine = tmp_path / "mine.toml"
    text = card_toml(load("h3/dv-8").system.bridge)
    mine.write_text(text.replace('"h3-bridge"', '"mine"'))
    changes = changes_of(load("h3/dv-8", [f"system.bridge={mine}"]))
    assert changes.said == ("bridge card mine",)


def test_a_file_of_ones_own_is_the_unchanged_scenario(tmp_path):
    own = tmp_path / "own.toml"
    own.write_text('extends = "h3/fdr-8"\ntitle = "Mine"\n')
    assert changes_of(load(own)).said == ()
    changed = load(own, ["system.publisher.processes=4"])
    assert changes_of(changed).name == "own with 4 processes"
    own.unlink()
    assert changes_of(load("h3/fdr-8")).said == ()


OWN_REFERENCE = '[reference]\nfile = "h3_message_rates.csv"\ntransport = "fdr-ipoib"\n'


@pytest.mark.parametrize(
    ("text", "options", "published"),
    [
        ('title = "Mine"\n[workload]\nmessages = 1000\n', [], True),
        ("[system]\npublisher.processes = 4\n", [], False),
        ("", ["system.publisher.processes=4"], False),
        (f"[system]\npublisher.processes = 4\n{OWN_REFERENCE}", [], True),
    ],
    ids=["the same", "changed in the file", "changed by an option", "published by the file"],
)
def test_published_figures_are_of_the_system_that_was_published(tmp_path, text, options, published):
    """A file that changed the system was held against columns of the scenario that it extends."""
    own = tmp_path / "own.toml"
    own.write_text(f'extends = "h3/fdr-8"\n{text}')
    assert of_published_system(load(own, options)) is published
    last = tmp_path / "last.toml"
    last.write_text('extends = "own.toml"\n')
    assert of_published_system(load(last, options)) is published


def test_published_scenarios_are_of_the_published_system():
    named = [scenario for scenario in load_campaign("h3/*") if scenario.reference]
    assert len(named) == 10
    assert all(map(of_published_system, named))


@pytest.mark.parametrize(
    ("name", "option"),
    [("h3/dv-8192", "system.bridge.sockets=4"), ("switch/load-latency", "switch.slot=20 ns")],
)
def test_the_unchanged_scenario_is_asked_at_the_same_length(name, option):
    changed = load(name, [option]).scaled(0.01)
    assert of_the_same_length(changes_of(changed), changed) == load(name).scaled(0.01)
