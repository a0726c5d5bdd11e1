"""Does a design ask for what it needs, once for equal questions, until it has its answer?"""

import threading

import pytest
from scipy.optimize import bisect

from dvsim.study.design import Design, Trial, Variants, planned
from dvsim.study.execute import Executor, execute


class Squares(Executor):
    """Runs a number by squaring it; what was kept is not run."""

    def __init__(self, kept=()):
        self.kept, self.ran = dict(kept), []

    def question(self, trial):
        return trial.scenario

    def find(self, trial):
        return self.kept.get(trial.scenario)

    def run(self, trials):
        for trial in reversed(trials):  # in any order
            self.ran.append((trial.scenario, trial.replications))
            yield trial, trial.scenario**2


class Climb(Design):
    """The first power of two whose square is above a bound, each asked for after the last."""

    def __init__(self, bound):
        self.bound = bound

    def plan(self):
        number, found = 1, [0]
        while found[0] <= self.bound:
            number *= 2
            found = yield [Trial(number, 1)]
        return number


def test_a_design_is_asked_and_told_until_it_knows():
    design = Climb(10)
    (first,) = design.ask()
    design.tell(first, 4)
    (second,) = design.ask()
    design.tell(second, 16)
    assert (first.scenario, second.scenario, list(design.ask())) == (2, 4, [])
    assert design.answer == 4
    again = Climb(100)
    assert execute(again, Squares()) == execute(again, Squares()) == 16


def test_results_come_in_the_order_of_the_trials_and_equal_ones_run_once():
    by = Squares(kept={2: 4})
    found = execute(Variants([Trial(number, 3) for number in (5, 2, 5, 1)]), by)
    assert found == [25, 4, 25, 1]
    assert by.ran == [(1, 3), (5, 3)]


def test_variants_ask_again_for_what_is_not_known_well_enough():
    by, looks = Squares(), []

    def more(results):
        looks.append(list(results))
        return [len(looks) < 3, False]

    trials = [Trial(3, 2), Trial(4, 2)]
    assert execute(Variants(trials, more=more, steps=(5, 9)), by) == [9, 16]
    assert by.ran == [(4, 2), (3, 2), (3, 5), (3, 9)]
    assert len(looks) == 2  # after the last step nothing is asked


class Root(Design):
    """The square root of two, as SciPy finds it."""

    def plan(self):
        def value(at):
            (squared,) = yield [Trial(at, 1)]
            return 2.0 - squared

        return (yield from planned(lambda call: bisect(call, 0.0, 2.0), value))


def test_a_search_that_calls_is_a_plan():
    assert execute(Root(), Squares()) == pytest.approx(2**0.5)


def test_a_search_ends_with_its_design_and_its_error_is_raised():
    before = threading.active_count()
    design = Root()
    design.ask()
    assert threading.active_count() == before + 1
    design.close()
    assert threading.active_count() == before

    class Fails(Design):
        def plan(self):
            return (yield from planned(lambda call: 1 / 0, None))

    with pytest.raises(ZeroDivisionError):
        Fails().ask()


def test_nothing_to_run_is_an_answer():
    assert execute(Variants([]), Squares()) == []


def test_a_result_that_was_not_told_is_missed():
    design = Climb(10)
    design.ask()
    with pytest.raises(KeyError):
        design.ask()
