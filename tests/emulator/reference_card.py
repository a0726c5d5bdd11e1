"""The cards of a job as plain Python: what vic.h says, for reading, not for speed.

Packets arrive at once and in order, which is one of the orders that vic.h allows. A call that would
have to wait for room in a FIFO raises `WouldBlock` and does nothing.
"""

from __future__ import annotations

from collections import deque

EINVAL, ETIMEDOUT, ENOSPC, ERANGE = -1, -2, -4, -9
WRITE, FIFO, QUERY, SET, ADD = range(5)


class WouldBlock(Exception):  # noqa: N818
    """A full FIFO pushes back."""


def signed(word):
    return (word + 2**63) % 2**64 - 2**63


class Card:
    """One card: SRAM, counters, FIFO, and the book-keeping of its program."""

    def __init__(self, job, number):
        self.job, self.number = job, number
        self.sram = [0] * job.words
        self.counter = {**dict.fromkeys(range(job.counters - 3), 0), 61: 0, 62: 0, 63: 0}
        self.fifo = deque()
        self.blocks = {}  # address: words
        self.taken = set()  # counters
        self.transfers = 0  # that have not been waited for

    def alloc(self, words):
        if words == 0:
            return EINVAL, None
        start = 0
        for addr, size in [*sorted(self.blocks.items()), (self.job.words, 0)]:
            if start < addr and words <= addr - start:
                self.blocks[start] = words
                return 0, start
            start = (addr + size + 7) // 8 * 8
        return ENOSPC, None

    def free(self, addr):
        return 0 if self.blocks.pop(addr, None) else EINVAL

    def transfer(self, status):
        """Begin a transfer, whose packets or words would have that status."""
        status = ENOSPC if self.transfers == self.job.entries else status
        self.transfers += status == 0
        return status

    def read(self, addr, n):
        inside = addr + n <= self.job.words
        return (0, self.sram[addr : addr + n]) if inside else (ERANGE, [])

    def counter_alloc(self):
        free = [c for c in self.counter if c < 61 and c not in self.taken]
        if not free:
            return ENOSPC, None
        self.taken.add(min(free))
        return 0, min(free)

    def counter_free(self, counter):
        if counter not in self.counter:
            return ERANGE
        if counter not in self.taken:
            return EINVAL
        self.taken.remove(counter)
        return 0

    def counter_set(self, counter, n):
        if counter not in self.counter:
            return ERANGE
        self.counter[counter] = n
        return 0

    def counter_wait(self, counter):
        if counter not in self.counter:
            return ERANGE
        if counter == 63:
            return EINVAL
        return 0 if self.counter[counter] == 0 else ETIMEDOUT

    def write(self, addr, words):
        if addr + len(words) > self.job.words:
            return ERANGE
        self.sram[addr : addr + len(words)] = words
        return 0

    def fifo_wait(self, least, most):
        if least > most or least > self.job.depth:
            return EINVAL, []
        if len(self.fifo) < least:
            return ETIMEDOUT, []
        return 0, [self.fifo.popleft() for _ in range(min(most, len(self.fifo)))]

    def status_of(self, packet):
        dest, op, addr, counter = packet
        if not 0 <= op <= ADD:
            return EINVAL
        reaches = dest < len(self.job.cards) and counter in self.job.cards[0].counter
        inside = op not in (WRITE, QUERY) or addr < self.job.words
        return 0 if reaches and inside else ERANGE

    def send(self, packets):
        """Send [(packet, payload)]; the payload of a query is the packet of its reply."""
        for packet, payload in packets:
            status = self.status_of(packet)
            if status == 0 and packet[1] == QUERY:
                status = EINVAL if payload[1] == QUERY else self.status_of(payload)
            if status != 0:
                return status
        landed = [payload[0] if packet[1] == QUERY else packet[0] for packet, payload in packets
                  if FIFO in (packet[1], payload[1] if packet[1] == QUERY else None)]  # fmt: skip
        for dest in set(landed):
            if len(self.job.cards[dest].fifo) + landed.count(dest) > self.job.depth:
                raise WouldBlock
        for packet, payload in packets:
            self.deliver(packet, payload)
        return 0

    def deliver(self, packet, payload):
        dest, op, addr, counter = packet
        card = self.job.cards[dest]
        if op == QUERY:
            self.deliver(payload, card.sram[addr])
        elif op == WRITE:
            card.sram[addr] = payload
        elif op == FIFO:
            card.fifo.append(payload)
        if op == SET:
            card.counter[counter] = signed(payload)
        else:
            step = payload if op == ADD else -1
            card.counter[counter] = signed(card.counter[counter] + step)


class Job:
    """The cards of a job with the sizes of the card."""

    def __init__(self, cards, words, counters, depth, entries):
        self.words, self.counters, self.depth, self.entries = words, counters, depth, entries
        self.cards = []
        for number in range(cards):
            self.cards.append(Card(self, number))


def effects(content):
    """Return where packets [(packet, payload)] read and write; counters they change, and preset."""
    read, written, changed, preset = [], [], [], []
    for (dest, op, addr, counter), payload in content:
        parts = [(dest, op, addr, counter), *([payload] if op == QUERY else [])]
        for to, what, at, count in parts:
            read += [(to, at)] if what == QUERY else []
            written += [(to, at)] if what == WRITE else []
            (preset if what == SET else changed).append((to, count))
    return read, written, changed, preset


def commute(content, in_order):
    """Do packets do the same in any order? What FIFOs keep aside; in order, only counters matter.

    Even there a call may count its packets all at once, when all have arrived.
    """
    read, written, changed, preset = effects(content)
    words_do = len(set(written)) == len(written) and not set(written) & set(read)
    counters_do = len(set(preset)) == len(preset) and not set(preset) & set(changed)
    return counters_do and (in_order or words_do)
