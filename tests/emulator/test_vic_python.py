"""Is dvsim.vic the surface of vic.h, without copies?"""

from __future__ import annotations

import gc
import re
import time
import weakref

import numpy as np
import pytest
from emulator_build import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from python_job import run_python

from dvsim import vic
from dvsim.vic import binding

# ---- the surface


def test_every_call_of_the_library_is_there():
    header = (ROOT / "emulator" / "include" / "vic.h").read_text(encoding="utf-8")
    exported = re.findall(r"\bvic_(\w+)\(", binding.declarations(header))
    mine = {name for name in (*dir(vic), *dir(vic.Card)) if not name.startswith("_")}
    called = {"query_attr_sized", "wait_slices"}
    inside = {*called, "open_reason", "constant"}  # in the exception; in Python
    assert set(exported) - mine == inside


def test_constants_are_those_of_the_library(installed):
    ffi, lib = binding.libvic()

    def constant(name):
        value = ffi.new("int64_t *")
        assert lib.vic_constant(f"VIC_{name}".encode(), value) == 0, name
        return value[0]

    every = {name: getattr(lib, name) for name in dir(lib) if isinstance(getattr(lib, name), int)}
    assert {"VIC_OK", "VIC_CLIENT_BRIDGE", "VIC_ENVELOPE_ACK", "VIC_ACK"} <= set(every)
    assert {name: constant(name.removeprefix("VIC_")) for name in every} == every
    text = "".join(path.read_text() for path in (installed.prefix / "include").glob("vic*.h"))
    macros = re.findall(r"^#define VIC_(\w+) +(?:\d|\(VIC|UINT)", text, flags=re.MULTILINE)
    assert {"FOREVER", "NO_COUNTER", "READY_FIFO", "VERSION_NUMBER"} <= set(macros)
    assert all(constant(name) is not None for name in macros)
    assert constant("FOREVER") % 2**64 == vic.FOREVER
    assert constant("NO_COUNTER") == vic.NO_COUNTER
    assert constant("READY_FIFO") == vic.READY_FIFO
    for group in (vic.Op, vic.Status):
        assert {item: constant(item.name) for item in group} == {item: item for item in group}
    assert (
        vic.version()
        == installed.prefix.joinpath("include", "vic.h")
        .read_text()
        .split('VIC_VERSION "')[1]
        .split('"')[0]
    )
    assert vic.strerror(-5) == ffi.string(lib.vic_strerror(-5)).decode()


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 0xFFFF), st.integers(0, 2**22 - 1), st.integers(0, 63)),
        min_size=1,
        max_size=20,
    ),
    st.sampled_from(vic.Op),
)
def test_headers_of_arrays_are_those_of_c(installed, parts, op):
    lib = binding.libvic().lib
    dest, addr, counter = (np.array(column) for column in zip(*parts, strict=True))
    expected = [lib.vic_header(*(part[0], op, *part[1:])) for part in parts]
    assert vic.header(dest, op, addr, counter).tolist() == expected
    assert [vic.header(part[0], op, *part[1:]) for part in parts] == expected
    assert vic.header(dest, op, int(addr[0]), counter)[0] == expected[0]  # broadcast


@pytest.mark.parametrize(
    "wrong", [{"dest": 0x10000}, {"dest": -1}, {"addr": 2**22}, {"counter": 64}, {"counter": 2**40}]
)
def test_what_fits_in_no_header_is_refused(installed, wrong):
    name, value = next(iter(wrong.items()))
    with pytest.raises(vic.OutOfRange, match=f"{name}={value}"):
        vic.header(**{"dest": 0, "op": vic.WRITE, **wrong})
    with pytest.raises(vic.OutOfRange, match=f"{name}={value}"):
        vic.header(**{"dest": 0, "op": vic.WRITE, **wrong, name: np.array([0, value])})


def test_no_headers_are_no_headers(installed):
    assert vic.header(np.zeros(0, dtype=int), vic.FIFO).tolist() == []


# ---- one card


def test_words_go_out_and_come_back(card):
    assert card.query_attr().cards == card.cards == 1
    assert card.query_attr().card == card.number == 0
    first = card.alloc(100)
    second = card.alloc(1)
    assert (first, second) == (0, 104)
    card.free(first)
    card.write(first, [1, 2**64 - 1])
    assert card.read(first, 2).tolist() == [1, 2**64 - 1]
    counter = card.counter_alloc()
    card.counter_set(counter, 3)
    card.put(0, 10, np.arange(3), counter)
    card.counter_wait(counter)
    card.send(vic.header(0, vic.WRITE, np.arange(20, 23), counter), [7, 8, 9])
    assert card.counter_get(counter) == -3
    headers = vic.header(0, vic.COUNTER_ADD, 0, np.full(2, counter))
    card.write(200, headers)
    card.send_cached(200, np.array([-4, 17]))
    assert card.counter_get(counter) == 10
    transfer = card.dma_send(200, np.array([1, 2]))
    card.dma_wait(transfer)
    assert card.counter_get(counter) == 13
    card.counter_free(counter)
    query = vic.header(0, vic.QUERY, 21, vic.NO_COUNTER)
    card.send([query], [vic.header(0, vic.FIFO)])
    assert card.fifo_wait(1, 5).tolist() == [8]
    assert card.fifo_poll(5).tolist() == []
    card.counter_set(counter, 7)
    card.put_strided(0, 300, 2, [1, 2, 3], counter)
    card.put_indexed(0, [303, 301], [4, 5], counter)
    card.get(0, 300, 2, 310, counter)
    card.counter_wait(counter)
    assert card.read(300, 5).tolist() == [1, 5, 2, 4, 3]
    assert card.read(310, 2).tolist() == [1, 5]
    depth = card.query_attr().fifo_words
    assert card.try_send(np.full(depth + 1, vic.header(0, vic.FIFO)), np.arange(depth + 1)) == depth
    assert card.fifo_wait(depth, depth).tolist() == list(range(depth))
    card.counter_set(counter, 0)
    assert card.wait(1 << counter, 1) == 1 << counter
    assert vic.READY_FIFO == 63
    with pytest.raises(vic.TimedOut):
        card.wait(0, 1, timeout_ns=1000)
    card.compute_ns(1000)
    card.relax()
    card.barrier()
    assert card.time_ns() > 0


def test_arrays_are_used_where_they_are():
    flat = np.zeros(6, dtype=np.uint64)
    assert binding.given(flat) is flat
    for array in (np.zeros((2, 3)), np.zeros(3, dtype=complex), np.zeros(2, dtype="S16")):
        for turned in (binding.given(array), binding.taken(array)):
            assert np.shares_memory(turned, array)
            assert turned.nbytes == array.nbytes


def test_bits_survive(card):
    numbers = np.array([[1.5, -0.0], [np.inf, 3e-310]])
    card.write(0, numbers)
    back = np.zeros_like(numbers)
    card.read_into(0, back)
    assert back.tobytes() == numbers.tobytes()
    again = np.zeros(2, dtype=complex)
    transfer = card.dma_read(again, 0)
    while not card.dma_test(transfer):
        card.relax()
    card.dma_wait(transfer)
    assert again.tobytes() == numbers.tobytes()


def test_a_transfer_keeps_its_array(card):
    card.write(0, [vic.header(0, vic.WRITE, 0)])
    array = np.ones(1, dtype=np.uint64)
    seen = weakref.ref(array)
    transfer = card.dma_send(0, array)
    del array
    gc.collect()
    assert seen() is not None
    card.dma_wait(transfer)
    del transfer
    gc.collect()
    assert seen() is None


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (np.zeros(4, dtype=np.uint32), "an array of uint32 is not of 8-byte elements"),
        (np.zeros(4, dtype=object), "an array of object"),
        (np.zeros((4, 4))[:, 1], "not contiguous"),
        ([-1], "negative ones go in an int64 array"),
        ([1.5, "x"], "words are not numbers"),
        (bytearray(8), "words are bytearray"),
    ],
)
def test_what_is_no_words_is_refused(card, wrong, text):
    with pytest.raises(ValueError, match=re.escape(text)):
        card.write(0, wrong)


def test_what_cannot_be_filled_is_refused(card):
    fixed = np.zeros(2)
    fixed.flags.writeable = False
    with pytest.raises(vic.InvalidArgument, match="read-only"):
        card.read_into(0, fixed)
    with pytest.raises(vic.InvalidArgument, match="a list to be filled"):
        card.dma_read([1, 2], 0)


# ---- errors


def test_errors_name_the_call_and_its_numbers(card):
    words_here = card.query_attr().sram_words
    text = f"vic_put(dest=3, addr=0, n=1, counter=0): {vic.strerror(-9)}; there are cards 0 .. 0"
    with pytest.raises(IndexError, match=re.escape(text)):
        card.put(3, 0, [1], 0)
    for call in (
        lambda: card.read(words_here, 1),
        lambda: card.write(words_here - 1, [1, 2]),
        lambda: card.write(-1, [1]),
        lambda: card.counter_set(64, 0),
        lambda: card.counter_get(2**33),
        lambda: card.read(0, -1),
        lambda: card.send([vic.header(0, vic.WRITE, 0, 5), vic.header(1, vic.WRITE, 0)], [1, 2]),
    ):
        with pytest.raises(vic.OutOfRange, match=r"SRAM words 0 \.\. "):
            call()
    for call in (
        lambda: card.free(0),
        lambda: card.alloc(0),
        lambda: card.counter_wait(vic.NO_COUNTER),
        lambda: card.fifo_wait(2, 1),
        lambda: card.send([1 << 60], [1]),
        lambda: card.send([1, 2], [1]),
    ):
        with pytest.raises(vic.InvalidArgument):
            call()
    with pytest.raises(vic.NoSpace):
        card.alloc(words_here + 1)
    with pytest.raises(vic.Busy, match="the card is open"):
        vic.open()


def test_a_transfer_ends_once(card):
    transfer = card.dma_read(np.zeros(1), 0)
    card.dma_wait(transfer)
    with pytest.raises(vic.InvalidArgument):
        card.dma_wait(transfer)


def test_a_wait_that_times_out_says_so(card):
    card.counter_set(0, 1)
    for timeout in (0, 1000, 120_000_000):  # shorter and longer than a slice
        started = time.monotonic_ns()
        with pytest.raises(TimeoutError, match=f"timeout_ns={timeout}"):
            card.counter_wait(0, timeout)
        assert time.monotonic_ns() - started >= timeout
    with pytest.raises(vic.TimedOut):
        card.fifo_wait(1, 1, 10)


def test_a_closed_card_says_so(installed):
    card = vic.open()
    card.close()
    card.close()
    for call in (
        card.query_attr,
        card.barrier,
        lambda: card.read(0, 1),
        lambda: card.put(0, 0, 1, 0),
    ):
        with pytest.raises(vic.Closed):
            call()
    assert card.time_ns() == 0


def test_errors_survive_pickling():
    import pickle

    error = pickle.loads(pickle.dumps(vic.PeerDied("x", -5)))
    assert (type(error), str(error), error.status) == (vic.PeerDied, "x", -5)


def test_a_wrong_job_is_refused(installed, monkeypatch):
    monkeypatch.setenv("VIC_JOB", "nonsense")
    with pytest.raises(vic.NoJob, match="VIC_JOB is not"):
        vic.open()


def test_an_alone_card_is_closed_by_with_whatever_happens(installed):
    with pytest.raises(KeyError), vic.open():
        raise KeyError
    vic.open().close()


# ---- jobs


def test_cards_exchange_arrays(installed):
    code = """
import sys
import numpy as np
from dvsim import vic
with vic.open() as card:
    attr = card.query_attr()
    right = (attr.card + 1) % attr.cards
    card.counter_set(0, 100)
    card.barrier()
    card.put(right, 0, np.full(100, attr.card + 0.5), 0)
    card.counter_wait(0)
    got = np.empty(100)
    card.read_into(0, got)
    assert (got == (attr.card - 1) % attr.cards + 0.5).all()
    card.barrier()
    sys.stdout.write("good\\n")  # one write: lines of cards do not mix
"""
    for options in ([], ["--reorder", "2"]):
        done = run_python(installed, 3, code, *options)
        assert (done.returncode, done.stdout) == (0, "good\n" * 3), done.stderr


def test_others_are_told_of_an_exception(installed):
    code = """
from dvsim import vic
with vic.open() as card:
    card.counter_set(0, 1)
    if card.query_attr().card == 1:
        raise KeyError("of card 1")
    try:
        card.counter_wait(0)
    except vic.PeerDied as error:
        print(error)
"""
    done = run_python(installed, 2, code)
    assert done.returncode == 1
    assert done.stdout.startswith("vic_counter_wait(counter=0, timeout_ns=FOREVER): ")
    assert "VIC_EPEER" in done.stdout
    assert "KeyError: 'of card 1'" in done.stderr


def test_a_library_that_is_not_there_is_named(monkeypatch, tmp_path):
    from dvsim.errors import DvsimError

    monkeypatch.setenv(binding.PREFIX, str(tmp_path))
    with pytest.raises(DvsimError, match=re.escape(str(tmp_path))):
        binding.libvic.__wrapped__()
