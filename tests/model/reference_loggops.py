"""LogGOPS as LogGOPSim simulates it, in plain Python: the reference of models/workload.

Slow and literal: lists that are searched from the front, a heap of events by time and turn;
operations that become free together are in the order of std::sort of libstdc++ by kind.
"""

import heapq

CALC, SEND, RECV, MESSAGE = 0, 1, 2, 3
ANY = -1
KINDS = {SEND: 0, RECV: 1, CALC: 2}
RANGE = 1 << 64


def standard_sort(items, key):
    """Sort as std::sort of libstdc++ does, where equal items may change places."""
    at = list(items)

    def before(one, other):
        return key(at[one]) < key(at[other])

    def sort(first, last):
        while last - first > 16:
            a, b, c = first + 1, first + (last - first) // 2, last - 1
            middle = sorted((a, b, c), key=lambda one: key(at[one]))[1]
            ka, kb, kc = key(at[a]), key(at[b]), key(at[c])
            if ka < kb:
                middle = b if kb < kc else c if ka < kc else a
            else:
                middle = a if ka < kc else c if kb < kc else b
            at[first], at[middle] = at[middle], at[first]
            low, high = first + 1, last
            while True:
                while before(low, first):
                    low += 1
                high -= 1
                while before(first, high):
                    high -= 1
                if low >= high:
                    break
                at[low], at[high] = at[high], at[low]
                low += 1
            sort(low, last)
            last = low

    sort(0, len(at))
    return sorted(at, key=key)


class LogGOPS:
    """A run of a graph; `costs` are L, o, g, G, O and S in nanoseconds and bytes."""

    def __init__(self, graph, costs):
        self.graph = graph
        self.L, self.o, self.g, self.G, self.O, self.S = (costs[name] for name in "LogGOS")
        ranks = graph.ranks
        self.cpus, self.nics = int(graph.cpu.max()) + 1, int(graph.nic.max()) + 1
        self.cpu = [[0] * self.cpus for _ in range(ranks)]
        self.out = [[0] * self.nics for _ in range(ranks)]
        self.into = [[0] * self.nics for _ in range(ranks)]
        self.posted = [[] for _ in range(ranks)]
        self.early = [[] for _ in range(ranks)]
        self.left = [0] * graph.operations
        for one in graph.to.tolist():
            self.left[one] += 1
        self.free = [[] for _ in range(ranks)]
        self.events, self.turn, self.done = [], 0, 0

    def times(self):
        """Run, and return when each rank is finished."""
        for rank in range(self.graph.ranks):
            span = range(int(self.graph.first[rank]), int(self.graph.first[rank + 1]))
            self.free[rank] = [one for one in span if not self.left[one]]
            self.put_free(rank)
        while self.events:
            self.do(*heapq.heappop(self.events))
        return [max(one) for one in self.cpu]

    def push(self, time, kind, one):
        heapq.heappush(self.events, (time, self.turn, kind, one))
        self.turn += 1

    def put_free(self, rank):
        graph = self.graph
        for one in standard_sort(self.free[rank], lambda one: KINDS[int(graph.kind[one])]):
            time = self.cpu[rank][graph.cpu[one]]
            if graph.kind[one] == SEND:
                time = max(time, self.out[rank][graph.nic[one]])
            self.push(time, int(graph.kind[one]), one)
        self.free[rank] = []

    def release(self, one, started):
        graph, rank = self.graph, self.graph.rank_of(one)
        for edge in range(int(graph.start[one]), int(graph.start[one + 1])):
            if graph.after_start[edge] == started:
                other = int(graph.to[edge])
                self.left[other] -= 1
                if not self.left[other]:
                    self.free[rank].append(other)

    def ended(self, one):
        self.done += 1
        self.release(one, 0)

    def do(self, time, turn, kind, one):
        graph = self.graph
        cpu, nic, size = int(graph.cpu[one]), int(graph.nic[one]), int(graph.size[one])
        rank, peer = graph.rank_of(one), int(graph.peer[one])
        asked, more, ranks = time, size - 1, {rank}
        if kind == CALC:
            asked = self.cpu[rank][cpu]
        elif kind == SEND:
            asked = max(self.cpu[rank][cpu], self.out[rank][nic])
        elif kind == MESSAGE:
            asked = max(self.cpu[peer][cpu], self.into[peer][nic])
        if asked > time:
            heapq.heappush(self.events, (asked, turn, kind, one))
            return
        if kind == CALC:
            self.cpu[rank][cpu] = time + size // 1000
            self.release(one, 1)
            self.ended(one)
        elif kind == SEND:
            self.release(one, 1)
            self.cpu[rank][cpu] = time + self.o + more * self.O
            self.out[rank][nic] = time + self.g + more * self.G
            self.push(time + self.o + self.L, MESSAGE, one)
            if size <= self.S:
                self.ended(one)
        elif kind == RECV:
            self.release(one, 1)
            found = next((s for s in self.early[rank] if self.fits(one, s)), None)
            if found is None:
                self.posted[rank].append(one)
            else:
                self.early[rank].remove(found)
                self.met(found, one, time, ranks, cpu, nic)
        else:
            ranks = {peer}
            busy = max(more * self.O % RANGE, more * self.G % RANGE)
            busy -= RANGE if busy >= RANGE // 2 else 0
            self.cpu[peer][cpu] = time + self.o + busy
            self.into[peer][nic] = time + self.g + more * self.G
            found = next((r for r in self.posted[peer] if self.fits(r, one)), None)
            if found is None:
                self.early[peer].append(one)
            else:
                self.posted[peer].remove(found)
                self.met(one, found, time, ranks, cpu, nic)
        for other in sorted(ranks):
            self.put_free(other)

    def fits(self, receive, send):
        graph = self.graph
        source, tag = graph.peer[receive], graph.tag[receive]
        return source in (ANY, graph.rank_of(send)) and tag in (ANY, graph.tag[send])

    def met(self, send, receive, time, ranks, cpu, nic):
        if self.graph.size[send] > self.S:
            sender = self.graph.rank_of(send)
            ranks.add(sender)
            self.ended(send)
            self.cpu[sender][cpu] = max(self.cpu[sender][cpu], time)
            self.out[sender][nic] = max(self.out[sender][nic], time)
        self.ended(receive)
