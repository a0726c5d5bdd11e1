"""Does the C network do what the plain reference does, slot by slot?"""

import os
import random
import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_network import ReferenceNetwork
from test_switch_core import KERNELS, ONE, random_orders

from dvsim.core.network import NetworkCore, NetworkParams, network_bytes
from dvsim.fabric.network.tree import sizes

SLOTS = 30


@dataclass(frozen=True)
class Case:
    """A network and its traffic, for the core and for the reference."""

    params: NetworkParams
    reference: ReferenceNetwork
    sends: dict  # slot -> [(source, to, words, handle)]
    rng: random.Random


@st.composite
def geometries(draw, levels):
    """A switch of few ports, with enough of them for the levels."""
    crossing = draw(st.sampled_from(["brc", "xor", "random"]))
    if draw(st.booleans()):
        exit_rule, angles = "any", draw(st.integers(1, 6))
        height = 2 ** draw(st.integers(1 if levels == 1 else 2, 3 if levels < 3 else 2))
    else:
        exit_rule = "angle"
        choices = [(2, 2), (4, 1), (2, 3), (4, 2), (8, 1)] + ([(2, 1), (4, 3)] * (levels == 1))
        height, angles = draw(st.sampled_from(choices if levels < 3 else choices[:3]))
    return height, angles, exit_rule, crossing


@st.composite
def cases(draw):
    levels = draw(st.integers(1, 3))
    height, angles, exit_rule, crossing = draw(geometries(levels))
    rng = random.Random(draw(st.integers(0, 2**32)))
    radix = height if exit_rule == "any" else height * angles
    ports, planes = draw(st.sampled_from(sizes(radix, levels))), draw(st.integers(1, 3))
    injecting = rng.randrange(angles) if exit_rule == "any" else 0
    geometry = {
        "height": height,
        "angles": angles,
        "crossing": crossing,
        "exit_rule": exit_rule,
        "injecting": (injecting,) if exit_rule == "any" else tuple(range(angles)),
    }
    orders = random_orders(rng, height) if crossing == "random" else None
    both = {
        "levels": levels,
        "ports": ports,
        "planes": planes,
        "injection": draw(st.sampled_from(["drop", "queue", "saturate", "given"])),
        "seed": rng.getrandbits(64),
    }
    link = draw(st.integers(0, 3))
    core = {"arrival_threshold": rng.choice([ONE, ONE // 2, ONE // 10])}
    plain = {"threshold": core["arrival_threshold"]}
    for traffic in draw(st.sets(st.sampled_from(["permutation", "hot", "burst", "trace"]))):
        if traffic == "permutation":
            plain["permutation"] = rng.sample(range(ports), ports)
            core["destination"] = np.array(plain["permutation"])
        elif traffic == "hot":
            both |= {"hot": tuple(rng.sample(range(ports), 2)), "hot_threshold": ONE // 2}
        elif traffic == "burst":
            both |= {"burst_slots": rng.choice([1, 3, 7]), "burst_threshold": ONE // 2}
        elif both["injection"] in ("drop", "queue"):
            entries = {
                (slot, plane, port): rng.randrange(ports)
                for slot in range(SLOTS)
                for plane in range(planes)
                for port in range(ports)
                if rng.random() < 0.3
            }
            plain["trace"] = entries
            rows = [(slot, pl * ports + port, to) for (slot, pl, port), to in entries.items()]
            core["trace"] = tuple(np.array(rows, dtype=np.int64).reshape(-1, 3).T)
    sends, handle = {}, 0
    for slot in range(SLOTS if both["injection"] == "given" else 0):
        sends[slot] = []
        for _ in range(rng.choice([0, 0, 0, 1, 3])):
            words = rng.choice([1, 2, planes, 7])
            sends[slot].append((rng.randrange(ports), rng.randrange(ports), words, handle))
            handle += 1
    params = NetworkParams(
        **{name: value for name, value in geometry.items() if name != "injecting"},
        injecting=injecting,
        order=None if orders is None else np.concatenate(orders),
        link_slots=link,
        **both,
        **core,
    )
    if orders is not None:
        geometry["order"] = orders
    return Case(params, ReferenceNetwork(geometry, link=link, **both, **plain), sends, rng)


def cores(case):
    """The core once for each instruction set; layouts, groups and threads as they come."""
    made = []
    layouts = case.rng.sample(["best", "words", "slices"], 3)
    before = os.environ.get("DVSIM_SIMD")
    try:
        for kernel, layout in zip(KERNELS, layouts, strict=True):
            os.environ["DVSIM_SIMD"] = kernel
            params = replace(case.params, together=case.rng.randrange(4), layout=layout)
            made.append(NetworkCore(params, threads=case.rng.randint(1, 3)))
    finally:
        os.environ.pop("DVSIM_SIMD")
        if before is not None:
            os.environ["DVSIM_SIMD"] = before
    return made


def histogram(reference, name):
    return {key[1]: n for key, n in reference.count.items() if key[0] == name and n}


def at_ports(reference, name, like):
    wanted = np.zeros_like(like)
    for key, n in reference.count.items():
        if key[0] == name:
            wanted[key[1:]] = n
    return wanted


def same(counts, reference):
    assert counts.slots == reference.now
    assert counts.in_flight == reference.in_flight()
    assert counts.waiting == reference.waiting()
    for name in ("hops", "latency"):
        found = {value: n for value, n in enumerate(getattr(counts, name).tolist()) if n}
        assert found == histogram(reference, name), name
    for name in ("offered", "accepted", "delivered"):
        at = getattr(counts, f"{name}_at")
        assert np.array_equal(at, at_ports(reference, name, at)), name
        assert getattr(counts, name) == at.sum()
    assert counts.accepted == counts.delivered + counts.in_flight
    for name in ("wanted", "blocked", "present"):
        wanted = np.zeros_like(counts.wanted)
        for plane in reference.switches:
            for (level, _), switch in plane.items():
                wanted[level] += [switch.count[name, c] for c in range(wanted.shape[1])]
        assert np.array_equal(getattr(counts, name), wanted), name
    for name, found in (("peak", counts.queue_peak), ("queued", counts.queue_sum)):
        wanted = [
            [reference.count[name, (level, way)] for way in ("up", "down")]
            for level in range(reference.levels)
        ]
        assert found.tolist() == wanted, name


@settings(max_examples=100, deadline=None)
@given(cases())
def test_core_agrees_with_the_reference(case):
    made = cores(case)
    for slot in range(SLOTS):
        for send in case.sends.get(slot, ()):
            case.reference.send(*send)
            for core in made:
                assert core.send(*send)
        case.reference.step()
        for core in made:
            core.run(1)
            same(core.counts(), case.reference)
            if case.params.injection == "given":
                assert core.completions().tolist() == case.reference.completed


def of_strips(exit_rule, **more):
    """A network with more switches to a level than one strip or stage has, with moderate load."""
    shape = {"any": (6, 2, 512, 17), "angle": (4, 1, 256, 150)}[exit_rule]
    angles, levels, ports, planes = shape
    return NetworkParams(
        height=64,
        angles=angles,
        exit_rule=exit_rule,
        levels=levels,
        ports=ports,
        planes=planes,
        together=planes,
        link_slots=1,
        arrival_threshold=ONE // 3,
        **more,
    )


@pytest.mark.parametrize("exit_rule", ["any", "angle"])
@pytest.mark.parametrize("crossing", ["brc", "xor"])
@pytest.mark.parametrize("injection", ["drop", "queue", "saturate", "given"])
def test_every_layout_is_the_same_network(crossing, exit_rule, injection):
    params = of_strips(exit_rule, crossing=crossing, injection=injection)
    cores = [NetworkCore(replace(params, layout=one)) for one in ("words", "slices", "best")]
    cores.append(NetworkCore(replace(params, together=1)))  # one stage to a level, not several
    for turn in range(6):
        for core in cores:
            for port in range(params.ports if injection == "given" else 0):
                core.send(port, port * 7 % params.ports, 1 + turn % 3 * port, turn)
            core.run(11)
        words, *others = (core.counts() for core in cores)
        for found in others:
            for name, value in words._asdict().items():
                assert np.array_equal(getattr(found, name), value), (turn, name)
        done = [core.completions().tolist() for core in cores]
        assert done[0] == done[1] == done[2]
    assert words.delivered > 0


@pytest.mark.skipif(sys.byteorder != "little", reason="slices are read as words from any byte on")
def test_slices_take_little_more_than_half_of_the_memory():
    words, best = (
        network_bytes(replace(of_strips("any"), layout=one)) for one in ("words", "best")
    )
    assert best < 0.55 * words
