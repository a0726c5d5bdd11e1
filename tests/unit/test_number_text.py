"""Do amounts and limits read as people write them?"""

import math
from dataclasses import replace

import pytest
from run_builder import run_of, samples, tcp_scenario, vortex_scenario

from dvsim.study.number_text import Amount, amount_text, estimate_texts, scale_of


@pytest.mark.parametrize(
    ("value", "half", "unit", "text"),
    [
        (76050.4, 576.2, "msg/s", "76,050 ± 576 msg/s"),
        (684.24e6, 0.0, "B/s", "684 MB/s"),
        (2_255_340_268, 218_071_398, "B/s", "2.26 ± 0.22 GB/s"),
        (999_999.9, 0.0, "B/s", "1 MB/s"),
        (13330.7, 57357.2, "pieces/s", "13,300 (0 to 70,700) pieces/s"),
        (0.0, 0.0, "msg/s", "0 msg/s"),
        (math.nan, math.nan, "msg/s", "– msg/s"),
        (0.9671, 0.0, "", "0.967"),
    ],
)
def test_digits_follow_the_interval(value, half, unit, text):
    assert amount_text(value, half, unit) == text


def test_a_wide_interval_takes_digits_from_the_value():
    assert estimate_texts(1658335.0, 1318850.1) == ("1,660,000", "1,320,000")
    assert estimate_texts(5.0, 0.0) == ("5", "")


def test_only_bytes_and_seconds_have_prefixes():
    assert scale_of(4.4e9, "B/s") == (1e9, "GB/s")
    assert scale_of(4.4e9, "msg/s") == (1.0, "msg/s")
    assert scale_of(math.nan, "B/s") == (1.0, "B/s")


def test_an_amount_is_a_number_that_prints_itself():
    rate = Amount(100.0, 90.0, 110.0, "msg/s")
    assert (float(rate), rate.half) == (100.0, 10.0)
    assert str(rate) == repr(rate) == "100 ± 10 msg/s"


COUNTS = samples({(1, 1, 1): [100, 100], (1, 1, 2): [100, 100]})  # 200 msg/s


def limit(scenario, **busy):
    counted = {(name, "utilisation"): share for name, share in busy.items()}
    return run_of(scenario, COUNTS, counted).limit


def test_a_stage_that_is_always_busy_limits():
    found = limit(vortex_scenario(), socket=0.996, broker=0.3)
    assert str(found) == "AMQP socket (100 % busy)"
    assert (found.cause, found.stage, found.busy) == ("AMQP socket", "AMQP socket", 0.996)


def test_where_no_stage_is_always_busy_something_waits():
    assert (
        str(limit(vortex_scenario(), socket=0.75)) == "waiting for credits (AMQP socket 75 % busy)"
    )
    assert str(limit(tcp_scenario(), broker=0.79)) == "no stage alone (broker 79 % busy)"


@pytest.mark.parametrize(
    ("offered", "cause"), [(200.0, "the offered load"), (300.0, "waiting for credits")]
)
def test_an_open_loop_that_keeps_up_is_limited_by_what_is_offered(offered, cause):
    scenario = vortex_scenario()
    work = replace(scenario.workload, messages_per_second=offered)
    found = limit(replace(scenario, loop="open", workload=work), socket=0.5)
    assert str(found) == f"{cause} (AMQP socket 50 % busy)"


def test_what_was_not_counted_has_no_limit():
    assert limit(vortex_scenario()) is None


def test_an_interval_of_rounding_is_none():
    assert estimate_texts(931301.0118486958, 1.2e-10) == ("931,301", "")
    assert estimate_texts(931301.0, 1e-3) == ("931,301.0000", "0.0010")
