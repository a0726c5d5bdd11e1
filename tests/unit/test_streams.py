"""Do components keep their own random streams, whatever happens to the others?"""

from itertools import islice

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
