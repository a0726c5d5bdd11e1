"""Does the model still land near the published columns? Scaled down; means over few replications.

The tolerances are those of the scenarios; the runs are short, so only what a short run can show is
asked: means of all columns, shares of empty polls, and where the quantiles of InfiniBand lie. The
full comparison is `dvsim validate h3`.
"""

import math

import pytest

from dvsim.contract.load import load
from dvsim.scenario.reference import published
from dvsim.session import run_scenarios

SIZES = (8, 256, 2048, 8192, 131072)


def estimates(name, scale):
    (run,) = run_scenarios([load(name)], replications=4, out=None, workers=1, scale=scale)
    table = run.estimates()
    reading = "pieces" if "dv" in name else "messages"
    rows = table[table["metric"].str.startswith(f"{reading}.")]
    statistics = rows["metric"].str.partition(".")[2]
    values = dict(zip(zip(rows["component"], statistics, strict=True), rows["value"], strict=True))
    return run.scenario, values


@pytest.mark.parametrize("size", SIZES)
def test_data_vortex_means_lie_within_15_percent_of_the_middle_of_both_runs(size):
    scenario, values = estimates(f"h3/dv-{size}", 0.02)
    columns = ("r1", "r2")
    middle = math.sqrt(math.prod(published(scenario, column)["mean"] for column in columns))
    simulated = sum(values[column, "mean"] for column in columns) / 2
    assert abs(math.log(simulated / middle)) < math.log(1.15)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("statistic", ["mean", "75%", "90%"])
def test_infiniband_columns_lie_near_the_published_ones(size, statistic):
    scenario, values = estimates(f"h3/fdr-{size}", 0.1)
    for column in ("r1", "r2"):
        error = abs(math.log(values[column, statistic] / published(scenario, column)[statistic]))
        assert error < math.log(1.15 if statistic == "mean" else 1.30)


def test_the_share_of_empty_polls_falls_with_size_as_published():
    bounds = {8: (0.95, 0.99), 256: (0.90, 0.95), 2048: (0.75, 0.90), 8192: (0.50, 0.75),
              131072: (0.25, 0.50)}  # fmt: skip
    for size, (low, high) in bounds.items():
        _, values = estimates(f"h3/dv-{size}", 0.02)
        share = (values["r1", "empty"] + values["r2", "empty"]) / 2
        assert low - 0.05 <= share <= high + 0.05, size
