"""Do faults of ports, cables and planes slow a replay, and is one that can never end explained?"""

import pytest
from click.testing import CliRunner
from harness.replies import Told

import dvsim
from dvsim.cli.main import cli
from dvsim.errors import RunFailed, ScenarioError

WORDS = 10_000
PAIR = f"""num_ranks 2
rank 0 {{
a: send {8 * WORDS}b to 1
}}
rank 1 {{
a: recv {8 * WORDS}b from 0
}}
"""
RATE = 4.4  # GB/s of a port of 16 planes, as the card says
FULL = 8 * WORDS / RATE  # ns in which the words of a message leave it


@pytest.fixture
def pair(tmp_path):
    (tmp_path / "pair.goal").write_text(PAIR)
    return tmp_path / "pair.goal"


def took(pair, *faults, fidelity="flow", seed=1):
    return dvsim.replay(pair, "dv203", faults=faults, fidelity=fidelity, seed=seed, S="1 MB")


@pytest.mark.parametrize("fidelity", ["flow", "cycle"])
@pytest.mark.parametrize("port", [0, 1])
def test_dead_cables_leave_the_rate_of_the_planes_that_are_left(pair, port, fidelity):
    sound = took(pair, fidelity=fidelity).time_ns
    dead = [f"dead port={port} plane={plane}" for plane in range(12)]
    assert took(pair, *dead, fidelity=fidelity).time_ns - sound == pytest.approx(3 * FULL, rel=0.05)
    assert took(pair, *dead, fidelity=fidelity).parts["wait"] == 0


@pytest.mark.parametrize("fidelity", ["flow", "cycle"])
def test_a_dead_plane_slows_all_ports_and_cables_of_others_none(pair, fidelity):
    sound = took(pair, fidelity=fidelity).time_ns
    halved = took(pair, *(f"dead plane={plane}" for plane in range(8)), fidelity=fidelity)
    assert halved.time_ns - sound == pytest.approx(FULL, rel=0.05)
    assert took(pair, "dead port=5 plane=3", fidelity=fidelity).time_ns == sound
    assert took(pair, "slow port=5 by=9", fidelity=fidelity).time_ns == sound


def both(pair, *faults, fabric="dv207", **options):
    """Two messages from one leaf to another: ranks 0 and 1 send to 2 and 3."""
    pair.write_text(
        "num_ranks 4\n"
        + "".join(f"rank {k} {{\na: send {8 * WORDS}b to {k + 2}\n}}\n" for k in range(2))
        + "".join(f"rank {k} {{\na: recv {8 * WORDS}b from {k - 2}\n}}\n" for k in (2, 3))
    )
    asked = {"fidelity": "cycle", "S": "1 MB", "planes": 1, "placement": [0, 1, 126, 127]} | options
    return dvsim.replay(pair, fabric, faults=faults, **asked)


def dead_cables(*ups, switch=0):
    return [f"dead level=0 switch={switch} up={up} plane=0" for up in ups]


def test_dead_cables_between_switches_leave_the_rate_of_those_that_are_left(pair):
    """One cable carries a word a slot, and so does a port: two ports need two of 32."""
    sound = both(pair).time_ns
    assert both(pair, *dead_cables(5)).time_ns == pytest.approx(sound, rel=0.05)
    assert both(pair, *dead_cables(5, switch=2)).time_ns == pytest.approx(sound, rel=0.05)
    for switch in (0, 3):  # up from the senders' leaf, and down to the receivers'
        one = both(pair, *dead_cables(*range(1, 32), switch=switch))
        assert one.time_ns - sound == pytest.approx(FULL, rel=0.05)
        assert one.fabric.title.endswith("cycle fidelity, with faults")


@pytest.mark.parametrize(
    ("faults", "options", "said"),
    [
        (dead_cables(5), {"fidelity": "flow"}, "count at fidelity=cycle only"),
        (dead_cables(*range(32)), {}, "ports 0 and 32 share no plane"),
        (
            [*dead_cables(*range(16)), *dead_cables(*range(16, 32), switch=1)],
            {},
            "ports 0 and 32 share no plane",
        ),
        (dead_cables(32), {}, "the up links are 0 to 31; no up 32"),
        (dead_cables(0, switch=4), {}, "the switches are 0 to 3; no switch 4"),
        (["dead level=1 switch=0 up=0 plane=0"], {}, "the levels are 0 to 0; no level 1"),
        (["dead level=0 switch=0 up=0 plane=1"], {}, "the planes are 0 to 0; no plane 1"),
        (["dead level=0 switch=0 plane=0"], {}, "dead wants plane= or port= or plane= port= or"),
        (
            dead_cables(0),
            {"fabric": "dv206", "placement": "linear"},
            "64 ports have one switch on a plane, and no cable to another",
        ),
    ],
)
def test_dead_cables_that_cannot_be_are_refused(pair, faults, options, said):
    with pytest.raises(ScenarioError) as caught:
        both(pair, *faults, **options)
    assert said in str(caught.value)


@pytest.mark.parametrize("fidelity", ["flow", "cycle"])
@pytest.mark.parametrize("port", [0, 1])
def test_a_slow_port_takes_as_many_times_as_long(pair, port, fidelity):
    sound = took(pair, fidelity=fidelity).time_ns
    slow = took(pair, f"slow port={port} by=8", fidelity=fidelity).time_ns
    # PIO and DMA are slow, at the rate of PCIe: 8 B in 1.015 ns
    assert slow - sound == pytest.approx(8 * WORDS * 1.015 - FULL, rel=0.15)


@pytest.mark.parametrize("fidelity", ["flow", "cycle"])
def test_lost_words_are_sent_again_by_the_same_chances_for_the_same_seed(pair, fidelity):
    lossy = "lossy port=1 chance=0.02 again=50us"
    found = took(pair, lossy, fidelity=fidelity)
    assert found.lost.lost == pytest.approx(0.02 * WORDS, rel=0.3)
    late = found.time_ns - took(pair, fidelity=fidelity).time_ns - 50_000 * found.lost.repeated
    assert 0 < late < 0.1 * FULL + 3000 * found.lost.repeated
    again = took(pair, lossy, fidelity=fidelity)
    assert (again.time_ns, again.lost) == (found.time_ns, found.lost)
    assert took(pair, lossy, fidelity=fidelity, seed=2).lost != found.lost


def test_what_a_dead_port_never_passes_on_is_told(pair):
    with pytest.raises(RunFailed) as caught:
        took(pair, "dead port=1")
    lines = str(caught.value).splitlines()
    assert lines[1].endswith("rank 0 has ended without such a message")
    assert lines[-1] == "  1 messages were lost at dead ports: 1"
    assert took(pair, "dead port=7").time_ns == took(pair).time_ns


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        (["deed port=1"], "deed port=1: must begin with dead, slow, lossy; did you mean 'dead'"),
        (["dead port=8"], "the ports are 0 to 7; no port 8"),
        (["dead plane=-1"], "the planes are 0 to 15; no plane -1"),
        (["slow port=1"], "slow wants by= port="),
        (["slow port=1 by=0.5"], "must be a number from 1 to 1000, is 0.5"),
        (["lossy port=1 chance=0.9"], "must be a number from 0 to 0.5, is 0.9"),
        (["lossy port=1 chance=0.1 again=5"], "again: '5' has no unit of time"),
        (["dead port=1 port=2"], "dead wants"),
        ([f"dead port=3 plane={k}" for k in range(16)], "port 3 has no plane left; say: dead port"),
        (
            [f"dead port={1 + k // 8} plane={k}" for k in range(16)],
            "ports 1 and 2 share no plane",
        ),
    ],
)
def test_faults_that_cannot_be_are_refused(pair, faults, said):
    with pytest.raises(ScenarioError) as caught:
        took(pair, *faults)
    assert said in str(caught.value)


def test_the_command_and_a_scenario_know_faults(pair, monkeypatch):
    monkeypatch.chdir(pair.parent)
    fault = "slow port=0 by=4"
    shown = CliRunner().invoke(cli, ["replay", "pair.goal", "--fabric", "dv203", "--fault", fault,
                                     "--json"])  # fmt: skip
    assert Told(shown.stdout).points[0]["faults"] == [fault]
    alone = CliRunner().invoke(cli, ["replay", "pair.goal", "--fabric", "fdr", "--fault", fault])
    assert (alone.exit_code, "is of a Data Vortex" in alone.stderr) == (2, True)
    (pair.parent / "pair.toml").write_text(
        'kind = "workload"\ntitle = "a"\nquestion = "b"\nsource = "c"\n'
        '[program]\ntrace = "pair.goal"\n'
        f'[fabric]\nnetwork = "dv203"\nfaults = ["{fault}"]\n'
    )
    study = dvsim.run("pair.toml", replications=1)
    assert study.wide["time"][0] == Told(shown.stdout).one("time", component="")["value"]
    with pytest.raises(ScenarioError, match=r"fabric\.faults: .*no port 9: 'dead port=9'"):
        dvsim.run("pair.toml", fabric__faults=["dead port=9"])
