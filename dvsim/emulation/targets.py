"""The brokers of an emulated run, private ones or the user's, and whether they still live."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from dvsim.broker import Brokers
from dvsim.emulation.amqp import Queue, Target
from dvsim.emulation.child import Machine, cpu_s, machine
from dvsim.emulation.credentials import credentials_of
from dvsim.emulation.member import dead_node
from dvsim.emulation.settings import Emulation
from dvsim.emulation.team import Team
from dvsim.errors import RunFailed

STALL_S = 120.0  # without a new message in any queue; then the run fails
LOOK_S = 1.0  # between two questions for the depth of the queues


class Shown(Protocol):
    """Shows the progress of an iteration: the phase, the share done, messages per second."""

    def __call__(self, what: str, share: float, rate: float) -> None:
        """Show it."""


@dataclass
class Targets:
    """Where the queue of each receiver is."""

    # Receiver n has its queue on the n-th; after the last comes the first again.
    targets: tuple[Target, ...]
    private: Brokers | None = field(default=None, repr=False)  # the brokers, if they are ours
    team: Team | None = field(default=None, repr=False)  # the hosts of a run on several

    def target(self, receiver: int) -> Target:
        """Return the broker of a receiver, 1 …."""
        return self.targets[(receiver - 1) % len(self.targets)]

    def check(self) -> None:
        """Raise RunFailed if a private node or a host is lost; the error has the end of a log."""
        dead = dead_node(self.private)
        if dead is not None:
            raise RunFailed(dead)
        if self.team is not None:
            self.team.check()

    def cpu_s(self) -> list[float] | None:
        """Return the CPU seconds of each cluster so far; None if the brokers are not ours."""
        if self.team is not None:
            return self.team.cpu_s() or None
        if self.private is None:
            return None
        clusters = self.private.clusters
        return [cpu_s(node.pid for node in cluster.nodes if node.pid) for cluster in clusters]

    def machines(self) -> dict[str, Machine]:
        """Return what all cores of each machine have done so far, by the component of a counter."""
        if self.team is None:
            return {"machine": machine()}
        busy = self.team.busy().values()  # in the order of the hosts in the manifest
        return {f"machine.{number}": machine for number, machine in enumerate(busy, start=1)}


@contextmanager
def broker_targets(emulation: Emulation) -> Iterator[Targets]:
    """Yield the brokers: those of the user, or private ones, which end with the context."""
    with ExitStack() as stack:
        nodes = emulation.resolved().nodes or 1
        team = None
        if emulation.hosts is not None:
            hosts, clusters = emulation.hosts, 0 if emulation.urls else emulation.clusters
            team = stack.enter_context(closing(Team(hosts, hosts.receivers, clusters)))
        if emulation.urls:
            user, password = credentials_of(emulation.credentials)
            yield Targets(tuple(Target(url, user, password) for url in emulation.urls), team=team)
        elif team is not None:
            yield Targets(
                tuple(Target(**started) for started in team.start_brokers(nodes)), team=team
            )
        else:
            brokers = stack.enter_context(Brokers(clusters=emulation.clusters, nodes=nodes))
            firsts = [cluster.nodes[0].url for cluster in brokers.clusters]
            targets = tuple(Target(url, brokers.user, brokers.password) for url in firsts)
            yield Targets(targets, private=brokers)


class Watch:
    """Watches a sending phase: shows its progress, and fails if a broker dies or no queue grows."""

    def __init__(self, where: Targets, queues: list[Queue], messages: int, shown: Shown) -> None:
        self.targets, self._queues, self._messages, self._shown = where, queues, messages, shown
        self._started = self._changed = self._looked = time.monotonic()
        self._queued = 0

    def look(self) -> None:
        """Look if it is time; call it at least twice a second."""
        now = time.monotonic()
        if now - self._looked < LOOK_S:
            return
        self._looked = now
        self.targets.check()
        queued = sum(queue.depth() for queue in self._queues)
        if queued != self._queued:
            self._queued, self._changed = queued, now
        elif now - self._changed > STALL_S:
            if queued < self._messages:
                more = f"{queued:,} of {self._messages:,} are"
                cause = f"{more}; does the broker block publishers (memory, disk)?"
            else:
                cause = "all are; but the programs that sent them do not end"
            raise RunFailed(f"no message has been queued for {STALL_S:.0f} s, {cause}")
        rate = queued / (now - self._started)
        self._shown("sending", queued / self._messages / 2, rate)
