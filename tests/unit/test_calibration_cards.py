"""Does a calibration give back the cards that the runs were made with, and say what it did?"""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from calibration_runs import emulated

from dvsim.contract.load import load, load_card
from dvsim.errors import ScenarioError
from dvsim.evidence.affine import seconds
from dvsim.evidence.calibration import write_cards
from dvsim.kinds.rabbitmq.calibration import beside_simulated
from dvsim.kinds.rabbitmq.calibration.cards import cards_of
from dvsim.kinds.rabbitmq.calibration.measured import iterations_of
from dvsim.study.table import plain_lines

SIZES = (8, 2048, 131072)
PUSH, PUBLISH = "60 us + 5 ns/B", "250 us + 12 ns/B"
QUICK = ["system.bridge.poll_interval=100 us", "system.bridge.reaction=0 s"]
EVEN = ["system.broker.scatter=0", "system.broker.stall=0 s", "system.broker.service=15 us"]
PUSHED = [f"system.bridge.push={PUSH}", "system.bridge.push_off_heap=0 s"]
DV = [*PUSHED, "system.bridge.push_scatter=0.2", *QUICK, *EVEN]
TCP = [f"system.publisher.publish={PUBLISH}", "system.publisher.publish_scatter=0.3", *EVEN]


def runs_of(transport, overrides, sizes=SIZES):
    runs = [emulated(transport, size, overrides) for size in sizes]
    return {Path(f"runs/{run.scenario.name}"): run for run in runs}


def cards(runs):
    return cards_of(iterations_of(runs), runs, "here", "dvsim calibrate …")


@pytest.fixture(scope="module")
def over_cards():
    runs = runs_of("dv", DV)
    return runs, cards(runs)


@pytest.fixture(scope="module")
def over_tcp():
    runs = runs_of("fdr", TCP)
    return runs, cards(runs)


@pytest.fixture(scope="module")
def simulated(over_cards, over_tcp):
    found = (over_cards, over_tcp)
    return [beside_simulated(iterations_of(runs), runs, made) for runs, made in found]


def close(law, mean, fixed_us, slope_ns):
    """A law whose costs are `mean` times its medians."""
    for size in SIZES:
        expected = fixed_us * 1e-6 + slope_ns * 1e-9 * size
        assert mean * seconds(law, size) == pytest.approx(expected, rel=0.08), size


def test_the_push_of_a_bridge_is_found_again(over_cards):
    _, (bridge, _) = over_cards
    assert bridge.kind == "bridge"
    mean = math.exp(bridge["push_scatter"] ** 2 / 2)
    close(bridge["push"], mean / math.exp(0.2**2 / 2), 60, 5)
    assert bridge["push_scatter"] > 0.15  # 0.2, and that bursts are long and short
    assert 0.8 < bridge["release"] / 5.001e9 < 1  # the ring cuts off at the larger sizes
    assert bridge["push_off_heap"] == 0
    assert 0.015 < bridge["run_spread"] < 0.08  # 0.04


def test_what_one_of_eight_publishers_takes_is_found_again(over_tcp):
    _, (publisher, _) = over_tcp
    assert publisher.kind == "publisher"
    close(publisher["publish"], 1, 250, 12)
    assert publisher["publish_scatter"] == pytest.approx(0.3, rel=0.15)
    assert "CPU time of it 31 us at 8 B" in publisher.parameters["publish"].source


def test_a_broker_has_its_cpu_time_of_both_paths(over_cards, over_tcp):
    found = cards(over_cards[0] | over_tcp[0])
    assert [one.name for one in found] == ["here-bridge", "here-publisher", "here-broker"]
    broker = found[-1]
    assert broker["service"].ps(8) == pytest.approx(21e6, rel=0.1)
    assert broker["read_cost"] == 0


def test_the_simulator_gives_back_what_was_measured(simulated):
    for found in simulated:
        for point in found.facts()["measured"]:
            assert point["simulated_s"] == pytest.approx(point["time_s"], rel=0.08), point


def test_what_was_not_measured_keeps_its_confidence(over_cards):
    _, (bridge, broker) = over_cards
    base = load_card("rabbitmq-2018").parameters["disk_rate"]
    assert broker.parameters["disk_rate"] == base
    assert broker.parameters["service"].confidence == "measured-here"
    source = bridge.parameters["push"].source
    for text in (
        "runs/h3/dv-8,",
        "runs/h3/dv-131072;",
        "Some CPU, 4 cores, RabbitMQ",
        "dvsim calibrate …",
    ):
        assert text in source
    assert "disk_rate" in broker.notes
    assert "service" not in broker.notes


def test_the_text_has_every_point_and_every_value(simulated):
    found = simulated[0]
    slow = found.rows.assign(simulated_s=2 * found.rows["time_s"], error=1.0)
    text = list(plain_lines(replace(found, rows=slow).lines()))
    assert "measured on Some CPU, 4 cores, RabbitMQ 3.10.8, at least once" in text[0]
    rows = [line.split() for line in text]
    for size in SIZES:
        assert any(row[1:2] == [str(size)] and row[-1] == "1" for row in rows)
    assert any(row[0] == "disk_rate" and row[-1] == "(assumed)" for row in rows)
    assert any(row[0] == "push" and row[-1] == "(measured-here)" for row in rows)


def test_one_size_gives_constants_and_says_so():
    (_, run), *_ = runs_of("dv", DV, sizes=(8,)).items()
    bridge, _ = cards({Path("a"): run})
    assert bridge["push"].per_byte_fs == 0
    assert "one size only, hence a constant" in bridge.parameters["push"].source


def test_brokers_of_somebody_else_give_no_card():
    run = emulated("dv", 8, DV)
    runs = {Path("runs/a"): replace(run, values=run.values[run.values["component"] != "broker"])}
    made = cards(runs)
    assert [one.kind for one in made] == ["bridge"]
    (point,) = beside_simulated(iterations_of(runs), runs, made).facts()["measured"]
    assert point["own"] is None
    assert point["broker"] is None


def test_cards_are_files_that_scenarios_can_name(over_cards, tmp_path):
    _, made = over_cards
    paths = write_cards(made, tmp_path)
    assert [path.name for path in paths] == ["here-bridge.toml", "here-broker.toml"]
    for one, path in zip(made, paths, strict=True):
        read = load_card(path)
        assert read == one
    set_ = [f"system.bridge={paths[0]}", f"system.broker={paths[1]}"]
    scenario = load("h3/dv-256", [*set_, "system.bridge.sockets=2"])
    assert scenario.system.bridge["push"] == made[0]["push"]
    assert scenario.system.bridge["sockets"] == 2
    beside = tmp_path / "mine.toml"
    base = Path(load("h3/dv-256").path).resolve()
    text = f'extends = "{base}"\n[system]\nbroker = "here-broker.toml"\n'
    beside.write_text(text, encoding="utf-8")
    assert load(beside).system.broker == made[1]


def test_a_card_that_is_not_there_is_told_with_the_nearest(over_cards, tmp_path):
    write_cards(over_cards[1], tmp_path)
    with pytest.raises(ScenarioError, match=r"no such file .*did you mean '.*here-bridge.toml'"):
        load("h3/dv-8", [f"system.bridge={tmp_path}/here-bridg.toml"])
