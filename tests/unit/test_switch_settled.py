"""Is a run marked that may not be quoted?"""

import numpy as np
from switch_runs import SMALL

from dvsim.fabric.switch import Switch
from dvsim.fabric.switch.simulation import Batches


def test_a_run_beyond_saturation_is_marked():
    run = SMALL.run(0.9, 5_000, warmup=500, injection="queue")
    assert not run.settled
    assert run.notes[0].startswith("queues grew by ")
    assert "NOT SETTLED: queues grew by" in repr(run)


def test_a_run_within_saturation_is_not_marked():
    run = SMALL.run(0.1, 5_000, warmup=500, injection="queue")
    assert run.notes == ()
    assert "SETTLED" not in repr(run)


def test_a_start_without_warm_up_is_marked():
    run = Switch(64, 4).run(0.2, 200)
    assert [note for note in run.notes if "warm up" in note]


def test_traffic_that_changes_is_marked():
    slots = np.arange(1500)
    trace = (slots, slots % 24, (slots * 7) % 24)
    run = SMALL.run(None, 2_000, pattern="trace", trace=trace)
    assert [note for note in run.notes if "between the halves" in note]


def test_a_short_run_is_marked():
    assert SMALL.run(0.1, 40).notes == ("too short to judge: 40 slots, at least 64",)


def test_queues_may_grow_by_a_hundredth_of_what_was_offered():
    batches = Batches(delivered=[500] * 10, waiting_before=100)
    assert batches.notes(160, 10_000, 200) == ()
    said = ("queues grew by 101 packets, 1.0% of what was offered",)
    assert batches.notes(160, 10_000, 201) == said
