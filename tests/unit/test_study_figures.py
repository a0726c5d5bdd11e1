"""Does a claim get the figure of the point that it speaks of, or hear that there is none?"""

import pandas as pd
import pytest
from study_runs import scenario_of, study_of

from dvsim.evidence.claims.figures import Evidence, Missing

NAME = "switch/two-loads"


@pytest.fixture(scope="module")
def figures():
    asked = scenario_of("two-loads", vary=({"load": (0.1, 0.2)},), compare=("zero-load",))
    return Evidence({}, pd.DataFrame(), {NAME: study_of(asked, replications=1)})


def test_a_point_is_found_by_its_keys(figures):
    less, more = (figures.point(NAME, "throughput", load=load).value for load in (0.1, 0.2))
    assert 0 < less < more


def test_a_point_that_is_not_there_is_none_of_the_others(figures):
    with pytest.raises(Missing, match=f"^no throughput at load 0.3 in {NAME}$"):
        figures.point(NAME, "throughput", load=0.3)
    with pytest.raises(Missing, match=f"^no mean_hops of zero-load at load 0.3 in {NAME}$"):
        figures.theory(NAME, "zero-load", "mean_hops", load=0.3)


def test_what_a_study_of_a_switch_does_not_have_is_missing(figures):
    with pytest.raises(Missing, match=f"^{NAME} declares no small$"):
        figures.declared(NAME, "small")
    with pytest.raises(Missing, match=f"^no stages in {NAME}$"):
        figures.bottleneck(NAME, 0)
