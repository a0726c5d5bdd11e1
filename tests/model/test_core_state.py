"""Does a switch take back only bytes that it can have given, of a switch of its own kind?

The sum over all words is set right each time, so that it is the words themselves that are judged.
"""

import itertools
import struct

import pytest
from dvsim.core._core import ffi, lib

from dvsim.core.vortex import VortexParams, native_params

HEIGHT, ANGLES, SLOTS = 8, 3, 200
PORTS = HEIGHT * ANGLES
CYLINDERS = 4
NOW, COUNTED_FROM, HISTOGRAM, SUM, HEAD = 6, 7, 8, 9, 10  # words of the head, see state.c
CELLS = HEAD
QUEUES = CELLS + CYLINDERS * PORTS
MASK = (1 << 64) - 1


def mix(x):
    """SplitMix64, as packet.h has it."""
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def with_sum(words):
    """The words with the sum that belongs to them."""
    total = 0
    for number, word in enumerate(words):
        if number != SUM:
            total = mix(total ^ (word & MASK)) + 0x9E3779B97F4A7C15 & MASK
    return [*words[:SUM], total, *words[SUM + 1 :]]


class Desk:
    """A switch that has run, its state as words, and another one that may load them."""

    def __init__(self, **asked):
        params = {"height": HEIGHT, "angles": ANGLES, "injecting": (0, 2)} | asked
        native, self.alive = native_params(VortexParams(arrival_threshold=1 << 31, **params))
        self.switch = ffi.gc(lib.dvsim_vortex_create(native, 1), lib.dvsim_vortex_free)
        self.other = ffi.gc(lib.dvsim_vortex_create(native, 1), lib.dvsim_vortex_free)
        assert lib.dvsim_vortex_run(self.switch, SLOTS) == lib.DVSIM_OK
        self.words = self.saved(self.switch)

    def saved(self, switch):
        """The state of a switch."""
        length = lib.dvsim_vortex_state_bytes(switch)
        state = ffi.new("uint8_t[]", length)
        assert lib.dvsim_vortex_save(switch, state) == lib.DVSIM_OK
        return list(struct.unpack(f"={length // 8}Q", bytes(state)))

    def takes(self, words):
        """Whether the other switch loads these words; if not, nothing of it may have changed."""
        before = self.saved(self.other)
        data = struct.pack(f"={len(words)}Q", *(word & MASK for word in with_sum(words)))
        taken = lib.dvsim_vortex_load(self.other, data, len(data)) == lib.DVSIM_OK
        assert taken or self.saved(self.other) == before
        return taken

    def takes_with(self, changes):
        """Whether it does with some words changed."""
        words = list(self.words)
        for place, value in changes.items():
            words[place] = value
        return self.takes(words)


@pytest.fixture(scope="module")
def drop():
    return Desk()


def test_what_was_saved_is_taken_and_is_the_state_then(drop):
    assert drop.takes(drop.words)
    assert drop.saved(drop.other) == drop.words


def test_a_switch_of_another_kind_does_not_take_it():
    kinds = list(itertools.product(("brc", "xor"), ("angle", "any"), ("drop", "saturate")))
    desks = {kind: Desk(**dict(zip(("crossing", "exit_rule", "injection"), kind, strict=True)))
             for kind in kinds}  # fmt: skip
    for one, other in itertools.product(kinds, kinds):
        assert desks[other].takes(desks[one].words) == (one == other), (one, other)
    assert not Desk(height=4, angles=6).takes(Desk().words)


@pytest.mark.parametrize(
    "head",
    [
        {NOW: -1},
        {NOW: (1 << 62) + 1},
        {COUNTED_FROM: -1},
        {COUNTED_FROM: SLOTS + 1},
        {HISTOGRAM: -1},
        {HISTOGRAM: 1 << 61},
    ],
)
def test_times_and_lengths(drop, head):
    assert not drop.takes_with(head)


def test_the_histograms_are_as_long_as_is_said(drop):
    shorter = drop.words[HISTOGRAM] - 1
    assert not drop.takes_with({HISTOGRAM: shorter})
    assert not drop.takes(drop.words[:-1])
    assert not drop.takes([*drop.words, 0])
    assert drop.takes([*drop.words[:HISTOGRAM], shorter + 2, *drop.words[HISTOGRAM + 1 :], 0, 0])


def test_packets_stand_where_one_could(drop):
    """A word is DVSIM_PRESENT, times of injection and arrival, angle and height."""
    present = 1 << 63
    cell = next(n for n in range(CELLS, QUEUES) if drop.words[n])
    packet = drop.words[cell]
    assert drop.takes_with({cell: 0})
    assert not drop.takes_with({cell: packet ^ present})
    assert not drop.takes_with({cell: packet | 3 << 3})  # angle 3 of 0 .. 2
    for shift in (5, 5 + 29):  # 29 bits each: the slots of its arrival and of its injection
        other = packet & ~(((1 << 29) - 1) << shift)
        assert drop.takes_with({cell: other | SLOTS << shift})
        assert not drop.takes_with({cell: other | (SLOTS + 1) << shift})
    innermost = range(CELLS + 3 * PORTS, QUEUES)
    wrong = [
        at for at in innermost if drop.words[at] and not drop.takes_with({at: drop.words[at] ^ 1})
    ]
    assert len(wrong) == sum(1 for at in innermost if drop.words[at]) > 0


def test_counts_are_not_below_zero_and_can_be_added_up(drop):
    counts = range(QUEUES, len(drop.words))
    for place in (counts[0], counts[-1]):
        assert drop.takes_with({place: 12345})
        assert not drop.takes_with({place: -1})
        assert not drop.takes_with({place: 1 << 61})


def test_queues_are_no_longer_than_what_came():
    desk = Desk(injection="queue")
    waiting = [at for at in range(QUEUES, QUEUES + 2 * PORTS, 2) if desk.words[at + 1] > 1]
    at = waiting[0]
    head, length = desk.words[at], desk.words[at + 1]
    assert desk.takes(desk.words)
    assert desk.takes_with({at + 1: SLOTS - head})
    assert not desk.takes_with({at + 1: SLOTS - head + 1})
    assert not desk.takes_with({at + 1: -1})
    assert not desk.takes_with({at: -1})
    assert not desk.takes_with({at: SLOTS, at + 1: 1})
    silent = [slot for slot in range(head, SLOTS) if not desk.takes_with({at: slot, at + 1: 1})]
    assert len(silent) > (SLOTS - head) // 4  # in about half of the slots nothing arrived
    idle = QUEUES + 2 * 1  # an angle that does not inject
    assert desk.words[idle + 1] == 0
    assert not desk.takes_with({idle: head, idle + 1: 1})
    assert length > 1


def test_saturated_ports_keep_a_time_and_no_queue():
    desk = Desk(injection="saturate")
    assert desk.takes_with({QUEUES: 0})
    assert desk.takes_with({QUEUES: SLOTS})
    assert not desk.takes_with({QUEUES: SLOTS + 1})
    assert not desk.takes_with({QUEUES: -1})
    assert not desk.takes_with({QUEUES + 1: 1})


def test_bytes_that_are_no_state(drop):
    load = lib.dvsim_vortex_load
    data = struct.pack(f"={HEAD}Q", *drop.words[:HEAD])
    assert load(drop.other, ffi.NULL, len(data)) == lib.DVSIM_EINVAL
    assert load(ffi.NULL, data, len(data)) == lib.DVSIM_EINVAL
    assert load(drop.other, data, len(data) - 8) == lib.DVSIM_EINVAL
    assert load(drop.other, data, len(data)) == lib.DVSIM_EINVAL
