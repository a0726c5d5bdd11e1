"""Is a scenario of a switch read as it is meant, and is all that is wrong with it told?"""

from pathlib import Path

import pytest
from switch_desk import edited, faults, small

from dvsim.contract import OWN
from dvsim.contract.load import check_file, is_card, load
from dvsim.kinds.switch.spec import Hot
from dvsim.scenario import bounds
from dvsim.scenario.document import Document
from dvsim.scenario.render import to_toml
from dvsim.scenario.spec import point_text

NETWORK = """\
kind = "switch"
title = "small"
question = "how small?"
source = "a test"

[network]
preset = "dv202"
planes = 1

[traffic]
load = 0.3
slots = 40
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "height = 4",
            "height = 12",
            "7: switch.height: must be a power of two from 2 to 1048576, is 12; nearest 8 or 16",
        ),
        ("angles = 3", "angles = 0", "8: switch.angles: must be at least 1, is 0"),
        ("angles = 3", "angels = 3", "8: switch.angels: unknown key; did you mean 'angles'?"),
        (
            "angles = 3",
            'angles = 3\ncrossing = "brk"',
            "9: switch.crossing: must be 'brc', 'xor' or 'random', not 'brk'; did you mean 'brc'?",
        ),
        ("height = 4\n", "", "6: switch.height: missing, and not varied"),
        ("slots = 400\n", "", "11: traffic.slots: missing, and not varied"),
        (
            "load = 0.3\n",
            "",
            "11: traffic.load: missing; the share of slots in which a packet arrives at an "
            "input, 0 to 1",
        ),
        ('"22 ns"', "22", "9: switch.slot: 22 has no unit of time; write for example '46 us'"),
        ('"22 ns"', '"0 ns"', "9: switch.slot: must be more than 0 s, is 0 s"),
        ("load = 0.3", "load = 1.5", "12: traffic.load: must be at most 1.0, is 1.5"),
        ("slots = 400", "slots = 0", "13: traffic.slots: must be at least 1, is 0"),
        ("slots = 400", "slots = 1.5", "13: traffic.slots: must be a whole number, not 1.5"),
        (
            "angles = 3",
            "angles = 3\ninjecting = 4",
            "9: switch.injecting: must be from 1 to 3, is 4",
        ),
        (
            "angles = 3",
            "angles = 3\ninjecting = [0, 3]",
            "9: switch.injecting: an angle in injecting must be from 0 to 2, is 3",
        ),
        (
            "angles = 3",
            'angles = 3\nfaults = [["nod", 0, 0, 0]]',
            "9: switch.faults: the kind of a fault must be one of node, down, stay, block, free, "
            "is 'nod'; did you mean 'node'?",
        ),
        (
            "angles = 3",
            'angles = 3\nfaults = [["node", 0, 0]]',
            "9: switch.faults: a fault is [kind, cylinder, angle, height], not ['node', 0, 0]",
        ),
        (
            "angles = 3",
            'angles = 3\nfaults = [["node", 0, 0, 4]]',
            "9: switch.faults: the height of a fault must be from 0 to 3, is 4",
        ),
        (
            "load = 0.3",
            'load = 0.3\ninjection = "saturate"',
            "12: traffic.load: must be 1 or absent with injection 'saturate', which always has a "
            "packet to offer; is 0.3",
        ),
        (
            "load = 0.3",
            'load = 0.3\npattern = "hotspot"',
            "13: traffic.pattern: must be 'uniform', 'bit-complement', 'transpose', 'shuffle', "
            "'permutation', 'hot-spot', 'bursty' or 'trace', not 'hotspot'; "
            "did you mean 'hot-spot'?",
        ),
        (
            "load = 0.3",
            'load = 0.3\npattern = "hot-spot"\nhot = { fraction = 0.1, outputs = [12] }',
            "14: traffic.hot: an output in hot must be from 0 to 11, is 12",
        ),
        (
            "load = 0.3",
            'load = 0.3\npattern = "permutation"\npermutation = [0, 1, 2, 2]',
            "14: traffic.permutation: must name each of the 4 heights once, has 4 entries, "
            "3 different",
        ),
        (
            "load = 0.3",
            'load = 0.3\nduty = 0.5\npattern = "bursty"',
            "14: traffic.pattern: 'bursty' needs burst",
        ),
        (
            "[traffic]",
            '[network]\npreset = "dv202"\n[traffic]',
            "11: network: not beside [switch]; a scenario has one of the two",
        ),
    ],
)
def test_one_wrong_thing_is_told_with_its_line(tmp_path, old, new, said):
    assert faults(edited(tmp_path, old, new)) == [f"small.toml:{said}"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            "[[vary]]\nheight = [4, 8]\nangles = [1]\n",
            "15: vary.0: lists of one table go together and must be of one length: height has 2, "
            "angles has 1",
        ),
        (
            "[[vary]]\nheigth = [4, 8]\n",
            "16: vary.0.heigth: unknown key; did you mean 'height'?",
        ),
        ("[[vary]]\nload = [0.1, 7]\n", "16: vary.0.load.1: must be at most 1.0, is 7"),
        (
            "[[vary]]\nload = [0.1]\n[[vary]]\nload = [0.2]\n",
            "18: vary.1.load: is varied twice, first in line 16",
        ),
        (
            "[[vary]]\nplanes = [1]\n",
            "16: vary.0.planes: is of [network], which is not there",
        ),
        (
            '[[vary]]\nheight = [4, 8]\n[[vary]]\npattern = ["uniform", "transpose"]\n',
            "18: vary.1.pattern: at height 8, pattern transpose: 'transpose' needs height "
            "4, 16, 64, …, is 8",
        ),
        (
            '[compare]\nwiht = ["zero-load"]\n',
            "16: compare.wiht: unknown key; did you mean 'with'?",
        ),
        (
            '[compare]\nwith = ["meanfield"]\n',
            "16: compare.with.0: must be 'mean-field', 'zero-load' or 'butterfly', not "
            "'meanfield'; did you mean 'mean-field'?",
        ),
        (
            '[compare]\nwith = ["butterfly"]\n',
            "16: compare.with: 'butterfly' needs a power of two of inputs, here are 12",
        ),
        (
            '[compare]\nwith = ["mean-field"]\n[[vary]]\ninjecting = [1]\n',
            "16: compare.with: 'mean-field' needs a switch whose angles all inject",
        ),
        (
            '[compare]\nwith = ["mean-field"]\n[[vary]]\nfaults = [[["node", 0, 0, 0]]]\n',
            "16: compare.with: 'mean-field' knows no faults",
        ),
        (
            '[compare]\nwith = ["butterfly"]\n'
            '[[vary]]\nheight = [4]\nangles = [4]\ninjection = ["queue"]\n',
            "16: compare.with: 'butterfly' has no queues; use injection 'drop'",
        ),
        (
            '[compare]\nwith = ["zero-load"]\n[[vary]]\npattern = ["shuffle"]\n',
            "16: compare.with: theory is of uniform traffic, not of pattern 'shuffle'",
        ),
        ("[record]\npackets = 201\nslots = 9\n", "16: record.packets: must be at most 200, is 201"),
        (
            f"[[vary]]\nload = [{'0.1, ' * 40}]\n[[vary]]\nheight = [{'4, ' * 40}]\n",
            f"15: vary: makes 1600 points; a scenario may have {bounds.POINTS}",
        ),
        (
            "[[vary]]\nslots = [1_000_000_000]\n[[vary]]\nheight = [1_048_576]\n",
            f"16: vary.0.slots: must be at most {10**15 // (2**20 * 3 * 21)} with "
            f"{2**20 * 3 * 21} nodes, the warm-up included; is 1000000050",
        ),
    ],
)
def test_what_is_varied_compared_or_recorded_wrongly_is_told(tmp_path, more, said):
    assert faults(small(tmp_path, more)) == [f"small.toml:{said}"]


def test_all_faults_are_told_at_once(tmp_path):
    more = "[record]\npackets = 0\nslots = 1\n[[vary]]\nload = [2.0]\n"
    told = faults(edited(tmp_path, "height = 4", "height = 3", more))
    assert [line.split(": ")[1] for line in told] == [
        "switch.height",
        "record.packets",
        "vary.0.load.0",
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            '"dv202"',
            '"dv201"',
            "7: network.preset: must be one of dv202, dv203, dv204, dv205, dv206, dv207, dv208, "
            "dv209, dv210, dv211, dv212, dv213, dv214, dv215, dv216, is 'dv201'; "
            "did you mean 'dv216'?",
        ),
        ('preset = "dv202"', "", "network needs a preset"),
        ("planes = 1", "levels = 2", "8: network.levels: does not go with preset 'dv202'"),
        ("planes = 1", "plane = 1", "8: network.plane: unknown key; did you mean 'planes'?"),
        ("[traffic]", "[traffic]\npattern = 'trace'", "traffic.pattern: 'trace' needs trace"),
    ],
)
def test_a_network_refuses_as_dvsim_network_does(tmp_path, old, new, said):
    told = faults(small(tmp_path, text=NETWORK.replace(old, new)))
    assert len(told) == 1
    assert said in told[0]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("[record]\npackets = 1\nslots = 1\n", "record: is of a switch alone"),
        ('[compare]\nwith = ["zero-load"]\n', "compare.with: theory is of a switch alone"),
        ("[[vary]]\nheight = [4]\n", "vary.0.height: is of [network.switch], which is not there"),
    ],
)
def test_a_network_has_no_theory_and_no_recording(tmp_path, more, said):
    (told,) = faults(small(tmp_path, more, text=NETWORK))
    assert said in told


def test_points_are_crossed_over_tables_and_zipped_inside(tmp_path):
    more = "[[vary]]\nheight = [4, 8]\nangles = [2, 1]\n[[vary]]\nload = [0.1, 0.2]\n"
    scenario = load(small(tmp_path, more))
    assert scenario.points == (
        {"height": 4, "angles": 2, "load": 0.1},
        {"height": 4, "angles": 2, "load": 0.2},
        {"height": 8, "angles": 1, "load": 0.1},
        {"height": 8, "angles": 1, "load": 0.2},
    )
    assert (scenario.at(2).switch.height, scenario.at(3).traffic.load) == (8, 0.2)
    assert point_text(scenario.points[3]) == "height 8, angles 1, load 0.2"


@pytest.mark.parametrize(
    "more",
    [
        "",
        "[[vary]]\nheight = [4, 8]\nangles = [2, 1]\n[[vary]]\nload = [0.1, 0.2]\n",
        '[[vary]]\nfaults = [[], [["node", 0, 0, 1], ["free", 1, 2, 3]]]\n',
        "[[vary]]\npattern = ['hot-spot']\nhot = [{ fraction = 0.1, outputs = [1, 2] }]\n",
        '[compare]\nwith = ["zero-load"]\n[record]\npackets = 3\nslots = 9\n',
    ],
)
def test_the_resolved_text_reloads_to_an_equal_scenario(tmp_path, more):
    scenario = load(small(tmp_path, more))
    again = small(tmp_path, text=to_toml(scenario), name="again.toml")
    assert load(again) == scenario
    assert to_toml(load(again)) == to_toml(scenario)


def test_the_text_is_the_same_for_the_same_question(tmp_path):
    plain = load(small(tmp_path))
    spelled = edited(tmp_path, '"22 ns"', '"0.022 us"\ncrossing = "brc"\ninjecting = [0, 1, 2]')
    assert to_toml(load(spelled)) != to_toml(plain)  # the angles are named
    spelled = edited(tmp_path, '"22 ns"', '"0.022 us"\ncrossing = "brc"')
    assert to_toml(load(spelled)) == to_toml(plain)


def test_a_value_on_the_command_line_is_not_varied_any_more(tmp_path):
    more = "[[vary]]\nheight = [4, 8]\n[[vary]]\nload = [0.1, 0.2]\n"
    scenario = load(small(tmp_path, more), ["traffic.load=0.4"])
    assert scenario.points == ({"height": 4}, {"height": 8})
    assert scenario.at(1).traffic.load == 0.4
    varied = load(small(tmp_path, more), ["vary=[{load=[0.5,0.6]}]"])
    assert varied.points == ({"load": 0.5}, {"load": 0.6})


def test_what_goes_together_with_a_chosen_value_stays(tmp_path):
    more = "[[vary]]\nheight = [4, 8, 16]\nslots = [400, 200, 100]\n"
    chosen = load(small(tmp_path, more), ["switch.height=8"])
    assert (chosen.points, chosen.at(0).traffic.slots) == (({},), 200)
    other = load(small(tmp_path, more), ["switch.height=32"])
    assert other.points == ({"slots": 400}, {"slots": 200}, {"slots": 100})
    both = load(small(tmp_path, more), ["switch.height=8", "traffic.slots=400"])
    assert (both.points, both.switch.height, both.traffic.slots) == (({},), 8, 400)
    more = "[[vary]]\nangles = [1, 1, 2]\nload = [0.1, 0.2, 0.3]\n"
    rows = load(small(tmp_path, more)).fixed("angles", 1)
    assert rows.points == ({"load": 0.1}, {"load": 0.2})


def test_flow_fidelity_is_for_what_it_knows(tmp_path):
    text = NETWORK.replace("planes = 1", 'fidelity = "flow"')
    assert faults(small(tmp_path, text=text)) == []
    (told,) = faults(small(tmp_path, text=text), ["traffic.pattern=shuffle"])
    assert told.startswith("small.toml:8: network.fidelity: 'flow' knows pattern 'uniform'")


def test_a_fault_on_the_command_line_is_told_there(tmp_path):
    (told,) = faults(small(tmp_path), ["switch.height=6"])
    assert told.startswith("overrides: switch.height: must be a power of two")


def test_a_scenario_builds_on_another(tmp_path):
    small(tmp_path, 'kind = "switch"\n'[:0], name="base.toml")
    path = tmp_path / "mine.toml"
    path.write_text('extends = "base.toml"\ntitle = "mine"\n[switch]\nangles = 5\n')
    scenario = load(path)
    assert (scenario.title, scenario.name) == ("mine", "mine")
    assert (scenario.switch.height, scenario.switch.angles) == (4, 5)


def test_a_common_part_may_lack_what_others_add(tmp_path):
    part = small(tmp_path, text='kind = "switch"\nabstract = true\n[traffic]\nslots = 9\n')
    assert check_file(part) == []
    part = small(tmp_path, text='kind = "switch"\nabstract = true\n[traffic]\nslots = 0\n')
    assert [fault.key for fault in check_file(part)] == ["traffic.slots"]


def test_a_misspelt_kind_is_no_card(tmp_path):
    path = edited(tmp_path, 'kind = "switch"', 'kind = "swich"')
    message = f"no such kind 'swich'; there are {', '.join(OWN)}; did you mean 'switch'?"
    assert faults(path) == [f"small.toml:1: kind: {message}"]
    assert not is_card(Document({"kind": "switch"}, {}))
    assert is_card(Document({"kind": "broker"}, {}))


TRACE = "load = 0.3\nslots = 400\nwarmup = 50\n"


def traced(tmp_path, lines, name="packets.csv"):
    (tmp_path / "packets.csv").write_text("slot,input,output\n" + lines)
    new = f'slots = 400\npattern = "trace"\ntrace = "{name}"\n'
    return edited(tmp_path, TRACE, new)


def test_a_trace_lies_beside_the_file_and_becomes_part_of_the_question(tmp_path):
    scenario = load(traced(tmp_path, "0,0,5\n3,11,0\n"))
    assert scenario.traffic.trace == ((0, 0, 5), (3, 11, 0))
    (tmp_path / "packets.csv").unlink()
    assert load(small(tmp_path, text=to_toml(scenario), name="again.toml")) == scenario


@pytest.mark.parametrize(
    ("lines", "name", "said"),
    [
        ("0,0,12\n", "packets.csv", "packets.csv:2: output 12 is not a port (0..11)"),
        ("5,0,1\n4,1,1\n", "packets.csv", "packets.csv:3: slot 4 comes after slot 5"),
        ("", "packet.csv", "No such file or directory; did you mean 'packets.csv'?"),
    ],
)
def test_a_wrong_trace_is_told_with_its_own_line(tmp_path, lines, name, said):
    (told,) = faults(traced(tmp_path, lines, name))
    assert told.startswith("small.toml:14: traffic.trace: ")
    assert told.endswith(said)


def test_a_trace_that_may_never_end_is_not_read(tmp_path, monkeypatch):
    (told,) = faults(traced(tmp_path, "", "/dev/zero"))
    assert told == "small.toml:14: traffic.trace: /dev/zero is not a file"
    monkeypatch.setattr(bounds, "TRACE_BYTES", 30)
    (told,) = faults(traced(tmp_path, "0,0,5\n3,11,0\n"))
    assert told.endswith("traffic.trace: is a file of 31 B; a scenario may have 30")
    monkeypatch.setattr(bounds, "TRACE_BYTES", 300)
    monkeypatch.setattr(bounds, "TRACE", 1)
    (told,) = faults(traced(tmp_path, "0,0,5\n3,11,0\n"))
    assert told.endswith("traffic.trace: has 2 packets; a scenario may have 1")


def test_a_scenario_without_a_switch_asks_for_one(tmp_path):
    told = faults(small(tmp_path, text=NETWORK.partition("[network]")[0]))
    assert any(line.endswith("missing; a scenario has [switch] or [network]") for line in told)


def test_a_hot_spot_is_frozen(tmp_path):
    new = 'load = 0.3\npattern = "hot-spot"\nhot = { fraction = 0.1, outputs = [1, 2] }'
    scenario = load(edited(tmp_path, "load = 0.3", new))
    assert scenario.traffic.hot == Hot(0.1, (1, 2))


def test_a_hot_spot_may_be_written_as_in_python(tmp_path):
    new = 'load = 0.3\npattern = "hot-spot"\nhot = [0.1, [1, 2]]'
    assert load(edited(tmp_path, "load = 0.3", new)).traffic.hot == Hot(0.1, (1, 2))


def test_the_file_of_the_documentation_is_good(tmp_path):
    document = Path(__file__).parents[2] / "docs" / "studies.md"
    text = document.read_text("utf-8").split("```toml\n")[1].split("```")[0]
    assert len(load(small(tmp_path, text=text)).points) == 12
