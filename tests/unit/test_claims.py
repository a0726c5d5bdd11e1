"""Published ranges and comparisons, and what confirms, refutes or does not reproduce them."""

from dataclasses import replace

import pandas as pd
import pytest
from claim_sources import H3, SENT_SIZES, SIZES
from harness.built import with_counters
from manifests import changed
from run_builder import (
    bursty_vortex,
    counters,
    run_of,
    samples,
    steady_tcp,
    tcp_scenario,
    vortex_scenario,
)

from dvsim.evidence.claims.decide import word
from dvsim.evidence.claims.figures import Evidence, Missing
from dvsim.evidence.claims.source import Claim
from dvsim.evidence.text import lines
from dvsim.evidence.validation import validate
from dvsim.scenario.sampled import Tolerance
from dvsim.study.table import plain_lines

LOOSE = Tolerance(mean=1e9, empty_share=1.0, quantile=1e9, std=1e9, extreme=1e9)


def decide(id_, *runs):
    found = {claim.id: claim for claim in validate(runs).claims}
    return found[id_]


def loose(scenario):
    """A scenario that any simulation reproduces, by its declared tolerance."""
    return replace(scenario, tolerance=LOOSE)


def vortex(size, rate, loosely=False, **options):
    scenario = vortex_scenario(size)
    return bursty_vortex(loose(scenario) if loosely else scenario, rate, **options)


def tcp(size, rate, loosely=False):
    scenario = tcp_scenario(size)
    return steady_tcp(loose(scenario) if loosely else scenario, rate)


# --- ranges and words ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "low", "high", "inside", "outside"),
    [
        ("ge", 5.0, None, (5.0, 6.0), (4.9,)),
        ("lt", None, 50.0, (49.9,), (50.0, 51.0)),
        ("eq", 32.0, 32.0, (32.0,), (31.0, 33.0)),
        ("about", 1.5, 2.2, (1.5, 2.0, 2.2), (1.4, 2.3)),
        ("true", None, None, (1.0,), (0.0,)),
    ],
)
def test_each_kind_of_range(op, low, high, inside, outside):
    claim = Claim("X", "", "1", "", "", op, low, high, "")
    assert all(claim.holds(value) for value in inside)
    assert not any(claim.holds(value) for value in outside)


def test_an_unknown_kind_of_range_is_refused():
    with pytest.raises(ValueError, match="X: unknown op 'near'"):
        Claim("X", "", "1", "", "", "near", 1.0, None, "").holds(1.0)


@pytest.mark.parametrize(
    ("holds", "passed", "total", "verdict"),
    [
        (True, 2, 2, "confirmed"),
        (True, 1, 2, "confirmed"),
        (True, 0, 0, "confirmed"),  # nothing was published that could be reproduced
        (True, 0, 2, "not reproduced"),
        (False, 2, 2, "refuted"),
        (False, 1, 2, "not reproduced"),
        (False, 0, 2, "not reproduced"),
        (False, 0, 0, "not reproduced"),
    ],
)
def test_the_three_words(holds, passed, total, verdict):
    assert word(holds=holds, passed=passed, total=total) == verdict


def test_a_value_that_agrees_while_no_column_does_confirms_nothing():
    claim = decide("H3-04", vortex(256, 900_000, active=8, empty=92))
    assert claim.verdict == "not reproduced"
    assert claim.note.endswith(
        "0 of 2 published columns reproduced; the value agrees although the columns do not"
    )


def test_a_missing_run_is_not_reproduced():
    claim = decide("H3-03", vortex(8, 1))
    assert (claim.verdict, claim.note, claim.simulated) == ("not reproduced", "not run", "-")
    assert claim.value is None
    assert claim.command == "dvsim run h3/fdr-256"


def test_of_several_runs_the_missing_ones_are_named():
    claim = decide("H3-02", vortex(8, 1))
    assert claim.note == "not run: h3/fdr-8"
    assert claim.command == "dvsim run h3/dv-8 && dvsim run h3/fdr-8"


def test_runs_that_no_claim_speaks_about_give_no_claims():
    assert validate([steady_tcp(tcp_scenario(8, "mine"), 1)]).claims == ()


def test_all_claims_are_decided_in_order():
    assert [claim.id for claim in validate([vortex(8, 1)]).claims] == sorted(H3)


# --- both directions of each verdict ---------------------------------------------------------


def test_a_rate_in_the_claimed_range_is_confirmed():
    claim = decide("H3-03", tcp(256, 130_000, loosely=True))
    assert (claim.verdict, claim.value) == ("confirmed", 130_000)
    assert claim.expected == "117,000 to 143,000 msg/s"
    assert claim.simulated == "130,000 msg/s"


def test_a_rate_outside_is_refuted_if_the_columns_are_reproduced():
    claim = decide("H3-03", tcp(256, 150_000, loosely=True))
    assert claim.verdict == "refuted"
    assert "2 of 2 published columns reproduced" in claim.note


def test_a_rate_outside_is_not_reproduced_if_the_columns_are_not():
    claim = decide("H3-03", tcp(256, 200_000))
    assert claim.verdict == "not reproduced"
    assert "0 of 2 published columns reproduced" in claim.note


def test_one_column_that_is_off_is_enough_against_refuting():
    scenario = replace(vortex_scenario(256), tolerance=replace(LOOSE, empty_share=0.0))
    table = samples({(1, 1, 1): [0] * 92 + [5] * 8, (1, 1, 2): [0] * 50 + [5] * 50})
    claim = decide("H3-04", run_of(scenario, table))
    assert claim.verdict == "not reproduced"
    assert "1 of 2 published columns reproduced" in claim.note


# --- the values ------------------------------------------------------------------------------


def test_active_polls_are_those_that_are_not_empty():
    claim = decide("H3-01", vortex(8, 900_000, active=2, empty=98, loosely=True))
    assert claim.value == pytest.approx(900_000)
    assert claim.verdict == "confirmed"
    assert claim.note.startswith("10% quantile of the moving average over 50 active polls; their")


def polls(size, *active, empty=900):
    """A run of the Data Vortex with these polls, and empty ones before each."""
    pieces = [count for one in active for count in [*[0] * (empty // len(active)), one]]
    table = samples({(1, 1, 1): pieces, (1, 1, 2): pieces})
    return run_of(loose(vortex_scenario(size)), table)


def test_nearly_all_is_nine_of_ten_and_most_is_half():
    slow_and_fast = [100_000] * 200 + [2_000_000] * 800  # a fifth of the moving average is slow
    claim = decide("H3-01", polls(8, *slow_and_fast))
    assert (claim.value, claim.verdict) == (100_000, "not reproduced")
    fewer = [100_000] * 60 + [2_000_000] * 940
    assert decide("H3-01", polls(8, *fewer)).verdict == "confirmed"
    assert decide("H3-04", polls(256, *slow_and_fast)).verdict == "confirmed"
    assert decide("H3-04", polls(256, *slow_and_fast[::-1][:400])).value == 2_000_000
    mostly_slow = [100_000] * 600 + [2_000_000] * 400
    assert decide("H3-04", polls(256, *mostly_slow)).value == 100_000


def test_a_claim_that_the_published_statistics_leave_open_is_not_refuted():
    claim = decide("H3-01", vortex(8, 700_000, loosely=True))
    assert claim.verdict == "not reproduced"
    assert "the published statistics leave 0 msg/s to 1,0" in claim.note
    low = decide("H3-05", vortex(256, 1000, loosely=True), tcp(256, 1000, True))
    assert (low.value, low.verdict) == (pytest.approx(1.0), "not reproduced")


def test_the_other_reading_has_its_own_word():
    run = vortex(256, 300_000, active=8, empty=92, per_message=2, loosely=True)
    claim = decide("H3-04", run)
    assert claim.verdict == "confirmed"
    assert "as messages 150,000 msg/s: refuted" in claim.note


def test_a_run_in_which_nothing_arrives_is_not_reproduced():
    claim = decide("H3-01", vortex(8, 0))
    assert claim.verdict == "not reproduced"
    assert claim.note == "not simulated: every sample of h3/dv-8 is empty"


@pytest.mark.parametrize(("id_", "size"), [("H3-02", 8), ("H3-05", 256), ("H3-07", 2048)])
def test_ratios_of_small_messages_compare_active_polls(id_, size):
    claim = decide(id_, vortex(size, 200_000), tcp(size, 100_000))
    assert claim.value == pytest.approx(2.0)
    assert "by the mean over all polls 0.04 x" in claim.note


@pytest.mark.parametrize(("id_", "size"), [("H3-09", 8192), ("H3-10", 131072)])
def test_ratios_of_large_messages_compare_means_over_all_polls(id_, size):
    run = vortex(size, 400_000, active=50, empty=50, per_message=8)
    claim = decide(id_, run, tcp(size, 100_000))
    assert claim.value == pytest.approx(2.0)
    assert "as messages 0.5 x" in claim.note  # both receivers


@pytest.mark.parametrize(
    ("id_", "size", "empty", "words"),
    [("H3-06", 256, 92, 32), ("H3-08", 2048, 80, 256), ("H3-11", 131072, 40, 16384)],
)
def test_messages_are_counted_in_words(id_, size, empty, words):
    claim = decide(id_, vortex(size, 1, active=100 - empty, empty=empty, loosely=True))
    assert (claim.value, claim.verdict) == (words, "confirmed")


def test_a_message_of_another_size_has_other_words():
    scenario = vortex_scenario(256)
    odd = replace(scenario, workload=replace(scenario.workload, message_bytes=257))
    claim = decide("H3-06", bursty_vortex(odd, 1))
    assert (claim.value, claim.verdict) == (33, "not reproduced")


@pytest.mark.parametrize(
    ("id_", "size", "inside", "outside"),
    [
        ("H3-12", 8, 96, 94),
        ("H3-13", 256, 92, 89),
        ("H3-14", 2048, 80, 70),
        ("H3-15", 8192, 60, 40),
        ("H3-16", 131072, 40, 20),
    ],
)
def test_the_empty_share(id_, size, inside, outside):
    good = decide(id_, vortex(size, 10, active=100 - inside, empty=inside, loosely=True))
    assert (good.value, good.verdict) == (pytest.approx(inside / 100), "confirmed")
    bad = decide(id_, vortex(size, 10, active=100 - outside, empty=outside))
    assert bad.verdict != "confirmed"


def test_the_rate_per_node():
    claim = decide("H3-17", tcp(8, 150_000))
    assert (claim.value, claim.verdict) == (75_000, "confirmed")
    assert decide("H3-17", tcp(8, 100_000)).verdict != "confirmed"


def test_the_record_cluster():
    record = tcp_scenario(8, "pivotal/record", receivers=30)
    record = replace(record, reference=None)
    claim = decide("H3-18", steady_tcp(record, 30 * 43_000))
    assert (claim.value, claim.verdict) == (43_000, "confirmed")
    assert decide("H3-18", steady_tcp(record, 30 * 50_000)).verdict == "not reproduced"


def test_the_record_is_compared_with_the_published_one():
    claim = decide("H3-19", tcp(8, 150_000))
    assert claim.value == pytest.approx(75_000 / 43_404)
    assert "against the published 43,404 msg/s" in claim.note


def test_the_transport_against_the_delivery():
    run = vortex(131072, 12_600, active=50, empty=50, per_message=126, loosely=True)
    claim = decide("H3-20", run)
    # 6,300 pieces/s per receiver; 50 messages/s from each of two receivers
    assert claim.value == pytest.approx(63.0)
    assert claim.verdict == "confirmed"
    assert "as messages 0.5 x: refuted" in claim.note


def overrun_runs(*overruns):
    counted = [{("card.1", "overruns"): o, ("card.1", "windows"): 10} for o in overruns]
    return [vortex(s, 1, counted=c, loosely=True) for s, c in zip(SIZES, counted, strict=True)]


def test_overruns_that_appear_and_grow():
    claim = decide("H3-21", *overrun_runs(0, 0, 2, 3, 3))
    assert (claim.verdict, claim.simulated) == ("confirmed", "yes")
    assert "2048 B: 2,000 per million messages, 0.2 per window" in claim.note
    assert claim.command == "dvsim validate h3"


@pytest.mark.parametrize(
    "overruns", [(1, 1, 2, 3, 4), (0, 0, 0, 3, 4), (0, 0, 4, 3, 4), (0, 0, 0, 0, 0)]
)
def test_overruns_at_8_bytes_or_none_or_fewer(overruns):
    assert decide("H3-21", *overrun_runs(*overruns)).verdict != "confirmed"


def test_a_counter_that_is_missing_is_not_simulated():
    claim = decide("H3-21", *[vortex(size, 1) for size in SIZES])
    assert claim.verdict == "not reproduced"
    assert claim.note == "not simulated: no counter card overruns in h3/dv-8"


@pytest.mark.parametrize(("extra", "confirmed"), [(3, True), (0, False)])
def test_extra_polls(extra, confirmed):
    counted = {("receiver.1", "extra_polls"): 0, ("receiver.2", "extra_polls"): extra}
    run = vortex(8192, 1, active=40, empty=60, counted=counted, loosely=True)
    claim = decide("H3-22", run)
    assert (claim.verdict == "confirmed") is confirmed


def fabric_runs(fabric, bridge):
    counted = {
        ("fabric.1", "utilisation"): fabric,
        ("bridge.1", "utilisation"): bridge,
        ("card.1", "utilisation"): 0.1,
    }
    return [vortex(size, 1, counted=counted, loosely=True) for size in SIZES]


@pytest.mark.parametrize(
    ("fabric", "bridge", "confirmed"), [(0.2, 0.9, True), (0.3, 0.2, False), (0.95, 0.99, False)]
)
def test_the_network_as_bottleneck(fabric, bridge, confirmed):
    claim = decide("H3-23", *fabric_runs(fabric, bridge))
    assert (claim.verdict == "confirmed") is confirmed
    assert "8 B: fabric" in claim.note


def sent_runs(sizes=SENT_SIZES, **changes):
    books = {"sent": 10, "queued": 10} | changes
    counted = {("conservation", key): value for key, value in books.items()}
    runs = [vortex(size, 1, counted=counted) for size in sizes]
    return [replace(run, manifest=changed(run.manifest, backend="emu")) for run in runs]


def delivered(emulated):
    found = validate([vortex(8, 1)], emulated, "dvsim run --backend emu")
    return {claim.id: claim for claim in found.claims}["H3-24"]


def test_what_was_delivered_is_decided_by_emulated_runs_of_all_sizes():
    claim = delivered(sent_runs())
    assert (claim.verdict, claim.command) == ("confirmed", "dvsim run --backend emu")
    assert claim.note.startswith("15 sizes, 8 to 131072 B")
    assert delivered(sent_runs(queued=9)).verdict == "not reproduced"


@pytest.mark.parametrize("runs", [[], sent_runs(SENT_SIZES[:-1])])
def test_payloads_are_not_simulated_so_nothing_can_be_said_without(runs):
    claim = delivered(runs)
    assert (claim.verdict, claim.value) == ("not testable", None)
    assert claim.note.startswith("payloads are not simulated")
    assert "rabbitmq-server" in claim.explanation


@pytest.mark.parametrize(
    ("paged", "before", "during", "confirmed"),
    [(1e9, 100, 50, True), (0, 100, 0, False), (1e9, 100, 120, False)],
)
def test_paging_slows_the_broker(paged, before, during, confirmed):
    counted = {
        ("broker.1", "paged_bytes"): paged,
        ("broker.1", "rate_before_paging"): before,
        ("broker.1", "rate_while_paging"): during,
    }
    scenario = replace(tcp_scenario(131072, "h3/memory"), reference=None)
    run = with_counters(steady_tcp(scenario, 100), counters(counted))
    assert (decide("H3-25", run).verdict == "confirmed") is confirmed


# --- evidence and text -----------------------------------------------------------------------


def test_counters_of_a_kind_of_component_do_not_include_others():
    run = vortex(8, 1, counted={("card.1", "n"): 1, ("card.2", "n"): 2, ("cardinal", "n"): 9})
    evidence = Evidence({"h3/dv-8": run}, pd.DataFrame())
    assert evidence.counters("h3/dv-8", "card", "n") == {"card.1": 1, "card.2": 2}
    with pytest.raises(Missing, match=r"no counter card m in h3/dv-8"):
        evidence.counters("h3/dv-8", "card", "m")


def test_every_line_of_text_can_be_found_by_its_key():
    validation = validate([vortex(8, 900_000), tcp(8, 150_000)])
    text = list(plain_lines(lines(validation)))
    assert len([line for line in text if line.startswith("h3/fdr-8 ")]) == 20 + 2
    assert len([line for line in text if line.startswith("h3/dv-8 ")]) == 44 + 2
    # verdict, why it is not confirmed, what it rests on, what was fitted, command
    assert len([line for line in text if line.startswith("H3-01 ")]) == 5
