"""Are the tables the same for any number of workers, and are failures passed on?"""

from dataclasses import replace

import pandas as pd
import pytest

from dvsim.backends.sim import simulate
from dvsim.errors import RunFailed
from dvsim.results.samples import check_counters, check_samples
from dvsim.scenario.load import load

SCENARIOS = [
    load("h3/dv-2048", ["workload.messages=40_000"]),
    load("h3/fdr-8192", ["workload.messages=200_000"]),
]


def tables(workers, **arguments):
    return list(simulate(SCENARIOS, seed=3, replications=2, workers=workers, **arguments))


def test_any_number_of_workers_gives_the_same_tables():
    for alone, together in zip(tables(1), tables(3), strict=True):
        pd.testing.assert_frame_equal(alone.samples, together.samples)
        pd.testing.assert_frame_equal(alone.counters, together.counters)


def test_tables_have_the_declared_form():
    for one in tables(1):
        check_samples(one.samples)
        check_counters(one.counters)
        assert sorted(one.samples["replication"].unique()) == [1, 2]


def test_progress_hears_of_every_iteration():
    heard = []
    tables(1, on_task=lambda scenario, _: heard.append(scenario.name))
    assert heard == ["h3/dv-2048"] * 4 + ["h3/fdr-8192"] * 4


def too_small_for_a_message():
    """Make a scenario that `load` would refuse."""
    scenario = load("h3/dv-131072", ["workload.messages=10"])
    parameters = dict(scenario.system.card.parameters)
    parameters["sram"] = replace(parameters["sram"], value=1024)
    card = replace(scenario.system.card, parameters=parameters)
    return replace(scenario, system=replace(scenario.system, card=card))


def test_a_parameter_that_the_core_refuses_fails_the_run_by_name():
    small = too_small_for_a_message()
    with pytest.raises(RunFailed, match=r"h3/dv-131072: the card cannot receive \d+ messages"):
        next(simulate([small], replications=1))


def test_a_failure_in_a_worker_process_arrives_here():
    small = too_small_for_a_message()
    with pytest.raises(RunFailed, match="larger than its SRAM"):
        next(simulate([small], replications=2, workers=2))
