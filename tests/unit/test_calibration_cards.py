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
from dvsim.kinds.rabbitmq.calibration import Calibration
from dvsim.kinds.rabbitmq.calibration.cards import cards_of
from dvsim.kinds.rabbitmq.calibration.points import points_of
from dvsim.kinds.rabbitmq.calibration.runs import Given
from dvsim.kinds.rabbitmq.calibration.simulated import simulated_s
from dvsim.study.table import plain_lines

SIZES = (8, 2048, 131072)
PUSH, PUBLISH = "60 us + 5 ns/B", "250 us + 12 ns/B"
QUICK = ["system.bridge.poll_interval=100 us", "system.bridge.reaction=0 s"]
EVEN = ["system.broker.scatter=0", "system.broker.stall=0 s", "system.broker.service=15 us"]
PUSHED = [f"system.bridge.push={PUSH}", "system.bridge.push_off_heap=0 s"]
DV = [*PUSHED, "system.bridge.push_scatter=0.2", *QUICK, *EVEN]
TCP = [f"system.publisher.publish={PUBLISH}", "system.publisher.publish_scatter=0.3", *EVEN]


def points(transport, overrides, sizes=SIZES):
    runs = [emulated(transport, size, overrides) for size in sizes]
    return points_of([Given(Path(f"runs/{run.scenario.name}"), run) for run in runs])


@pytest.fixture(scope="module")
def over_cards():
    found = points("dv", DV)
    return found, cards_of(found, "here", "dvsim calibrate …", "Some CPU, 4 cores")


@pytest.fixture(scope="module")
def over_tcp():
    found = points("fdr", TCP)
    return found, cards_of(found, "here", "dvsim calibrate …", "Some CPU, 4 cores")


def close(law, mean, fixed_us, slope_ns):
    """A law whose costs are `mean` times its medians."""
    for size in SIZES:
        expected = fixed_us * 1e-6 + slope_ns * 1e-9 * size
        assert mean * seconds(law, size) == pytest.approx(expected, rel=0.08), size


def test_the_push_of_a_bridge_is_found_again(over_cards):
    _, (bridge, _) = over_cards
    assert bridge.card.kind == "bridge"
    mean = math.exp(bridge.card["push_scatter"] ** 2 / 2)
    close(bridge.card["push"], mean / math.exp(0.2**2 / 2), 60, 5)
    assert bridge.card["push_scatter"] > 0.15  # 0.2, and that bursts are long and short
    assert 0.8 < bridge.card["release"] / 5.001e9 < 1  # the ring cuts off at the larger sizes
    assert bridge.card["push_off_heap"] == 0
    assert 0.015 < bridge.card["run_spread"] < 0.08  # 0.04


def test_what_one_of_eight_publishers_takes_is_found_again(over_tcp):
    _, (publisher, _) = over_tcp
    assert publisher.card.kind == "publisher"
    close(publisher.card["publish"], 1, 250, 12)
    assert publisher.card["publish_scatter"] == pytest.approx(0.3, rel=0.15)
    assert "CPU time of it 31 us at 8 B" in publisher.card.parameters["publish"].source


def test_a_broker_has_its_cpu_time_of_both_paths(over_cards, over_tcp):
    both = [*over_cards[0], *over_tcp[0]]
    found = cards_of(both, "here", "dvsim calibrate …", "Some CPU")
    assert [one.card.name for one in found] == ["here-bridge", "here-publisher", "here-broker"]
    broker = found[-1]
    assert len(broker.laws["service"].sizes) == 6
    assert broker.card["service"].ps(8) == pytest.approx(21e6, rel=0.1)
    assert broker.card["read_cost"] == 0


def test_the_simulator_gives_back_what_was_measured(over_cards, over_tcp):
    for found, cards in (over_cards, over_tcp):
        back = simulated_s([point.scenario for point in found], cards)
        for point, time_s in zip(found, back, strict=True):
            assert time_s == pytest.approx(point.time_s, rel=0.08), point.size


def test_what_was_not_measured_keeps_its_confidence(over_cards):
    _, (bridge, broker) = over_cards
    base = load_card("rabbitmq-2018").parameters["disk_rate"]
    assert broker.card.parameters["disk_rate"] == base
    assert broker.card.parameters["service"].confidence == "measured-here"
    source = bridge.card.parameters["push"].source
    for text in ("runs/h3/dv-8,", "runs/h3/dv-131072;", "Some CPU, 4 cores", "dvsim calibrate …"):
        assert text in source
    assert "disk_rate" in broker.card.notes
    assert "service" not in broker.card.notes


def test_nothing_is_done_silently(over_cards):
    found, cards = over_cards
    slow = [2 * point.time_s for point in found]
    text = "\n".join(plain_lines(Calibration(tuple(found), tuple(cards), tuple(slow)).lines()))
    assert "measured on Some CPU, 4 cores, RabbitMQ 3.10.8, at least once" in text
    assert "+100.0%" in text
    rows = [line.split("  ") for line in text.splitlines()]
    for size in SIZES:
        assert any(row[0] == "over cards" and f"{size:,}" in map(str.strip, row) for row in rows)
    assert "law against measurement: 8 B " in text
    assert "disk_rate        500 MB/s  (assumed, taken over)" in text
    assert "other work, or the harness, took " in text


def test_one_size_gives_constants_and_says_so():
    found = points("dv", DV, sizes=(8,))
    bridge, _ = cards_of(found, "here", "dvsim calibrate …", "Some CPU")
    assert bridge.card["push"].per_byte_fs == 0
    assert "one size only, hence a constant" in bridge.card.parameters["push"].source
    text = "\n".join(plain_lines(Calibration(tuple(found), (bridge,), (1.0,)).lines()))
    assert "over cards: one size, hence constants" in text


def test_brokers_of_somebody_else_give_no_card():
    run = emulated("dv", 8, DV)
    counters = run.counters[run.counters["component"] != "broker"]
    found = points_of([Given(Path("runs/a"), replace(run, counters=counters))])
    assert found[0].own is None
    assert [one.card.kind for one in cards_of(found, "here", "", "")] == ["bridge"]


def test_at_most_once_over_cards_is_doubted(over_cards):
    found, cards = over_cards
    known = found[0].manifest["emulated"] | {"question": {"promise": "at most once"}}
    first = replace(found[0], manifest=found[0].manifest | {"emulated": known})
    text = "\n".join(plain_lines(Calibration((first,), tuple(cards), (1.0,)).lines()))
    assert "at least once measures the broker" in text


def test_cards_are_files_that_scenarios_can_name(over_cards, tmp_path):
    _, cards = over_cards
    paths = write_cards([one.card for one in cards], tmp_path)
    assert [path.name for path in paths] == ["here-bridge.toml", "here-broker.toml"]
    for one, path in zip(cards, paths, strict=True):
        read = load_card(path)
        assert read == one.card
    set_ = [f"system.bridge={paths[0]}", f"system.broker={paths[1]}"]
    scenario = load("h3/dv-256", [*set_, "system.bridge.sockets=2"])
    assert scenario.system.bridge["push"] == cards[0].card["push"]
    assert scenario.system.bridge["sockets"] == 2
    beside = tmp_path / "mine.toml"
    base = Path(load("h3/dv-256").path).resolve()
    text = f'extends = "{base}"\n[system]\nbroker = "here-broker.toml"\n'
    beside.write_text(text, encoding="utf-8")
    assert load(beside).system.broker == cards[1].card


def test_a_card_that_is_not_there_is_told_with_the_nearest(over_cards, tmp_path):
    write_cards([one.card for one in over_cards[1]], tmp_path)
    with pytest.raises(ScenarioError, match=r"no such file .*did you mean '.*here-bridge.toml'"):
        load("h3/dv-8", [f"system.bridge={tmp_path}/here-bridg.toml"])
