"""Does the core allocate what it says that a switch or network will take?

Whoever asks for too large a switch is refused by that number, before anything is allocated.
"""

import ctypes

import numpy as np
import pytest
from dvsim.core._core import ffi, lib

from dvsim.core.network import NetworkParams, native_network_params
from dvsim.core.vortex import VortexParams, native_params

LIBC = ctypes.CDLL(None)
OTHERS = 1 << 15
"""Bytes that other threads of the tests may take or give back meanwhile."""
pytestmark = pytest.mark.skipif(
    not hasattr(LIBC, "mallinfo2"), reason="only glibc 2.33 and newer say what is allocated"
)


class Mallinfo(ctypes.Structure):
    """What mallinfo2 returns, see its manual page."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks",
                     "uordblks", "fordblks", "keepcost")
    )  # fmt: skip


def allocated() -> int:
    """Bytes that are in use, in the heap and in pages of their own."""
    LIBC.mallinfo2.restype = Mallinfo
    now = LIBC.mallinfo2()
    return now.uordblks + now.hblkhd


def growth(create, free, *arguments) -> int:
    """Bytes that a call of `create` leaves in use.

    A large block that is aligned takes untouched pages beside it, which count, until a larger one
    was freed: from then on it comes from the heap.
    """
    LIBC.malloc.restype = ctypes.c_void_p
    LIBC.free(ctypes.c_void_p(LIBC.malloc(31 << 20)))  # glibc looks at up to 32 MiB
    before = allocated()
    made = create(*arguments)
    after = allocated()
    assert made != ffi.NULL
    free(made)
    return after - before


SHAPES = {
    "drop": {"height": 256, "angles": 4},
    "replications": {"height": 64, "angles": 4, "replications": 50},
    "two heights": {"height": 2, "angles": 1, "replications": 1000},
    "two heights, many angles": {"height": 2, "angles": 500, "replications": 3},
    "words": {"height": 256, "angles": 4, "layout": "words"},
    "slices of few": {"height": 16, "angles": 5, "layout": "slices", "replications": 60},
    "strips of one lane": {"height": 512, "angles": 9, "layout": "slices"},
    "queue": {"height": 256, "angles": 4, "injection": "queue"},
    "saturate": {"height": 256, "angles": 4, "injection": "saturate"},
    "faults": {"height": 256, "angles": 4, "faults": (("node", 0, 0, 0),)},
    "given": {"height": 256, "angles": 4, "injection": "given"},
    "hot spots": {"height": 256, "angles": 4, "hot": (7,) * 50_000},
    "permutation": {"height": 1 << 16, "angles": 1, "destination": np.arange(1 << 16)},
    "trace": {
        "height": 64,
        "angles": 4,
        "trace": (np.arange(20_000), np.zeros(20_000, int), np.zeros(20_000, int)),
    },
}


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("shape", SHAPES)
def test_switches(shape, threads):
    params, alive = native_params(VortexParams(injecting=(0,), **SHAPES[shape]))
    said = lib.dvsim_vortex_bytes(params, threads)
    found = growth(lib.dvsim_vortex_create, lib.dvsim_vortex_free, params, threads)
    # what is followed packet by packet is counted with what the caller will give
    least = 0.85 if shape in ("faults", "given") else 0.96
    assert least * said - OTHERS < found < 1.04 * said + OTHERS, found / said
    assert alive


@pytest.mark.parametrize(
    "shape",
    [
        {"levels": 1, "ports": 64, "planes": 4},
        {"levels": 2, "ports": 512, "planes": 1},
        {"levels": 2, "ports": 512, "planes": 2, "injection": "queue"},
        {"levels": 2, "ports": 512, "planes": 2, "injection": "given"},
    ],
)
def test_networks(shape):
    asked = {"height": 64, "angles": 2, "link_slots": 0} | shape
    params, alive = native_network_params(NetworkParams(**asked))
    before = allocated()
    said = lib.dvsim_network_bytes(params)
    assert allocated() - before < said / 10  # it counts, and allocates nothing
    found = growth(lib.dvsim_network_create, lib.dvsim_network_free, params, 1)
    assert 0.9 * said < found < 1.1 * said, found / said
    assert isinstance(alive, list)


def run_switch(slots, calls, **asked):
    """Bytes in use that so many calls leave behind in a small switch at a low load."""
    params, alive = native_params(
        VortexParams(height=8, angles=3, injecting=(0,), arrival_threshold=1 << 28, **asked)
    )
    switch = lib.dvsim_vortex_create(params, 1)
    before = allocated()
    for _ in range(calls):
        assert lib.dvsim_vortex_run(switch, slots) == lib.DVSIM_OK
    after = allocated()
    lib.dvsim_vortex_free(switch)
    assert alive
    return after - before


@pytest.mark.parametrize("injection", ["drop", "queue"])
def test_histograms_are_as_long_as_packets_are_old_not_as_the_run(injection):
    at_first = run_switch(100, 1, injection=injection)
    assert at_first > 0
    assert run_switch(100, 2000, injection=injection) < 2 * at_first
