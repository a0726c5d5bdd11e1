"""Are replications added until they are enough, and is the result that of as many at once?"""

import pytest

from dvsim.contract.load import load
from dvsim.session import run_scenarios
from dvsim.study.store import contents_of

SMALL = ["workload.messages=20000"]
QUICK = {"out": None, "workers": 1}


def scenarios():
    return [load("h3/fdr-8", SMALL), load("h3/dv-2048", SMALL)]


@pytest.mark.parametrize("asked", [QUICK, {"workers": 1}])
def test_what_is_added_gives_the_bytes_of_all_at_once(asked, tmp_path):
    where = {} if "out" in asked else {"out": tmp_path}
    looks = []

    def more(results):
        looks.append([one.replications for one in results])
        return [False, results[1].replications < 5]

    found = run_scenarios(scenarios(), more=more, steps=(2, 3, 5, 9), **asked, **where)
    assert looks == [[2, 2], [2, 3], [2, 5]]
    for one, times in zip(found, (2, 5), strict=True):
        (whole,) = run_scenarios([one.scenario], replications=times, **QUICK)
        assert (one.replications, one.manifest.replications) == (times, times)
        assert contents_of(one) == contents_of(whole)


def test_after_the_last_step_nothing_is_asked():
    found = run_scenarios(scenarios()[:1], more=lambda _: [True], steps=(2, 3), **QUICK)
    assert [one.replications for one in found] == [3]


def test_a_study_is_run_with_as_many_replications():
    study = load("switch/zero-load", ["traffic.slots=50"])
    found = run_scenarios(
        [study], more=lambda runs: [runs[0].replications < 3], steps=(2, 3), **QUICK
    )
    (whole,) = run_scenarios([study], replications=3, **QUICK)
    assert contents_of(found[0]) == contents_of(whole)
