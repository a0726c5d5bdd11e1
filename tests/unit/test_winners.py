"""Is a winner named only where pairs of replications tell it from all others?"""

import numpy as np
import pytest

from dvsim import sweep
from dvsim.table.estimate import estimate
from dvsim.view.saturation import Offered, sentence, tied
from dvsim.view.sweep_page import answer_sentences


def candidates(means, own, shared=0.05, runs=10):
    """Return values of candidates that share what scatters most."""
    random = np.random.default_rng(1)
    common = random.normal(0, shared, runs)
    return [dict(enumerate(m + common + random.normal(0, own, runs), 1)) for m in means]


@pytest.mark.parametrize(
    ("means", "own", "first", "ties"),
    [
        ([1, 1.02, 1.01], 1e-4, 1, 1),  # pairs tell what intervals do not
        ([1, 1, 1, 1], 0.01, None, 4),
        ([1, 1.1, 1.1001], 0.01, None, 2),
        ([1, 1, 1.3], 0.01, 2, 1),
    ],
)
def test_pairs_decide(means, own, first, ties):
    each = candidates(means, own)
    found = tied([estimate(one.values()) for one in each], lambda at: each[at])
    assert len(found) == ties and (first is None or found[0] == first)
    lowest = tied([estimate(one.values()) for one in each], lambda at: each[at], least=True)
    assert means[lowest[0]] < max(means) or ties == len(means)


def test_the_more_candidates_there_are_the_rarer_is_a_wrong_winner():
    random, named = np.random.default_rng(2), 0
    for _ in range(200):
        each = [dict(enumerate(random.normal(1, 0.1, 6), 1)) for _ in range(12)]
        found = tied([estimate(one.values()) for one in each], lambda at, each=each: each[at])
        named += len(found) == 1
    assert named <= 200 * 0.05


def test_equal_digits_are_a_tie_and_one_replication_names_nobody():
    equal = [estimate([2.0, 2.0]), estimate([2.0, 2.0]), estimate([1.0, 1.0])]
    assert tied(equal, lambda _: {}) == [0, 1]
    once = [{1: 1.0}, {1: 3.0}, {1: 2.0}]
    assert tied([estimate(one.values()) for one in once], lambda at: once[at]) == [1, 2, 0]


def test_lines_within_the_noise_do_not_saturate_last():
    points = [Offered(f"line{n}", 0.3, 0.0192 + n * 1e-5, 2e-4, 0) for n in range(12)]
    text = sentence(points)
    assert "last" not in text and "12 lines" in text
    apart = [*points, Offered("better", 0.3, 0.03, 2e-4, 0)]
    assert "last: better, 0.0300" in sentence(apart)


def test_a_key_without_effect_is_no_winner(tmp_path, monkeypatch):
    """The limit of 32 MiB gives the same digits as that of 64 MiB."""
    monkeypatch.chdir(tmp_path)
    swept = sweep(
        "h3/dv-2048",
        {"sram": ["32 MiB", "64 MiB"], "sockets": [1, 2]},
        scale=0.001,
        replications=3,
        workers=1,
    )
    (text, *_) = answer_sentences(swept)
    assert "sram changes nothing" in text
    assert "sockets 2" in text.partition("smallest")[0] and "32" in text and "64" in text
