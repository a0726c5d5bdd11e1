"""Do schedules take what LogGOPS says by hand, step by step, through the settings of the command?

Numbers: L 2500, o 1500, g 1000, G 6 ns; a hop of one byte takes o + L + o = 5500.
"""

import pytest

import dvsim

EXACT = {"L": "2500ns", "o": "1500ns", "g": "1000ns", "G": "6ns", "O": "0ns", "S": "65535"}


def finish(folder, ranks, **settings):
    """Return when each host is done, of the lines of each rank."""
    text = f"num_ranks {len(ranks)}\n"
    for rank, lines in enumerate(ranks):
        text += f"\nrank {rank} {{\n" + "".join(f"{line}\n" for line in lines) + "}\n"
    (folder / "a.goal").write_text(text)
    return dvsim.replay(folder / "a.goal", fabric="loggops", **(EXACT | settings)).finish_ns


def binomial(size):
    """Return a broadcast: a rank receives, then sends to those 4, 2 and 1 further."""
    ranks = [[] for _ in range(8)]
    for rank in range(8):
        lowest = rank & -rank or 8
        if rank:
            ranks[rank].append(f"r: recv {size}b from {rank - lowest}")
        step, before = lowest // 2, "r" if rank else None
        while step:
            ranks[rank].append(f"s{step}: send {size}b to {rank + step}")
            if before:
                ranks[rank].append(f"s{step} requires {before}")
            before, step = f"s{step}", step // 2
    return ranks


def test_a_binomial_broadcast_of_one_byte(tmp_path):
    root = 3 * 1500  # sends at 0, 1500, 3000
    four, two, one = (sent + 5500 for sent in (0, 1500, 3000))
    six, five, three = four + 5500, four + 1500 + 5500, two + 5500
    seven = six + 5500
    done = [root, one, two + 1500, three, four + 3000, five, six + 1500, seven]
    assert finish(tmp_path, binomial(1)) == done


def test_a_binomial_broadcast_of_more_keeps_the_port_between_its_sends(tmp_path):
    size, gap, came = 1001, 1000 + 6000, 1500 + 2500 + 1500 + 6000
    four, two, one = (sent + came for sent in (0, gap, 2 * gap))
    six, five, three = four + came, four + gap + came, two + came
    seven = six + came
    done = [2 * gap + 1500, one, two + 1500, three, four + gap + 1500, five, six + 1500, seven]
    assert finish(tmp_path, binomial(size)) == done


def test_a_token_that_goes_round(tmp_path):
    ranks = [["s: send 1b to 1", "r: recv 1b from 3"]]
    for rank in (1, 2, 3):
        send = f"s: send 1b to {(rank + 1) % 4}"
        ranks.append([f"r: recv 1b from {rank - 1}", send, "s requires r"])
    assert finish(tmp_path, ranks) == [4 * 5500, 5500 + 1500, 2 * 5500 + 1500, 3 * 5500 + 1500]


def test_a_dissemination_barrier(tmp_path):
    ranks = []
    for rank in range(5):
        lines = []
        for k in range(3):
            far = 1 << k
            lines.append(f"s{k}: send 1b to {(rank + far) % 5} tag {k}")
            lines.append(f"r{k}: recv 1b from {(rank - far) % 5} tag {k}")
            if k:
                joins = [(a, b) for a in "sr" for b in "sr"]
                lines += [f"{a}{k} requires {b}{k - 1}" for a, b in joins]
        ranks.append(lines)
    assert finish(tmp_path, ranks) == [3 * 5500] * 5


def test_a_linear_all_to_all_waits_for_the_processor(tmp_path):
    """Three sends keep it until 4500; the messages, of 4000, 5500 and 7000, come one by one."""
    ranks = [
        [f"s{far}: send 1b to {(rank + far) % 4}" for far in (1, 2, 3)]
        + [f"r{far}: recv 1b from {(rank - far) % 4}" for far in (1, 2, 3)]
        for rank in range(4)
    ]
    assert finish(tmp_path, ranks) == [4500 + 3 * 1500] * 4


def test_a_gather_at_one_port(tmp_path):
    """Messages of 0, 1, 2 come at 4000; each keeps the processor for o and 100 bytes of G."""
    ranks = [["s: send 101b to 3"] for _ in range(3)]
    ranks.append([f"r{source}: recv 101b from {source}" for source in range(3)])
    assert finish(tmp_path, ranks) == [1500, 1500, 1500, 4000 + 3 * (1500 + 600)]


@pytest.mark.parametrize(("size", "done"), [(65535, 1500 + 7), (65536, 4000 + 7)])
def test_above_s_a_sender_goes_on_when_its_message_meets_the_receive(size, done, tmp_path):
    ranks = [[f"s: send {size}b to 1", "c: calc 7", "c requires s"], [f"r: recv {size}b from 0"]]
    assert finish(tmp_path, ranks) == [done, 4000 + 1500 + 6 * (size - 1)]


def test_above_s_it_waits_for_a_receive_that_is_late(tmp_path):
    sender = ["s: send 70000b to 1", "c: calc 7", "c requires s"]
    late = ["c: calc 1000000", "r: recv 70000b from 0", "r requires c"]
    assert finish(tmp_path, [sender, late]) == [1_000_007, 1_000_000 + 1500 + 6 * 69_999]


def test_a_receive_that_comes_after_its_message_costs_nothing_more(tmp_path):
    early = ["c: calc 3000", "d: calc 9000", "d requires c", "r: recv 1b from 0", "r requires d"]
    assert finish(tmp_path, [["s: send 1b to 1"], early])[1] == 12_000 + 1500
    early = ["c: calc 3000", "r: recv 1b from 0 cpu 1", "d: calc 9000 cpu 1", "d requires r"]
    assert finish(tmp_path, [["s: send 1b to 1 cpu 1"], early])[1] == 5500 + 9000


def test_another_processor_takes_a_message_while_one_computes(tmp_path):
    """The number of the processor is that of the send at both ends, as LogGOPSim has it."""
    for cpu, done in ((0, 20_000 + 1500), (1, 20_000)):
        sender = [f"s: send 1b to 1 cpu {cpu}", "c: calc 1000"]
        taker = ["c: calc 20000", f"r: recv 1b from 0 cpu {cpu}"]
        assert finish(tmp_path, [sender, taker])[1] == done


def test_another_port_lets_a_second_message_leave_sooner(tmp_path):
    """Of one port the second leaves after g + 1000 G; of two behind the o of the first."""
    for nic, begin in ((0, 7000), (1, 1500)):
        sender = ["s: send 1001b to 1", f"t: send 1001b to 2 nic {nic}", "t requires s"]
        takers = [["r: recv 1001b from 0"], [f"r: recv 1001b from 0 nic {nic}"]]
        hop = 1500 + 2500 + 1500 + 6000
        assert finish(tmp_path, [sender, *takers]) == [begin + 1500, hop, begin + hop]


def test_overhead_of_each_byte_is_at_both_ends_and_hides_below_g(tmp_path):
    ranks = [["s: send 101b to 1", "c: calc 10", "c requires s"], ["r: recv 101b from 0"]]
    assert finish(tmp_path, ranks, O="2ns") == [1500 + 200 + 10, 4000 + 1500 + 600]
    assert finish(tmp_path, ranks, O="9ns") == [1500 + 900 + 10, 4000 + 1500 + 900]


def test_irequires_waits_for_the_start_alone(tmp_path):
    lines = ["a: calc 1000 cpu 1", "b: calc 10", "b irequires a", "c: send 1b to 1", "c requires b"]
    assert finish(tmp_path, [lines, ["r: recv 1b from 0"]]) == [1510, 10 + 5500]
