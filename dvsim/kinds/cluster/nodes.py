"""The nodes of a cluster for one second: processors, logs, queues and volumes, as amounts.

What waits behind a server of limited pace, and how long it does, is a matter of amounts, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dvsim.core.cluster.capacity import NOTHING, Capacity
from dvsim.core.cluster.costs import schedulers
from dvsim.core.cluster.disk import Chunks, Use, pace_of, written_in
from dvsim.core.cluster.placement import Shares
from dvsim.kinds.cluster.spec import ClusterScenario

Floats = NDArray[np.float64]
STEPS = 50  # of a second
STEP = 1 / STEPS
ENDS: Floats = STEP * np.arange(1.0, STEPS + 1)
PS = 1e-12
BIAS = 1.1  # of delivering against taking in, where both have work: CONSUMER_BIAS of RabbitMQ
ROUNDS = 1.5  # cycles of the log: half of one until the next begins, and that one


@dataclass
class State:
    """What one second leaves to the next."""

    held: float  # messages that publishers may not send
    # Messages that wait on the node of their leader: for schedulers, for the log, for consumers.
    processors: Floats
    logs: Floats
    queues: Floats
    given: float  # messages that consumers got in the last second
    uses: list[Use]  # what each node does to its volume
    credit: list[float]  # bytes of bursts that each volume has left
    missed: Floats  # entries that each node has to catch up with
    filled: Floats  # the share of each volume that something else has
    alarm: bool = False  # whether publishers are stopped
    full: bool = False  # whether a volume has no room

    @property
    def there(self) -> float:
        """All messages that no consumer has."""
        return float(self.held + self.processors.sum() + self.logs.sum() + self.queues.sum())


class Passed(NamedTuple):
    """What a second did to messages."""

    # Messages that came through the processors, and that consumers got.
    taken: float
    given: float
    delays: Floats  # seconds in the cluster of who comes in each step; shape (steps, nodes)
    busy: Floats  # how busy the schedulers of each node are


class Nodes:
    """All nodes, with queues and clients where they are now; made anew when they move."""

    def __init__(self, scenario: ClusterScenario, shares: Shares) -> None:
        system, work = scenario.system, scenario.workload
        cards = scenario.cards | {"rabbit": scenario.cards["broker"]}
        self.capacity = Capacity(
            system.queue,
            shares,
            cards,
            work.message_bytes,
            work.queues,
            acknowledge=work.acknowledged,
        )
        self.shares, self.copies = shares, scenario.copies

    def second(
        self,
        state: State,
        admitted: Floats,
        consumed: Sequence[tuple[float, float]],
        normal: Floats,
    ) -> Passed:
        """Let a second pass.

        Args:
            state: Changed to what it leaves.
            admitted: Messages that come in each step, if all queues have a leader; of others fewer
                do.
            consumed: Messages a second that all consumers can take, each with the seconds from now
                until which that is so; the last one without end.
            normal: A draw for each node.
        """
        capacity, led, work = self.capacity, self.shares.led, self.capacity.work
        capacity.write_at([pace_of(credit, capacity.volume) for credit in state.credit])
        most = capacity.written(self._kept(state)).min()  # the slowest volume limits all
        power = self._caught_up(state, self._power(state, normal))
        both = power / np.maximum(work.taking + work.giving, NOTHING)
        due = state.given + float(state.queues.sum())
        rest = np.maximum(power - work.giving * np.minimum(due, BIAS * both), power / 100)
        can = np.minimum(rest / np.maximum(work.taking, 1e-12), capacity.process)
        can = np.minimum(can, min(capacity.wire.min(), most))
        taken, wait = _through(state.processors, admitted[:, None] * led, can * led)
        state.processors = wait[-1]
        # a message is handled by nodes of its clients, too: it waits half for them
        alone = wait / np.maximum(can * led, NOTHING)
        delays = (alone + (alone @ self.shares.clients)[:, None]) / 2
        rate = float(taken.sum())
        logged = taken
        if capacity.kind == "quorum":
            logged, waited = self._logged(state, taken, rate)
            delays = delays + waited
        if capacity.kind == "stream":
            delays = delays + ROUNDS * self._chunk(rate)
        spare = (power - work.taking * rate) / np.maximum(work.giving, 1e-12)
        most_given = np.maximum(both, spare)
        gives = [(end, np.minimum(amount, most_given) * led) for end, amount in consumed]
        given, wait = _through(state.queues, logged, gives[0][1])
        state.queues, state.given = wait[-1], float(given.sum())
        used = work.taking * rate + work.giving * state.given
        busy = np.minimum(used / np.maximum(power, NOTHING), 1.0) * self.shares.alive
        self._write(state, rate)
        phases = [(end, np.maximum(rates, NOTHING)) for end, rates in gives]
        return Passed(rate, state.given, delays + emptied(wait, ENDS, phases), busy)

    def _power(self, state: State, normal: Floats) -> Floats:
        jitter: float = self.capacity.host["jitter"]
        all_of_them = schedulers(self.capacity.host)
        disk = self.capacity.disk_work(state.uses)
        power = (all_of_them - disk) * np.exp(jitter * normal - jitter**2 / 2)
        alive: Floats = np.maximum(power, all_of_them / 100) * self.shares.alive
        return alive

    def _caught_up(self, state: State, power: Floats) -> Floats:
        if self.capacity.kind not in ("quorum", "stream"):
            return power
        if not self.shares.alive.all():
            share = self.copies / len(power)
            state.missed = state.missed + ~self.shares.alive * state.given * share
        capacity = self.capacity
        cost = capacity.rabbit["follow"].ps(capacity.size) * PS * capacity.pace
        done = np.minimum(state.missed, power / 4 / cost)
        state.missed = state.missed - done
        left: Floats = power - done * cost
        return left

    def _logged(self, state: State, taken: Floats, rate: float) -> tuple[Floats, Floats]:
        logs, members = self.capacity.logs, self.capacity.members
        most = np.array([1 / log.entry for log in logs])
        can = most / np.maximum(members, NOTHING) * self.shares.led
        safe, wait = _through(state.logs, taken, can)
        state.logs = wait[-1]
        entries = np.minimum(rate * members, most)
        cycles = [log.cycle(entry) for log, entry in zip(logs, entries, strict=True)]
        delays: Floats = wait / np.maximum(can, NOTHING) + ROUNDS * np.array(cycles)
        return safe, delays

    def _chunk(self, rate: float) -> float:
        capacity = self.capacity
        return Chunks.of(capacity.volume, capacity.size).cycle(rate, capacity.queues)

    def _kept(self, state: State) -> float:
        if self.capacity.kind == "stream":
            return 1.0
        late = float(state.queues.sum()) / max(state.given, 1.0)
        return float(min(1.0, late / (self.capacity.rabbit["flush_interval"] * PS)))

    def _write(self, state: State, rate: float) -> None:
        capacity, followed = self.capacity, self.shares.followed
        rabbit, volume = capacity.rabbit, capacity.volume
        backlog = state.queues + state.queues.sum() * followed
        kept = self._kept(state)
        for node in range(len(capacity.members)):
            use = capacity.use(node, rate, kept)
            done, state.credit[node] = written_in(state.credit[node], volume, use.bytes, 1.0)
            state.uses[node] = use._replace(bytes=done)
        limit = rabbit["watermark"] * capacity.host["memory"]
        bodies = 0 if capacity.kind in ("quorum", "stream") else capacity.size
        memory = np.minimum(backlog * bodies, rabbit["paging"] * limit) + backlog * rabbit["index"]
        disk = backlog * (capacity.size + rabbit["log_overhead"])
        full = disk > volume["size"] * (1 - state.filled) - rabbit["disk_free"]
        state.full = bool(full.any())
        state.alarm = bool((memory > limit).any()) or state.full


def _through(before: Floats, arrivals: Floats, rates: Floats) -> tuple[Floats, Floats]:
    wait = waits(before, arrivals, np.broadcast_to(rates * STEP, arrivals.shape))
    return passed(before, arrivals, wait), wait


def waits(before: Floats, arrivals: Floats, served: Floats) -> Floats:
    """Return what waits after each step (Lindley's recursion, a running sum held up at 0).

    Args:
        before: What waited before the first; shape (nodes,).
        arrivals, served: What comes in each step, and what could be served; shape (steps, nodes).

    >>> waits(np.array([1.0]), np.array([[0.0], [0.0], [3.0]]), np.full((3, 1), 2.0)).ravel()
    array([0., 0., 1.])
    """
    walk = before + np.cumsum(arrivals - served, axis=0)
    return walk - np.minimum(np.minimum.accumulate(walk, axis=0), 0)


def passed(before: Floats, arrivals: Floats, waiting: Floats) -> Floats:
    """Return what is served in each step: what came, less what waits longer than before."""
    return arrivals - np.diff(waiting, axis=0, prepend=before[None, :])


def emptied(waiting: Floats, after: Floats, phases: Sequence[tuple[float, Floats]]) -> Floats:
    """Return the seconds until what waits is served by servers whose pace changes.

    Args:
        waiting: Shape (steps, nodes).
        after: When each step ends; shape (steps,).
        phases: When each phase ends, the last one never, and what is served in a second until then;
            rates have the shape (nodes,).

    >>> slow_then_fast = [(2.0, np.array([1.0])), (np.inf, np.array([4.0]))]
    >>> emptied(np.array([[1.0], [9.0]]), np.array([0.5, 1.0]), slow_then_fast).ravel()
    array([1., 3.])
    """
    remaining, taken = waiting, np.zeros_like(waiting)
    for end, rates in phases:
        served = np.minimum(remaining, rates * np.maximum(0.0, end - after)[:, None])
        taken = taken + served / rates
        remaining = remaining - served
    return taken
