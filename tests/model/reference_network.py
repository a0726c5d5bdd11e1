"""Planes of switches in plain Python, written for reading: the definition the core must meet.

Built of `ReferenceSwitch`. A link is a list of (slot from which on it may enter, packet), kept by
the input that it leads to: (level, switch, port), or (-1, 0, port) for a port of the network.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field

from reference_switch import MASK, Packet, ReferenceSwitch, draw, mix, reverse

LOW = 0xFFFFFFFF


@dataclass
class NetworkPacket(Packet):
    to: int = 0  # port of the network
    visited: int = 0  # nodes


@dataclass
class Burst:
    handle: int
    sent: int
    left: int
    first: int = -1


class CarriedSwitch(ReferenceSwitch):
    """A switch to which a network offers packets; what it offers is set before `inject_all`."""

    def __init__(self, **geometry):
        super().__init__(**geometry)
        self.offers = {}

    def offered(self, a, h):
        return self.offers.get((a, h))


@dataclass
class ReferenceNetwork:
    """Parameters as in `dvsim.core.network`; chances times 2^32."""

    geometry: dict  # of ReferenceSwitch: height, angles, injecting, crossing, exit_rule, order
    levels: int
    ports: int
    planes: int
    link: int
    injection: str = "drop"
    seed: int = 1
    threshold: int = 1 << 32
    permutation: list[int] | None = None
    hot: tuple[int, ...] = ()
    hot_threshold: int = 0
    burst_slots: int = 0
    burst_threshold: int = 0
    trace: dict | None = None  # (slot, plane, port) -> port
    now: int = 0
    count: Counter = field(default_factory=Counter)
    completed: list = field(default_factory=list)  # (handle, first, last) in the last slot

    def __post_init__(self):
        height, angles = self.geometry["height"], self.geometry["angles"]
        self.height, self.angles = height, angles
        self.any = self.geometry["exit_rule"] == "any"
        self.radix = height if self.any else height * angles
        self.half, self.top = self.radix // 2, self.levels - 1
        self.child = self.half**self.top if self.top else 1  # ports below a child of the top
        groups = self.ports // self.child
        self.parallel = self.radix // groups
        counts = [self.ports // self.half] * self.top + [self.ports // self.radix]
        self.place, places = [], self.ports
        for count in counts:
            self.place.append(places)
            places += count * height * angles
        self.places = places
        seeds = [draw(mix(self.seed ^ 0x706C616E65), plane) for plane in range(self.planes)]
        self.seeds = seeds
        self.route_keys = [mix(seed ^ 0x726F757465) for seed in seeds]
        self.switches = [
            {
                (level, box): CarriedSwitch(**self.geometry)
                for level, count in enumerate(counts)
                for box in range(count)
            }
            for _ in range(self.planes)
        ]
        self.links = [{} for _ in range(self.planes)]  # input -> packets on the way to it
        self.hosts = [[deque() for _ in range(self.ports)] for _ in range(self.planes)]
        self.sent = Counter()
        self.bursts = {}

    # --- where packets go

    def rand(self, plane, place, choices):
        return (draw(self.route_keys[plane], self.now * self.places + place) & LOW) * choices >> 32

    def output(self, plane, level, box, to, place):
        """The port by which a packet leaves a switch."""
        if level == self.top:
            group = to // self.child
            if self.parallel == 1:
                return group
            return group * self.parallel + self.rand(plane, place, self.parallel)
        group = box // self.half**level
        if to // self.half ** (level + 1) == group:
            return to // self.half**level % self.half
        return self.half + self.rand(plane, place, self.half)

    def end(self, level, box, port):
        """The input at the other end of an output."""
        down = port < self.half or level == self.top
        if not down:
            group, number = divmod(box, self.half**level)
            link = number * self.half + port - self.half
            if level + 1 == self.top:
                there = group * self.parallel + link % self.parallel
                return level + 1, link // self.parallel, there
            above = group // self.half * self.half ** (level + 1) + link
            return level + 1, above, group % self.half
        if level == 0:
            return -1, 0, box * (self.half if self.top else self.radix) + port
        if level == self.top:
            group, link = port // self.parallel, box * self.parallel + port % self.parallel
        else:
            above, link = divmod(box, self.half**level)
            group = above * self.half + port
        below = group * self.half ** (level - 1) + link // self.half
        return level - 1, below, self.half + link % self.half

    def address(self, packet, plane, level, box, place):
        """Address a packet to the output by which it is to leave a switch."""
        packet.angle, packet.height = divmod(
            self.output(plane, level, box, packet.to, place), self.height
        )

    # --- one slot

    def step(self):
        self.completed = []
        for plane in range(self.planes):
            for (level, box), switch in self.switches[plane].items():
                switch.move_all()
                first = (self.now - 1) % self.angles
                left = sorted(switch.left, key=lambda p: (p.path[-1][2][1] - first) % self.angles)
                for packet in left:
                    self.leave(plane, level, box, packet)
            self.arrive(plane)
            self.offer(plane)
            for switch in self.switches[plane].values():
                switch.inject_all()
            self.entered(plane)
        self.now += 1
        self.completed.sort(key=lambda burst: burst[0])

    def leave(self, plane, level, box, packet):
        _, a, h = packet.path[-1][2]
        packet.visited += self.now - packet.injected
        there = self.end(level, box, h if self.any else a * self.height + h)
        node = a * self.height + reverse(h, self.switches[plane][level, box].n)
        place = self.place[level] + box * self.height * self.angles + node
        if there[0] >= 0:
            self.address(packet, plane, *there[:2], place)
        queue = self.links[plane].setdefault(there, deque())
        queue.append((self.now + self.link, packet))
        way = "down" if there[0] < level else "up"
        self.count["way", there] = (level, way)

    def arrive(self, plane):
        """Packets whose time has come: offered to their switch, or delivered."""
        for there, queue in self.links[plane].items():
            ready = sum(slot <= self.now for slot, _ in queue)
            fresh = any(slot == self.now for slot, _ in queue)
            sender = self.count["way", there]
            self.count["queued", sender] += ready
            if fresh:
                self.count["peak", sender] = max(self.count["peak", sender], ready)
            if ready and there[0] < 0:
                self.deliver(plane, there[2], queue.popleft()[1])

    def deliver(self, plane, port, packet):
        assert packet.to == port
        self.count["delivered", plane, port] += 1
        self.count["hops", packet.visited] += 1
        extra = 0 if self.injection == "given" else self.link
        self.count["latency", self.now - packet.arrived + extra] += 1
        if self.injection == "given":
            burst = self.bursts[packet.handle]
            burst.left -= 1
            burst.first = self.now if burst.first < 0 else burst.first
            if burst.left == 0:
                self.completed.append((packet.handle, burst.first, self.now))

    def offer(self, plane):
        for switch in self.switches[plane].values():
            switch.offers = {}
        for (level, box, port), queue in self.links[plane].items():
            if level >= 0 and queue and queue[0][0] <= self.now:
                self.put_before(plane, level, box, port, queue[0][1])
        for port, queue in enumerate(self.hosts[plane]):
            if self.injection == "drop":
                queue.clear()
            if self.injection != "given":
                self.generate(plane, port, queue)
            if queue and queue[0][0] <= self.now:
                packet = queue[0][1]
                leaf, q = divmod(port, self.half if self.top else self.radix)
                if packet.injected == -1:  # not yet offered
                    packet.injected = -2
                    self.address(packet, plane, 0, leaf, port)
                self.put_before(plane, 0, leaf, q, packet)

    def put_before(self, plane, level, box, port, packet):
        a, h = divmod(port, self.height)
        if self.any:
            a = self.geometry["injecting"][0]
        self.switches[plane][level, box].offers[a, h] = packet

    def generate(self, plane, port, queue):
        arrives, to = self.arrival(plane, port)
        if self.injection == "saturate":
            arrives = not queue
            self.count["offered", plane, port] += 1
            if queue:
                queue[0][1].arrived = self.now
        else:
            self.count["offered", plane, port] += arrives
        if arrives:
            queue.append((self.now, NetworkPacket(0, 0, self.now, to=to)))

    def entered(self, plane):
        for (level, box), switch in self.switches[plane].items():
            for (a, h), packet in switch.offers.items():
                if packet.path and packet.path[-1] == (self.now, "enter", (0, a, h), None):
                    port = h if self.any else a * self.height + h
                    self.take(plane, level, box, port)

    def take(self, plane, level, box, port):
        down = self.half if self.top else self.radix
        if level == 0 and port < down:
            self.hosts[plane][box * down + port].popleft()
            self.count["accepted", plane, box * down + port] += 1
        else:
            self.links[plane][level, box, port].popleft()

    # --- what is sent

    def send(self, source, to, words, handle):
        self.bursts[handle] = Burst(handle, self.now, words)
        for _ in range(words):
            plane = (source + self.sent[source]) % self.planes
            self.sent[source] += 1
            packet = NetworkPacket(0, 0, self.now, handle=handle, to=to)
            self.hosts[plane][source].append((self.now + self.link, packet))
            self.count["offered", plane, source] += 1

    def arrival(self, plane, port):
        """Whether a packet arrives at a port now, and where it goes."""
        if self.trace is not None:
            to = self.trace.get((self.now, plane, port))
            return to is not None, to
        index, seed = self.now * self.ports + port, self.seeds[plane]
        x = draw(mix(seed), index)
        arrives, low = x >> 32 < self.threshold, x & LOW
        if self.burst_slots:
            frame = self.now // self.burst_slots * self.ports + port
            z = draw(mix((seed ^ 0x6275727374) & MASK), frame)
            arrives, low = arrives and z >> 32 < self.burst_threshold, z & LOW
        to = low * self.ports >> 32
        if self.permutation is not None:
            to = self.permutation[port]
        if self.hot:
            y = draw(mix(seed ^ 0x686F74), index)
            if y >> 32 < self.hot_threshold:
                to = self.hot[(y & LOW) * len(self.hot) >> 32]
        return arrives, to

    # --- what is where

    def in_flight(self):
        inside = sum(len(s.nodes) for plane in self.switches for s in plane.values())
        return inside + sum(len(queue) for plane in self.links for queue in plane.values())

    def waiting(self):
        if self.injection not in ("queue", "given"):
            return 0
        return sum(len(queue) for plane in self.hosts for queue in plane)
