"""Does the broker cost what its card says, stall, and page at its watermark?"""

from dataclasses import replace

import pytest

from dvsim.contract.load import load_card
from dvsim.core.stage import Clock
from dvsim.core.streams import Streams
from dvsim.kinds.rabbitmq.broker import Broker
from dvsim.scenario.units import Law

QUIET = {"scatter": 0.0, "run_spread": 0.0, "stall": 0}


def card(**values):
    base = load_card("rabbitmq-2018")
    changed = {name: replace(base.parameters[name], value=value) for name, value in values.items()}
    return replace(base, parameters={**base.parameters, **changed})


def broker(message_bytes=8, mtu=2044, **values):
    clock = Clock()
    return clock, Broker(clock, "broker.1", card(**values), message_bytes, mtu, Streams(1, 1, 1))


def serve(clock, node, messages):
    clock.run(node.serve(messages))
    return clock.ps


def test_a_small_message_pays_its_share_of_a_read():
    clock, node = broker(20, **QUIET, service=Law(1000, 0), read_cost=1022, frame_overhead=80)
    assert serve(clock, node, 10) == 10 * (1000 + 1022 * 100 / 2044)


def test_a_message_longer_than_a_packet_pays_one_read():
    clock, node = broker(8192, **QUIET, service=Law(1000, 1000), read_cost=500)
    assert serve(clock, node, 2) == 2 * (1000 + 8192 + 500)


def test_batches_wait_for_each_other():
    clock, node = broker(8192, **QUIET, service=Law(1000, 0), read_cost=0)
    clock.run(clock.all_of([node.serve(1), node.serve(2)]))
    assert clock.ps == 3000
    assert node.queued == 3
    assert node.utilisation(6000) == 0.5


def test_stalls_come_about_as_often_as_the_card_says():
    clock, node = broker(
        8192, scatter=0.0, run_spread=0.0, service=Law(10**6, 0), read_cost=0,
        stall_every=1000, stall=10**8,
    )  # fmt: skip
    for _ in range(2000):
        serve(clock, node, 1000)  # 1 ms of work each, and about 2000 stalls of 0.1 ms
    assert clock.ps == pytest.approx(2000 * 1.1e9, rel=0.01)


def test_the_watermark_pages_and_blocks_and_nothing_is_lost():
    clock, node = broker(
        1000, **QUIET, service=Law(10, 0), read_cost=0, message_overhead=0,
        memory=10_000, paging_ratio=0.5, disk_rate=1e12,
    )  # fmt: skip
    for _ in range(20):
        serve(clock, node, 1)
    assert node.queued == 20
    assert node.memory_peak_bytes == 10_000
    assert node.paged_bytes + node.resident_bytes == 20_000
    assert node.blocked_ps == node.paged_bytes  # at a byte per picosecond
    before, paging = node.rates(clock.ps)
    assert before > paging > 0


def test_below_the_watermark_nothing_is_paged():
    clock, node = broker(1000, **QUIET, memory=10**9)
    serve(clock, node, 100)
    assert (node.paged_bytes, node.blocked_ps) == (0, 0)
    assert node.rates(clock.ps)[1] == 0.0
