"""The Data Vortex switch in plain Python, written for reading: the definition the core must meet.

Nodes are (cylinder, angle, height). Nothing here is fast or clever: heights and angles are the real
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
    handle: int = 0
    path: list = field(default_factory=list)  # (slot, event, node after it, packet to blame)


@dataclass
class ReferenceSwitch:
    """One switch; `step` runs one slot. Parameters as in `dvsim.Switch`, chances times 2^32."""

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
    trace: dict | None = None  # (slot, angle, height) -> (angle, height)
    faults: tuple[tuple[str, int, int, int], ...] = ()  # kind, cylinder, angle, height
    now: int = 0
    nodes: dict[tuple[int, int, int], Packet] = field(default_factory=dict)
    queues: dict[tuple[int, int], deque[Packet]] = field(default_factory=dict)
    given: dict[tuple[int, int], Packet] = field(default_factory=dict)  # for the next slot
    entered: list[Packet] = field(default_factory=list)
    left: list[Packet] = field(default_factory=list)  # delivered in the last slot
    refused: list[Packet] = field(default_factory=list)  # refused in the last slot
    count: Counter = field(default_factory=Counter)

    def __post_init__(self):
        self.n = self.height.bit_length() - 1
        self.key = mix(self.seed)
        self.burst_key = mix(self.seed ^ 0x6275727374)
        self.hot_key = mix(self.seed ^ 0x686F74)
        self.head_since = Counter()  # saturate: slot in which the waiting packet came to the head

    def faulty(self, node: tuple[int, int, int], *kinds: str) -> bool:
        return any((kind, *node) in self.faults for kind in kinds)

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
        if self.trace is not None:
            to = self.trace.get((slot, a, h))
            return (False, 0, 0) if to is None else (True, *to)
        if self.injection == "drop" and not (self.burst_slots or self.permutation or self.hot):
            return self.drawn(a, h, slot)
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

    def drawn(self, a: int, h: int, slot: int) -> tuple[bool, int, int]:
        """The same for uniform arrivals that are dropped when refused: one bit of each number.

        64 inputs, a block, get the 64 bits of each number of a sequence of their own.
        """
        lane, u = (a - slot) % self.angles, reverse(h, self.n)  # a packet keeps its lane
        if self.height < 64:
            blocks = -(-self.height * self.angles // 64)
            block, place = divmod(u * self.angles + lane, 64)
        else:
            blocks = self.height // 64 * self.angles
            block, place = u // 64 * self.angles + lane, u % 64
        key = draw(self.key, slot * blocks + block)

        def bits(first: int, count: int) -> list[int]:
            bit = 8 * (place % 8) + place // 8
            return [draw(key, j) >> bit & 1 for j in range(first, first + count)]

        def number(lowest_first: list[int]) -> int:
            return sum(bit << k for k, bit in enumerate(lowest_first))

        addressed = self.exit_rule == "angle"
        phases = (self.angles - 1).bit_length() if addressed else 0
        chance = number(bits(self.n + phases, 32)[::-1])
        phase, again = number(bits(self.n, phases)), self.n + phases + 32
        while phase >= self.angles:
            phase, again = number(bits(again, phases)), again + phases
        to = (lane + phase) % self.angles if addressed else 0
        return chance < self.threshold, to, reverse(number(bits(0, self.n)), self.n)

    def step(self) -> None:
        """Run one slot: move every packet from the inside out, then inject."""
        self.move_all()
        self.inject_all()

    def move_all(self) -> None:
        standing, self.nodes, self.left, self.refused = self.nodes, {}, [], []
        for c in range(self.n, -1, -1):
            for node, packet in standing.items():
                if node[0] == c:
                    self.count["present", c] += 1
                    self.move(packet, node)

    def inject_all(self) -> None:
        for a in self.injecting:
            for h in range(self.height):
                self.inject(a, h)
        self.given = {}
        self.now += 1

    def move(self, packet: Packet, node: tuple[int, int, int]) -> None:
        c, a, h = node
        on = (a + 1) % self.angles
        if c == self.n:
            if self.exit_rule == "any" or a == packet.angle:
                self.deliver(packet, node)
            else:
                self.stay(packet, node, (c, on, h), "cross")
            return
        below, beside = (c + 1, on, h), (c, on, self.cross(c, h))
        if (h ^ packet.height) >> (self.n - 1 - c) & 1:
            self.stay(packet, node, beside, "cross")
            return
        self.count["wanted", c] += 1
        taker = self.nodes.get(below)
        if self.faulty(node, "down", "block") or self.faulty(below, "node"):
            descends = False
        else:
            descends = taker is None or self.faulty(node, "free")
        if not descends:
            self.count["blocked", c] += 1
            self.stay(packet, node, beside, "deflect", taker)
        elif taker is None:
            self.place(packet, below, "descend")
        else:
            self.lose(packet, node)

    def stay(self, packet, node, beside, event: str, by: Packet | None = None) -> None:
        if self.faulty(node, "stay") or self.faulty(beside, "node"):
            self.lose(packet, node)
        else:
            self.place(packet, beside, event, by)

    def place(self, packet, node, event: str, by: Packet | None = None) -> None:
        assert node not in self.nodes
        self.nodes[node] = packet
        packet.path.append((self.now, event, node, by))

    def lose(self, packet: Packet, node: tuple[int, int, int]) -> None:
        self.count["lost", (packet.angle, packet.height)] += 1
        packet.path.append((self.now, "lose", node, None))

    def deliver(self, packet: Packet, node: tuple[int, int, int]) -> None:
        _, a, h = node
        assert h == packet.height
        self.count["delivered", (a if self.exit_rule == "angle" else 0, h)] += 1
        self.count["hops", self.now - packet.injected] += 1
        self.count["latency", self.now - packet.arrived] += 1
        packet.path.append((self.now, "leave", node, None))
        self.left.append(packet)

    def give(self, a: int, h: int, angle: int, height: int, handle: int) -> None:
        """Offer a packet in the next slot, for injection `given`."""
        self.given[a, h] = Packet(angle, height, self.now, handle=handle)

    def inject(self, a: int, h: int) -> None:
        packet = self.offered(a, h)
        if packet is None:
            return
        if (0, a, h) in self.nodes or self.faulty((0, a, h), "node"):
            self.refused.append(packet)
            return
        if self.injection == "queue":
            self.queues[a, h].popleft()
        self.head_since[a, h] = self.now + 1
        packet.injected = self.now
        self.place(packet, (0, a, h), "enter")
        self.entered.append(packet)
        self.count["accepted", (a, h)] += 1

    def offered(self, a: int, h: int) -> Packet | None:
        """The packet that wants to enter at an input now; it stays in its queue."""
        if self.injection == "given":
            self.count["offered", (a, h)] += (a, h) in self.given
            return self.given.get((a, h))
        arrives, angle, height = self.arrival(a, h, self.now)
        if self.injection == "saturate":
            arrives, (_, angle, height) = True, self.arrival(a, h, self.head_since[a, h])
        self.count["offered", (a, h)] += arrives
        packet = Packet(angle, height, self.now) if arrives else None
        if self.injection != "queue":
            return packet
        queue = self.queues.setdefault((a, h), deque())
        if packet is not None:
            queue.append(packet)
        return queue[0] if queue else None
