"""Can a card say only what differs from another, and is what is wrong told in the right layer?"""

import pytest
from click.testing import CliRunner

from dvsim.cli.show import show
from dvsim.contract.load import check_file, load, load_card
from dvsim.errors import ScenarioError
from dvsim.scenario.find import cards_root, scenario_root
from dvsim.scenario.render import card_toml

STATEMENT = 'confidence = "measured-here"\nsource = "a stopwatch, 12 May"\n'
FASTER = f'extends = "data-vortex-8"\n[port_rate]\nvalue = "10 GB/s"\n{STATEMENT}'


@pytest.fixture
def write(tmp_path):
    """Writes a card beside the others of the test."""

    def written(name, text):
        path = tmp_path / f"{name}.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return written


def told(path):
    return [str(fault).replace(f"{path.parent}/", "") for fault in check_file(path)]


def test_a_card_says_only_what_differs(write):
    card, base = load_card(write("faster", FASTER)), load_card("data-vortex-8")
    assert (card.name, card.kind) == ("faster", "vortex")
    assert card.title == "data-vortex-8 with another port_rate"
    assert card["port_rate"] == 10_000_000_000
    assert card.parameters["port_rate"].source == "a stopwatch, 12 May"
    assert card.parameters["port_rate"].origin == "faster.toml:3"
    others = [name for name in base.parameters if name != "port_rate"]
    assert all(card.parameters[name] == base.parameters[name] for name in others)


def test_a_scenario_takes_a_card_that_extends_another(write):
    path = write("faster", FASTER)
    scenario = load("h3/dv-8", [f"system.card={path}"])
    assert scenario.system.card == load_card(path)


def test_cards_extend_each_other_over_several_files(write):
    write("faster", FASTER)
    last = write(
        "last", f'extends = "faster"\ntitle = "mine"\n[ring]\nvalue = "1 MiB"\n{STATEMENT}'
    )
    card = load_card(last)
    assert (card.title, card["ring"], card["port_rate"]) == ("mine", 1 << 20, 10_000_000_000)
    assert check_file(last) == []


def test_a_card_extends_a_file_of_another_folder(write, tmp_path):
    (tmp_path / "deep").mkdir()
    write("faster", FASTER)
    path = write("deep/own", f'extends = "../faster.toml"\n[ring]\nvalue = "1 MiB"\n{STATEMENT}')
    assert load_card(path)["port_rate"] == 10_000_000_000


def test_a_value_of_the_base_does_not_lend_its_source(write):
    path = write("own", 'extends = "data-vortex-8"\n[ring]\nvalue = "1 MiB"\n')
    first, second = told(path)
    assert first.startswith('own.toml:2: ring.confidence: missing; of your own measurement "measur')
    assert second.startswith("own.toml:2: ring.source: missing; of your own measurement the comman")


def test_a_number_alone_is_told_how_it_is_written(write):
    path = write("own", 'extends = "data-vortex-8"\nring = "1 MiB"\n')
    assert told(path) == [
        "own.toml:2: ring: every number of a card says where it is from: "
        'ring = { value = "1 MiB", confidence = "measured-here", source = "…" }'
    ]


def test_parameters_in_a_table_are_told_where_they_belong(write):
    path = write(
        "own",
        'extends = "data-vortex-8"\n[parameters]\nrign = "1 MiB"\n'
        f'[parameters.sram]\nvalue = "4 MiB"\n{STATEMENT}',
    )
    assert told(path) == [
        "own.toml:3: parameters.rign: each parameter stands by itself at the top of a card: "
        'ring = { value = "1 MiB", confidence = "measured-here", source = "…" }',
        "own.toml:4: parameters.sram: each parameter stands by itself at the top of a card: [sram]",
    ]


def test_a_fault_names_the_layer_in_which_it_stands(write):
    write("middle", f'extends = "data-vortex-8"\n\n[sram]\nvalue = "4 GHz"\n{STATEMENT}')
    path = write("top", f'extends = "middle"\n[rign]\nvalue = "1 MiB"\n{STATEMENT}')
    assert sorted(told(path)) == [
        "middle.toml:4: sram.value: 'GHz' is not a unit of size; did you mean '4 GB'?",
        "top.toml:2: rign: unknown key; did you mean 'ring'?",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('extends = "data-vortx-8"\n[ring]\n', "no such card 'data-vortx-8'; did you mean 'data-v"),
        ('extends = "othr.toml"\n[ring]\n', "no such file 'othr.toml'; did you mean 'other.toml'?"),
        ('extends = "other"\n[ring]\n', "own.toml:1: extends: 'own' leads in a circle"),
        ('extends = "own.toml"\n[ring]\n', "own.toml:1: extends: 'own.toml' leads in a circle"),
        ('extends = "own"\n[ring]\n', "own.toml:1: extends: 'own' leads in a circle"),
        ("extends = 8\n[ring]\n", "own.toml:1: extends: must be text, a file or a card"),
        (
            'extends = "data-vortex-8"\nkind = "link"\n',
            "own.toml:2: kind: is 'link'; 'data-vortex-8', which this card extends, is a vortex c",
        ),
    ],
)
def test_an_extended_card_that_cannot_be_is_refused(write, text, message):
    write("other", f'extends = "own"\n[ring]\nvalue = "1 MiB"\n{STATEMENT}')
    path = write("own", text)
    assert message in "\n".join(told(path)).replace("other.toml:1", "own.toml:1")


def test_a_card_without_a_name_has_that_of_its_file(write):
    text = card_toml(load_card("h3-bridge"))
    assert load_card(write("mine", text)).name == "mine"
    with pytest.raises(ScenarioError, match="must be that of the file, 'theirs'"):
        load_card(write("theirs", f'name = "mine"\n{text}'))


@pytest.mark.parametrize("name", sorted(path.stem for path in cards_root().glob("*.toml")))
def test_a_card_that_was_shown_as_toml_loads_again(write, name):
    result = CliRunner().invoke(show, [name, "--toml"], catch_exceptions=False)
    card, again = load_card(name), load_card(write("mine", result.stdout))
    assert again.parameters == card.parameters
    assert (again.kind, again.title, again.notes) == (card.kind, card.title, card.notes)


def test_a_scenario_that_was_shown_as_toml_asks_the_same(write):
    words = ["h3/dv-8", "--toml", "--set", "system.card.ring=1 MiB"]
    result = CliRunner().invoke(show, words, catch_exceptions=False)
    again = load(write("mine", result.stdout))
    assert again.system == load("h3/dv-8", ["system.card.ring=1 MiB"]).system
    assert CliRunner().invoke(show, ["h3/dv-8", "--toml", "--json"]).exit_code == 2
    assert CliRunner().invoke(show, ["h3-bridge", "--toml", *words[2:]]).exit_code == 2


def test_a_scenario_that_extends_another_is_no_card():
    assert all(
        check_file(path) == [] for path in sorted((scenario_root() / "h3").glob("dv-*.toml"))
    )
