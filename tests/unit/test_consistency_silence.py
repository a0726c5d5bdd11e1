"""Does the examination stay silent on clean data, and are its chances those of its null models?"""

import numpy as np
import pandas as pd
import pytest
from consistency_data import CLEAN, FORMATS, METHODS, long, summary

from dvsim.consistency import examine
from dvsim.consistency.factors import find_factor
from dvsim.consistency.grid import find_grid
from dvsim.consistency.moments import find_contradictions
from dvsim.consistency.read import read_data


@pytest.mark.parametrize("law", CLEAN)
def test_a_clean_summary_is_no_finding(law):
    found = []
    for trial in range(6):  # 48 columns in all, each method
        rng = np.random.default_rng([1, trial])
        samples = CLEAN[law](rng, int(rng.integers(200, 5000)))
        form, method = FORMATS[trial % len(FORMATS)], METHODS[trial % 6]
        rows = pd.DataFrame(summary(samples, "c", form=form, method=method))
        found += [(trial, finding) for finding in examine(rows)]
    assert found == []


@pytest.mark.parametrize("law", CLEAN)
def test_clean_columns_together_are_no_finding(law):
    rng = np.random.default_rng(2)
    scales = rng.uniform(0.3, 3, 10) if "counts" not in law else np.ones(10, dtype=int)
    columns = {f"c{at}": scale * CLEAN[law](rng, 1000 + at) for at, scale in enumerate(scales)}
    assert examine(long(columns)) == []


@pytest.mark.parametrize("law", CLEAN)
def test_clean_raw_samples_are_no_finding(law):
    for trial in range(2):
        rng = np.random.default_rng([3, trial])
        raw = {name: CLEAN[law](rng, 400 * (trial + 1)) for name in ("a", "b")}
        assert examine(pd.DataFrame(raw).round(trial)) == []


def test_chances_of_a_grid_are_not_too_small():
    """Of smooth values at most one set in ten may seem to be one accident in ten."""
    odds = []
    for trial in range(50):
        rng = np.random.default_rng([4, trial])
        values = np.sort(rng.lognormal(10, 1, 8)).round(3)
        grid = find_grid(values, np.full(8, 1e-3))
        odds.append(-np.inf if grid is None else grid.log10_odds)
    assert np.mean(np.array(odds) >= 1) <= 0.1
    assert np.mean(np.array(odds) >= 2) <= 0.01 + 3 * 0.1 / np.sqrt(50)
    assert max(odds) < 3


def test_chances_of_a_factor_are_not_too_small():
    odds = []
    for trial in range(200):
        rng = np.random.default_rng([5, trial])
        counts = rng.integers(1, 3000, int(rng.integers(3, 30))).tolist()
        factor = find_factor(dict.fromkeys(counts, 1))
        odds.append(-np.inf if factor is None else factor.log10_odds)
    assert np.mean(np.array(odds) >= 1) <= 0.1
    assert max(odds) < 3


def test_a_true_summary_never_contradicts_itself():
    """Whatever the law, the digits and the definition of a quantile; a few samples, too."""
    rows = []
    for number, law in enumerate(CLEAN.values()):
        for trial in range(12):  # 96 columns
            rng = np.random.default_rng([6, trial])
            samples = law(rng, int(rng.integers(2, 50 if trial % 2 else 5000)))
            form, method = FORMATS[trial % len(FORMATS)], METHODS[trial % len(METHODS)]
            rows += summary(samples, f"{number}-{trial}", form=form, method=method)
    columns = read_data([pd.DataFrame(rows)]).columns
    assert len(columns) == 96
    assert [one for column in columns for one in find_contradictions(column)] == []


def test_messages_that_are_counted_as_messages_are_no_finding():
    rng = np.random.default_rng(7)
    rows, sent = [], []
    for size in (8, 256, 2048, 8192):
        polls = rng.poisson(40, 5000) * (rng.random(5000) < 0.3) / 0.005
        rows += summary(polls, f"{size}", size=size)
        sent.append({"message_bytes": size, "messages": int(2 * polls.sum() * 0.005)})
    found = examine(pd.DataFrame(rows), messages=pd.DataFrame(sent))
    assert [finding.kind for finding in found if finding.kind in {"pieces", "batches"}] == []


def test_counts_chosen_by_hand_are_no_batches():
    rng = np.random.default_rng(8)
    rows, sent = [], []
    for size, messages in ((8, 20_000_000), (256, 10_000_000), (2048, 1_000_000)):
        rows += summary(rng.lognormal(10, 1, 1000), str(size), size=size)
        sent.append({"message_bytes": size, "messages": messages})
    assert examine(pd.DataFrame(rows), messages=pd.DataFrame(sent)) == []
