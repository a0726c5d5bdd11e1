"""One run of one point: an open loop, second by second, or one sender and one receiver.

In a second of an open loop nothing changes but amounts. Between two seconds events happen, alarms
are set and leaders are elected. Without a rate a sender and a receiver are as fast as credit and
the process of the queue let them, and nothing scatters: a batch of the log is what came while the
one before was written.
"""

from __future__ import annotations

import math
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from dvsim.contract.kind import Plain
from dvsim.core.cluster.capacity import Capacity
from dvsim.core.cluster.disk import Use
from dvsim.core.cluster.placement import Placement
from dvsim.core.streams import Streams
from dvsim.emulation.trace.timeline import Event, Timeline
from dvsim.errors import RunFailed
from dvsim.kinds.cluster.measures import KB, MS, Left, Sums, monthly
from dvsim.kinds.cluster.metrics import METRICS, unsettled
from dvsim.kinds.cluster.nodes import ENDS, STEP, STEPS, Nodes, Passed, State
from dvsim.kinds.cluster.spec import ClusterScenario

Floats = NDArray[np.float64]
PS, NS = 1e-12, 10**9
AT_ONCE = 1e9  # messages in a second of consumers that take no time
FULL = 1 - 1e-9  # share of the queues that have a leader, if all have
BUSIEST = 0.98  # as far as a message that meets no queue is slowed down
ROUNDING = 1e-6


def run_point(
    scenario: ClusterScenario, seed: int, replication: int, timeline: Timeline | None = None
) -> Plain:
    """Run one replication of a point, and note its course on a timeline if there is one."""
    return _Run(scenario, seed, replication, timeline).all()


def factor_of(scenario: ClusterScenario, what: str, second: int) -> float:
    """Return by how much events of a sort multiply something in a second."""
    return math.prod(event.factor for event in scenario.events(what, second))


def filled_of(scenario: ClusterScenario, second: int) -> Floats:
    """Return the share of each volume that something else has in a second."""
    filled = np.zeros(scenario.system.nodes)
    for event in scenario.events("fill", second):
        filled[: event.victims] = np.minimum(1.0, filled[: event.victims] + event.factor)
    return filled


def consumers_of(scenario: ClusterScenario) -> int:
    """Return how many consumers there are: those of the file, or a tenth more than are needed."""
    work = scenario.workload
    needed = math.ceil((work.rate or 0) * work.processing * PS * 1.1)
    return work.consumers or max(2 * work.queues, needed)


def consumed_of(scenario: ClusterScenario, second: int, back: float) -> list[tuple[float, float]]:
    """Return the messages a second that all consumers can take, and until when each is so.

    That is in seconds after the one that is given; what holds at the end of the run holds for ever.
    A consumer may have `prefetch` messages, and gets others for those of an acknowledgement `back`
    seconds after it.
    """
    work = scenario.workload
    seconds = scenario.workload.seconds
    during = [event.during(seconds) for event in scenario.events("slow")]
    changes = {at for own in during for at in (own.start, own.stop) if second < at < seconds}
    begins = [second, *sorted(changes)]
    pieces = []
    for begin, end in zip(begins, [*begins[1:], math.inf], strict=True):
        taking = work.processing * PS * factor_of(scenario, "slow", begin)
        if work.prefetch:
            taking = max(taking, (back + work.acknowledged * taking) / work.prefetch)
        pieces.append((end - second, consumers_of(scenario) / taking if taking else AT_ONCE))
    return pieces


def deaths_of(scenario: ClusterScenario) -> list[tuple[range, range]]:
    """Return in which seconds nodes are dead, and which: those of a second event are others."""
    kills = scenario.events("kill")
    firsts = accumulate((kill.victims for kill in kills), initial=0)
    return [
        (kill.during(scenario.workload.seconds), range(first, first + kill.victims))
        for kill, first in zip(kills, firsts, strict=False)
    ]


class _Death:
    def __init__(self, during: range, noticed: int, victims: range) -> None:
        self.begin, self.end, self.victims = during.start, during.stop, victims
        self.elected = min(self.begin + noticed, self.end)
        self.orphans: list[NDArray[np.int64]] = []


class _Run:
    def __init__(
        self, scenario: ClusterScenario, seed: int, replication: int, timeline: Timeline | None
    ) -> None:
        self.scenario, self.timeline = scenario, timeline
        work, system = scenario.workload, scenario.system
        self.place = Placement.even(
            system.queue,
            work.queues,
            system.nodes,
            scenario.copies,
            anew=system.mirrors == "anew",
            balanced=system.leaders == "balanced",
        )
        self.nodes = Nodes(scenario, self.place.shares())
        draws = Streams(seed, replication, 1)
        self.jitter = draws.generator("nodes/jitter")
        self.path = draws.generator("messages/path")
        none = np.zeros(system.nodes)
        idle = [Use(0, 0, 0)] * system.nodes
        credit = [float(scenario.cards["storage"]["credit"])] * system.nodes
        self.state = State(0.0, none, none, none, 0.0, idle, credit, none, none)
        self.sums = Sums()
        noticed = math.ceil(scenario.cards["broker"]["failover"] * PS)
        self.deaths = [_Death(during, noticed, nodes) for during, nodes in deaths_of(scenario)]

    def all(self) -> Plain:
        workload, state = self.scenario.workload, self.state
        for number in range(workload.seconds):
            for death in self.deaths:
                self._happen(death, number)
            self._second(number)
        dead = ~self.place.alive
        stranded = float((state.queues + state.logs)[dead].sum())
        # what the brokers may not take waits in the publishers
        over = max(0.0, float(state.processors.sum()) - workload.window * workload.publishers)
        held = state.held + over
        stock = Left(held, state.there - held - stranded, stranded)
        numbers = self.sums.metrics(self.scenario, stock)
        return Plain(numbers, notes=unsettled(numbers))

    def _happen(self, death: _Death, number: int) -> None:
        if number == death.begin:
            death.orphans = [np.flatnonzero(self.place.leaders == node) for node in death.victims]
            self._lose(slice(death.victims.start, death.victims.stop))
            self.place.kill(death.victims)
        elif number == death.elected:
            self.place.elect()
            self._move()
        if number == death.end:
            self.place.revive(death.victims)
            self._move()
        if number in (death.begin, death.elected, death.end):
            self.nodes = Nodes(self.scenario, self.place.shares())

    def _lose(self, victims: slice) -> None:
        """Give publishers back what the dead had not confirmed, and note what is delivered again.

        A classic queue confirms when it has flushed, so that consumers may have had what is sent
        again.
        """
        state, sums, workload = self.state, self.sums, self.scenario.workload
        share = float(self.nodes.shares.led[victims].sum())
        most = (workload.prefetch or math.inf) * consumers_of(self.scenario)
        sums.redelivered += min(float(state.queues[victims].sum()), most * share)
        gone = float(state.processors[victims].sum() + state.logs[victims].sum())
        sums.resent += gone
        if self.scenario.system.queue in ("classic", "mirrored"):
            rabbit = self.nodes.capacity.rabbit
            sums.resent += state.given * share * rabbit["flush_interval"] * PS / 2
        state.held += gone
        state.processors, state.logs = state.processors.copy(), state.logs.copy()
        state.processors[victims] = state.logs[victims] = 0

    def _move(self) -> None:
        queues = self.state.queues.copy()
        for death in self.deaths:
            for node, orphans in zip(death.victims, death.orphans, strict=False):
                shares = self.place.moved(orphans)
                there, queues[node] = queues[node], 0.0
                queues += there * shares
                queues[node] += there * max(0.0, 1 - shares.sum())
            death.orphans = [
                orphans[self.place.leaders[orphans] < 0] if len(orphans) else orphans
                for orphans in death.orphans
            ]
        self.state.queues = queues

    def _second(self, number: int) -> None:
        scenario, state, sums = self.scenario, self.state, self.sums
        work = scenario.workload
        published = (work.rate or 0.0) * factor_of(scenario, "peak", number)
        sums.published.append(sums.published[-1] + published)
        state.filled = filled_of(scenario, number)
        alarm = state.alarm or bool(scenario.events("alarm", number))
        led = float(self.nodes.shares.led.sum())
        wanted = published * led
        if alarm:
            wanted = 0.0
        elif led > FULL:  # all queues have a leader: what waited may go, too
            wanted = published + state.held
        confirmed = self.nodes.capacity.confirmed(work.window * work.publishers, wanted)
        state.held = max(0.0, state.held + published - confirmed)
        admitted = np.full(STEPS, confirmed * STEP / led) if led else np.zeros(STEPS)
        consumed = consumed_of(scenario, number, self.nodes.capacity.work.back)
        normal = self.jitter.standard_normal(scenario.system.nodes)
        passed = self.nodes.second(state, admitted, consumed, normal)
        full = state.full
        if admitted[0]:
            self._note(number, admitted, passed)
        sent_of = self.nodes.capacity.work.sent
        sums.add(passed.taken, passed.given, passed.busy, state.uses, sent_of)
        sums.alarms += alarm
        sums.full += full
        if self.timeline is not None:
            note_second(self.timeline, number, published, state, passed, stopped=alarm)
        missing = sums.published[-1] - sums.given - state.there
        if abs(missing) > ROUNDING * max(1.0, sums.published[-1]):
            message = f"{missing:.6g} messages are nowhere after {number + 1} s"
            raise RunFailed(message)

    def _note(self, number: int, admitted: Floats, passed: Passed) -> None:
        sums, led = self.sums, self.nodes.shares.led
        course = sums.admitted + np.cumsum(admitted) * led.sum()
        sums.admitted = float(course[-1])
        intended = np.interp(course, sums.published, np.arange(len(sums.published)))
        late = np.maximum(0.0, number + ENDS - intended)
        drawn = self.path.standard_exponential(passed.delays.shape)
        path = drawn * self.nodes.capacity.work.path / (1 - np.minimum(passed.busy, BUSIEST))
        values = late[:, None] + passed.delays + path + self.nodes.capacity.work.links
        chosen = led > 0
        sums.values.append(values[:, chosen].ravel())
        sums.weights.append((admitted[:, None] * led)[:, chosen].ravel())


def run_closed(scenario: ClusterScenario) -> Plain:
    """Return the rate at which credit comes back as fast as it is spent, and what follows.

    A sender with `credit` messages on the way gets it back `credit_cycles` cycles of the log
    later. The rate is the largest that neither this nor the process of the queue forbids. Without
    a log only the process limits it.
    """
    work, system = scenario.workload, scenario.system
    cards = scenario.cards | {"rabbit": scenario.cards["broker"]}
    shares = Placement.even(system.queue, 1, system.nodes, scenario.copies).shares()
    capacity = Capacity(system.queue, shares, cards, work.message_bytes, 1)
    numbers = dict.fromkeys(METRICS, float("nan"))
    credit = work.credit or work.window
    rate = capacity.confirmed(credit)
    if system.queue == "quorum":
        use = capacity.use(0, rate, 0.0)
        numbers |= {
            "fsyncs": use.syncs * work.seconds,
            "iops": use.operations,
            "block": use.bytes / use.operations * KB,
        }
    month = monthly(scenario)
    numbers |= {
        "rate_in": rate,
        "rate_out": rate,
        "p50": credit / rate * MS,
        "cpu": rate * capacity.serial,
        "unstable": 0.0,
        "month": month,
        "cost": month / rate * 1000,
    }
    return Plain(numbers, fidelity="flow")


def note_second(
    timeline: Timeline,
    second: int,
    published: float,
    state: State,
    passed: Passed,
    *,
    stopped: bool,
) -> None:
    """Note what a second has left: rates of clients, and what waits and works on each node.

    Args:
        stopped: Publishers were stopped in it.
    """
    at = second * NS

    def level(component: str, name: str, value: float) -> None:
        timeline.add(component, name, "level", Event(at, at, name, {"value": float(value)}))

    level("clients", "published msg/s", published)
    level("clients", "consumed msg/s", passed.given)
    level("clients", "held by publishers", state.held)
    for node, busy in enumerate(passed.busy):
        component = f"node {node + 1}"
        level(component, "busy", busy)
        level(component, "waits for schedulers", state.processors[node])
        level(component, "waits for the log", state.logs[node])
        level(component, "queues", state.queues[node])
        level(component, "written B/s", state.uses[node].bytes)
    if stopped:
        timeline.add("clients", "alarm", "moment", Event(at, at, "alarm", {}))
