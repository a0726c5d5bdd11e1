"""Does any sequence of calls do what the plain Python card does?"""

import ctypes as c
from dataclasses import dataclass

import pytest
from emulator_build import PROGRAMS, build
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference_card import QUERY, Job, WouldBlock

CARDS, WORDS, COUNTERS, DEPTH, ENTRIES = 3, 96, 12, 6, 4
SOME = st.integers(0, 2**64 - 1)

cards = st.integers(0, CARDS - 1)
dests = st.sampled_from([0, 1, 2, 0, 1, 2, CARDS, 70_000])
addrs = st.one_of(st.integers(0, WORDS - 1), st.sampled_from([0, WORDS - 1, WORDS, 2**32 - 1]))
counters = st.one_of(st.integers(0, 8), st.sampled_from([0, 8, 9, 60, 61, 63, 64]))
ops = st.sampled_from([0, 0, 1, 1, 2, 3, 4, 5, 99])
packet = st.tuples(dests, ops, addrs, counters)
with_payload = st.tuples(packet, SOME, packet)
packets = st.lists(with_payload, max_size=5)
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
    st.tuples(st.just("counter_wait"), cards, counters),
    st.tuples(st.just("write"), cards, addrs, words),
    st.tuples(st.just("put"), cards, dests, addrs, words, counters),
    st.tuples(st.just("fifo_wait"), cards, st.integers(0, 7), st.integers(0, 9)),
    st.tuples(paths, cards, packets),
    st.tuples(paths, cards, good_packets),
)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    target = tmp_path_factory.mktemp("shim") / "libshim.so"
    flags = ["-std=c11", "-O1", "-g", "-shared", "-fPIC", "-pthread", *build.INCLUDES]
    build.compile_c([*build.libvic_sources(), PROGRAMS / "shim.c"], target, flags)
    loaded = c.CDLL(str(target))
    loaded.vic_header.restype = c.c_uint64
    return loaded


def array(values):
    return (c.c_uint64 * max(1, len(values)))(*values)


@dataclass
class Both:
    """The real cards and the plain ones, played side by side."""

    shim: c.CDLL

    def __post_init__(self):
        self.card = (c.c_void_p * CARDS)()
        status = self.shim.shim_open(CARDS, WORDS, COUNTERS, DEPTH, ENTRIES, self.card)
        assert status == 0
        self.plain = Job(CARDS, WORDS, COUNTERS, DEPTH)

    def real(self, name, card, *arguments):
        return getattr(self.shim, f"vic_{name}")(c.c_void_p(self.card[card]), *arguments)

    def header(self, packet):
        return self.shim.vic_header(*map(c.c_uint32, packet))

    def play(self, name, card, *rest):
        getattr(self, name)(card, self.plain.cards[card], *rest)

    def alloc(self, card, plain, size):
        addr = c.c_uint32()
        status = self.real("alloc", card, c.c_size_t(size), c.byref(addr))
        assert (status, addr.value if status == 0 else None) == plain.alloc(size)

    def free(self, card, plain, addr):
        assert self.real("free", card, c.c_uint32(addr)) == plain.free(addr)

    def counter_alloc(self, card, plain):
        counter = c.c_uint()
        status = self.real("counter_alloc", card, c.byref(counter))
        assert (status, counter.value if status == 0 else None) == plain.counter_alloc()

    def counter_free(self, card, plain, counter):
        assert self.real("counter_free", card, c.c_uint(counter)) == plain.counter_free(counter)

    def counter_set(self, card, plain, counter, n):
        status = self.real("counter_set", card, c.c_uint(counter), c.c_int64(n))
        assert status == plain.counter_set(counter, n)

    def counter_wait(self, card, plain, counter):
        status = self.real("counter_wait", card, c.c_uint(counter), c.c_uint64(0))
        assert status == plain.counter_wait(counter)

    def write(self, card, plain, addr, content):
        status = self.real(
            "write", card, c.c_uint32(addr), array(content), c.c_size_t(len(content))
        )
        assert status == plain.write(addr, content)

    def put(self, card, plain, dest, addr, content, counter):
        n = len(content)
        status = self.real(
            "put", card, c.c_uint32(dest), c.c_uint32(addr), array(content), c.c_size_t(n),
            c.c_uint(counter),
        )  # fmt: skip
        reaches = dest < CARDS and addr + n <= WORDS and counter in plain.counter
        assert status == (0 if reaches else -9)
        if reaches:
            plain.send([((dest, 0, addr + i, counter), word) for i, word in enumerate(content)])

    def fifo_wait(self, card, plain, least, most):
        got, n = array([0] * 9), c.c_size_t()
        status = self.real(
            "fifo_wait", card, got, c.c_size_t(least), c.c_size_t(most), c.byref(n), c.c_uint64(0)
        )
        expected = plain.fifo_wait(least, most)
        assert (status, got[: n.value] if status == 0 else []) == expected

    def prepared(self, plain, packets):
        """Return status, headers and payloads; the plain cards have sent them."""
        content = [(head, reply if head[1] == QUERY else word) for head, word, reply in packets]
        status = plain.send(content)
        headers = array([self.header(head) for head, _ in content])
        payloads = array([self.header(p) if head[1] == QUERY else p for head, p in content])
        return status, headers, payloads

    def send(self, card, plain, packets):
        try:
            status, headers, payloads = self.prepared(plain, packets)
        except WouldBlock:
            return
        assert self.real("send", card, headers, payloads, c.c_size_t(len(packets))) == status

    def cached(self, card, plain, packets):
        """Put the headers into the last words of SRAM, where packets may hit them: not here."""
        at = WORDS - 8
        if any(at <= p[2] < WORDS and p[1] in (0, 2) for h, _, r in packets for p in (h, r)):
            return None
        headers = [self.header(head) for head, _, _ in packets]
        try:
            status, _, payloads = self.prepared(plain, packets)
        except WouldBlock:
            return None
        assert (
            self.real("write", card, c.c_uint32(at), array(headers), c.c_size_t(len(headers))) == 0
        )
        plain.write(at, headers)
        return status, at, payloads

    def send_cached(self, card, plain, packets):
        ready = self.cached(card, plain, packets)
        if ready is not None:
            status, at, payloads = ready
            n = c.c_size_t(len(packets))
            assert self.real("send_cached", card, c.c_uint32(at), payloads, n) == status

    def dma_send(self, card, plain, packets):
        ready = self.cached(card, plain, packets)
        if ready is not None:
            status, at, payloads = ready
            dma, n = c.c_void_p(), c.c_size_t(len(packets))
            at = c.c_uint32(at)
            assert self.real("dma_send", card, at, payloads, n, c.byref(dma)) == status
            if status == 0:
                assert self.real("dma_wait", card, c.byref(dma), c.c_uint64(0)) == 0

    def compare(self):
        """All that a program could see."""
        for number, plain in enumerate(self.plain.cards):
            memory, dma = array([0] * WORDS), c.c_void_p()
            n = c.c_size_t(WORDS)
            assert self.real("dma_read", number, memory, c.c_uint32(0), n, c.byref(dma)) == 0
            assert self.real("dma_wait", number, c.byref(dma), c.c_uint64(0)) == 0
            assert list(memory) == plain.sram
            for counter, value in plain.counter.items():
                got = c.c_int64()
                assert self.real("counter_get", number, c.c_uint(counter), c.byref(got)) == 0
                assert (counter, got.value) == (counter, value)
            self.fifo_wait(number, plain, 0, 9)

    def close(self):
        for number in range(CARDS):
            assert self.real("close", number) == 0


@settings(
    max_examples=150, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
@given(calls=st.lists(CALLS, min_size=1, max_size=30))
def test_any_sequence_of_calls(library, calls):
    both = Both(library)
    try:
        for call in calls:
            both.play(*call)
        both.compare()
    finally:
        both.close()
