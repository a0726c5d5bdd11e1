"""What is said beside a verdict: the claimed range, how far from it, why nothing can be said?"""

from dataclasses import replace

import pandas as pd
import pytest
from claim_sources import H3, SIZES
from harness.built import with_counters
from run_builder import bursty_vortex, counters, steady_tcp, tcp_scenario, vortex_scenario

from dvsim.evidence.claims.decide import explanation
from dvsim.evidence.claims.figures import Evidence, Missing
from dvsim.evidence.claims.source import Claim, Finding
from dvsim.evidence.text import lines
from dvsim.evidence.validation import validate
from dvsim.evidence.verdicts import Validation
from dvsim.scenario.sampled import Tolerance
from dvsim.scenario.types import Card, Parameter
from dvsim.study.number_text import four_digits
from dvsim.study.table import plain_lines

LOOSE = Tolerance(mean=1e9, empty_share=1.0, quantile=1e9, std=1e9, extreme=1e9)
CLAIM = Claim("X-1", "", "1", "", "", "about", 4.0, 8.0, "msg/s")


def vortex(size, rate, **options):
    scenario = replace(vortex_scenario(size), tolerance=LOOSE)
    return bursty_vortex(scenario, rate, **options)


def decide(id_, *runs):
    return {claim.id: claim for claim in validate(runs).claims}[id_]


@pytest.mark.parametrize(
    ("op", "low", "high", "unit", "expected"),
    [
        ("ge", 5.0, None, "msg/s", "at least 5 msg/s"),
        ("lt", None, 50.0, "fraction", "below 50"),
        ("eq", 32.0, 32.0, "words", "32 words"),
        ("about", 1500.0, 2200.0, "", "1,500 to 2,200"),
        ("true", None, None, "", "yes"),
    ],
)
def test_the_claimed_range_in_words(op, low, high, unit, expected):
    assert Claim("X", "", "1", "", "", op, low, high, unit).expected == expected


def test_values_in_words():
    assert [CLAIM.text_of(value) for value in (None, 0.0, 999.96, 1000.4)] == [
        "-",
        "0 msg/s",
        "1000 msg/s",
        "1,000 msg/s",
    ]
    truth = replace(CLAIM, op="true")
    assert [truth.text_of(value) for value in (0.0, 1.0, None)] == ["no", "yes", "-"]


@pytest.mark.parametrize(
    ("value", "unit", "low", "said"),
    [
        (9.0, "msg/s", 4.0, "12.5% above the claimed range"),
        (3.0, "msg/s", 4.0, "25.0% below the claimed range"),
        (9.0, "fraction", 4.0, "1 above the claimed range"),
        (-2.0, "msg/s", 0.0, "2 below the claimed range"),
    ],
)
def test_how_far_a_value_is_from_the_nearer_edge(value, unit, low, said):
    claim = replace(CLAIM, unit=unit, low=low)
    found = explanation(claim, Finding(value), "not reproduced", 0, 0)
    assert found == f"the simulated value is {said}."


@pytest.mark.parametrize(
    ("op", "value", "verdict", "passed", "total", "said"),
    [
        ("about", 5.0, "confirmed", 2, 2, ""),
        (
            "about", 5.0, "not reproduced", 0, 2,
            "the value agrees, but none of the published columns that it speaks of is reproduced.",
        ),
        (
            "about", 10.0, "refuted", 2, 2,
            "the simulated value is 25.0% above the claimed range, although all 2 published "
            "columns of its runs are reproduced.",
        ),
        (
            "about", 10.0, "not reproduced", 1, 2,
            "the simulated value is 25.0% above the claimed range, with 1 of 2 published columns "
            "reproduced.",
        ),
        ("true", 0.0, "not reproduced", 0, 0, "what is claimed does not happen in the model."),
        ("about", None, "not testable", 0, 0, "no run can tell."),
        ("about", None, "not reproduced", 0, 0, "a note."),
    ],
)  # fmt: skip
def test_why_a_claim_is_not_confirmed(op, value, verdict, passed, total, said):
    found = explanation(replace(CLAIM, op=op), Finding(value, "a note"), verdict, passed, total)
    assert found == said


def test_what_is_known_of_a_claim_is_added_unless_it_was_not_run():
    known = H3.known["H3-18"]
    found = explanation(CLAIM, Finding(9.0), "not reproduced", 0, 0, known)
    assert found.startswith("the simulated value is 12.5% above the claimed range; the record was")
    assert explanation(CLAIM, Finding(None, "not run"), "not reproduced", 0, 0, known) == "not run."


def test_without_a_delivery_there_is_no_ratio_to_it():
    claim = decide("H3-20", vortex(131072, 0))
    assert (claim.verdict, claim.value) == ("not testable", None)
    assert claim.note == "nothing was delivered"


def test_a_fabric_that_nothing_can_be_held_against_is_not_judged():
    alone = {("fabric.1", "utilisation"): 0.2}
    claim = decide("H3-23", *[vortex(size, 1, counted=alone) for size in SIZES])
    assert (claim.value, claim.note) == (None, "only the fabric reports its utilisation")


@pytest.mark.parametrize(
    ("busiest", "never"), [([0.8] * 5, True), ([0.8, 0.8, 0.1, 0.8, 0.8], False)]
)
def test_the_fabric_is_a_bottleneck_if_it_is_one_at_any_size(busiest, never):
    runs = [
        vortex(size, 1, counted={
            ("fabric.1", "utilisation"): 0.1, ("fabric.2", "utilisation"): 0.2,
            ("bridge.1", "utilisation"): busy, ("card.1", "utilisation"): 0.05,
        })
        for size, busy in zip(SIZES, busiest, strict=True)
    ]  # fmt: skip
    claim = decide("H3-23", *runs)
    assert bool(claim.value) is never
    assert claim.note.startswith("8 B: fabric 0.2, bridge.1 0.8; 256 B: fabric 0.2, bridge.1")


def test_how_a_broker_over_its_limit_is_told():
    counted = {
        ("broker.1", "paged_bytes"): 2e9, ("broker.2", "paged_bytes"): 0,
        ("broker.3", "paged_bytes"): 1e9,
        ("broker.1", "rate_before_paging"): 100, ("broker.1", "rate_while_paging"): 50,
        ("broker.2", "rate_before_paging"): 700, ("broker.2", "rate_while_paging"): 0,
        ("broker.3", "rate_before_paging"): 200, ("broker.3", "rate_while_paging"): 100,
    }  # fmt: skip
    scenario = replace(tcp_scenario(131072, "h3/memory"), reference=None)
    claim = decide("H3-25", with_counters(steady_tcp(scenario, 100), counters(counted)))
    assert claim.value == 1.0
    assert claim.note == (
        "2 of 3 brokers paged 3,000,000,000 B per iteration; "
        "150 msg/s before, 75 msg/s from then on"
    )
    none = {key: 0 if key[1] == "paged_bytes" else value for key, value in counted.items()}
    claim = decide("H3-25", with_counters(steady_tcp(scenario, 100), counters(none)))
    assert (claim.value, claim.note) == (0.0, "no broker paged")


def test_commands_name_up_to_two_runs():
    found = {claim.id: claim.command for claim in validate([vortex(8, 1)]).claims}
    assert found["H3-12"] == "dvsim run h3/dv-8"
    assert found["H3-09"] == "dvsim run h3/dv-8192 && dvsim run h3/fdr-8192"
    assert found["H3-23"] == "dvsim validate h3"
    assert found["H3-24"] == "dvsim validate h3"


def test_a_moving_average_is_told_with_its_quantile_and_the_mean_of_active_polls():
    claim = decide("H3-04", vortex(256, 900_000, active=8, empty=92))
    assert "50% quantile of the moving average over 50 active polls" in claim.note
    assert "their mean is 900,000 msg/s" in claim.note


def test_books_that_were_not_kept_are_missing():
    evidence = Evidence({"h3/dv-8": vortex(8, 1, counted={("card.1", "sent"): 1})}, pd.DataFrame())
    with pytest.raises(Missing, match=r"^no counter conservation in h3/dv-8$"):
        evidence.conservation("h3/dv-8")


def test_without_a_window_no_share_of_them_has_overrun():
    counted = {("card.1", "overruns"): 0, ("card.1", "windows"): 0}
    claim = decide("H3-21", *[vortex(size, 1, counted=counted) for size in SIZES])
    assert claim.note.startswith("8 B: 0 per million messages, 0 per window; 256 B: 0 per million")


def test_what_a_value_was_fitted_to_is_read_from_its_cards():
    def decided(fitted):
        push = Parameter(
            "push", 1, "time", "1 ps", "calibrated", "a test", fitted=fitted, origin="a test"
        )
        broker = Card(name="mine", kind="broker", title="", notes="", parameters={"push": push})
        scenario = replace(tcp_scenario(131072, "h3/memory"), reference=None)
        scenario = replace(scenario, system=replace(scenario.system, broker=broker))
        counted = {
            ("broker.1", "paged_bytes"): 1,
            ("broker.1", "rate_before_paging"): 2,
            ("broker.1", "rate_while_paging"): 1,
        }
        claim = decide("H3-25", with_counters(steady_tcp(scenario, 100), counters(counted)))
        return claim.basis, claim.fitted_to

    assert decided("H3-25: 2 s") == ("fitted", ("mine push",))
    assert decided("H3-24, H3-2: 2 s") == ("not fitted", ())
    assert decided(None) == ("not fitted", ())


def test_the_parts_of_the_text_have_titles_and_an_empty_line_between_them():
    validation = validate([vortex(8, 900_000)])
    text = list(plain_lines(lines(validation)))
    gaps = [number for number, line in enumerate(text) if not line]
    titles = [text[0], *(text[number + 1] for number in gaps)]
    assert [title.partition(" ")[0] for title in titles] == [
        "Statistics",
        "Columns",
        "Claims",
    ]
    alone = Validation(validation.claims)
    assert next(plain_lines(lines(alone))) == "Claims"


def test_what_the_published_statistics_leave_open_is_told_from_low_to_high():
    runs = [vortex(256, 1000), steady_tcp(replace(tcp_scenario(256), tolerance=LOOSE), 1000)]
    evidence = Evidence({run.scenario.name: run for run in runs}, pd.DataFrame())
    low, high = evidence.allowed("h3/dv-256")
    published = evidence.published_mean("h3/fdr-256")
    low, high = (four_digits(value / published) for value in (low, high))
    assert low != high
    assert (
        f"the published statistics leave {low} x to {high} x possible"
        in decide("H3-05", *runs).note
    )
