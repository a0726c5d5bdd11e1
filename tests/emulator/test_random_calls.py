"""Does any sequence of calls do what the plain Python card does, in every mode?

A sequence is a script that `programs/player.c` plays on three cards. All packets arrive after a
call, unless it reaches only the card's own state and the next one is of the same card. In order,
every answer is known. Out of order and in model time the packets of one call may overtake each
other: there they are chosen so that it makes no difference, and FIFO words that one call sent may
come in any order.
"""

import ctypes
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference_card import ENOSPC, ERANGE, QUERY, WRITE, Job, WouldBlock, commute

CARDS, WORDS, COUNTERS, DEPTH, ENTRIES = 3, 96, 12, 6, 4
HEADERS = WORDS - 8
"""Where headers wait: the last words of SRAM, which no packet of a cached send may hit."""
SIZES = {"sram": WORDS * 8, "group_counters": COUNTERS, "fifo_words": DEPTH, "dma_entries": ENTRIES}
LOCAL = "alloc free counter_alloc counter_free counter_set counter_get counter_wait write read"
"""Calls that reach only the card's own state."""
SOME = st.integers(0, 2**64 - 1)

cards = st.integers(0, CARDS - 1)
dests = st.sampled_from([0, 1, 2, 0, 1, 2, CARDS, 70_000])
addrs = st.one_of(st.integers(0, WORDS - 1), st.sampled_from([0, WORDS - 1, WORDS, 2**32 - 1]))
counters = st.one_of(st.integers(0, 8), st.sampled_from([0, 8, 9, 60, 61, 63, 64]))
ops = st.sampled_from([0, 0, 1, 1, 2, 3, 4, 5, 99])
packet = st.tuples(dests, ops, addrs, counters)
packets = st.lists(st.tuples(packet, SOME, packet), max_size=5)
good = st.tuples(cards, st.integers(0, 4), st.integers(0, WORDS - 1), st.integers(0, 8))
good_packets = st.lists(st.tuples(good, SOME, good), min_size=1, max_size=8)
words = st.lists(SOME, max_size=6)
paths = st.sampled_from(["send", "send_cached", "dma_send"])

CALLS = st.one_of(
    st.tuples(st.just("alloc"), cards, st.sampled_from([0, 1, 7, 8, 9, 30, WORDS, WORDS + 1])),
    st.tuples(st.just("free"), cards, st.sampled_from([0, 8, 16, 24, 32, 3])),
    st.tuples(st.just("counter_alloc"), cards),
    st.tuples(st.just("counter_free"), cards, counters),
    st.tuples(st.just("counter_set"), cards, counters, st.integers(-(2**63), 2**63 - 1)),
    st.tuples(st.just("counter_get"), cards, counters),
    st.tuples(st.just("counter_wait"), cards, counters),
    st.tuples(st.just("write"), cards, addrs, words),
    st.tuples(st.just("read"), cards, addrs, st.integers(0, 9)),
    st.tuples(st.just("dma_read"), cards, addrs, st.integers(0, 9)),
    st.tuples(st.just("dma_wait"), cards),
    st.tuples(st.just("put"), cards, dests, addrs, words, counters),
    st.tuples(st.just("fifo_wait"), cards, st.integers(0, 7), st.integers(0, 9)),
    st.tuples(paths, cards, packets),
    st.tuples(paths, cards, good_packets),
)


class Check(NamedTuple):
    """A line of a script, and what its answer must be."""

    line: str
    card: int
    name: str
    good: Callable[[list[int]], bool]


class Script:
    """The lines of a script, and for each what its answer must be."""

    def __init__(self, header, in_order):
        self.header = header  # vic_header
        self.plain = Job(CARDS, WORDS, COUNTERS, DEPTH, ENTRIES)
        self.in_order = in_order
        self.lines, self.checks = [], []
        self.fifo = [
            deque() for _ in range(CARDS)
        ]  # when answers are checked: words of a call each
        self.transfers = [{} for _ in range(CARDS)]  # slot of the player: words, oldest first

    def add(self, name, card, *rest):
        getattr(self, name)(card, self.plain.cards[card], *rest)

    def line(self, card, *parts, check):
        before = self.checks[-1] if self.checks else None
        if before is not None and (before.card != card or before.name not in LOCAL.split()):
            self.lines.append(".")
        self.lines.append(" ".join(str(part) for part in (card, *parts)))
        self.checks.append(Check(self.lines[-1], card, parts[0], check))

    def says(self, card, *parts, answer):
        """Add a call with a status, and words if it is good."""
        status, words = answer
        known = [status, *(word % 2**64 for word in words if status == 0)]
        self.line(card, *parts, check=lambda got: got == known)

    def alloc(self, card, plain, size):
        status, addr = plain.alloc(size)
        self.says(card, "alloc", size, answer=(status, [addr]))

    def free(self, card, plain, addr):
        self.says(card, "free", addr, answer=(plain.free(addr), []))

    def counter_alloc(self, card, plain):
        status, counter = plain.counter_alloc()
        self.says(card, "counter_alloc", answer=(status, [counter]))

    def counter_free(self, card, plain, counter):
        self.says(card, "counter_free", counter, answer=(plain.counter_free(counter), []))

    def counter_set(self, card, plain, counter, n):
        status = plain.counter_set(counter, n)
        self.says(card, "counter_set", counter, n % 2**64, answer=(status, []))

    def counter_get(self, card, plain, counter):
        there = counter in plain.counter
        self.says(
            card,
            "counter_get",
            counter,
            answer=(0 if there else ERANGE, [plain.counter.get(counter)]),
        )

    def counter_wait(self, card, plain, counter):
        self.says(card, "counter_wait", counter, answer=(plain.counter_wait(counter), []))

    def write(self, card, plain, addr, content):
        status = plain.write(addr, content)
        self.says(card, "write", addr, len(content), *content, answer=(status, []))

    def read(self, card, plain, addr, n):
        self.says(card, "read", addr, n, answer=plain.read(addr, n))

    def dma_read(self, card, plain, addr, n):
        status, content = plain.read(addr, n)
        status = plain.transfer(status)
        self.begin(card, status, content, "dma_read", addr, (n,))

    def begin(self, card, status, content, name, at, rest):
        """Add a transfer, with what it moves to the host; the player keeps it in a free slot."""
        mine = self.transfers[card]
        slot = next(slot for slot in range(ENTRIES + 1) if slot not in mine)
        self.says(card, name, at, slot, *rest, answer=(status, []))
        if status == 0:
            mine[slot] = content

    def dma_wait(self, card, plain):
        if self.transfers[card]:
            slot = next(iter(self.transfers[card]))
            self.says(card, "dma_wait", slot, answer=(0, self.transfers[card].pop(slot)))
            plain.transfers -= 1

    def put(self, card, plain, dest, addr, content, counter):
        reaches = dest < CARDS and addr + len(content) <= WORDS and counter in plain.counter
        if reaches:
            plain.send([((dest, WRITE, addr + i, counter), w) for i, w in enumerate(content)])
        status = 0 if reaches else ERANGE
        self.says(card, "put", dest, addr, counter, len(content), *content, answer=(status, []))

    def fifo_wait(self, card, plain, least, most):
        status, content = plain.fifo_wait(least, most)
        if self.in_order or status != 0:
            self.says(card, "fifo_wait", least, most, answer=(status, content))
        else:
            n = len(content)
            self.line(card, "fifo_wait", least, most, check=lambda got: self.took(card, n, got))

    def took(self, card, n, got):
        """Take n words out of the FIFO; those of one call come in any order."""
        fifo = self.fifo[card]
        for word in got[1:]:
            while fifo and not fifo[0]:
                fifo.popleft()
            if not fifo or word not in fifo[0]:
                return False
            fifo[0].remove(word)
        return got[0] == 0 and len(got) == n + 1

    def sent(self, card, packets, cached=False, dma=False):
        """Return the status of a send of the plain card and its packets for the player, or None."""
        plain = self.plain.cards[card]
        content = [(head, reply if head[1] == QUERY else word) for head, word, reply in packets]
        parts = [part for head, _, reply in packets for part in (head, reply)]
        if cached and any(HEADERS <= at < WORDS and op in (WRITE, QUERY) for _, op, at, _ in parts):
            return None
        if not commute(content, self.in_order):
            return None
        if dma and plain.transfers == ENTRIES:
            status, before = ENOSPC, None
        else:
            before = [len(other.fifo) for other in self.plain.cards]
            try:
                status = plain.send(content)
            except WouldBlock:
                return None
        headers = [self.header(*map(ctypes.c_uint32, head)) for head, _ in content]
        payloads = [
            self.header(*map(ctypes.c_uint32, payload)) if head[1] == QUERY else payload
            for head, payload in content
        ]
        self.arrivals = [
            list(other.fifo)[n:] for other, n in zip(self.plain.cards, before or [], strict=False)
        ]
        return status, headers, payloads

    def arrive(self, status):
        """Return a check of a status that puts what was sent into the FIFOs."""
        arrivals = self.arrivals

        def check(got):
            for fifo, content in zip(self.fifo, arrivals, strict=False):
                fifo.append(content)
            return got == [status]

        return check

    def send(self, card, plain, packets):
        ready = self.sent(card, packets)
        if ready is not None:
            status, headers, payloads = ready
            pairs = [word for pair in zip(headers, payloads, strict=True) for word in pair]
            self.line(card, "send", len(headers), *pairs, check=self.arrive(status))

    def send_cached(self, card, plain, packets):
        ready = self.sent(card, packets, cached=True)
        if ready is not None:
            status, headers, payloads = ready
            self.write(card, plain, HEADERS, headers)
            n = len(payloads)
            self.line(card, "send_cached", HEADERS, n, *payloads, check=self.arrive(status))

    def dma_send(self, card, plain, packets):
        ready = self.sent(card, packets, cached=True, dma=True)
        if ready is not None:
            status, headers, payloads = ready
            self.write(card, plain, HEADERS, headers)
            status = plain.transfer(status)
            self.begin(card, status, [], "dma_send", HEADERS, [len(payloads), *payloads])
            self.checks[-1] = self.checks[-1]._replace(good=self.arrive(status))

    def compare(self):
        """Add calls that see all that a program could see."""
        for number, plain in enumerate(self.plain.cards):
            while self.transfers[number]:
                self.dma_wait(number, plain)
            self.read(number, plain, 0, WORDS)
            for counter in plain.counter:
                self.counter_get(number, plain, counter)
            self.fifo_wait(number, plain, 0, 9)

    def play(self, emulator, path, options):
        """Play it on cards, and look at every answer; the script is written to a path."""
        path.write_text("\n".join(self.lines) + "\n")
        sizes = [text for name, value in SIZES.items() for text in ("--set", f"{name}={value}")]
        done = emulator.run(CARDS, "player", str(path), options=[*sizes, "--prefix", *options])
        assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
        answers = [deque() for _ in range(CARDS)]
        for line in done.stdout.splitlines():
            card, answer = line[1:].split("] ")
            answers[int(card)].append([int(word) for word in answer.split()])
        for check in self.checks:
            answer = answers[check.card].popleft()
            assert check.good(answer), f"{check.line}: {answer}"
        assert not any(answers)


MODES = {
    "in order": [],
    "out of order": ["--reorder", "9"],
    "timed": ["--mode", "timed"],
    "timed, out of order": ["--mode", "timed", "--reorder", "9"],
}


@pytest.mark.parametrize("mode", MODES)
def test_any_sequence_of_calls(emulator, tmp_path, mode):
    header = ctypes.CDLL(str(emulator.prefix / "lib" / "libvic.so.0")).vic_header
    header.restype = ctypes.c_uint64

    @settings(
        max_examples=60 if mode == "in order" else 40, deadline=None, derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )  # fmt: skip
    @given(calls=st.lists(CALLS, min_size=1, max_size=30))
    def sequence(calls):
        script = Script(header, in_order=mode == "in order")
        for call in calls:
            script.add(*call)
        script.compare()
        script.play(emulator, tmp_path / "script", MODES[mode])

    sequence()
