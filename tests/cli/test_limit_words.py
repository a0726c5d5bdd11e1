"""Does `dvsim limit` say in words what its search found, and what its intervals are worth?"""

import pytest

from dvsim.cli.limit import _lines, answer
from dvsim.contract.find import kind_named
from dvsim.study.limit.criterion import parse_criterion
from dvsim.study.limit.search import Limit, Probe
from dvsim.table.estimate import Estimate

BOTH = parse_criterion("throughput > 0.2 and p99 < 9", kind_named("switch").metrics(None))


def probe(value, verdict, notes="", fidelity="cycle", replications=40):
    found = {"throughput": Estimate.around(0.25, 0.01), "p99": Estimate.around(float("nan"), 0.0)}
    return Probe(value, replications, found, verdict, notes, fidelity)


@pytest.mark.parametrize(
    ("outcome", "holds", "fails", "probes", "said"),
    [
        ("everywhere", 0.9, None, [], "holds everywhere in the interval, at load 0.9 too"),
        ("nowhere", None, 0.1, [], "holds nowhere in the interval, it fails at load 0.1 already"),
        (
            "reversed", 0.9, 0.1, [],
            "holds at load 0.9, fails at load 0.1: it is the other end that is asked for, "
            "see --smallest",
        ),
        (
            "undecided", None, 0.9, [],
            "undecided at a bound: holds nowhere for certain, fails at load 0.9",
        ),
        ("found", 0.4, 0.5, [], "holds at load 0.4, fails at load 0.5"),
        (
            "found", 0.4, 0.5, [probe(0.45, "undecided")],
            "holds at load 0.4, fails at load 0.5; undecided between, with 40 replications",
        ),
        (
            "found", 0.4, 0.5,
            [probe(0.45, "undecided"), probe(0.47, "undecided", replications=8)],
            "holds at load 0.4, fails at load 0.5; undecided between, with 8 to 40 replications",
        ),
    ],
)  # fmt: skip
def test_the_answer(outcome, holds, fails, probes, said):
    assert answer(Limit({}, outcome, holds, fails, tuple(probes)), "load") == said


def test_what_is_not_settled_and_where_nothing_is_measured_is_marked():
    probes = (probe(0.1, "holds"), probe(0.5, "fails", notes="queues still grow"))
    head, said, table, note = _lines(Limit({"height": 4}, "found", 0.1, 0.5, probes), "load", BOTH)
    assert (head, said) == ("  height 4", "  holds at load 0.1, fails at load 0.5")
    rows = [line.split() for line in table.lines()]
    assert rows[1] == ["0.1", "40", "0.25", "0.01", "-", "-", "holds"]
    assert rows[2] == ["0.5", "40", "0.25", "0.01", "-", "-", "fails", "*"]
    assert note == "    * not settled; at load 0.5: queues still grow"


def test_runs_at_flow_fidelity_say_what_their_intervals_are_worth():
    limit = Limit({}, "everywhere", 0.5, None, (probe(0.5, "holds", fidelity="flow"),))
    assert list(_lines(limit, "load", BOTH, ["throughput"]))[-1] == (
        "    flow fidelity: replications are equal; ± is the measured error of throughput; "
        "the error of p99 is not known, ± 0 is not certain"
    )
