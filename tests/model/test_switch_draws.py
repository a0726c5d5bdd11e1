"""Are arrivals that 64 inputs draw together independent, even, and the same everywhere?

One bit of each number goes to each input (`models/vortex/draws.h`). The plain reference draws them
input by input; here it is held against all ways in which the core does so. Whether they are even
and independent is tested on the packets themselves, with a fixed seed.
"""

import itertools

import numpy as np
import pytest
from reference_switch import ReferenceSwitch
from scipy import stats

from dvsim.core.vortex import EVENTS, Vortex, VortexParams
from dvsim.fabric.switch import replication_seed

RARE = 1e-6  # good numbers are refused once in a million tests
SLOTS = 6
CHANCES = (0.5, 0.3, 0.001)
# heights, angles, replications: rows of one lane, of up to eight, of more; blocks of several
# heights, of a part of a lane; angles that are no power of two
SHAPES = (
    (64, 1, 1), (64, 3, 1), (64, 8, 1), (128, 12, 1), (64, 16, 2), (1024, 3, 1),
    (2, 3, 1), (16, 4, 1), (16, 4, 70), (32, 5, 9), (8, 16, 64), (4, 9, 8),
)  # fmt: skip


def made(height, angles, chance, seed=5, **more):
    """Return what `Vortex` needs for uniform traffic from all inputs."""
    threshold = round(chance * 2**32)
    injecting = tuple(range(angles))
    return VortexParams(
        height=height, angles=angles, injecting=injecting, arrival_threshold=threshold,
        seed=seed, **more,
    )  # fmt: skip


def counted(references, name, height, angles):
    """Return what references have counted, for each replication, angle and height."""
    counts = np.zeros((len(references), angles, height), dtype=np.int64)
    for r, reference in enumerate(references):
        for key, count in reference.count.items():
            if key[0] == name:
                counts[(r, *key[1])] = count
    return counts


@pytest.mark.parametrize("chance", [1.0, 0.5, 0.37])
@pytest.mark.parametrize(("height", "angles", "replications"), SHAPES)
def test_all_ways_draw_what_the_reference_draws(monkeypatch, height, angles, replications, chance):
    seed = 2**63 + height
    references = [
        ReferenceSwitch(
            height, angles, tuple(range(angles)), threshold=round(chance * 2**32),
            seed=replication_seed(seed, r),
        )
        for r in range(replications)
    ]  # fmt: skip
    for reference, _ in itertools.product(references, range(SLOTS)):
        reference.step()
    places = [(0, a, h) for a in range(angles) for h in range(height)]
    nodes = references[0].nodes
    wanted = [n.angle * height + n.height if (n := nodes.get(one)) else None for one in places]
    for kernel, layout in itertools.product(
        ("avx512", "avx2", "portable"), ("slices", "words", "best")
    ):
        monkeypatch.setenv("DVSIM_SIMD", kernel)
        params = made(height, angles, chance, seed=seed, layout=layout, replications=replications)
        for threads in (1, 3):
            core = Vortex(params, threads)
            core.run(SLOTS)
            counts = core.counts()
            for name in ("offered", "accepted", "delivered"):
                found = getattr(counts, f"{name}_at")
                assert np.array_equal(found, counted(references, name, height, angles)), name
            assert [core.at(*place) for place in places] == wanted


def arrivals(height, angles, chance, slots):
    """Return, for each slot, angle and height, whether a packet arrives."""
    core = Vortex(made(height, angles, chance), 1)
    sums = [np.zeros((angles, height), dtype=np.int64)]
    for _ in range(slots):
        core.run(1)
        sums.append(core.counts().offered_at[0].copy())
    return np.diff(np.array(sums), axis=0)


@pytest.mark.parametrize("chance", CHANCES)
@pytest.mark.parametrize(("height", "angles"), [(16, 4), (8, 3), (64, 5)])
def test_arrivals_are_independent_and_as_likely_as_asked(height, angles, chance):
    slots = 200_000 // (height * angles)
    found = arrivals(height, angles, chance, slots)
    assert set(np.unique(found)) == {0, 1}
    spread = chance * (1 - chance)
    assert stats.binomtest(int(found.sum()), found.size, chance).pvalue > RARE
    inputs = ((found.sum(axis=0) - slots * chance) ** 2 / (slots * spread)).sum()
    assert stats.chi2.sf(inputs, height * angles) > RARE
    off = (found - chance) / np.sqrt(spread)
    pairs = [off[1:] * off[:-1], off[angles:] * off[:-angles], off[:, 1:] * off[:, :-1]]
    pairs += [off[:, :, step:] * off[:, :, :-step] for step in (1, 2, 4)]
    pairs += [off[1:, 1:] * off[:-1, :-1], off[1:, :-1] * off[:-1, 1:]]  # of one lane, and others
    for pair in pairs:
        assert stats.norm.sf(abs(pair.sum()) / np.sqrt(pair.size)) > RARE


def test_every_input_has_an_arrival_where_the_chance_is_1():
    assert arrivals(8, 3, 1.0, 50).all()
    assert not arrivals(8, 3, 0.0, 50).any()


def entered(height, angles, chance, slots, exit_rule):
    """Return the inputs and outputs of all packets that enter."""
    core = Vortex(made(height, angles, chance, exit_rule=exit_rule, watched=10**7), 1)
    core.run(slots)
    events = core.events()
    mine = events[events["kind"] == EVENTS.index("enter")]
    into = mine["angle"] * height + mine["height"]
    return into, mine["to_angle"] * height + mine["to_height"]


@pytest.mark.parametrize("chance", [0.3, 1.0])
@pytest.mark.parametrize("exit_rule", ["angle", "any"])
@pytest.mark.parametrize(("height", "angles"), [(4, 4), (8, 3), (4, 5), (16, 1)])
def test_addresses_are_even_and_independent_of_inputs(height, angles, exit_rule, chance):
    into, to = entered(height, angles, chance, 8000, exit_rule)
    outputs = height * (angles if exit_rule == "angle" else 1)
    assert len(into) > 20 * height * angles * outputs
    assert stats.chisquare(np.bincount(to, minlength=outputs)).pvalue > RARE
    table = np.zeros((height * angles, outputs))
    np.add.at(table, (into, to), 1)
    assert stats.chi2_contingency(table).pvalue > RARE
    one_after_another = np.zeros((outputs, outputs))
    np.add.at(one_after_another, (to[:-1], to[1:]), 1)
    assert stats.chi2_contingency(one_after_another).pvalue > RARE
