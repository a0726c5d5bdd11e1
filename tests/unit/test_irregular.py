"""Does the model of irregular programs hold where it was not fitted, and are its forms right?"""

from __future__ import annotations

from pathlib import Path
from runpy import run_path

import pytest

import dvsim
from dvsim.contract.find import kind_of
from dvsim.contract.load import load
from dvsim.errors import ScenarioError
from dvsim.kinds.irregular.link import over_link
from dvsim.kinds.irregular.sensitivity import CHANGES, sensitivity
from dvsim.kinds.irregular.spec import WordsTable
from dvsim.kinds.irregular.vortex import over_vortex
from dvsim.scenario.card import load_card
from dvsim.study.table import plain_lines

SCRIPT = run_path(str(Path(__file__).parents[2] / "docs/irregular.py"))
HOST, LINKS, columns, factors, fit, predicted = map(
    SCRIPT.get, ("HOST", "LINKS", "columns", "factors", "fit", "predicted")
)
CHAPEL, FDR, ARIES = (load_card(name) for name in ("chapel-36", "fdr-chapel", "aries-chapel"))
VORTEX = load_card("data-vortex-8")


def ratios(held_out):
    return [predicted(one) / one.seconds for one in columns() if one.held_out == held_out]


def test_three_quarters_of_the_columns_that_were_held_out_are_within_25_percent():
    held = ratios(held_out=True)
    assert len(held) == 27
    assert sum(abs(ratio - 1) <= 0.25 for ratio in held) / len(held) >= 0.75


def test_only_the_sort_word_by_word_misses():
    far = {
        (one.work.program, one.work.sending)
        for one in columns()
        if abs(predicted(one) / one.seconds - 1) > 0.25
    }
    assert far == {("radix-sort", "word")}


@pytest.mark.parametrize("machine", LINKS)
def test_what_aggregation_brings_is_within_a_factor_of_two_at_every_number_of_nodes(machine):
    measured, told = factors(machine, predict=False), factors(machine, predict=True)
    assert measured.keys() == told.keys() and len(measured) >= 3
    assert all(0.5 <= told[key] / factor <= 2 for key, factor in measured.items())


@pytest.mark.parametrize("machine", LINKS)
def test_the_cards_are_what_a_fit_gives(machine):
    host, link = load_card(HOST), load_card(LINKS[machine])
    for key, value in fit(machine).items():
        kept = (host if key in host.parameters else link).parameters[key]
        assert kept.value == pytest.approx(value, rel=1e-3)
        assert kept.confidence == "calibrated"


def work(program, sending, nodes=8, words=10**6, **more):
    return WordsTable(program, sending, nodes, words, **more)


@pytest.mark.parametrize("link", [FDR, ARIES, VORTEX], ids=lambda card: card.name)
def test_one_node_does_not_use_the_network(link):
    over = over_vortex if link.kind == "vortex" else over_link
    for sending in ("word", "window", "buffer"):
        alone = over(work("gather", sending, 1), CHAPEL, link)
        assert (alone.network, alone.waits) == (0, 0)
        made = CHAPEL["move"] if link is VORTEX else 0
        assert alone.whole == pytest.approx(1e6 * (CHAPEL["read"] + made) * 1e-12 / 36)


def test_a_word_waits_for_its_answer_and_a_window_hides_it():
    share, rounds = 7 / 8, 2 * ARIES["latency"] * 1e-12 / 36
    one = over_link(work("gather", "word"), CHAPEL, ARIES)
    local = 1e6 / 8 * CHAPEL["read"] * 1e-12 / 36
    assert one.whole == pytest.approx(local + 1e6 * share * rounds)
    window = over_link(work("gather", "window"), CHAPEL, ARIES)
    assert window.whole == pytest.approx(1e6 * share * ARIES["get"] * 1e-12)


def test_small_buffers_cost_more_than_large_ones():
    small, large = (
        over_link(work("scatter", "buffer", buffer=size), CHAPEL, FDR).whole for size in (64, 65536)
    )
    flushes = 1e6 * 7 / 8 * 16 * (1 / 64 - 1 / 65536)
    assert small - large == pytest.approx(flushes * FDR["flush"] * 1e-12 / 36)


def test_a_packet_by_pio_takes_its_header_along_unless_that_waits_in_the_card():
    sent, cached = (
        over_vortex(work("gups", "word", headers=headers), CHAPEL, VORTEX).whole
        for headers in ("sent", "cached")
    )
    assert sent == pytest.approx(1e6 * 7 / 8 * 16 / VORTEX["pio_rate"])
    assert sent == 2 * cached


def test_by_dma_the_port_is_the_limit_of_a_scatter():
    told = over_vortex(work("scatter", "buffer"), CHAPEL, VORTEX)
    assert told.network == told.whole == pytest.approx(1e6 * 7 / 8 * 2 * 8 / VORTEX["port_rate"])


@pytest.mark.parametrize(
    ("link", "sending"), [(FDR, "word"), (FDR, "buffer"), (ARIES, "word"), (VORTEX, "buffer")]
)
def test_the_busiest_node_sets_the_pace(link, sending):
    over = over_vortex if link.kind == "vortex" else over_link
    even, double = (
        over(work("histogram", sending, uneven=uneven), CHAPEL, link) for uneven in (1, 2)
    )
    assert even.whole < double.whole <= 2 * even.whole
    assert double.cores > even.cores


def test_word_by_word_over_a_data_vortex_each_node_waits_for_its_own_pio():
    even, double = (
        over_vortex(work("histogram", "word", uneven=uneven), CHAPEL, VORTEX) for uneven in (1, 2)
    )
    assert even.whole == double.whole == double.network


def test_of_a_read_the_busiest_node_gets_requests_and_its_own_answers():
    double = over_vortex(work("gather", "buffer", uneven=2), CHAPEL, VORTEX)
    assert double.network == pytest.approx(1e6 * 7 / 8 * (2 + 1) * 8 / VORTEX["port_rate"])


def test_a_scenario_runs_as_others_do():
    study = dvsim.run("irregular/grid", replications=1)
    assert len(study.scenario.points) == 450
    table = study.wide
    assert (table["time"] > 0).all()
    # words that a Data Vortex sends one by one need no buffers to beat Chapel over InfiniBand
    rows = {
        (p["program"], p["sending"], p["link"].name, p["nodes"]): time
        for p, time in zip(study.scenario.points, table["time"], strict=True)
    }
    assert rows["gups", "word", "data-vortex-8", 32] < rows["gups", "word", "fdr-chapel", 32] / 100


def test_predictions_are_printed_with_what_they_depend_on():
    told = sensitivity(work("gups", "word", headers="sent"), CHAPEL, VORTEX)
    assert told["PIO /2"] == pytest.approx(2)
    assert told["PIO x2"] == pytest.approx(0.5)
    assert told["headers"] == pytest.approx(0.5)
    assert told["port /2"] == told["path"] == 1  # single words go by PIO
    fixed = ["workload.program=gups", "workload.nodes=32", "workload.sending=word"]
    study = dvsim.run(load("irregular/grid", fixed), replications=1)
    lines = "\n".join(plain_lines(kind_of(study.scenario).lines(study))).splitlines()
    head, fdr, aries, vortex = (line.split() for line in lines[2:6])
    assert len(head) > len(CHANGES) and (fdr[-1], aries[-1]) == ("-", "-")
    factors = sensitivity(work("gups", "word", 32), CHAPEL, VORTEX)
    assert vortex[-len(CHANGES) :] == [f"{factors[change]:.2f}" for change in CHANGES]
    assert lines[6].startswith("  Predictions: no such run")


def test_what_was_measured_has_no_such_columns():
    study = dvsim.run("irregular/fdr", replications=1)
    text = "\n".join(plain_lines(kind_of(study.scenario).lines(study)))
    assert "PIO" not in text and "Predictions" not in text


def test_a_card_that_connects_nothing_is_refused():
    with pytest.raises(ScenarioError, match=r"system.link.*it takes words or vortex"):
        load("irregular/fdr", ["system.link=memory"])
    with pytest.raises(ScenarioError, match=r"workload.uneven: at .*: 33 is more than the 32"):
        load("irregular/data-vortex", ["workload.uneven=33"])
    with pytest.raises(ScenarioError, match=r"did you mean 'scatter'"):
        load("irregular/data-vortex", ["workload.program=scater"])
