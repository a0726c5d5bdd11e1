"""The Data Vortex switch in plain Python, written for reading: the definition that the core must meet.

Nodes are (cylinder, angle, height). Nothing here is fast or clever; heights and angles are the real
ones, every packet is an object, and the rules stand in the order in which they hold.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field

MASK = (1 << 64) - 1


def mix(x: int) -> int:
    """The output function of SplitMix64."""
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def draw(key: int, index: int) -> int:
    """The number at `index` of the sequence that starts at `key`."""
    return mix((key + index * 0x9E3779B97F4A7C15) & MASK)


def reverse(value: int, bits: int) -> int:
    return int(format(value, f"0{bits}b")[::-1], 2)


@dataclass
class Packet:
    angle: int  # addressed output
    height: int
    arrived: int
    injected: int = -1


@dataclass
class ReferenceSwitch:
    """One switch; `step` runs one slot. Parameters as in `dvsim.Switch`, probabilities times 2^32."""

    height: int
    angles: int
    injecting: tuple[int, ...]
    crossing: str = "brc"
    exit_rule: str = "angle"
    injection: str = "drop"
    seed: int = 1
    threshold: int = 1 << 32
    order: list[list[int]] | None = None  # crossing random: for each cylinder, next R of R
    permutation: list[int] | None = None  # destination height of each height
    hot: tuple[tuple[int, int], ...] = ()  # (angle, height)
    hot_threshold: int = 0
    burst_slots: int = 0
    burst_threshold: int = 0
    now: int = 0
    nodes: dict[tuple[int, int, int], Packet] = field(default_factory=dict)
    queues: dict[tuple[int, int], deque[Packet]] = field(default_factory=dict)
    count: Counter = field(default_factory=Counter)

    def __post_init__(self):
        self.n = self.height.bit_length() - 1
        self.key = mix(self.seed)
        self.burst_key = mix(self.seed ^ 0x6275727374)
        self.hot_key = mix(self.seed ^ 0x686F74)
        self.head_since = Counter()  # saturate: slot in which the waiting packet came to the head

    def cross(self, c: int, h: int) -> int:
        """The height to which a packet that stays on cylinder c goes: bit c is flipped."""
        k = self.n - c  # low bits that are not settled yet
        low, high = h & ((1 << k) - 1), h >> k << k
        value = reverse(low, k)
        if self.crossing == "brc":
            value = (value + 1) % (1 << k)
        elif self.crossing == "xor":
            value ^= 1
        else:
            value = self.order[c][value]
        return high | reverse(value, k)

    def arrival(self, a: int, h: int, slot: int) -> tuple[bool, int, int]:
        """Whether a packet arrives at input (a, h) in a slot, and its address (angle, height)."""
        ports, u = self.angles * self.height, reverse(h, self.n)
        index = slot * ports + a * self.height + u
        x = draw(self.key, index)
        low, arrives = x & 0xFFFFFFFF, x >> 32 < self.threshold
        if self.burst_slots:
            z = draw(self.burst_key, slot // self.burst_slots * ports + a * self.height + u)
            arrives, low = arrives and z >> 32 < self.burst_threshold, z & 0xFFFFFFFF
        addressed = self.exit_rule == "angle"
        to = low * (ports if addressed else self.height) >> 32
        angle, height = divmod(to, self.height)
        height = reverse(height, self.n)
        if self.permutation is not None:
            angle, height = (a if addressed else 0), self.permutation[h]
        if self.hot:
            y = draw(self.hot_key, index)
            if y >> 32 < self.hot_threshold:
                angle, height = self.hot[(y & 0xFFFFFFFF) * len(self.hot) >> 32]
        return arrives, angle, height

    def step(self) -> None:
        """Run one slot: move every packet from the inside out, then inject."""
        now, moved = self.now, {}
        for c in range(self.n, -1, -1):
            for (cylinder, a, h), packet in self.nodes.items():
                if cylinder != c:
                    continue
                on = (a + 1) % self.angles
                self.count["present", c] += 1
                if c == self.n:
                    if self.exit_rule == "any" or a == packet.angle:
                        self.deliver(packet, a, h)
                    else:
                        moved[c, on, h] = packet
                    continue
                bit = self.n - 1 - c
                right = (h ^ packet.height) >> bit & 1 == 0
                self.count["wanted", c] += right
                if right and (c + 1, on, h) not in moved:
                    moved[c + 1, on, h] = packet
                else:
                    self.count["blocked", c] += right
                    assert (c, on, self.cross(c, h)) not in moved
                    moved[c, on, self.cross(c, h)] = packet
        self.nodes = moved
        for a in self.injecting:
            for h in range(self.height):
                self.inject(a, h, now)
        self.now += 1

    def deliver(self, packet: Packet, a: int, h: int) -> None:
        assert h == packet.height
        port = (a if self.exit_rule == "angle" else 0, h)
        self.count["delivered", port] += 1
        self.count["hops", self.now - packet.injected] += 1
        self.count["latency", self.now - packet.arrived] += 1

    def inject(self, a: int, h: int, now: int) -> None:
        free = (0, a, h) not in self.nodes
        arrives, angle, height = self.arrival(a, h, now)
        if self.injection == "saturate":
            self.count["offered", (a, h)] += 1
            if not free:
                return
            _, angle, height = self.arrival(a, h, self.head_since[a, h])
            self.head_since[a, h] = now + 1
            self.enter(Packet(angle, height, now), a, h, now)
            return
        self.count["offered", (a, h)] += arrives
        if self.injection == "drop":
            if arrives and free:
                self.enter(Packet(angle, height, now), a, h, now)
            return
        queue = self.queues.setdefault((a, h), deque())
        if arrives:
            queue.append(Packet(angle, height, now))
        if queue and free:
            self.enter(queue.popleft(), a, h, now)

    def enter(self, packet: Packet, a: int, h: int, now: int) -> None:
        packet.injected = now
        self.nodes[0, a, h] = packet
        self.count["accepted", (a, h)] += 1
