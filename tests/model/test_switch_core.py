"""Does the C core do what the plain reference does, packet by packet and slot by slot?"""

import os
import random
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_switch import ReferenceSwitch

from dvsim.core.vortex import EVENTS, Vortex, VortexParams, simd
from dvsim.fabric.switch import replication_seed

KERNELS = ("avx512", "avx2", "portable")
LAYOUTS = ("slices", "words")
ONE = 1 << 32
SLOTS = 25


@dataclass(frozen=True)
class Case:
    """One switch and its traffic, for the core and for the reference."""

    params: VortexParams
    references: tuple[ReferenceSwitch, ...]
    gives: dict  # slot -> [(input, output, handle)]
    threads: int


def port(height, place):
    return place[0] * height + place[1]


def random_orders(rng, height):
    """Permutations that flip bit 0, one for each cylinder but the last."""
    orders = []
    while height >= 2:
        half = height // 2
        odd, even = rng.sample(range(half), half), rng.sample(range(half), half)
        orders.append(
            [2 * odd[r >> 1] + 1 if r % 2 == 0 else 2 * even[r >> 1] for r in range(height)]
        )
        height = half
    return orders


def some_faults(rng, height, angles):
    last = height.bit_length() - 1
    faults = set()
    for _ in range(rng.randint(1, 6)):
        kind = rng.choice(["node", "down", "stay", "block", "free", "free"])
        cylinder = rng.randint(0, last if kind in ("node", "stay") else last - 1)
        faults.add((kind, cylinder, rng.randrange(angles), rng.randrange(height)))
    return tuple(sorted(faults))


@st.composite
def cases(draw, careful):
    angles = draw(st.integers(1, 6) | st.integers(7, 20))  # beyond 8: whole registers of AVX-512
    height = 2 ** draw(st.integers(1, 5 if angles < 7 else 3))
    rng = random.Random(draw(st.integers(0, 2**32)))
    exit_rule = draw(st.sampled_from(["angle", "any"]))
    exits = range(angles if exit_rule == "angle" else 1)
    outputs = [(a, h) for a in exits for h in range(height)]
    kinds = ["drop", "queue", "saturate"] + (["given"] if careful else [])
    both = {
        "height": height,
        "angles": angles,
        "injecting": tuple(sorted(rng.sample(range(angles), rng.randint(1, angles)))),
        "crossing": draw(st.sampled_from(["brc", "xor", "random"])),
        "exit_rule": exit_rule,
        "injection": draw(st.sampled_from(kinds)),
        "seed": rng.getrandbits(64),
        "faults": some_faults(rng, height, angles) if careful and rng.random() < 0.8 else (),
    }
    core = {"arrival_threshold": rng.choice([ONE, ONE // 2, ONE // 10])}
    plain = {"threshold": core["arrival_threshold"]}
    if both["crossing"] == "random":
        plain["order"] = random_orders(rng, height)
        core["order"] = np.concatenate(plain["order"])
    for traffic in draw(st.sets(st.sampled_from(["permutation", "hot", "burst", "trace"]))):
        if traffic == "permutation":
            plain["permutation"] = rng.sample(range(height), height)
            core["destination"] = np.array(plain["permutation"])
        elif traffic == "hot":
            plain["hot"] = tuple(rng.sample(outputs, min(2, len(outputs))))
            core["hot"] = tuple(port(height, place) for place in plain["hot"])
            both["hot_threshold"] = ONE // 3
        elif traffic == "burst":
            both |= {"burst_slots": rng.choice([1, 3, 7]), "burst_threshold": ONE // 2}
        elif both["injection"] != "saturate":
            entries = {
                (slot, a, h): rng.choice(outputs)
                for slot in range(SLOTS)
                for a in both["injecting"]
                for h in range(height)
                if rng.random() < 0.4
            }
            plain["trace"] = entries
            rows = [
                (slot, a * height + h, port(height, to)) for (slot, a, h), to in entries.items()
            ]
            core["trace"] = tuple(np.array(rows, dtype=np.int64).reshape(-1, 3).T)
    if careful:
        core["watched"] = draw(st.sampled_from([0, 5, 10**6]))
    else:
        core["replications"] = draw(st.integers(1, 3))
    seeds = [replication_seed(both["seed"], r) for r in range(core.get("replications", 1))]
    gives = {}
    if both["injection"] == "given":
        for slot in range(SLOTS):
            gives[slot] = [
                ((a, h), rng.choice(outputs), rng.getrandbits(63))
                for a in both["injecting"]
                for h in range(height)
                if rng.random() < 0.5
            ]
    return Case(
        VortexParams(**both, **core),
        tuple(ReferenceSwitch(**(both | {"seed": seed}), **plain) for seed in seeds),
        gives,
        draw(st.integers(1, 3)),
    )


def in_layout(params, turn):
    return replace(params, layout=LAYOUTS[turn % 2])


def cores(case):
    """The core once for each instruction set, with different layouts and numbers of threads."""
    made = []
    before = os.environ.get("DVSIM_SIMD")
    try:
        for i, kernel in enumerate(KERNELS):
            os.environ["DVSIM_SIMD"] = kernel
            turn = case.threads + i
            made.append(Vortex(in_layout(case.params, turn), 1 + turn % 3))
    finally:
        os.environ.pop("DVSIM_SIMD")
        if before is not None:
            os.environ["DVSIM_SIMD"] = before
    return made


def standing(core, params):
    return {
        (c, a, h): to
        for c in range(params.height.bit_length())
        for a in range(params.angles)
        for h in range(params.height)
        if (to := core.at(c, a, h)) is not None
    }


def same_counts(core, references, params):
    counts = core.counts()
    cylinders = range(params.height.bit_length())
    assert counts.slots == SLOTS
    assert counts.in_flight == sum(len(reference.nodes) for reference in references)
    waiting = sum(len(queue) for reference in references for queue in reference.queues.values())
    assert counts.waiting == waiting
    for name in ("wanted", "blocked", "present"):
        found = getattr(counts, name)
        assert found.tolist() == [sum(r.count[name, c] for r in references) for c in cylinders]
    for name in ("hops", "latency"):
        found = {(name, value): n for value, n in enumerate(getattr(counts, name).tolist()) if n}
        wanted = {}
        for reference in references:
            for key, n in reference.count.items():
                if key[0] == name and n:
                    wanted[key] = wanted.get(key, 0) + n
        assert found == wanted
    for name in ("offered", "accepted", "delivered", "lost"):
        at = getattr(counts, f"{name}_at")
        wanted = np.zeros_like(at)
        for r, reference in enumerate(references):
            for key, n in reference.count.items():
                if key[0] == name:
                    wanted[(r, *key[1])] = n
        assert np.array_equal(at, wanted), name
        assert getattr(counts, name) == wanted.sum()


def same_paths(core, reference, params):
    """Packets are matched by where and when they entered: the core may number them otherwise."""
    events = core.events().tolist()
    entered = {(e[0], e[5], e[6]): e[1] for e in events if EVENTS[e[3]] == "enter"}
    named = {}
    for packet in reference.entered:
        slot, _, (_, a, h), _ = packet.path[0]
        if (slot, a, h) in entered:
            named[id(packet)] = entered[slot, a, h]
    assert len(named) == len(entered) == min(params.watched, len(reference.entered))
    assert sorted(entered.values()) == list(range(len(entered)))
    found = {name: [] for name in entered.values()}
    for slot, name, by, kind, c, a, h, to_angle, to_height in events:
        # a packet that is not watched has a name that cannot be known from outside
        found[name].append(
            (
                slot,
                EVENTS[kind],
                (c, a, h),
                by if by < params.watched else "other",
                to_angle,
                to_height,
            )
        )
    for packet in reference.entered:
        if id(packet) in named:
            wanted = [
                (
                    slot,
                    event,
                    node,
                    -1 if by is None else named.get(id(by), "other"),
                    packet.angle,
                    packet.height,
                )
                for slot, event, node, by in packet.path
            ]
            assert found[named[id(packet)]] == wanted


def agree(case):
    params, first = case.params, case.references[0]
    height = params.height
    made = cores(case)
    for slot in range(SLOTS):
        for source, to, handle in case.gives.get(slot, ()):
            first.give(*source, *to, handle)
            for core in made:
                assert core.give(port(height, source), port(height, to), handle)
        for reference in case.references:
            reference.step()
        wanted = {node: port(height, (p.angle, p.height)) for node, p in first.nodes.items()}
        for core in made:
            core.run(1)
            assert standing(core, params) == wanted, slot
            if params.injection == "given":
                assert sorted(core.refused().tolist()) == sorted(p.handle for p in first.refused)
                left = sorted((p.handle, slot, slot - p.injected) for p in first.left)
                found = core.deliveries()
                assert sorted(found[["handle", "slot", "hops"]].tolist()) == left
    for core in made:
        same_counts(core, case.references, params)
        if params.watched:
            same_paths(core, first, params)


@settings(max_examples=100, deadline=None)
@given(cases(careful=False))
def test_core_agrees_with_the_reference(case):
    agree(case)


@settings(max_examples=100, deadline=None)
@given(cases(careful=True))
def test_core_agrees_with_faults_watched_packets_and_packets_of_the_caller(case):
    agree(case)


@settings(max_examples=40, deadline=None)
@given(
    cases(careful=False), st.lists(st.integers(0, 9), min_size=1, max_size=6), st.integers(0, 20)
)
def test_how_a_run_is_cut_into_calls_changes_nothing(case, calls, warmup):
    """Also: counts from a reset on, and a state that is saved and loaded half way."""
    whole = Vortex(in_layout(case.params, case.threads), case.threads)
    cut = Vortex(in_layout(case.params, case.threads + 1), 1)
    whole.run(warmup)
    whole.reset()
    whole.run(sum(calls))
    cut.run(warmup)
    cut.reset()
    for slots in calls:
        state = cut.save()
        cut = Vortex(in_layout(case.params, slots), 1 + (case.threads + slots) % 3)
        cut.load(state)
        cut.run(slots)
    for found, wanted in zip(cut.counts(), whole.counts(), strict=True):
        assert np.array_equal(found, wanted)
    assert standing(cut, case.params) == standing(whole, case.params)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("crossing", ["brc", "xor"])
@pytest.mark.parametrize(("height", "angles"), [(64, 5), (512, 5), (64, 24)])
def test_slices_are_words_for_as_long_as_packets_get_old(
    monkeypatch, kernel, crossing, height, angles
):
    """All go to one port, so that most go round for long: stamps of 8 bits become too short."""
    monkeypatch.setenv("DVSIM_SIMD", kernel)
    params = VortexParams(
        height=height,
        angles=angles,
        injecting=tuple(range(0, angles, 2)),
        crossing=crossing,
        arrival_threshold=ONE // 3,
        hot=(5,),
        hot_threshold=ONE - ONE // 50,
    )
    words, slices = (Vortex(replace(params, layout=one)) for one in ("words", "slices"))
    for slots in (100, 29, 171, 300):
        for core in (words, slices):
            core.run(slots)
        assert slices.totals() == words.totals()
        for found, wanted in zip(slices.counts(), words.counts(), strict=True):
            assert np.array_equal(found, wanted)
    assert len(slices.counts().latency) > 256


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("height", "copies"), [(16, 150), (64, 67)])
def test_ages_of_many_packets_that_leave_at_once_are_those_of_words(
    monkeypatch, kernel, height, copies
):
    """More than 1,000 a slot, most younger than 48 slots, some older than 256."""
    monkeypatch.setenv("DVSIM_SIMD", kernel)
    params = VortexParams(
        height=height,
        angles=4,
        injecting=tuple(range(4)),
        arrival_threshold=ONE // 3 * 2,
        hot=(5,),
        hot_threshold=ONE * 2 // height,
        replications=copies,
    )
    words, slices = (Vortex(replace(params, layout=one), 1) for one in ("words", "slices"))
    for slots in (20, 320):
        words.run(slots)
        slices.run(slots)
        for found, wanted in zip(slices.counts(), words.counts(), strict=True):
            assert np.array_equal(found, wanted)
    counts = slices.counts()
    assert counts.delivered > 1000 * 340
    assert len(counts.latency) > 256 and counts.latency[48:256].sum() > 0


@pytest.mark.parametrize("exit_rule", ["angle", "any"])
@pytest.mark.parametrize("crossing", ["brc", "xor"])
def test_strips_of_one_lane_are_one_switch(crossing, exit_rule):
    """Also on threads with several strips each, over several tallies, saved and loaded."""
    params = VortexParams(
        height=512,
        angles=3,
        replications=2,
        injecting=(0, 2),
        crossing=crossing,
        exit_rule=exit_rule,
        arrival_threshold=ONE // 2,
    )
    words = Vortex(replace(params, layout="words"))
    strips = Vortex(replace(params, layout="slices"), threads=4)
    for slots in (3, 600):
        for core in (words, strips):
            core.run(slots)
        assert strips.save() == words.save()
        strips = Vortex(replace(params, layout="slices"), threads=2)
        strips.load(words.save())


def test_more_lanes_than_are_looked_at_at_once():
    """The core looks for packets that leave in pieces of 4096 lanes."""
    params = {"height": 2, "angles": 16, "injecting": tuple(range(16)), "exit_rule": "any"}
    many = Vortex(VortexParams(**params, injection="saturate", seed=5, replications=600))
    many.run(40)
    for r in (0, 255, 256, 599):
        seed = replication_seed(5, r)
        one = Vortex(VortexParams(**params, injection="saturate", seed=seed))
        one.run(40)
        assert np.array_equal(many.counts().delivered_at[r], one.counts().delivered_at[0])


def test_state_does_not_depend_on_threads_or_on_how_the_run_was_cut():
    params = VortexParams(height=8, angles=5, injecting=(0, 3), arrival_threshold=ONE // 2)
    whole, cut = Vortex(params, threads=1), Vortex(params, threads=3)
    whole.run(5000)
    for slots in (4000, 1000):
        cut.run(slots)
    assert cut.save() == whole.save()


def test_histograms_are_as_long_as_packets_are_old():
    core = Vortex(VortexParams(height=2, angles=1, injecting=(0,), arrival_threshold=ONE // 2))
    for _ in range(100):
        core.run(1000)
    assert len(core.save()) < 10_000  # a histogram of the run's length would take 800,000


@pytest.mark.parametrize("kernel", ["portable", "avx2", "avx512"])
def test_environment_forces_an_instruction_set(monkeypatch, kernel):
    best = simd()
    monkeypatch.setenv("DVSIM_SIMD", kernel)
    weaker = KERNELS.index(kernel) >= KERNELS.index(best)
    assert simd() == (kernel if weaker else best)
