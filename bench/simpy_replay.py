"""The rival: the same replay as processes of SimPy, as one would write it without a C compiler.

A process for each operation and one for each message; processors and ports are resources. Only what
the bench needs: eager messages of known sources, one processor and port for each rank.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from typing import Any

import numpy as np
import simpy

from dvsim.kinds.workload.graph import CALC, SEND, Graph


class SimpyReplay:
    """LogGOPS with L, o, g and G in nanoseconds."""

    def __init__(self, graph: Graph, L: float, o: float, g: float, G: float) -> None:  # noqa: N803
        self.graph, self.L, self.o, self.g, self.G = graph, L, o, g, G
        self.clock = simpy.Environment()
        ranks, count = graph.ranks, graph.operations
        self.cpu, self.out, self.into = (
            [simpy.Resource(self.clock) for _ in range(ranks)] for _ in range(3)
        )
        self.ended = [self.clock.event() for _ in range(count)]
        self.before: list[list[int]] = [[] for _ in range(count)]
        source = np.repeat(np.arange(count), np.diff(graph.start))
        for one, other in zip(source.tolist(), graph.to.tolist(), strict=True):
            self.before[other].append(one)
        self.posted: dict[tuple[int, int, int], deque[int]] = {}
        self.early: dict[tuple[int, int, int], int] = {}
        for rank in range(ranks):
            for one in range(int(graph.first[rank]), int(graph.first[rank + 1])):
                self.clock.process(self.operation(one, rank))

    def run(self) -> float:
        """Return when the last operation ended."""
        self.clock.run()
        return float(self.clock.now)

    def operation(self, one: int, rank: int) -> Generator[Any, Any, None]:
        """Do an operation when all that it waits for has ended."""
        graph = self.graph
        if self.before[one]:
            yield self.clock.all_of([self.ended[other] for other in self.before[one]])
        size, peer, tag = int(graph.size[one]), int(graph.peer[one]), int(graph.tag[one])
        if graph.kind[one] == CALC:
            with self.cpu[rank].request() as cpu:
                yield cpu
                yield self.clock.timeout(size / 1000)
            self.ended[one].succeed()
        elif graph.kind[one] == SEND:
            with self.cpu[rank].request() as cpu:
                yield cpu
                self.clock.process(self.hold(self.out[rank], self.g + (size - 1) * self.G))
                yield self.clock.timeout(self.o)
            self.ended[one].succeed()
            self.clock.process(self.message((peer, rank, tag), size))
        elif self.early.get((rank, peer, tag), 0):
            self.early[rank, peer, tag] -= 1
            self.ended[one].succeed()
        else:
            self.posted.setdefault((rank, peer, tag), deque()).append(one)

    def hold(self, port: simpy.Resource, time: float) -> Generator[Any, Any, None]:
        """Keep a port busy."""
        with port.request() as turn:
            yield turn
            yield self.clock.timeout(time)

    def message(self, ends: tuple[int, int, int], size: int) -> Generator[Any, Any, None]:
        """Carry a message to its receiver, and let it meet its receive."""
        yield self.clock.timeout(self.L)
        with self.into[ends[0]].request() as port, self.cpu[ends[0]].request() as cpu:
            yield port & cpu
            yield self.clock.timeout(self.o + (size - 1) * self.G)
        if self.posted.get(ends):
            self.ended[self.posted[ends].popleft()].succeed()
        else:
            self.early[ends] = self.early.get(ends, 0) + 1
