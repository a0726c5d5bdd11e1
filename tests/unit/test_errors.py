"""What an error says: arguments to a caller in Python, options to a user of the command line."""

from __future__ import annotations

import pickle

import pytest

from dvsim.errors import Advice, Argument, DvsimError, Fault, RunFailed, ScenarioError

OPTIONS = {"overrides": "--set", "last": "--last"}
TAKE = Advice("take ", Argument("last"), " 2")


@pytest.mark.parametrize(
    ("error", "in_python", "by_option"),
    [
        (RunFailed("nothing came"), "nothing came", "nothing came"),
        (RunFailed(TAKE), "take last 2", "take --last 2"),
        (RunFailed(Advice("one; ", TAKE)), "one; take last 2", "one; take --last 2"),
        (
            ScenarioError.at(Argument("overrides"), TAKE, "last", hint="first"),
            "overrides: last: take last 2; did you mean 'first'?",
            "--set: last: take --last 2; did you mean 'first'?",
        ),
        (
            ScenarioError([Fault("last", 2, "", "x"), Fault(Argument("hold_out"), None, "", "y")]),
            "last:2: x\nhold_out: y",
            "last:2: x\n--hold-out: y",
        ),
        (DvsimError("two", "parts"), "('two', 'parts')", "('two', 'parts')"),
    ],
)
def test_an_argument_is_an_option_on_the_command_line_and_nothing_else_is(
    error, in_python, by_option
):
    assert (str(error), error.by_option(OPTIONS)) == (in_python, by_option)
    again = pickle.loads(pickle.dumps(error))  # as from a worker
    assert (str(again), again.by_option(OPTIONS)) == (in_python, by_option)
