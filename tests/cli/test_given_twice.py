"""Is a key that is given twice refused, however it is spelled, and is a value of Python a value?"""

from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from harness.in_process import dvsim as call
from harness.replies import Told

import dvsim

SOCKETS = "system.bridge.sockets"
SHORT = ("--scale", "0.001", "--replications", "1", "--workers", "1")
GOAL = "num_ranks 2\nrank 0 {\nl1: send 8b to 1\n}\nrank 1 {\nl1: recv 8b from 0\n}\n"


@pytest.mark.parametrize(
    ("typed", "key", "both"),
    [
        (("run", "h3/dv-8", "--set", "sockets=2", "--set", "sockets=3"), SOCKETS, "=2 =3"),
        (("run", "h3/dv-8", "--set", "sockets=2", "--set", "sockets=2"), SOCKETS, "=2"),
        (("run", "h3/dv-8", "--set", "sockets=2", "--set", f"{SOCKETS}=3"), SOCKETS, "=2 =3"),
        (("run", "h3/dv-8", "--set", "bridge.sockets=2", "--set", f"{SOCKETS}=3"), SOCKETS, "=3"),
        (("run", "h3/published", "--set", "sockets=2", "--set", f"{SOCKETS}=3"), SOCKETS, "=3"),
        (("run", "h3/whatif/bridges", "--set", "sockets=2"), SOCKETS, "bridges.toml"),
        (("show", "h3/dv-8", "--set", "sockets=2", "--set", f"{SOCKETS}=3"), SOCKETS, "=3"),
        (
            ("run", "h3/dv-8", "--set", "system.bridge={sockets=2}", "--set", "sockets=3"),
            SOCKETS,
            "{sockets=2} =3",
        ),
        (
            ("run", "h3/dv-8", "--set", 'system.card="a"', "--set", 'system.card.name="b"'),
            "system.card.name",
            "a b",
        ),
        (
            ("run", "switch/angles", "--set", "vary=[{load=[0.1]}]", "--set", "load=0.2"),
            "traffic.load",
            "=0.2",
        ),
        (
            ("sweep", "h3/dv-8", "--vary", f"{SOCKETS}=1,2", "--set", "sockets=4"),
            SOCKETS,
            "--set sockets=4 --vary",
        ),
        (
            ("sweep", "h3/dv-8", "--vary", "sockets=1,2", "--set", f"{SOCKETS}=4"),
            SOCKETS,
            "--set --vary",
        ),
        (("sweep", "h3/dv-8", "--vary", "sockets=1,2", "--vary", f"{SOCKETS}=4"), SOCKETS, "=4"),
        (
            ("sweep", "h3/dv-8", "--sensitivity", "--vary", "sockets=1..2", "--vary",
             "push=1 us..2 us", "--set", f"{SOCKETS}=4"),
            SOCKETS,
            "=4",
        ),
        (
            ("sweep", "h3/dv-8", "--vary", "sockets=1,2", "--vary", "sram=1 MiB,2 MiB", "--zip",
             f"sockets,{SOCKETS}"),
            f"sockets,{SOCKETS}",
            "sockets",
        ),
        (
            ("limit", "switch/load-latency", "--until", "mean_latency < 20", "--set", "load=0.2"),
            "traffic.load",
            "load=0.2",
        ),
        (
            ("limit", "switch/load-latency", "--until", "mean_latency < 20", "--vary", "load",
             "--set", "traffic.load=0.2"),
            "traffic.load",
            "--set --vary",
        ),
        (("replay", "two.goal", "--set", "o=1 us", "--set", "o=2 us"), "o", "=1 =2"),
        (
            ("replay", "two.goal", "--fabric", "dv", "--fault", "slow port=1 by=2", "--fault",
             "slow by=4 port=1"),
            "slow by=4 port=1",
            "by=2",
        ),
    ],
)  # fmt: skip
def test_a_key_that_is_given_twice_is_refused(typed, key, both, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two.goal").write_text(GOAL)
    done = call(*typed)
    assert done.returncode == 2, done.stdout
    assert f": {key}: " in done.stderr
    assert all(part in done.stderr for part in both.split())
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"sockets": 4, "system__bridge__sockets": 2}, SOCKETS),
        ({"messages": 4, "workload__messages": 4}, "workload.messages"),
        ({"system__bridge": {"sockets": 1}, "sockets": 2}, SOCKETS),
        ({"system": {"bridge": {"sockets": 1}}, "bridge__sockets": 2}, SOCKETS),
    ],
)
def test_python_gives_a_key_once(given, key):
    with pytest.raises(dvsim.ScenarioError) as refused:
        dvsim.run("h3/dv-2048", **given)
    assert [fault.key for fault in refused.value.faults] == [key]
    assert all(name in str(refused.value) for name in given)


@pytest.mark.parametrize("name", ["sockets", "system__bridge__sockets", SOCKETS])
def test_a_sweep_in_python_gives_a_key_once(name):
    with pytest.raises(dvsim.ScenarioError, match=rf"^vary: {SOCKETS}: "):
        dvsim.sweep("h3/dv-2048", {name: [1, 2]}, system__bridge__sockets=4)


@pytest.mark.parametrize(("varied", "named"), [("sockets", SOCKETS), (SOCKETS, "sockets")])
def test_a_condition_may_name_a_varied_key_short_or_in_full(varied, named, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    more = ("--where", f"{named} > 1", "--dry-run", "--json", *SHORT)
    done = call("sweep", "h3/dv-8", "--vary", f"{varied}=1,2,4", *more)
    assert len(Told(done.stdout).points) == 2


def test_a_card_and_a_number_of_it_are_two_keys_in_any_order():
    for given in (
        {"system__card": "data-vortex-8", "sram": "1 MiB"},
        {"sram": "1 MiB", "system__card": "data-vortex-8"},
    ):
        assert dvsim.load("h3/dv-8", **given).system.card["sram"] == 1 << 20


def test_a_file_that_extends_another_fixes_what_that_varies(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('extends = "switch/load-latency"\nkind = "switch"\n[traffic]\nload = 0.2\n')
    scenario = dvsim.load(path)
    assert scenario.keys == ("height", "angles")
    assert scenario.traffic.load == 0.2


HOT = {"fraction": 0.2, "outputs": [0]}


@pytest.mark.parametrize(
    "hot",
    [
        HOT,
        {"fraction": Fraction(1, 5), "outputs": (0,)},
        {"fraction": np.float32(0.2).astype(np.float64).round(6), "outputs": np.array([0])},
        (0.2, [0]),
        [np.float64(0.2), range(1)],
    ],
)
def test_a_table_of_python_is_a_table(hot):
    scenario = dvsim.load("switch/hot-spot", traffic__hot=hot)
    assert (scenario.traffic.hot.fraction, scenario.traffic.hot.outputs) == (0.2, (0,))
    assert scenario.keys == ("load",)


def test_traffic_of_python_is_that_of_a_scenario():
    traffic = dvsim.Traffic(0.3, "hot-spot", hot=(0.5, [1]))
    scenario = dvsim.load("switch/hot-spot", traffic=traffic)
    assert scenario.keys == () and scenario.traffic.slots == 10_000
    assert (scenario.traffic.load, scenario.traffic.hot.outputs) == (0.3, (1,))
    plain = dvsim.load("switch/hot-spot", traffic=dvsim.Traffic(0.3))
    assert (plain.traffic.pattern, plain.traffic.hot, plain.keys) == ("uniform", None, ())


@pytest.mark.parametrize(
    ("given", "key", "value"),
    [
        ({"title": "5"}, "title", "5"),
        ({"title": "[1]"}, "title", "[1]"),
        ({"title": "true"}, "title", "true"),
        ({"messages": np.int64(500)}, "messages", 500),
        ({"system__order": "fabric"}, "order", "fabric"),
        ({"system__order": None}, "order", None),
    ],
)
def test_a_value_of_python_is_used_as_it_is(given, key, value):
    scenario = dvsim.load("h3/dv-2048", **given)
    assert (scenario.title if key == "title" else scenario.value(key)) == value


def test_none_takes_a_key_out_of_the_file():
    assert dvsim.load("switch/load-latency", switch__slot=None).value("slot_ps") is None
    assert dvsim.load("switch/load-latency", compare=None).compare == ()


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"messages": None}, "workload.messages"),
        ({"system__bridge__sockets": None}, SOCKETS),
        ({"system__order": date(2026, 1, 1)}, "system.order"),
        ({"messages": timedelta(1)}, "workload.messages"),
        ({"messages": True}, "workload.messages"),
        ({"sockets": np.bool_(True)}, SOCKETS),
        ({"messages": {1, 2}}, "workload.messages"),
        ({"title": b"x"}, "title"),
        ({"title": object()}, "title"),
        ({"title": 5}, "title"),
    ],
)
def test_a_value_that_cannot_be_is_refused_by_its_key(given, key):
    with pytest.raises(dvsim.ScenarioError) as refused:
        dvsim.load("h3/dv-2048", **given)
    assert [fault.key for fault in refused.value.faults] == [key]


def test_a_path_names_a_card(tmp_path):
    card = Path("own.toml")
    (tmp_path / card).write_text('extends = "data-vortex-8"\nname = "own"\n')
    scenario = dvsim.load("h3/dv-8", system__card=tmp_path / card)
    assert scenario.system.card.name == "own"


def test_a_sweep_takes_values_of_python():
    hots = [HOT, {"fraction": 0.5, "outputs": [0, 1]}]
    how = {"scale": 0.02, "replications": 1, "height": 4, "load": 0.2}
    swept = dvsim.sweep("switch/hot-spot", {"traffic__hot": hots}, **how)
    assert len(swept.points) == 2 and not len(swept.failed)
    alone = [dvsim.run("switch/hot-spot", replications=1, scale=0.02, height=4, load=0.2,
                       hot=hot).wide["throughput"].iloc[0] for hot in hots]  # fmt: skip
    assert swept.wide["throughput"].tolist() == alone


def test_a_replay_takes_values_of_python(tmp_path):
    path = tmp_path / "two.goal"
    path.write_text(GOAL)
    given, typed = (dvsim.replay(path, "dv", planes=planes) for planes in (np.int64(4), "4"))
    assert given.plain() == typed.plain()
    with pytest.raises(dvsim.ScenarioError):
        dvsim.replay(path, "dv", L=timedelta(microseconds=1))
