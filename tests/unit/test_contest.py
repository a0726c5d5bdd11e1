"""Is the Data Vortex held against TCP like for like?"""

import re
from dataclasses import replace

from manifests import changed
from run_builder import run_of, samples, tcp_scenario, vortex_scenario

from dvsim.study.transports import contest_text, contests


def vortex(size, rates, per_message=1):
    """Two receivers, each with half of the messages of a replication in one second."""
    pieces = [[rate * per_message // 2] for rate in rates]
    counts = {(n, 1, r): count for n, count in enumerate(pieces, 1) for r in (1, 2)}
    return run_of(vortex_scenario(size), samples(counts, per_message=per_message))


def tcp(size, rates):
    counts = {(n, 1, 0): [rate] for n, rate in enumerate(rates, 1)}
    return run_of(tcp_scenario(size), samples(counts))


def test_whole_messages_of_all_receivers_are_counted():
    (found,) = contests([tcp(8, [200]), vortex(8, [100], per_message=10)])
    assert (found.size, found.ratio.value) == ("8 B", 0.5)


def test_sizes_come_in_order_and_one_side_alone_is_no_contest():
    runs = [vortex(2048, [300]), tcp(2048, [100]), vortex(8, [100]), tcp(8, [200]), tcp(64, [1])]
    assert [one.size for one in contests(runs)] == ["8 B", "2 KiB"]
    assert figures(runs) == [("0.500", "8 B"), ("3.00", "2 KiB")]


def figures(runs):
    return re.findall(r"([\d.]+) times \(at ([^)]+)\)", contest_text(contests(runs)))


def test_a_measurement_is_not_held_against_a_model():
    run = tcp(8, [200])
    emulated = replace(run, manifest=changed(run.manifest, backend="emu"))
    assert contests([vortex(8, [100]), emulated]) == []


def test_many_sizes_are_said_by_their_ends():
    sizes = [8, 16, 32, 64, 128, 256, 512]
    runs = [run for size in sizes for run in (vortex(size, [2 * size]), tcp(size, [1000]))]
    assert figures(runs) == [("0.0160", "8 B"), ("1.02", "512 B")]


def test_nothing_delivered_is_no_ratio():
    (found,) = contests([vortex(8, [0]), tcp(8, [0])])
    assert found.ratio is None
    assert contest_text([found]) == "Over one of the two nothing was delivered."
