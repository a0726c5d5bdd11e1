"""Are the published statistics all there, and asked for by the packaged scenarios?"""

from dataclasses import replace

import pytest
from claim_sources import H3, SIZES, dv, every_claim, fdr
from run_builder import tcp_scenario, vortex_scenario

from dvsim.contract.load import load
from dvsim.errors import ScenarioError
from dvsim.evidence.statistics import zero_share_bounds
from dvsim.scenario.find import reference_root
from dvsim.scenario.reference import (
    published,
    published_column,
    published_workload,
    read_csv,
)
from dvsim.scenario.sampled import Reference


def test_there_are_210_statistics_in_20_columns():
    rows = read_csv(reference_root() / "h3_message_rates.csv")
    assert len(rows) == 210
    assert len({(row["transport"], row["published_column"]) for row in rows}) == 20


def test_the_packaged_scenarios_ask_for_all_of_them():
    scenarios = [load(name) for size in SIZES for name in (dv(size), fdr(size))]
    columns = [published(one, label) for one in scenarios for label in one.probe.columns]
    assert len(columns) == 20
    assert sum(map(len, columns)) == 210


def test_a_column_is_found_by_its_run():
    statistics = published(vortex_scenario(2048), "r2")
    assert statistics["mean"] == 36984.6020
    assert statistics["99%"] == 431723.6547
    assert published_column(vortex_scenario(2048), "r2") == "2048r3-r2"


def test_a_column_is_found_by_its_published_name():
    assert published(tcp_scenario(8), "8B_r1") == published(tcp_scenario(8), "r1")


def test_statistics_come_in_the_printed_order():
    names = ["count", "mean", "std", "min", "25%", "50%", "75%", "90%", "95%"]
    assert list(published(vortex_scenario(8), "r1")) == [*names, "99%", "max"]
    assert list(published(tcp_scenario(8), "r1")) == [*names, "max"]


def test_what_was_not_published_is_empty():
    assert published(vortex_scenario(16), "r1") == {}
    assert published(vortex_scenario(8), "r3") == {}
    assert published(replace(vortex_scenario(8), reference=None), "r1") == {}
    assert published_column(vortex_scenario(16), "r1") == ""


def test_a_reference_file_that_is_not_there_is_named():
    missing = Reference("none.csv", "data-vortex", ())
    with pytest.raises(ScenarioError, match=r"none\.csv: cannot read the reference data"):
        published(replace(vortex_scenario(8), reference=missing), "r1")


def test_a_file_of_something_else_is_refused():
    other = Reference("h3_run_configuration.csv", "data-vortex", ())
    with pytest.raises(
        ScenarioError, match=r"configuration\.csv: is not a table of published statistics"
    ):
        published(replace(vortex_scenario(8), reference=other), "r1")


def test_the_published_workload_is_table_1():
    assert published_workload(vortex_scenario(131072)) == (600_000, 8)
    assert published_workload(vortex_scenario(8)) == (20_000_000, 2)
    assert published_workload(vortex_scenario(9)) is None


def test_the_packaged_scenarios_send_what_table_1_says():
    for size in SIZES:
        for name in (dv(size), fdr(size)):
            workload = load(name).workload
            assert published_workload(load(name)) == (workload.messages, workload.iterations)


@pytest.mark.parametrize(
    ("statistics", "bounds"),
    [
        ({"min": 0, "75%": 0, "90%": 0, "95%": 7, "max": 9}, (0.90, 0.95)),
        ({"min": 0, "25%": 3, "50%": 4, "max": 9}, (0.0, 0.25)),
        ({"min": 1, "25%": 3, "max": 9}, (0.0, 0.0)),
        ({"min": 0, "95%": 0, "99%": 8, "max": 9}, (0.95, 0.99)),
        ({"min": 0, "99%": 0, "max": 0}, (1.0, 1.0)),
        ({"min": 0, "99%": 0, "max": 5}, (0.99, 1.0)),
        ({"min": 0, "50%": 0, "90%": 4, "mean": 0, "std": 0, "count": 0}, (0.5, 0.9)),
        ({}, (0.0, 1.0)),
    ],
)
def test_what_quantiles_allow_of_the_empty_share(statistics, bounds):
    assert zero_share_bounds(statistics) == bounds


@pytest.mark.parametrize(
    ("size", "bounds"),
    [
        (8, (0.95, 0.99)),
        (256, (0.90, 0.95)),
        (2048, (0.75, 0.90)),
        (8192, (0.50, 0.75)),
        (131072, (0.25, 0.50)),
    ],
)
def test_the_empty_share_of_the_published_columns(size, bounds):
    for column in ("r1", "r2"):
        assert zero_share_bounds(published(vortex_scenario(size), column)) == bounds


def test_there_are_76_claims_and_all_of_the_h3_ones_can_be_decided():
    claims = every_claim()
    assert len(claims) == 76
    assert {id_ for id_ in claims if id_.startswith("H3-")} == set(H3)


def test_claims_name_their_source_by_its_title():
    sources = {claim.source for claim in every_claim().values()}
    assert not [source for source in sources if source.endswith(".txt")]
