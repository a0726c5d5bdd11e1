"""Does the card word by word agree with its flow law, and does H3 at cycle fidelity use it?"""

import numpy as np
import pytest

from dvsim.contract.load import load, load_card
from dvsim.core import DramRing, VortexCard, Window, WordArrival, WordCard, WordRing
from dvsim.core.stage import Clock
from dvsim.errors import RunFailed, ScenarioError
from dvsim.kinds.rabbitmq.fabric import fabric_of
from dvsim.kinds.rabbitmq.iteration import flow_error, run_iteration
from dvsim.scenario.word_card import beyond_words

CARD = load_card("data-vortex-8")
SLOT_PS = 29_091
ALWAYS = Window(1 << 40, 0, 0)
US = 10**6
BURSTS = [(8, 2700), (256, 500), (2048, 200), (8192, 60), (131072, 5)]


def arrival(words, first_slot=8):
    """Words at the full rate of the port."""
    return WordArrival(first_slot + np.arange(words) // 16, 1, SLOT_PS, 0)


def both(size, messages, window=ALWAYS, **parameters):
    """Send one burst through the card word by word and as a flow."""
    overrides = [f"system.card.{name}={value}" for name, value in parameters.items()]
    card = load(f"h3/dv-{size}", overrides).system.card
    exact, line = WordCard(card, size, 2), VortexCard(card, size)
    comes = arrival(messages * exact.words)
    burst, pieces = exact.take(comes, messages, window)
    return exact, burst, pieces, line, line.receive(comes.flow, messages)


@pytest.mark.parametrize(("size", "messages"), BURSTS)
def test_a_burst_ends_when_its_flow_does_and_a_few_crossings_later(size, messages):
    _, burst, _, _, flow = both(size, messages)
    assert 0 <= burst.first_ps - flow.first_ps < US  # the counter is seen at zero
    assert 0 <= burst.last_ps - flow.last_ps < US
    assert burst.held_ps == flow.held_ps == 0


@pytest.mark.parametrize("factor", [0.3, 4])
def test_the_pace_of_a_burst_is_that_of_its_flow(factor):
    exact, line = WordCard(CARD, 256, 2), VortexCard(CARD, 256)
    usual = line.move_ps(500)
    for card in (exact, line):
        card.set_pace(factor)
    comes = arrival(500 * exact.words)
    burst, _ = exact.take(comes, 500, ALWAYS)
    flow = line.receive(comes.flow, 500)
    assert 0 <= burst.last_ps - flow.last_ps < US
    changed = 500 * CARD["vic_to_dram"].fixed_ps * (factor - 1)
    assert line.move_ps(500) - usual == pytest.approx(changed, abs=500)


@pytest.mark.parametrize(("size", "messages"), BURSTS)
def test_pieces_come_along_the_line(size, messages):
    card, _, pieces, line, flow = both(size, messages)
    assert len(pieces) == messages * line.pieces
    assert (np.diff(pieces) > 0).all()
    expected = flow.first_ps + np.arange(1, len(pieces) + 1) * (flow.last_ps - flow.first_ps) / len(
        pieces
    )
    assert np.abs(pieces - expected).max() < 2 * US
    assert card.balanced()
    assert card.ring_words[0] == messages * card.words


@pytest.mark.parametrize(("size", "messages"), BURSTS)
def test_the_sram_holds_what_the_flow_says(size, messages):
    card, _, _, line, _ = both(size, messages)
    # at 8 B 63 counters on their way to the host and back let the engine catch up a little
    # and a flow counts whole messages
    assert card.sram_peak_bytes == pytest.approx(line.sram_peak_bytes, rel=0.06, abs=size)


@pytest.mark.parametrize(("size", "messages"), [(8, 20_000), (2048, 400), (131072, 8)])
def test_a_full_sram_holds_the_sender_back_as_in_the_flow(size, messages):
    room = {8: "64 KiB", 2048: "64 KiB", 131072: "256 KiB"}[size]
    card, burst, _, line, flow = both(size, messages, sram=room)
    assert card.sram_peak_bytes == line.sram_peak_bytes
    assert flow.held_ps > 0
    assert burst.held_ps == pytest.approx(flow.held_ps, rel=0.05)
    assert burst.last_ps == pytest.approx(flow.last_ps, abs=US)


def test_a_full_ring_holds_the_engine_back_until_the_threads_come():
    card, burst, _, _, flow = both(2048, 200, Window(10_000, 5_000 * US, 20 * US))
    left = 5_000 * US + (200 * 256 - 10_000) * 20 * US // 256
    assert flow.last_ps < left < burst.last_ps < left + US
    assert card.held_ring_ps > 4_000 * US
    assert card.ring_peak_words == 10_000
    assert card.balanced()


def test_a_ring_that_is_never_emptied_is_told():
    with pytest.raises(RuntimeError, match="no room"):
        both(2048, 200, Window(10_000, (1 << 63) - 1, 1))


def test_the_engine_sets_the_pace_where_pcie_is_slower_than_the_software():
    _, burst, _, line, flow = both(8192, 60, pcie_rate="0.1 GB/s", dma_entries=100)
    assert line.move_ps(60) > 60 * 8192 * 10_000
    assert burst.last_ps == pytest.approx(flow.last_ps, rel=0.001)


def test_the_ring_takes_as_many_messages_as_the_flow_and_their_words():
    card = WordCard(CARD, 2048, 2)
    ring, plain = WordRing(card, 100 * 2048, 2, 5), DramRing(100 * 2048, 2, 5, 256)
    how = {"arrival_ps": 3 * US, "drain_ps": 50 * US, "wait_ps": 100 * US, "stop": 0.9}
    taken = ring.fill(1_000, **how)
    assert taken == plain.fill(1_000, **how) < 1_000
    card.take(arrival(taken * 256), taken, ring.window(0))
    assert card.held_ring_ps == 0  # fill knew how far the ring would go
    assert card.ring_words[2] == taken * 256 - card.ring_words[1] > 0
    assert ring.balanced()
    ring.drain(taken)
    assert card.ring_words == (taken * 256, taken * 256, 0)
    assert ring.balanced()


def test_a_buffer_cannot_be_drained_of_what_is_not_in_it():
    card = WordCard(CARD, 2048, 2)
    ring = WordRing(card, 100 * 2048, 2, 5)
    taken = ring.fill(3, arrival_ps=1, drain_ps=1, wait_ps=0)
    card.take(arrival(taken * 256), taken, ring.window(0))
    with pytest.raises(RuntimeError, match="a buffer of 3 messages was drained of 2"):
        ring.drain(2)
    with pytest.raises(RuntimeError, match="none in use"):
        card.release()


def test_the_fifo_of_the_sender_is_finite():
    card = WordCard(load("h3/dv-8", ["system.card.fifo_words=2"]).system.card, 8, 2)
    with pytest.raises(RuntimeError, match="empty"):
        card.pop_credit()
    card.push_credit(10)
    card.push_credit(20)
    with pytest.raises(RuntimeError, match="full"):
        card.push_credit(30)
    card.pop_credit()
    card.push_credit(40)


def test_words_in_the_order_of_a_busy_fabric_all_arrive():
    rng = np.random.default_rng(3)
    card = WordCard(CARD, 2048, 2)
    slots = 8 + np.arange(100 * 256) // 16 + rng.integers(0, 200, 100 * 256)
    burst, pieces = card.take(WordArrival(slots, 1, SLOT_PS, 0), 100, ALWAYS)
    assert card.balanced()
    assert burst.last_ps >= pieces[-1]
    with pytest.raises(ValueError, match="25599 words are not 100 messages"):
        card.take(WordArrival(slots[1:], 1, SLOT_PS, 0), 100, ALWAYS)


@pytest.mark.parametrize("size", [8, 256, 2048, 8192, 131072])
def test_the_error_of_the_flow_is_measured_and_small(size):
    assert 0 < flow_error(CARD, size, 2700) < 0.002
    assert flow_error(CARD, 8, 1) > 0.1  # one word alone: crossings, and no more
    far = load("h3/dv-8", ["system.card.sram=64 MiB"]).system.card
    assert flow_error(far, size, 2700) is None


SIZES = [(8, 20_000), (2048, 3_000), (131072, 100)]


@pytest.fixture(scope="module", params=SIZES, ids=lambda case: f"{case[0]}B")
def h3(request):
    """One iteration at both fidelities."""
    size, messages = request.param
    asked = [f"workload.messages={messages}"]
    return {
        fidelity: run_iteration(
            load(f"h3/dv-{size}", [*asked, f"system.fidelity={fidelity}"]), 1, 1, 1
        )
        for fidelity in ("cycle", "flow")
    }


def values(iteration):
    return {(item.component, item.metric): item.value for item in iteration.counters}


def test_h3_word_by_word_gives_the_columns_of_the_flow(h3):
    for receiver in (1, 2):
        cycle, flow = (h3[fidelity].records[receiver] for fidelity in ("cycle", "flow"))
        assert cycle.pieces.sum() == flow.pieces.sum()
        assert cycle.messages.sum() == flow.messages.sum()
        # microseconds of 5 ms: a piece in a thousand may fall into the next interval
        assert np.abs(cycle.pieces - flow.pieces).max() <= 0.01 * flow.pieces.max()


def test_h3_word_by_word_counts_what_the_flow_counts(h3):
    cycle, flow = values(h3["cycle"]), values(h3["flow"])
    assert cycle["card", "flow_error"] == flow["card", "flow_error"] < 0.002
    for metric in ("windows", "overruns"):
        assert cycle["card.1", metric] == flow["card.1", metric]
    for name in [("card.1", "utilisation"), ("run", "simulated_s"), ("bridge.1", "utilisation")]:
        assert cycle[name] == pytest.approx(flow[name], rel=0.01)
    assert cycle["card.1", "sram_peak_bytes"] == pytest.approx(
        flow["card.1", "sram_peak_bytes"], rel=0.06
    )
    assert cycle["sender.1", "held_sram_s"] == flow["sender.1", "held_sram_s"] == 0
    assert cycle["card.1", "held_ring_s"] == 0
    assert cycle["card.1", "dma_loadings"] == cycle["card.1", "windows"]
    assert ("card.1", "dma_loadings") not in flow


def test_a_word_that_the_card_loses_fails_the_run(monkeypatch):
    monkeypatch.setattr(WordCard, "balanced", lambda _: False)
    scenario = load("h3/dv-8", ["workload.messages=100", "system.fidelity=cycle"])
    with pytest.raises(RunFailed, match="receiver 1: the DRAM ring's books do not balance"):
        run_iteration(scenario, 1, 1, 1)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("sram=64 MiB", "must be at most 33554432 B, which a header addresses, is 64 MiB"),
        ("group_counters=65", "must be at most 64, which a header names, is 65"),
        ("fifo_words=20_000_000", "must be at most 16777216, is 20000000"),
        ("dma_setup=2 s", "must be at most 1 s, is 2 s"),
        ("pcie_rate=10 B/s", "must be at least 1000 B/s, is 10 B/s"),
        ("pio_read=700 ns", "must be at least 800 ns, two crossings of pio_write, is 700 ns"),
    ],
)
def test_a_card_that_is_beyond_words_has_only_a_flow(override, message):
    name = override.split("=", maxsplit=1)[0]
    with pytest.raises(ScenarioError) as caught:
        load("h3/dv-8", [f"system.card.{override}", "system.fidelity=cycle"])
    assert f"system.card.{name}: {message}" in str(caught.value)
    card = load("h3/dv-8", [f"system.card.{override}"]).system.card
    assert beyond_words(card) is not None
    assert fabric_of(Clock(), card, 1, 10, "auto").fidelity == "flow"
    assert fabric_of(Clock(), CARD, 1, 10, "auto").fidelity == "cycle"
