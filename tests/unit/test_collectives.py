"""Does each algorithm of a collective bring every block to where it belongs, and at which cost?"""

from math import ceil, log2

import numpy as np
import pytest

from dvsim.kinds.workload.check import RECV, SEND
from dvsim.kinds.workload.collectives import (
    ALGORITHMS_OF,
    KINDS,
    LIKE,
    ROOTED,
    Collectives,
    Rule,
    schedule,
    split,
)

RANKS = (1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 16)
REDUCING = ("reduce", "allreduce", "reduce_scatter")
NAMED = [(kind, name) for kind, names in ALGORITHMS_OF.items() for name in names]


def sent(found):
    """How many messages a schedule sends, and their bytes."""
    sends = found.kind == SEND
    return int(sends.sum()), int(found.size[sends].sum())


def carried(given, message, blocks):
    first = int(given.first[message])
    if first < 0:  # of Bruck's all-to-all
        return [way for way in range(blocks) if way >> (-1 - first) & 1]
    return [(first + one) % blocks for one in range(int(given.blocks[message]))]


def in_steps(given):
    for step in range(given.steps):
        yield np.flatnonzero(given.step == step)


def messages_of(kind, name, ranks, root=0):
    return ALGORITHMS_OF[kind][name](ranks).rotated(root, ranks)


def flow(given, have, blocks, merge):
    """Move blocks by messages; a message carries what its sender had before the step."""
    for here in in_steps(given):
        moved = [
            (int(given.target[one]), block, have[int(given.source[one])][block])
            for one in here
            for block in carried(given, one, blocks)
        ]
        for target, block, what in moved:
            have[target][block] = merge(have[target][block], what)
    return have


def union(one, other):
    return one | other


def added_once(ranks):
    """Return how results meet: parts are added, which must not be in both; a whole replaces."""
    everything = frozenset(range(ranks))

    def merge(one, other):
        if other == everything:
            return other
        assert not one & other, "a contribution is added twice"
        return one | other

    return merge


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize(
    ("kind", "name"), [one for one in NAMED if one[0] in ("bcast", "gather", "scatter")]
)
def test_trees_bring_each_block_to_its_place(kind, name, ranks):
    for root in {0, ranks // 2, ranks - 1}:
        gathers = kind == "gather"
        have = [
            [{block} if rank == (block if gathers else root) else set() for block in range(ranks)]
            for rank in range(ranks)
        ]
        have = flow(messages_of(kind, name, ranks, root), have, ranks, union)
        for rank in range(ranks):
            if kind == "bcast" or (gathers and rank == root):
                assert all(have[rank])
            elif kind == "scatter":
                assert have[rank][rank]


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("name", ALGORITHMS_OF["allgather"])
def test_all_have_all_blocks(name, ranks):
    have = [[{one} if one == rank else set() for one in range(ranks)] for rank in range(ranks)]
    have = flow(messages_of("allgather", name, ranks), have, ranks, union)
    assert all(all(mine) for mine in have)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize(("kind", "name"), [one for one in NAMED if one[0] in REDUCING])
def test_every_contribution_is_added_once(kind, name, ranks):
    for root in {0, ranks - 1} if kind == "reduce" else {0}:
        have = [[frozenset([rank])] * ranks for rank in range(ranks)]
        given = messages_of(kind, name, ranks, root)
        have = flow(given, have, ranks, added_once(ranks))
        everything = frozenset(range(ranks))
        for rank in range(ranks):
            if kind == "allreduce" or (kind == "reduce" and rank == root):
                assert have[rank] == [everything] * ranks
            elif kind == "reduce_scatter":
                assert have[rank][rank] == everything


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("name", ALGORITHMS_OF["barrier"])
def test_nobody_leaves_a_barrier_before_all_have_come(name, ranks):
    have = [[{rank}] for rank in range(ranks)]
    have = flow(messages_of("barrier", name, ranks), have, 1, union)
    assert [mine[0] for mine in have] == [set(range(ranks))] * ranks


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("name", ["pairwise", "linear"])
def test_each_rank_sends_each_other_its_block(name, ranks):
    given = messages_of("alltoall", name, ranks)
    sent = set(zip(given.source.tolist(), given.target.tolist(), given.first.tolist(), strict=True))
    wanted = {(a, b, a * ranks + b) for a in range(ranks) for b in range(ranks) if a != b}
    assert sent == wanted
    assert given.source.size == len(wanted)


@pytest.mark.parametrize("ranks", RANKS)
def test_bruck_hands_on_each_block_until_it_is_there(ranks):
    given = messages_of("alltoall", "bruck", ranks)
    have = [[{(rank, (rank + way) % ranks)} for way in range(ranks)] for rank in range(ranks)]
    for here in in_steps(given):
        moved = [
            (int(given.target[one]), way, have[int(given.source[one])][way])
            for one in here
            for way in carried(given, one, ranks)
        ]
        for target, way, what in moved:
            have[target][way] = what
        assert given.blocks[here].tolist() == [len(carried(given, here[0], ranks))] * here.size
    for rank in range(ranks):
        assert all(have[rank][way] == {((rank - way) % ranks, rank)} for way in range(ranks))


@pytest.mark.parametrize("ranks", RANKS)
def test_a_scan_adds_what_is_below(ranks):
    below = [{rank} for rank in range(ranks)]
    part = [{rank} for rank in range(ranks)]
    given = messages_of("scan", "recursive_doubling", ranks)
    for here in in_steps(given):
        moved = [(int(given.target[i]), int(given.source[i]), part[given.source[i]]) for i in here]
        for target, source, what in moved:
            assert not part[target] & what
            part[target] = part[target] | what
            if source < target:
                below[target] = below[target] | what
    assert below == [set(range(rank + 1)) for rank in range(ranks)]
    chain = messages_of("scan", "linear", ranks)
    assert chain.source.tolist() == chain.step.tolist() == (chain.target - 1).tolist()


def log(ranks):
    return (ranks - 1).bit_length()


CLOSED = {
    ("barrier", "dissemination"): lambda p, n: (p * log(p), p * log(p)),
    ("bcast", "binomial"): lambda p, n: (p - 1, (p - 1) * n),
    ("bcast", "linear"): lambda p, n: (p - 1, (p - 1) * n),
    ("reduce", "binomial"): lambda p, n: (p - 1, (p - 1) * n),
    ("allreduce", "ring"): lambda p, n: (2 * p * (p - 1), 2 * (p - 1) * n),
    ("gather", "linear"): lambda p, n: (p - 1, (p - 1) * n),
    ("scatter", "linear"): lambda p, n: (p - 1, (p - 1) * n),
    ("allgather", "ring"): lambda p, n: (p * (p - 1), p * (p - 1) * n),
    ("allgather", "bruck"): lambda p, n: (p * log(p), p * (p - 1) * n),
    ("allgather", "linear"): lambda p, n: (p * (p - 1), p * (p - 1) * n),
    ("reduce_scatter", "pairwise"): lambda p, n: (p * (p - 1), p * (p - 1) * n),
    ("alltoall", "pairwise"): lambda p, n: (p * (p - 1), p * (p - 1) * n),
    ("alltoall", "linear"): lambda p, n: (p * (p - 1), p * (p - 1) * n),
    ("scan", "linear"): lambda p, n: (p - 1, (p - 1) * n),
}
POWERS = {  # on powers of two
    ("allreduce", "recursive_doubling"): lambda p, n: (p * log(p), p * log(p) * n),
    ("allreduce", "recursive_halving"): lambda p, n: (2 * p * log(p), 2 * (p - 1) * n),
    ("allgather", "recursive_doubling"): lambda p, n: (p * log(p), p * (p - 1) * n),
    ("gather", "binomial"): lambda p, n: (p - 1, p * log(p) // 2 * n),
    ("scatter", "binomial"): lambda p, n: (p - 1, p * log(p) // 2 * n),
    ("alltoall", "bruck"): lambda p, n: (p * log(p), p * log(p) * p // 2 * n),
    ("reduce_scatter", "recursive_halving"): lambda p, n: (p * log(p), p * (p - 1) * n),
}


@pytest.mark.parametrize("ranks", RANKS)
def test_messages_and_bytes_have_closed_forms(ranks):
    forms = CLOSED | (POWERS if log2(ranks).is_integer() else {})
    for (kind, name), form in forms.items():
        found = schedule(kind, ranks, 96, algorithm=name)
        assert sent(found) == form(ranks, 96), (kind, name)


@pytest.mark.parametrize(("kind", "name"), NAMED)
def test_operations_are_the_messages_seen_from_both_ends(kind, name):
    found = schedule(kind, 6, 100, algorithm=name, root=2 if kind in ROOTED else 0)
    sent, received = found.kind == SEND, found.kind == RECV
    ends = [
        sorted(zip(a.tolist(), b.tolist(), n.tolist(), strict=True))
        for a, b, n in (
            (found.rank[sent], found.peer[sent], found.size[sent]),
            (found.peer[received], found.rank[received], found.size[received]),
        )
    ]
    assert ends[0] == ends[1]
    behind, before = found.edges
    assert (before < behind).all()
    assert (found.rank[before] == found.rank[behind]).all()
    waits = set(behind.tolist())
    assert all((place in waits) != found.heads[place] for place in range(found.kind.size))
    assert not found.tails[before].any()


def test_sizes_of_their_own_are_kept():
    counts = [5, 0, 7, 11]
    rows = np.arange(16).reshape(4, 4)
    gathered = schedule("gatherv", 4, counts, root=1)
    assert sent(gathered)[1] == 5 + 7 + 11
    assert sent(schedule("allgatherv", 4, counts, algorithm="ring"))[1] == 3 * 23
    exchanged = schedule("alltoallv", 4, rows.tolist())
    for kind, rank, peer, size in zip(
        exchanged.kind, exchanged.rank, exchanged.peer, exchanged.size, strict=True
    ):
        assert size == (rows[rank, peer] if kind == SEND else rows[peer, rank])


def test_parts_of_a_vector_differ_by_one_byte_at_most():
    assert split(10, 4).tolist() == [3, 3, 2, 2]
    assert split(0, 3).tolist() == [0, 0, 0]


def test_the_table_chooses_by_amount_and_ranks():
    table = Collectives(bcast=(Rule("linear", below=100), Rule("binomial", ranks=4), Rule("ring")))
    chosen = [table.algorithm("bcast", amount, ranks) for amount, ranks in
              ((99, 8), (100, 8), (100, 3))]  # fmt: skip
    assert chosen == ["linear", "binomial", "ring"]
    assert sent(schedule("bcast", 3, 99, table=table))[0] == 2
    defaults = Collectives()
    assert defaults.algorithm("allreduce", 2048, 9) == "recursive_doubling"
    assert defaults.algorithm("allreduce", 2049, 9) == "recursive_halving"
    assert defaults.algorithm("bcast", 20000, 7) == "binomial"
    assert defaults.algorithm("bcast", 20000, 12) == "ring"
    assert all(defaults.algorithm(kind, 10**6, 9) for kind in KINDS)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("allbcast", 4), "no collective 'allbcast'"),
        (("bcast", 4, 8, "bruck"), "bcast knows binomial, linear, ring"),
        (("gatherv", 4, [1, 2]), "a gatherv of 4 ranks has 4 sizes, not 2"),
    ],
)
def test_what_is_no_collective_is_refused(given, said):
    kind, ranks, *rest = given
    with pytest.raises(ValueError, match=said):
        schedule(kind, ranks, *rest[:1], algorithm=rest[1] if len(rest) > 1 else None)
    with pytest.raises(ValueError, match="knows"):
        Collectives(barrier=(Rule("bruck"),))
    with pytest.raises(ValueError, match="the root of a bcast must be from 0 to 3, is 4"):
        schedule("bcast", 4, 8, root=4)


def test_each_step_of_a_tree_doubles_the_ranks_that_have_the_message():
    given = messages_of("bcast", "binomial", 13)
    assert given.steps == ceil(log2(13))
    assert np.bincount(given.step).tolist() == [1, 2, 3, 6]
    assert set(LIKE) <= set(KINDS)
