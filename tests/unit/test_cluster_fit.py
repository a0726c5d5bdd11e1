"""Does the fit of the cluster's cards come back to what they have?"""

import pytest

from dvsim.evidence.cluster import fit, held_out, kept, lines, published, rate_of
from dvsim.study.text_table import plain_lines


def test_eight_rates_of_42_are_fitted():
    rates = published()
    assert len(rates) == 42
    assert sum(map(held_out, rates)) == 34


def test_a_fit_from_afar_comes_back_to_the_cards():
    cards = {key: value for key, value in kept().items() if key in ("contention", "follow")}
    found = fit({key: 0.8 * value for key, value in cards.items()}, seconds=20)
    for key, value in cards.items():
        assert found[key] == pytest.approx(value, rel=0.05)


def test_the_table_has_each_number_and_each_rate_of_the_fit():
    text = "\n".join(plain_lines(lines(kept(), 2)))
    assert all(key in text for key in kept())
    assert text.count("3x36") == text.count("9x8") == 4


def test_a_cluster_whose_queues_cost_more_takes_less():
    one = ("quorum", "io1", 3, 36)
    assert rate_of(one, {"follow": 2 * kept()["follow"]}, 2) < 0.9 * rate_of(one, {}, 2)
