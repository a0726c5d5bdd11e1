"""Named algorithms of collective operations: the messages of each, for any number of ranks.

Each function returns the messages for root 0. The textbook is R. Thakur, R. Rabenseifner and
W. Gropp, "Optimization of collective communication operations in MPICH", 2005; Bruck's are of
J. Bruck et al., "Efficient algorithms for all-to-all communications", 1997; the dissemination
barrier of D. Hensgen, R. Finkel and U. Manber, 1988.
"""

from __future__ import annotations

import numpy as np

from dvsim.kinds.workload.schedule import EMPTY, Ints, Messages, messages, then, together

NOTHING = messages(EMPTY, EMPTY, EMPTY, EMPTY, EMPTY)


def _powers(ranks: int) -> list[int]:
    return [1 << bit for bit in range((ranks - 1).bit_length())]


def _others(ranks: int) -> Ints:
    return np.arange(1, ranks, dtype=np.int64)


def _each_to_each(ranks: int) -> tuple[Ints, Ints]:
    return np.tile(np.arange(ranks), ranks - 1), np.repeat(np.arange(1, ranks), ranks)


# To one and from one


def binomial_gather(ranks: int) -> Messages:
    """Return a tree in which each rank sends what it has gathered to the one below."""
    parts = []
    for step, mask in enumerate(_powers(ranks)):
        source = np.arange(mask, ranks, 2 * mask)
        blocks = np.minimum(mask, ranks - source)
        parts.append(messages(step, source, source - mask, source, blocks))
    return together(parts)


def binomial_scatter(ranks: int) -> Messages:
    """Return a tree in which each rank hands on what is for others, the largest part first."""
    parts = []
    for step, mask in enumerate(reversed(_powers(ranks))):
        target = np.arange(mask, ranks, 2 * mask)
        blocks = np.minimum(mask, ranks - target)
        parts.append(messages(step, target - mask, target, target, blocks))
    return together(parts)


def _whole(given: Messages, ranks: int) -> Messages:
    return messages(given.step, given.source, given.target, 0, ranks)


def binomial_bcast(ranks: int) -> Messages:
    """Return a tree of whole messages, from the root."""
    return _whole(binomial_scatter(ranks), ranks)


def binomial_reduce(ranks: int) -> Messages:
    """Return a tree of whole messages, to the root."""
    return _whole(binomial_gather(ranks), ranks)


def linear_gather(ranks: int) -> Messages:
    """Return one message of each rank to the root, all at once."""
    return messages(0, _others(ranks), 0, _others(ranks), 1)


def linear_scatter(ranks: int) -> Messages:
    """Return one message of the root to each rank, one after another without waiting."""
    return messages(0, 0, _others(ranks), _others(ranks), 1)


def linear_bcast(ranks: int) -> Messages:
    """Return the whole message, of the root to each rank."""
    return _whole(linear_scatter(ranks), ranks)


def linear_reduce(ranks: int) -> Messages:
    """Return the whole message, of each rank to the root."""
    return _whole(linear_gather(ranks), ranks)


# All have all


def ring_allgather(ranks: int) -> Messages:
    """Return a ring on which each rank hands on what it received last."""
    rank, far = _each_to_each(ranks)
    return messages(far - 1, rank, (rank + 1) % ranks, (rank + 1 - far) % ranks, 1)


def bruck_allgather(ranks: int) -> Messages:
    """Return ⌈log₂ p⌉ steps, in each of which a rank sends all it has, 2ᵏ ranks back."""
    rank, parts = np.arange(ranks), []
    for step, far in enumerate(_powers(ranks)):
        parts.append(messages(step, rank, (rank - far) % ranks, rank, min(far, ranks - far)))
    return together(parts)


def linear_allgather(ranks: int) -> Messages:
    """Return one message of each rank to each other, all at once, beginning with the next."""
    rank, far = _each_to_each(ranks)
    return messages(0, rank, (rank + far) % ranks, rank, 1)


def _folded(ranks: int) -> tuple[int, Ints, Ints]:
    """Return a power of two, the ranks that take part, and where the blocks of each begin.

    Of the first 2 (p - 2ᵏ) ranks the odd ones take part, each for its lower neighbour, too.
    """
    power = 1 << (ranks.bit_length() - 1)
    rest = ranks - power
    rank = np.arange(power)
    member = np.where(rank < rest, 2 * rank + 1, rank + rest)
    begin = np.where(rank < rest, 2 * rank, rank + rest)
    return power, member, np.append(begin, ranks)


def _pairs(ranks: int, power: int) -> tuple[Ints, Ints]:
    even = 2 * np.arange(ranks - power)
    return even, even + 1


def recursive_doubling_allgather(ranks: int) -> Messages:
    """Return exchanges of all that two ranks have, over distances that double."""
    even, odd = _pairs(ranks, _folded(ranks)[0])
    before = messages(0, even, odd, even, 1)
    return then(before, _doubling(ranks), messages(0, odd, even, 0, ranks))


def _doubling(ranks: int) -> Messages:
    power, member, begin = _folded(ranks)
    rank, parts = np.arange(power), []
    for step, mask in enumerate(_powers(power)):
        group = rank & ~(mask - 1)
        first = begin[group]
        blocks = begin[group + mask] - first
        parts.append(messages(step, member, member[rank ^ mask], first, blocks))
    return together(parts)


# Reductions


def recursive_doubling_allreduce(ranks: int) -> Messages:
    """Return exchanges of whole partial results, over distances that double."""
    power, member, _ = _folded(ranks)
    even, odd = _pairs(ranks, power)
    rank = np.arange(power)
    parts = [
        messages(step, member, member[rank ^ mask], 0, ranks)
        for step, mask in enumerate(_powers(power))
    ]
    before, behind = messages(0, even, odd, 0, ranks), messages(0, odd, even, 0, ranks)
    return then(before, together(parts), behind)


def _halving(ranks: int) -> Messages:
    power, member, begin = _folded(ranks)
    even, odd = _pairs(ranks, power)
    rank, parts = np.arange(power), []
    for step, mask in enumerate(reversed(_powers(power))):
        other = rank ^ mask
        group = other & ~(mask - 1)
        first = begin[group]
        parts.append(messages(step, member, member[other], first, begin[group + mask] - first))
    return then(messages(0, even, odd, 0, ranks), together(parts))


def recursive_halving_reduce_scatter(ranks: int) -> Messages:
    """Return exchanges of half of what is left, over distances that halve."""
    power, _, _ = _folded(ranks)
    even, odd = _pairs(ranks, power)
    return then(_halving(ranks), messages(0, odd, even, even, 1))


def recursive_halving_allreduce(ranks: int) -> Messages:
    """Return Rabenseifner's: a reduction by halving, then its results gathered by doubling."""
    even, odd = _pairs(ranks, _folded(ranks)[0])
    return then(_halving(ranks), _doubling(ranks), messages(0, odd, even, 0, ranks))


def recursive_halving_reduce(ranks: int) -> Messages:
    """Return Rabenseifner's: a reduction by halving, then its results gathered by a tree."""
    power, member, begin = _folded(ranks)
    parts = []
    for step, mask in enumerate(_powers(power)):
        source = np.arange(mask, power, 2 * mask)
        first = begin[source]
        blocks = begin[source + mask] - first
        parts.append(messages(step, member[source], member[source - mask], first, blocks))
    last = messages(0, 1, 0, 0, ranks) if member[0] else NOTHING
    return then(_halving(ranks), together(parts), last)


def pairwise_reduce_scatter(ranks: int) -> Messages:
    """Return p - 1 steps, in each of which a rank sends another one its block."""
    rank, far = _each_to_each(ranks)
    target = (rank + far) % ranks
    return messages(far - 1, rank, target, target, 1)


def linear_reduce_scatter(ranks: int) -> Messages:
    """Return the messages of the pairwise algorithm, all at once."""
    given = pairwise_reduce_scatter(ranks)
    return messages(0, given.source, given.target, given.first, 1)


def ring_reduce_scatter(ranks: int) -> Messages:
    """Return a ring on which each block collects the parts of all, to its owner."""
    rank, far = _each_to_each(ranks)
    return messages(far - 1, rank, (rank + 1) % ranks, (rank - far) % ranks, 1)


def linear_scan(ranks: int) -> Messages:
    """Return a chain: each rank sends the next one what it has."""
    source = np.arange(ranks - 1)
    return messages(source, source, source + 1, 0, ranks)


def recursive_doubling_scan(ranks: int) -> Messages:
    """Return exchanges of partial results, over distances that double."""
    rank, parts = np.arange(ranks), []
    for step, mask in enumerate(_powers(ranks)):
        source = rank[(rank ^ mask) < ranks]
        parts.append(messages(step, source, source ^ mask, 0, ranks))
    return together(parts)


# All to all, and a barrier


def linear_alltoall(ranks: int) -> Messages:
    """Return all messages at once, each rank's beginning with the next rank."""
    given = pairwise_alltoall(ranks)
    return messages(0, given.source, given.target, given.first, 1)


def pairwise_alltoall(ranks: int) -> Messages:
    """Return p - 1 steps, in each of which a rank sends to one and receives from one."""
    rank, far = _each_to_each(ranks)
    target = (rank + far) % ranks
    return messages(far - 1, rank, target, rank * ranks + target, 1)


def bruck_alltoall(ranks: int) -> Messages:
    """Return ⌈log₂ p⌉ steps; in step k a rank hands on all blocks whose way has bit k set."""
    rank, way, parts = np.arange(ranks), np.arange(ranks), []
    for step, far in enumerate(_powers(ranks)):
        blocks = int(((way & far) != 0).sum())
        parts.append(messages(step, rank, (rank + far) % ranks, -1 - step, blocks))
    return together(parts)


def dissemination(ranks: int) -> Messages:
    """Return ⌈log₂ p⌉ steps, in each of which a rank signals the one 2ᵏ ranks on."""
    rank = np.arange(ranks)
    return together([
        messages(step, rank, (rank + far) % ranks, 0, ranks)
        for step, far in enumerate(_powers(ranks))
    ])  # fmt: skip
