"""If a call of libvic fails below Python: is it an error that names it, and nothing half?"""

from __future__ import annotations

import pytest
from fault import Fault
from python_cards import PYTHON_CARDS, python_bench
from subjects import firsts


@pytest.fixture(scope="module")
def bench(tmp_path_factory, library):
    return python_bench(tmp_path_factory.mktemp("python-cards"), library)


def test_a_failing_call_below_python(bench):
    """The first of each call, by the first subject that makes it; and of each the last malloc."""
    seen, reached, chosen = set(), 0, []
    for subject in PYTHON_CARDS:
        counts = bench.counted(subject).counts
        faults = [fault for fault in firsts(counts) if fault.call not in seen]
        faults += [Fault("malloc", counts["malloc"])] if "malloc" in seen else []
        seen |= counts.keys()
        chosen += [(subject, fault) for fault in faults]
    for subject, fault in chosen:
        outcome, wrong = bench.judge(subject, fault)
        assert not wrong, f"{subject.name}: {fault} at {outcome.where}: {wrong}"
        reached += outcome.failed > 0
    assert reached > len(chosen) / 2  # how often some calls are made is a matter of time
