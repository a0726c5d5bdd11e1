"""Are the points of a sweep those that were asked for, and is every mistake named?"""

from fractions import Fraction

import pytest

from dvsim.errors import ScenarioError
from dvsim.study.sweeps.grid import number_of, parse_axis, plan


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a=1,2,3", ["1", "2", "3"]),
        ("a=8..64*2", ["8", "16", "32", "64"]),
        ("a=8..100*2", ["8", "16", "32", "64"]),
        ("a=0.1..0.5+0.2", ["0.1", "0.3", "0.5"]),
        ("a=0..1+0.25", ["0", "0.25", "0.5", "0.75", "1"]),
        ("a=1 MiB..4 MiB*2, 1 GiB", ["1 MiB", "2 MiB", "4 MiB", "1 GiB"]),
        ("a=1 us..9 us+4 us", ["1 us", "5 us", "9 us"]),
        ("a=1 GB/s..4 GB/s*2", ["1 GB/s", "2 GB/s", "4 GB/s"]),
        ("a=1 GB/s..3 GB/s/3", ["1 GB/s", "1.732 GB/s", "3 GB/s"]),
        ("a=1..10000/5", ["1", "10", "100", "1000", "10000"]),
        ('a="46 us + 3 ns/B","1 us, all"', ['"46 us + 3 ns/B"', '"1 us, all"']),
        ("a=[1, 2],[3]", ["[1, 2]", "[3]"]),
        ("a=cycle,flow", ["cycle", "flow"]),
    ],
)
def test_values_of_a_key(text, values):
    assert list(parse_axis(text).values) == values


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a", "write KEY=a,b,c"),
        ("a=", "write KEY=a,b,c"),
        ("a=1,,2", "a value is empty"),
        ("a=1,2,1", "'1' is there twice"),
        ("a=8..1*2", "goes down; write the smaller end first"),
        ("a=1 MiB..3 us*2", "its ends are of two kinds, B and s"),
        ("a=1..8*1", "a factor is a plain number above 1"),
        ("a=0..8*2", "from a value above 0"),
        ("a=1 us..9 us+1", "a step is above 0 and in the unit of its ends"),
        ("a=1 MHz..9 MHz*2", "'1 MHz' is too large, or no number with a unit that is known"),
        ("a=1..1e400/3", "'1e400' is too large"),
        ("a=1..8,9", "does not say how far apart its values are; write 1..8*2"),
        ("a=0..8/3", "from a value above 0"),
        ("a=1..8/1", "2 at least"),
        ("a=1..1000000000+1", "more than 100,000 values"),
        ("a=1..1e300*1.0000000001", "more than 100,000 values"),
    ],
)
def test_a_key_that_cannot_be_varied_so(text, message):
    with pytest.raises(ScenarioError, match="vary: ") as caught:
        parse_axis(text)
    assert message in str(caught.value)


@pytest.mark.parametrize("start", ["1", "1e-250"])
def test_many_values_of_a_small_factor_are_soon_there(start):
    low = Fraction(start)
    values = parse_axis(f"a={start}..{start[:1]}e{int(start[2:] or 0) + 20}*1.001").values
    assert len(values) == 46_075  # 20 log 10 / log 1.001, and the first
    for power in (1, 9_999, 46_074):
        assert float(values[power]) == pytest.approx(float(low) * 1.001**power, rel=1e-5)


def points(*arguments, **options):
    return [tuple(value for _, value in point.values) for point in plan(arguments, **options)]


def test_keys_are_crossed_and_the_last_varies_fastest():
    assert points("a=1,2", "b=x,y") == [("1", "x"), ("1", "y"), ("2", "x"), ("2", "y")]


def test_keys_that_are_zipped_go_together_in_the_place_of_the_first():
    found = points("a=1,2", "b=x,y", "c=7,8", together=["c,a"])
    assert found == [("1", "x", "7"), ("1", "y", "7"), ("2", "x", "8"), ("2", "y", "8")]


def test_zipped_keys_have_as_many_values():
    with pytest.raises(ScenarioError, match="as many values: a has 2, b has 3"):
        plan(["a=1,2", "b=1,2,3"], together=["a,b"])


@pytest.mark.parametrize(
    ("where", "left"),
    [
        ("sram < 2 MiB", ["1 MiB"]),
        ("system.card.sram >= 2 MiB and not sram == 4 MiB", ["2 MiB"]),
        ("1 MiB < sram <= 2048 KiB", ["2 MiB"]),
        ("sram * 2 == 4 MiB or (sram - 1 MiB) / 3 == 1 MiB", ["2 MiB", "4 MiB"]),
        ("-sram < 0 and mode != 'b'", ["1 MiB", "2 MiB", "4 MiB"]),
    ],
)
def test_a_condition_leaves_points_out(where, left):
    found = points("system.card.sram=1 MiB..4 MiB*2", "mode=a", where=where)
    assert [size for size, _ in found] == left


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("srm < 2", "'srm' is not varied; varied are system.card.sram, mode; did you mean 'sram'?"),
        ("sram <", "is no condition"),
        ("sram", "is no comparison"),
        ("sram < 2 and mode", "mixes texts, numbers and comparisons"),
        ("sram < mode", "mixes texts, numbers and comparisons"),
        ("sram / 0 > 1", "divides by zero"),
        ("__import__('os')", "'__import__' is not varied"),
        ("sram < 2; 3", "';' is not understood"),
        ("mode('x')", "is not understood"),
        ("sram > 1 PiB", "'PiB' is not varied"),
        ("sram > 9 GiB", "leaves no point"),
    ],
)
def test_a_condition_that_cannot_be_is_told(where, message):
    with pytest.raises(ScenarioError) as caught:
        plan(["system.card.sram=1 MiB,2 MiB", "mode=a"], where=where)
    assert message in str(caught.value)


def test_a_sample_covers_each_key_evenly_and_is_the_same_again():
    found = plan(["a=1..1024", "b=1 ms..16 ms", "c=x,y"], sample="sobol:64", seed=5)
    assert found == plan(["a=1..1024", "b=1 ms..16 ms", "c=x,y"], sample="sobol:64", seed=5)
    assert found != plan(["a=1..1024", "b=1 ms..16 ms", "c=x,y"], sample="sobol:64", seed=6)
    columns = list(zip(*([value for _, value in point.values] for point in found), strict=True))
    assert sum(int(value) <= 32 for value in columns[0]) in (31, 32, 33)  # over the logarithm
    assert all(0.001 <= number_of(value).value <= 0.016 for value in columns[1])
    assert columns[2].count("x") == 32


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"sample": "sobol:60"},
            "60 is no power of two from 2 to 524,288; did you mean 'sobol:64'",
        ),
        ({"sample": "sobel:64"}, "is no way to sample"),
        ({"sample": "sobol"}, "write sobol:64"),
        ({"sample": "sobol:4", "together": ["a,b"]}, "has no meaning with sample"),
        ({}, "its range has no steps"),
    ],
)
def test_a_sample_that_cannot_be_is_told(options, message):
    with pytest.raises(ScenarioError) as caught:
        plan(["a=1..8", "b=1,2"], **options)
    assert message in str(caught.value)


def test_a_key_is_varied_once():
    with pytest.raises(ScenarioError, match="a: is varied twice"):
        plan(["a=1", "a=2"])


def test_more_points_than_can_be_are_refused_before_they_are_made():
    with pytest.raises(ScenarioError, match="that are 4,000,000 points"):
        plan([f"{key}=1..2000+1" for key in "ab"])
