"""Do components keep their own random streams, whatever happens to the others?"""

from itertools import islice

import pytest

from dvsim.core.streams import BLOCK, Streams


def draws(streams, name, count=5):
    return list(islice(streams.normal(name), count))


def test_a_name_always_draws_the_same():
    assert draws(Streams(1, 2, 3), "broker.1/scatter") == draws(
        Streams(1, 2, 3), "broker.1/scatter"
    )


def test_a_stream_does_not_depend_on_which_others_were_asked_for_first():
    busy = Streams(1, 1, 1)
    for other in range(10):
        draws(busy, f"other.{other}", BLOCK + 1)
    assert draws(busy, "broker.1/scatter") == draws(Streams(1, 1, 1), "broker.1/scatter")


def test_seed_replication_iteration_and_name_each_change_the_draws():
    base = draws(Streams(1, 1, 1), "a")
    others = [
        draws(Streams(2, 1, 1), "a"),
        draws(Streams(1, 2, 1), "a"),
        draws(Streams(1, 1, 2), "a"),
        draws(Streams(1, 1, 1), "b"),
    ]
    assert all(base != other for other in others)


def test_blocks_join_without_repeating():
    first = draws(Streams(1, 1, 1), "a", 2 * BLOCK)
    assert len(set(first)) == 2 * BLOCK


@pytest.mark.parametrize("law", ["normal", "uniform", "exponential"])
def test_how_many_are_fetched_at_a_time_changes_no_draw(law):
    count = 3 * BLOCK + 7
    streams = Streams(1, 2, 3)
    fetch = {"normal": "standard_normal", "uniform": "random"}.get(law, "standard_exponential")
    at_once = getattr(streams.generator("a"), fetch)(count).tolist()
    assert list(islice(getattr(streams, law)("a"), count)) == at_once
