"""Do the paths of watched packets, and packets of the caller, obey the rules of the switch?"""

import numpy as np
import pytest
from switch_runs import SMALL, content

from dvsim.fabric.switch import Switch


def standing_at(run):
    """Which watched packet stands where, after each slot."""
    where = {}
    for path in run.paths:
        for step in path.steps:
            if step.event not in ("leave", "lose"):
                node = (step.cylinder, step.angle, step.height)
                assert (step.slot, node) not in where, "two packets at one node"
                where[step.slot, node] = path.packet
    return where


@pytest.mark.parametrize("exit_rule", ["angle", "any"])
@pytest.mark.parametrize("crossing", ["brc", "xor", "random"])
def test_paths_obey_the_rules_of_the_switch(crossing, exit_rule):
    switch = Switch(8, 3, crossing=crossing, exit=exit_rule)
    run = switch.run(0.8, 60, watch=10**6)
    links = switch.graph().edges
    where = standing_at(run)
    assert len(run.paths) == run.accepted
    for path in run.paths:
        entry, *steps = path.steps
        at, target = (entry.cylinder, entry.angle, entry.height), path.destination % 8
        assert (entry.event, at) == ("enter", (0, path.source // 8, path.source % 8))
        for slot, step in enumerate(steps, start=entry.slot + 1):
            assert step.slot == slot
            cylinder, angle, height = at
            node = (step.cylinder, step.angle, step.height)
            assert height >> (3 - cylinder) == target >> (3 - cylinder), "settled bits are right"
            right = cylinder < 3 and (height ^ target) >> (2 - cylinder) & 1 == 0
            below = (cylinder + 1, (angle + 1) % 3, height)
            if step.event == "leave":
                assert (node, cylinder, height) == (at, 3, target)
                assert exit_rule == "any" or angle == path.destination // 8
                assert step is steps[-1]
                break
            assert links[at, node]["kind"] == {"descend": "down"}.get(
                step.event, "ring" if cylinder == 3 else "stay"
            )
            assert right == (step.event in ("descend", "deflect"))
            if step.event == "deflect":
                assert where[slot, below] == step.by
                blocker = next(way for way in run.paths if way.packet == step.by)
                came = blocker.steps[slot - blocker.steps[0].slot]
                assert came.event in ("cross", "deflect"), "who stays below has priority"
            at = node


def test_paths_tell_the_figures_of_the_run():
    run = SMALL.run(0.8, 60, watch=10**6)
    assert sum(path.deflections for path in run.paths) == run.deflections.sum()
    left = [path.hops for path in run.paths if path.steps[-1].event == "leave"]
    assert np.bincount(left).tolist() == run.hops.tolist()


def test_only_so_many_packets_are_watched():
    run = SMALL.run(0.5, 60, watch=5)
    assert [path.packet for path in run.paths] == [0, 1, 2, 3, 4]
    assert SMALL.run(0.5, 60).paths == []


def test_watching_changes_nothing():
    assert content(SMALL.run(0.5, 100, watch=9)) == content(SMALL.run(0.5, 100))


def test_given_packets_arrive_where_they_are_sent():
    simulation = SMALL.start(injection="given")
    for handle, (source, target) in enumerate([(0, 23), (9, 4), (23, 0)]):
        simulation.give(source, target, handle)
    simulation.run(40)
    left = simulation.deliveries()
    assert dict(zip(left.handle.tolist(), left.output.tolist(), strict=True)) == {0: 23, 1: 4, 2: 0}
    assert left.slot.tolist() == left.hops.tolist()  # all entered in slot 0
    assert simulation.refused().tolist() == []
    simulation.run(1)
    assert simulation.deliveries().handle.size == 0


def test_given_packets_are_refused_where_the_node_is_dead():
    simulation = Switch(4, 2, faults=[("node", 0, 0, 1)]).start(injection="given")
    simulation.give(1, 0, handle=-5)
    simulation.run(1)
    assert simulation.refused().tolist() == [-5]


def test_one_packet_per_input_and_slot():
    simulation = SMALL.start(injection="given")
    simulation.give(0, 1, 1)
    with pytest.raises(ValueError, match="input 0 has a packet for slot 0 already"):
        simulation.give(0, 2, 2)
    simulation.run(1)
    simulation.give(0, 2, 2)


def test_give_names_what_is_wrong():
    simulation = Switch(8, 3, injecting=[1]).start(injection="given")
    with pytest.raises(ValueError, match=r"input must be from 0 to 23, is 24"):
        simulation.give(24, 0, 0)
    with pytest.raises(ValueError, match=r"output must be from 0 to 23, is -1"):
        simulation.give(8, -1, 0)
    with pytest.raises(ValueError, match="input 0 is at an angle that does not inject"):
        simulation.give(0, 0, 0)
    with pytest.raises(ValueError, match="give needs injection 'given', is 'drop'"):
        SMALL.start(0.5).give(0, 0, 0)
