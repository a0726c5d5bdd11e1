"""Does the C core take each parameter up to the limit that its header names?

That it takes none beyond is asked in ranges_test.c and ranges_card_test.c. What a large switch
would take is counted, not allocated.
"""

import pytest
from dvsim.core._core import ffi, lib

from dvsim.core.network import NetworkParams, native_network_params
from dvsim.core.vortex import VortexParams, native_params
from dvsim.fabric.switch.wiring import random_order

SURE = 1 << 32
SMALL = {"height": 8, "angles": 3, "injecting": (0,)}
PORTS = 8 * 3


def takes_switch(change=None, threads=1, **asked):
    """Whether the core makes such a switch; `change` sets fields of the C struct."""
    params, alive = native_params(VortexParams(**(SMALL | asked)))
    for name, value in (change or {}).items():
        setattr(params, name, value)
    taken = lib.dvsim_vortex_bytes(params, threads) != -1
    assert alive
    return taken


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("height", (2, 4, 1 << 20)),
        ("replications", (1, 2, 65536 // 3)),
        ("crossing", (0, 1)),
        ("exit_rule", (0, 1)),
        ("injection", (0, 1, 2, 3, 4)),
        ("arrival_threshold", (0, 1, SURE)),
        ("hot_threshold", (0, 1, SURE)),
        ("burst_threshold", (0, 1, SURE)),
        ("burst_slots", (0, 1, 1 << 40)),
        ("watched", (0, 1, 1 << 40)),
    ],
)
def test_numbers_of_a_switch(name, values):
    assert [value for value in values if not takes_switch({name: value})] == []


def test_angles_threads_and_inputs_of_a_switch():
    assert not takes_switch(height=1 << 21)
    assert takes_switch(angles=1)
    assert takes_switch(angles=4096, replications=16)
    assert not takes_switch(angles=4096, replications=17)
    assert takes_switch(threads=64)
    assert takes_switch(injecting=(2,))
    assert takes_switch(injecting=(0, 1, 2))
    assert not takes_switch(injecting=())


@pytest.mark.parametrize("exit_rule", ["angle", "any"])
def test_hot_spots_are_outputs(exit_rule):
    outputs = PORTS if exit_rule == "angle" else 8
    for addresses, good in (([0, outputs - 1], True), ([outputs, 0], False), ([0, outputs], False)):
        hot = ffi.new("uint32_t[]", addresses)
        assert takes_switch({"hot": hot, "hots": 2}, exit_rule=exit_rule) == good


def test_destinations_are_heights():
    for place in (0, 7):
        to = ffi.new("uint32_t[]", list(range(8)))
        to[place] = 7
        assert takes_switch({"destination": to})
        to[place] = 8
        assert not takes_switch({"destination": to})


def test_a_trace_may_name_every_slot_from_0_and_every_output():
    start = ffi.new("int64_t[]", [0, *[3] * (PORTS - 1), 4])
    slot, to = ffi.new("int64_t[]", [0, 1, 9, 0]), ffi.new("uint32_t[]", [0, PORTS - 1, 0, 0])
    trace = {"trace_start": start, "trace_slot": slot, "trace_to": to}
    assert takes_switch(trace)
    to[3] = PORTS
    assert not takes_switch(trace)
    to[3], slot[1] = 0, 0
    assert not takes_switch(trace)


def takes_network(threads=1, change=None, **asked):
    """Whether the core makes such a network; without a word one switch of radix 8."""
    shape = {"height": 8, "angles": 1, "levels": 1, "ports": 8, "planes": 1, "link_slots": 0}
    params, alive = native_network_params(NetworkParams(**(shape | asked)))
    for name, value in (change or {}).items():
        setattr(params, name, value)
    network = lib.dvsim_network_create(params, threads)
    taken = network != ffi.NULL
    lib.dvsim_network_free(network)
    assert isinstance(alive, list)
    return taken


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("planes", (1, 2, 256)),
        ("link_slots", (0, 1, 65536)),
        ("injection", (0, 1, 2, 3)),
        ("crossing", (0, 1)),
        ("exit_rule", (0, 1)),
        ("together", (0, 1, 256)),
    ],
)
def test_numbers_of_a_network(name, values):
    assert [value for value in values if not takes_network(change={name: value})] == []


def test_threads_of_a_network():
    assert takes_network(threads=256)
    assert not takes_network(threads=257)


def test_which_ports_a_network_of_switches_of_radix_8_can_have():
    """D = 4. G = ports / D^(L - 1) groups divide 8, at least 2; 8 / G links divide D^(L - 1)."""
    assert [n for n in range(70) if takes_network(ports=n)] == [8]
    assert [n for n in range(70) if takes_network(levels=2, ports=n)] == [8, 16, 32]
    assert [n for n in range(200) if takes_network(levels=3, ports=n)] == [32, 64, 128]


def takes_order(order):
    """Whether switches and networks take such an order for a random crossing."""
    params, alive = native_params(VortexParams(**SMALL, crossing="random", order=order))
    switch = lib.dvsim_vortex_create(params, 1)
    taken = switch != ffi.NULL
    lib.dvsim_vortex_free(switch)
    assert alive
    assert takes_network(crossing="random", order=order) == taken
    return taken


@pytest.mark.parametrize("cylinder", [0, 1, 2])
def test_a_random_crossing_changes_the_half_and_comes_to_no_height_twice(cylinder):
    values = 8 >> cylinder
    first = 16 - 2 * values
    good = random_order(8, 1)
    beyond, same_half, twice = good.copy(), good.copy(), good.copy()
    beyond[first] = values + 1
    same_half[first] = 0
    assert takes_order(good)
    assert not takes_order(None)
    assert not takes_order(beyond)
    assert not takes_order(same_half)
    if values > 2:
        twice[first] = good[first + 2]
        assert not takes_order(twice)


CARD = {"group_counters": 8, "fifo_words": 16, "dma_entries": 16, "piece_words": 131}
LARGE, LONG = 1 << 50, 10**18


def takes_card(change=None, message_bytes=8):
    """Whether there is such a card; names with a dot are of a part of the struct."""
    params, card = ffi.new("dvsim_card_params *"), ffi.new("dvsim_card *")
    for name, value in ({"sram_bytes": 1 << 20} | CARD | (change or {})).items():
        part, _, field = name.rpartition(".")
        setattr(getattr(params, part) if part else params, field, value)
    return lib.dvsim_card_init(card, params, message_bytes) == 0


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("sram_bytes", 8, LARGE),
        ("group_counters", 2, LARGE),
        ("fifo_words", 1, LARGE),
        ("dma_entries", 1, LARGE),
        ("piece_words", 1, LARGE),
        ("pcie.setup_ps", 0, LONG),
        ("pcie.engine_fs", 0, LONG),
        ("vic_to_dram.fixed_ps", 0, LONG),
        ("vic_to_dram.per_byte_fs", 0, LONG),
    ],
)
def test_numbers_of_a_card(name, least, most):
    assert takes_card({name: least})
    assert takes_card({name: most})


def test_bytes_of_a_message():
    assert takes_card(message_bytes=0)
    assert takes_card(message_bytes=1 << 40)


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("crossing_ps", 1, 150),  # a load crosses twice
        ("load_ps", 200, 10**12),
        ("store_fs", 0, 10**12),
        ("look_ps", 1, 10**12),
        ("pop_ps", 0, 10**12),
        ("setup_ps", 0, 10**12),
        ("engine_fs", 1, 10**12),
    ],
)
def test_times_of_pcie(name, least, most):
    pcie = ffi.new(
        "dvsim_pcie *", {"crossing_ps": 100, "load_ps": 300, "look_ps": 7, "engine_fs": 3}
    )
    for value in (least, most):
        setattr(pcie, name, value)
        assert lib.dvsim_pcie_is_good(pcie)


def test_buffers_of_a_ring_and_room_in_them():
    ring = lib.dvsim_ring_create(1 << 20)
    assert ring != ffi.NULL
    for room, words in ((1, 1), (1 << 40, 1), (1, 1 << 40)):
        window = ffi.new("dvsim_window *", {"room": room, "unit_words": 1})
        assert lib.dvsim_ring_open(ring, window, words) == lib.DVSIM_OK
    lib.dvsim_ring_free(ring)


def test_what_is_not_there_may_be_freed():
    lib.dvsim_vortex_free(ffi.NULL)
    lib.dvsim_network_free(ffi.NULL)
    lib.dvsim_ring_free(ffi.NULL)
    lib.dvsim_receiver_free(ffi.NULL)


def test_sizes_of_a_host():
    host, most = ffi.new("dvsim_host *"), 1 << 50
    for sizes in ((0, 1, 1, 1), (most, 1, 1, 1), (64, 1, most, 1), (64, 1, 1, most)):
        assert lib.dvsim_host_init(host, *sizes) == lib.DVSIM_OK, sizes


def test_a_node_is_asked_for_where_there_is_one():
    params, alive = native_params(VortexParams(**SMALL))
    switch = ffi.gc(lib.dvsim_vortex_create(params, 1), lib.dvsim_vortex_free)
    for node in ((0, 0, 0), (3, 2, 7)):
        assert lib.dvsim_vortex_at(switch, *node) == 0, node
    for node in ((-1, 0, 0), (4, 0, 0), (0, -1, 0), (0, 3, 0), (0, 0, -1), (0, 0, 8)):
        assert lib.dvsim_vortex_at(switch, *node) == lib.DVSIM_EINVAL, node
    assert alive
