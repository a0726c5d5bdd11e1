"""The nodes of a cluster for one second: processors, logs, queues and volumes, as amounts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dvsim.kinds.cluster.costs import Work, schedulers, work_of
from dvsim.kinds.cluster.disk import Log, Use, flushes, written_in
from dvsim.kinds.cluster.fluid import passed, waits
from dvsim.kinds.cluster.placement import Shares
from dvsim.kinds.cluster.spec import ClusterScenario

Floats = NDArray[np.float64]
STEPS = 50  # of a second
STEP = 1 / STEPS
PS = 1e-12
NOTHING = 1e-9  # messages a second of who does nothing, so that nothing is divided by 0
BIAS = 1.1  # of delivering against taking in, where both have work: CONSUMER_BIAS of RabbitMQ
ROUNDS = 1.5  # cycles of the log: half of one until the next begins, and that one


@dataclass
class State:
    """What one second leaves to the next.

    Attributes
    ----------
    held
        Messages that publishers may not send.
    processors, logs, queues
        Messages that wait on the node of their leader: for schedulers, for the log, for consumers.
    given
        Messages that consumers got in the last second.
    uses
        What each node does to its volume.
    credit
        Bytes of bursts that each volume has left.
    missed
        Entries that each node has to catch up with.
    alarm
        Whether publishers are stopped.
    """

    held: float
    processors: Floats
    logs: Floats
    queues: Floats
    given: float
    uses: list[Use]
    credit: list[float]
    missed: Floats
    alarm: bool = False

    @property
    def there(self) -> float:
        """All messages that no consumer has."""
        return float(self.held + self.processors.sum() + self.logs.sum() + self.queues.sum())


class Passed(NamedTuple):
    """What a second did to messages.

    Attributes
    ----------
    taken, given
        Messages that came through the processors, and that consumers got.
    delays
        Seconds in the cluster of who comes in each step; shape (steps, nodes).
    busy
        How busy the schedulers of each node are.
    """

    taken: float
    given: float
    delays: Floats
    busy: Floats


class Nodes:
    """All nodes, with queues and clients where they are now; made anew when they move."""

    def __init__(self, scenario: ClusterScenario, shares: Shares) -> None:
        self.shares, self.kind = shares, scenario.system.queue
        self.copies = scenario.copies
        self.queues, self.size = scenario.workload.queues, scenario.workload.message_bytes
        self.instance, self.volume, self.broker = (
            scenario.cards[name] for name in ("host", "storage", "broker")
        )
        self.pace: float = self.instance["pace"]
        self.work: Work = work_of(self.kind, shares, self.broker, self.pace, self.size)
        self.members = shares.led + shares.followed
        self.logs = [
            Log.of(self.broker, self.volume, self.pace, self.size, self.queues * share)
            for share in self.members
        ]
        one = "classic" if self.kind == "mirrored" else self.kind
        self.process = self.queues / (self.broker[f"queue_{one}"] * PS * self.pace)

    def second(self, state: State, admitted: Floats, consumed: float, normal: Floats) -> Passed:
        """Let a second pass.

        Parameters
        ----------
        state
            Changed to what it leaves.
        admitted
            Messages that come in each step, if all queues have a leader; of others fewer do.
        consumed
            Messages a second that all consumers can take.
        normal
            A draw for each node.
        """
        led, work = self.shares.led, self.work
        power = self._caught_up(state, self._power(state, normal))
        both = power / np.maximum(work.taking + work.giving, NOTHING)
        due = state.given + float(state.queues.sum())
        rest = np.maximum(power - work.giving * np.minimum(due, BIAS * both), power / 100)
        can = np.minimum(rest / np.maximum(work.taking, 1e-12), self.process)
        taken, wait = _through(state.processors, admitted[:, None] * led, can * led)
        state.processors = wait[-1]
        # a message is handled by nodes of its clients, too: it waits half for them
        alone = wait / np.maximum(can * led, NOTHING)
        delays = (alone + (alone @ self.shares.clients)[:, None]) / 2
        rate = float(taken.sum())
        logged = taken
        if self.kind == "quorum":
            logged, waited = self._logged(state, taken, rate)
            delays = delays + waited
        spare = (power - work.taking * rate) / np.maximum(work.giving, 1e-12)
        gives = np.minimum(consumed, np.maximum(both, spare)) * led
        given, wait = _through(state.queues, logged, gives)
        state.queues, state.given = wait[-1], float(given.sum())
        used = work.taking * rate + work.giving * state.given
        busy = np.minimum(used / np.maximum(power, NOTHING), 1.0) * self.shares.alive
        self._write(state, rate)
        return Passed(rate, state.given, delays + wait / np.maximum(gives, NOTHING), busy)

    def _power(self, state: State, normal: Floats) -> Floats:
        """Return the scheduler seconds that each node has, less what its disk costs."""
        jitter: float = self.instance["jitter"]
        all_of_them = schedulers(self.instance)
        operation = self.broker["disk_operation"] * PS * self.pace
        disk = np.array([one.operations for one in state.uses]) * operation
        power = (all_of_them - disk) * np.exp(jitter * normal - jitter**2 / 2)
        alive: Floats = np.maximum(power, all_of_them / 100) * self.shares.alive
        return alive

    def _caught_up(self, state: State, power: Floats) -> Floats:
        """Spend up to a quarter of a node's power on entries that it missed while it was dead."""
        if self.kind not in ("quorum", "stream"):
            return power
        if not self.shares.alive.all():
            share = self.copies / len(power)
            state.missed = state.missed + ~self.shares.alive * state.given * share
        cost = self.broker["follow"].ps(self.size) * PS * self.pace
        done = np.minimum(state.missed, power / 4 / cost)
        state.missed = state.missed - done
        left: Floats = power - done * cost
        return left

    def _logged(self, state: State, taken: Floats, rate: float) -> tuple[Floats, Floats]:
        """Return what is safe in the logs in each step, and how long that takes."""
        most = np.array([1 / log.entry for log in self.logs])
        can = most / np.maximum(self.members, NOTHING) * self.shares.led
        safe, wait = _through(state.logs, taken, can)
        state.logs = wait[-1]
        entries = np.minimum(rate * self.members, most)
        cycles = [log.cycle(one) for log, one in zip(self.logs, entries, strict=True)]
        delays: Floats = wait / np.maximum(can, NOTHING) + ROUNDS * np.array(cycles)
        return safe, delays

    def _write(self, state: State, rate: float) -> None:
        """Work out what each node writes, how full it is, and whether that stops publishers."""
        broker, volume, followed = self.broker, self.volume, self.shares.followed
        backlog = state.queues + state.queues.sum() * followed
        late = state.queues.sum() / max(state.given, 1.0)
        kept = 1.0 if self.kind == "stream" else min(1.0, late / (broker["flush_interval"] * PS))
        for node, (log, share) in enumerate(zip(self.logs, self.members, strict=True)):
            if self.kind == "quorum":
                use = log.used(min(rate * share, 1 / log.entry), kept)
            else:
                queues = self.queues * share
                use = flushes(broker, volume, self.size, rate * share, kept, queues)
            done, state.credit[node] = written_in(state.credit[node], volume, use.bytes, 1.0)
            state.uses[node] = use._replace(bytes=done)
        limit = broker["watermark"] * self.instance["memory"]
        bodies = 0 if self.kind in ("quorum", "stream") else self.size
        memory = np.minimum(backlog * bodies, broker["paging"] * limit) + backlog * broker["index"]
        disk = backlog * (self.size + broker["log_overhead"])
        full = disk > volume["size"] - broker["disk_free"]
        state.alarm = bool((memory > limit).any() or full.any())


def _through(before: Floats, arrivals: Floats, rates: Floats) -> tuple[Floats, Floats]:
    """Return what comes through servers of some rates in each step, and what waits after it."""
    wait = waits(before, arrivals, np.broadcast_to(rates * STEP, arrivals.shape))
    return passed(before, arrivals, wait), wait
