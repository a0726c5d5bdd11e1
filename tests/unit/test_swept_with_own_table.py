"""Has a sweep over a key of the scenario's own table a row for each point, with what goes along?"""

import pytest

import dvsim

HOW = {"replications": 1, "scale": 0.02, "load": 0.2}


@pytest.mark.parametrize(
    ("heights", "angles"),
    [([4, 16, 64, 128], [3, 3, 2, 3]), ([4, 64], [3, 2]), ([64, 256], None), ([16], None)],
)
def test_each_point_has_one_row_and_shows_what_goes_with_it(heights, angles):
    swept = dvsim.sweep("switch/load-latency", {"height": heights}, **HOW)
    assert swept.points["height"].tolist() == heights
    assert swept.points.index.tolist() == list(range(len(heights)))
    assert (swept.points["angles"].tolist() if "angles" in swept.points else None) == angles
    for height, throughput in zip(heights, swept.wide["throughput"], strict=True):
        beside = 2 if height in (64, 256) else 3
        alone = dvsim.run("switch/load-latency", height=height, angles=beside, **HOW)
        assert alone.wide["throughput"].tolist() == [throughput]


def test_a_key_set_leaves_each_value_of_what_goes_with_it_once():
    points = dvsim.load("switch/load-latency", height=128, load=0.2).points
    assert points == ({"angles": 3}, {"angles": 2})


def test_what_goes_with_a_key_is_told_where_all_rows_of_it_stay():
    scenario = dvsim.load("switch/load-latency", angles=2)
    assert [point["height"] for point in scenario.points][::12] == [64, 256]
