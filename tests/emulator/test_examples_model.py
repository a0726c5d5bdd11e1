"""Do programs in timed mode take as long as the model of irregular programs says?"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from fabric_driver import arrivals, send
from test_examples import examples, run  # noqa: F401 - the fixture

from dvsim.fabric.network import Network
from dvsim.kinds.irregular.spec import WordsTable
from dvsim.kinds.irregular.vortex import PS, over_vortex, round_trip_s
from dvsim.kinds.workload import team
from dvsim.kinds.workload.fabrics import choose, cycle_of
from dvsim.kinds.workload.replay import replay_graph
from dvsim.kinds.workload.team import Team
from dvsim.scenario.card import load_card

VORTEX = load_card("data-vortex-8")
COLLECTIVE = Path(__file__).parents[2] / "emulator/src/collective"
UPDATE, MOVE, FLOP = 4_000, 500, 0.25e-9  # as emulator/examples/example.h has them


AHEAD = 1024  # updates that a card may have gathered and on their way


def core(words):
    """Return a node of one core that works as fast as the examples say.

    Of each transfer, of `words`, it tells the card, and looks at its end and at the FIFO.
    """
    node = load_card("chapel-36")
    transfer = 16 / VORTEX["pio_rate"] / PS + 2 * VORTEX["poll_mirror"]
    own = {"cores": 1, "read": UPDATE, "write": UPDATE, "key": UPDATE}
    own["move"] = MOVE + transfer / words
    given = {name: replace(one, value=own[name]) for name, one in node.parameters.items()}
    return replace(node, parameters=given)


def figures(done):
    assert done.returncode == 0, done.stderr
    return [float(cell) for cell in done.stdout.splitlines()[1].split()]


def updates_s(cards, updates, busiest, words):
    """Return how long random updates take, with so many words in a transfer."""
    work = WordsTable("gups", "buffer", cards, updates // cards, busiest, buffer=8 * words)
    return over_vortex(work, core(words), VORTEX).whole


@pytest.mark.parametrize("cards", [2, 4, 8])
@pytest.mark.parametrize("name", ["gups", "gups_dma"])
def test_random_updates_by_transfers(examples, name, cards):  # noqa: F811
    program = [examples.program(name), "17"]
    done = run(examples, cards, program, "--mode", "timed")
    _, updates, rate, _, busiest = figures(done)
    words = AHEAD // 2 if name == "gups_dma" else AHEAD // cards
    told = updates_s(cards, int(updates), busiest, words)
    assert updates / told == pytest.approx(rate * 1e9, rel=0.1)


def level_s(cards):
    """Return how long a level of a search takes beside its words: all say that it ends, and sum up.

    To each card a word that says so and one to sum up, and what all sent is read.
    """
    one_way = round_trip_s(cards, VORTEX) / 2 - VORTEX["fifo_pop"] * PS
    told = cards * 16 / VORTEX["pio_rate"] + one_way
    return 2 * told + cards * VORTEX["pio_read"] * PS


@pytest.mark.parametrize("cards", [2, 4, 8])
def test_a_search_is_an_update_for_each_end_of_an_edge(examples, cards):  # noqa: F811
    program = [examples.program("bfs"), "14"]
    done = run(examples, cards, program, "--mode", "timed")
    _, _, edges, levels, rate, busiest = figures(done)
    told = updates_s(cards, 2 * int(edges), busiest, AHEAD // cards) + levels * level_s(cards)
    assert edges / told == pytest.approx(rate * 1e6, rel=0.1)


def fft_s(cards, side):
    """Return how long the FFT takes: the arithmetic of its rows, and three transposes.

    A transpose is a barrier, a transfer of all words through the port and the network, and one out
    of the SRAM; each transfer is set up, and its end is seen a crossing and a look later.
    """
    rows = side // cards
    words, log = 2 * rows * side, math.log2(side)
    flops = rows * side * (2 * 5 * log + 6)
    crossing, look, setup = (VORTEX[key] * PS for key in ("pio_write", "poll_mirror", "dma_setup"))
    one_way = round_trip_s(cards, VORTEX) / 2 - VORTEX["fifo_pop"] * PS
    barrier = math.ceil(math.log2(cards)) * (one_way + 16 / VORTEX["pio_rate"])
    out = setup + 8 * words / VORTEX["port_rate"] + one_way
    back = 2 * crossing + setup + 8 * words / VORTEX["pcie_rate"] + look
    return flops * FLOP + 3 * (barrier + out + back)


@pytest.mark.parametrize("cards", [2, 4, 8])
def test_a_transform_is_its_arithmetic_and_three_transposes(examples, cards):  # noqa: F811
    program = [examples.program("fft"), "128"]
    measured = figures(run(examples, cards, program, "--mode", "timed"))[2] * 1e-6
    assert fft_s(cards, 128) == pytest.approx(measured, rel=0.1)


def carried_us(preset, messages):
    """Return when the last of some messages has come over the fabric `cycle`: source, to, bytes."""
    cycle = cycle_of(Network(preset, card=VORTEX.name), VORTEX)
    for number, message in enumerate(messages):
        send(cycle, number, *message, 0)
    return max(one.time_ps for one in arrivals(cycle)) / 1e6


def test_a_put_and_its_counter_take_as_long_as_a_message_over_the_fabric(examples):  # noqa: F811
    # only what goes by PIO: a longer put stays in SRAM, a message goes on into node memory
    done = run(examples, 2, [examples.program("pingpong"), "10", "16"], "--mode", "timed")
    rows = [line.split() for line in done.stdout.splitlines()[1:-1]]
    assert [row[0] for row in rows] == ["1", "4", "16"]
    for words, counted, *_ in rows:
        message = carried_us("dv202", [(0, 1, 8 * int(words))])
        assert float(counted) == pytest.approx(message, rel=0.1)


@pytest.mark.parametrize(("cards", "preset"), [(2, "dv202"), (4, "dv202"), (8, "dv203")])
def test_collectives_take_as_long_as_their_skeleton_over_the_fabric(examples, cards, preset):  # noqa: F811
    done = run(examples, cards, [examples.program("collectives"), "2", "4096"], "--mode", "timed")
    settings = {"fidelity": "cycle", "landing": "sram", "o": "0 ns", "S": "1 MiB"}
    calls = set()
    for line in done.stdout.splitlines()[1:]:
        call, words, measured, _ = line.split()
        calls.add(call)
        program = Team(ranks=cards, call=call, words=int(words)).graph()
        modelled = replay_graph(program, choose(preset, settings, cards)).time_ns / 1000
        assert modelled == pytest.approx(float(measured), rel=0.1), (call, words)
    assert calls == {"barrier", "broadcast", "reduce", "allreduce", "gather", "alltoall"}


def test_the_skeleton_chooses_its_steps_by_the_numbers_of_the_library():
    text = "".join(file.read_text("utf-8") for file in COLLECTIVE.glob("*.c"))
    numbers = {
        "store_ns": team.STORE_NS, "engine_ns": team.ENGINE_NS, "word_ns": team.WORD_NS,
        "step_ns": team.STEP_NS, "WORTH_A_TRANSFER": team.WORTH_A_TRANSFER, "SHARE": team.SHARE,
        "LOG_MOST": team.MOST_BUFFER.bit_length() - 1,
    }  # fmt: skip
    for name, number in numbers.items():
        assert re.search(rf"\b{name} = {number}\b", text), name
