"""Sizes, times, rates and laws with their units: what is read, and what is refused."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dvsim.scenario.quantity import UNITS, read
from dvsim.scenario.units import Law, UnitError, format_value, parse

INT64 = st.integers(0, 2**63 - 1)


@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("131072 B", "size", 131_072),
        ("2 MiB", "size", 2 * 1024**2),
        ("2MiB", "size", 2 * 1024**2),
        ("100 GB", "size", 100 * 10**9),
        ("64 kB", "size", 64_000),
        ("64 KB", "size", 64_000),
        ("8 bit", "size", 1),
        ("1.5 KiB", "size", 1536),
        ("5.001 ms", "time", 5_001_000_000),
        ("46 us", "time", 46_000_000),
        ("46 µs", "time", 46_000_000),  # micro sign
        ("46 μs", "time", 46_000_000),  # Greek mu
        ("1 s", "time", 10**12),
        ("1e-3 s", "time", 10**9),
        ("4.4 GB/s", "rate", 4.4e9),
        ("56 Gb/s", "rate", 7e9),
        ("1 Mbit/s", "rate", 125_000.0),
        (20_000_000, "count", 20_000_000),
        (0.15, "ratio", 0.15),
        (1, "ratio", 1.0),
        ("46 us + 3.3 ns/B", "law", Law(46_000_000, 3_300_000)),
        ("3.3 ns/B + 46 us", "law", Law(46_000_000, 3_300_000)),
        ("46us+3.3ns/B", "law", Law(46_000_000, 3_300_000)),
        ("1e+1 us", "law", Law(10_000_000, 0)),
        ("46 us", "law", Law(46_000_000, 0)),
        ("3.3 ns/B", "law", Law(0, 3_300_000)),
        ({"fixed": "46 us", "per_byte": "3.3 ns/B"}, "law", Law(46_000_000, 3_300_000)),
        ({"per_byte": "3.3 ns/B"}, "law", Law(0, 3_300_000)),
    ],
)
def test_what_is_read(text, dimension, value):
    got = parse(text, dimension)
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    ("text", "dimension", "message"),
    [
        ("4.4 GHz", "rate", "'GHz' is not a unit of rate; did you mean '4.4 GB/s'?"),
        ("4.4 GB", "rate", "'GB' is not a unit of rate; did you mean '4.4 GB/s'?"),
        ("10 Gbps", "rate", "'Gbps' is not a unit of rate; did you mean '10 Gb/s'?"),
        ("10 gb/s", "rate", "'gb/s' is not a unit of rate; did you mean '10 GB/s'?"),
        ("46 nsec", "time", "'nsec' is not a unit of time; did you mean '46 ns'?"),
        ("46 MS", "time", "'MS' is not a unit of time; did you mean '46 ms'?"),
        ("5 min", "time", "'min' is not a unit of time; did you mean '300 s'?"),
        (4.4, "rate", "4.4 has no unit of rate; write for example '4.4 GB/s'"),
        ("4.4", "rate", "'4.4' has no unit of rate; write for example '4.4 GB/s'"),
        (46, "law", "46 has no unit of time; write for example '46 us'"),
        ("fast", "time", "'fast' is not a time; write for example '46 us'"),
        ("", "time", "'' is not a time; write for example '46 us'"),
        ("٣ ms", "time", "'٣ ms' is not a time; write for example '46 us'"),
        ("1,5 ms", "time", "'1,5 ms' is not a time; did you mean '1.5 ms'?"),
        ("64,000 B", "size", "'64,000 B' is not a size; write for example '128 KiB'"),
        (True, "rate", "must be a rate such as '4.4 GB/s', not true"),
        ([1], "size", "must be a size such as '128 KiB', not a list"),
        ("-5 ms", "time", "must not be negative, is '-5 ms'"),
        ("-1 B", "size", "must not be negative, is '-1 B'"),
        (-3, "count", "must not be negative, is -3"),
        (-0.5, "ratio", "must not be negative, is -0.5"),
        ("nan ms", "time", "must be finite, not 'nan ms'"),
        ("inf GB/s", "rate", "must be finite, not 'inf GB/s'"),
        (float("nan"), "ratio", "must be finite, not nan"),
        (float("inf"), "ratio", "must be finite, not inf"),
        (1.5, "count", "must be a whole number, not 1.5"),
        ("8 B", "count", "must be a plain number, not '8 B'"),
        (True, "count", "must be a plain number, not true"),
        ("0.5 ps", "time", "'0.5 ps' is not a whole number of picoseconds"),
        ("0.3 B", "size", "'0.3 B' is not a whole number of bytes"),
        ("1 bit", "size", "'1 bit' is not a whole number of bytes"),
        ("0.1 fs/B", "law", "'0.1 fs/B' is not a whole number of femtoseconds per byte"),
        ("1e20 B", "size", "'1e20 B' is too large"),
        ("1e300 GB/s", "rate", "'1e300 GB/s' is too large"),
        ("1e999999999 s", "time", "'1e999999999 s' is not a time; write for example '46 us'"),
        (2**63, "count", "a number of more than 63 bits is too large"),
        (
            "1 us + 2 us",
            "law",
            "'1 us + 2 us' is not a law; write for example '46 us + 3.3 ns/B'",
        ),
        ({"fixd": "1 us"}, "law", "unknown key 'fixd' in a law; did you mean 'fixed'?"),
        ({"fixed": 3}, "law", "3 has no unit of time; write for example '46 us'"),
        ("x" * 200, "time", f"'{'x' * 59}…' is not a time; write for example '46 us'"),
    ],
)
def test_what_is_refused_and_why(text, dimension, message):
    with pytest.raises(UnitError, match=f"^{re.escape(message)}$"):
        parse(text, dimension)


def test_a_limit_of_64_bits_is_still_read():
    assert parse(f"{2**63 - 1} B", "size") == 2**63 - 1


@given(INT64)
def test_a_size_survives_writing(value):
    assert parse(format_value(value, "size"), "size") == value


@given(INT64)
def test_a_time_survives_writing(value):
    assert parse(format_value(value, "time"), "time") == value


@given(INT64)
def test_a_count_survives_writing(value):
    assert parse(format_value(value, "count"), "count") == value


@given(st.floats(min_value=0, allow_infinity=False))
def test_a_rate_survives_writing(value):
    assert parse(format_value(value, "rate"), "rate") == value


@given(st.floats(min_value=0, allow_infinity=False))
def test_a_ratio_survives_writing(value):
    assert parse(format_value(value, "ratio"), "ratio") == value


@given(INT64, INT64)
def test_a_law_survives_writing(fixed, slope):
    law = Law(fixed, slope)
    assert parse(format_value(law, "law"), "law") == law


@given(st.integers(1, 999), st.sampled_from(["ns", "us", "ms", "s"]))
def test_a_time_that_people_write_is_written_the_same(number, unit):
    assert format_value(parse(f"{number} {unit}", "time"), "time") == f"{number} {unit}"


@given(st.text(max_size=30), st.sampled_from(["size", "time", "rate", "count", "ratio", "law"]))
def test_no_text_breaks_the_reader(text, dimension):
    try:
        value = parse(text, dimension)
    except UnitError:
        return
    assert isinstance(value, Law) or value >= 0


@pytest.mark.parametrize(
    ("value", "dimension", "text"),
    [
        (0, "size", "0 B"),
        (0, "time", "0 s"),
        (131_072, "size", "128 KiB"),
        (100 * 10**9, "size", "100 GB"),
        (5_001_000_000, "time", "5.001 ms"),
        (7e9, "rate", "7 GB/s"),
        (1e12 / 3, "rate", "333.3333333333333 GB/s"),
        (20_000_000, "count", "20000000"),
        (0.3, "ratio", "0.3"),
        (Law(0, 0), "law", "0 s"),
        (Law(46_000_000, 0), "law", "46 us"),
        (Law(0, 3_300_000), "law", "3.3 ns/B"),
    ],
)
def test_the_unit_with_fewest_digits_is_chosen(value, dimension, text):
    assert format_value(value, dimension) == text


@pytest.mark.parametrize(("size", "ps"), [(0, 10), (1, 10), (2, 11), (3, 11), (4, 12)])
def test_a_law_rounds_halves_up(size, ps):
    assert Law(10, 499).ps(size) == 10 + (499 * size + 500) // 1000
    assert Law(10, 500).ps(size) == ps + (size % 2)


def test_a_law_stays_exact_beyond_float_precision():
    assert Law(1, 3_300_001).ps(10**15) == 1 + 3_300_001 * 10**12


def test_every_unit_of_the_table_is_read():
    for dimension in ("size", "time", "rate"):
        for unit in UNITS[dimension]:
            assert parse(f"8000 {unit}", dimension) > 0


@pytest.mark.parametrize(
    ("dimension", "text", "meant"),
    [
        ("size", "64M", "64 MiB"),
        ("size", "64m", "64 MiB"),
        ("size", "64 K", "64 KiB"),
        ("size", "64 G", "64 GiB"),
        ("size", "64 mb", "64 MB"),
        ("size", "64 mib", "64 MiB"),
        ("size", "64 MByte", "64 MB"),
        ("size", "64 mebibytes", "64 MiB"),
        ("size", "64 MB/s", "64 MB"),
        ("size", "64 Mbits", "64 Mbit"),
        ("size", "1 TiB", "1024 GiB"),
        ("time", "5 m", "5 ms"),
        ("time", "5 minutes", "300 s"),
        ("time", "2 h", "7200 s"),
        ("time", "5 u", "5 us"),
        ("time", "5 microseconds", "5 us"),
        ("time", "5 micro-s", "5 us"),
        ("time", "5 secs", "5 s"),
        ("rate", "10 G", "10 GB/s"),
        ("rate", "10 Gbit", "10 Gbit/s"),
        ("rate", "10 gbps", "10 Gb/s"),
        ("rate", "10 GBps", "10 GB/s"),
        ("rate", "10 mb/s", "10 MB/s"),
        ("rate", "10 Mbytes/sec", "10 MB/s"),
        ("rate", "10 GiB", "10 GiB/s"),
        ("slope", "3.3 ns", "3.3 ns/B"),
        ("slope", "3.3 ns/byte", "3.3 ns/B"),
    ],
)
def test_a_hint_is_what_was_most_likely_meant(dimension, text, meant):
    with pytest.raises(UnitError) as caught:
        read(text, dimension)
    assert caught.value.hint == meant
    assert read(meant, dimension) > 0
