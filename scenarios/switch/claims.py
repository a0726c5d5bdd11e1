"""The published statements about the switch and the system that it is built into.

They are from abstracts and first pages; the configurations that they leave open are our readings,
see ``docs/switch.md``. What two texts leave open most is the crossing: a verdict is that of the
default, ``brc``, and the note gives the others. Studies are looked up by the names of the packaged
scenarios.
"""

from collections.abc import Iterable
from functools import partial
from itertools import pairwise

from dvsim.evidence.claims import Estimate, Evidence, Finding, Missing, Source, four_digits
from dvsim.kinds.switch.points import device_of, network_of, nodes_of
from dvsim.kinds.switch.spec import NetworkTable, SwitchScenario

SOURCE = Source(
    __file__, "The switch, and the system around it: abstracts and the vendor's FAQ", order=2
)

ZERO_LOAD, SATURATION, FIXED = "switch/zero-load", "switch/saturation", "switch/fixed-ports"
ANGLES, BUTTERFLY, ALL_INJECT = "switch/angles", "switch/butterfly", "switch/butterfly-all"
SYSTEMS = "switch/systems"
LIMIT = 2 / 9  # packets per slot and input
ACCEPTED = 0.99
TWICE = 2.0
LOAD = 0.5
OTHERS = ("random", "xor")
PRESETS = (("dv206", 1, 64), ("dv211", 2, 2_048), ("dv216", 3, 65_536))


@SOURCE.claim("DV-1", "The 12 x 12 prototype has a median of 5 hops at light load", [ZERO_LOAD])
def _(evidence: Evidence) -> Finding:
    mean = evidence.point(ZERO_LOAD, "mean_hops")
    law = evidence.theory(ZERO_LOAD, "zero-load", "mean_hops")
    slot = evidence.studies[ZERO_LOAD].slot_ps
    median = evidence.point(ZERO_LOAD, "p50").value
    time = ""
    if slot:
        time = (
            f"{four_digits(median * slot / 1000)} ns with slots of {four_digits(slot / 1000)} ns; "
        )
    return Finding(median, f"{time}mean {mean.text}, without load {four_digits(law)}")


@SOURCE.claim("DV-2", "The 12 x 12 prototype has 36 nodes", [ZERO_LOAD])
def _(evidence: Evidence) -> Finding:
    setting = evidence.studies[ZERO_LOAD].scenario.at(0)
    assert isinstance(setting, SwitchScenario)  # of a switch
    inputs = device_of(setting).inputs
    return Finding(float(nodes_of(setting)), f"structure: {inputs} ports", by_definition=True)


@SOURCE.claim("DV-3", "The saturation throughput approaches 2/9 in tall switches", [SATURATION])
def _(evidence: Evidence) -> Finding:
    height = max(_values(evidence, SATURATION, "height"))
    at = partial(evidence.point, SATURATION, "throughput", height=height)
    few = [at(crossing="brc", angles=angles) for angles in (1, 2)]
    farthest = max(few, key=lambda item: abs(item.value - LIMIT))
    notes = [f"H = {height:,}, brc, A = 1, 2: {_list(few)}; the one farther from 2/9 decides"]
    notes.append(f"A = 3: {at(crossing='brc', angles=3).text}")
    for crossing in OTHERS:
        results = [at(crossing=crossing, angles=angles) for angles in (1, 2, 3)]
        notes.append(f"{crossing}, A = 1 to 3: {_list(results)}")
    notes.append("only the mean field has 2/9 as its limit, brc goes on falling slowly")
    return Finding(farthest.value, "; ".join(notes))


@SOURCE.claim(
    "DV-4", "At a fixed A * H the saturation throughput is largest at the smallest A", [FIXED]
)
def _(evidence: Evidence) -> Finding:
    notes = []
    for crossing in ("brc", *OTHERS):
        results = {
            ports: [item.value for item in row]
            for ports, row in _by_ports(evidence, crossing).items()
        }
        falls = {
            ports: all(more > less for more, less in pairwise(row))
            for ports, row in results.items()
        }
        if crossing == "brc":
            largest = all(row[0] == max(row) for row in results.values())
        rows = (
            f"{ports:,} ports {' '.join(f'{value:.4f}' for value in row)}"
            + ("" if falls[ports] else " (not falling throughout)")
            for ports, row in results.items()
        )
        notes.append(f"{crossing}, A = 1, 2, 4, 8: {', '.join(rows)}")
    return Finding(float(largest), "; ".join(notes))


@SOURCE.claim("DV-5", "Five idle angles to one that injects accept more than 99 %", [ANGLES])
def _(evidence: Evidence) -> Finding:
    heights = _values(evidence, ANGLES, "height")
    results = {
        crossing: [_fewest_angles(evidence, crossing, height) for height in heights]
        for crossing in ("brc", *OTHERS)
    }
    if None in results["brc"]:
        raise Missing("no number of angles is enough")
    value = max(angles for angles in results["brc"] if angles is not None)
    notes = [
        f"{crossing}: {', '.join(str(angle or 'none') for angle in angles)}"
        for crossing, angles in results.items()
    ]
    text = ", ".join(map(str, heights))
    note = f"smallest A at H = {text}; {'; '.join(notes)}; exit at any angle, a full load"
    return Finding(float(value), note)


@SOURCE.claim(
    "DV-6", "At half load twice the acceptance of an unbuffered butterfly", [BUTTERFLY, ALL_INJECT]
)
def _(evidence: Evidence) -> Finding:
    ratios = {
        height: _ratio(evidence, BUTTERFLY, height=height, load=LOAD) for height in (128, 256)
    }
    value = max(ratios.values(), key=lambda ratio: abs(ratio - TWICE))
    text = " and ".join(f"{ratio:.2f} at {ports} ports" for ports, ratio in ratios.items())
    without = [
        _ratio(evidence, ALL_INJECT, height=setting.get("height"), angles=setting.get("angles"))
        for setting in evidence.settings(ALL_INJECT)
    ]
    return Finding(
        value,
        f"one injecting angle of six: {text}; the one farther from 2 decides; it takes all, so no "
        f"switch could do better; with all angles injecting {min(without):.2f} to "
        f"{max(without):.2f}, no advantage",
    )


@SOURCE.claim("DV-7", "A system has 16 parallel networks", [SYSTEMS])
def _(evidence: Evidence) -> Finding:
    network = network_of(NetworkTable(preset=PRESETS[0][0]))
    carried = _carried(evidence, PRESETS[0][0])
    note = f"structure: a parameter of the card; {carried} through {network.planes} planes"
    return Finding(float(network.planes), note, by_definition=True)


@SOURCE.claim(
    "DV-8", "One, two and three levels of switches give 64, 2,048 and 65,536 ports", [SYSTEMS]
)
def _(evidence: Evidence) -> Finding:
    networks = [network_of(NetworkTable(preset=preset)) for preset, _, _ in PRESETS]
    built = [(network.levels, network.ports) for network in networks]
    good = built == [(levels, ports) for _, levels, ports in PRESETS]
    text = ", ".join(
        f"{preset} {ports:,} ports in {levels} level{'s' if levels > 1 else ''}, "
        f"{_carried(evidence, preset)}"
        for (preset, _, _), (levels, ports) in zip(PRESETS, built, strict=True)
    )
    return Finding(float(built[0][1]) if good else 0.0, f"structure: {text}", by_definition=True)


def _carried(evidence: Evidence, preset: str) -> str:
    """Return what a network has delivered, which it did not if ports were missing or not joined."""
    offered, delivered = (
        evidence.point(SYSTEMS, metric, preset=preset).value for metric in ("offered", "delivered")
    )
    if not delivered > 0:
        raise Missing(f"nothing delivered by {preset} in {SYSTEMS}")
    return f"{four_digits(delivered)} packets delivered of {four_digits(offered)}"


def _values(evidence: Evidence, scenario: str, key: str) -> list[int]:
    """Return the values that a key of a study takes, in order."""
    return sorted({int(setting.get(key)) for setting in evidence.settings(scenario)})


def _by_ports(evidence: Evidence, crossing: str) -> dict[int, list[Estimate]]:
    """Return the throughputs of each number of ports, fewest angles first."""
    results: dict[int, list[tuple[int, Estimate]]] = {}
    for setting in evidence.settings(FIXED):
        keys = {key: setting.get(key) for key in ("crossing", "height", "angles")}
        if keys["crossing"] == crossing:
            value = evidence.point(FIXED, "throughput", **keys)
            results.setdefault(keys["height"] * keys["angles"], []).append((keys["angles"], value))
    if not results:
        raise Missing(f"no crossing {crossing} in {FIXED}")
    return {ports: [value for _, value in sorted(rows)] for ports, rows in results.items()}


def _fewest_angles(evidence: Evidence, crossing: str, height: int) -> int | None:
    """Return the fewest angles whose acceptance is above 99 % with confidence, None if none is."""
    for angles in _values(evidence, ANGLES, "angles"):
        keys = {"crossing": crossing, "height": height, "angles": angles}
        if evidence.point(ANGLES, "acceptance", **keys).low > ACCEPTED:
            return angles
    return None


def _ratio(evidence: Evidence, scenario: str, **keys: object) -> float:
    """Return the acceptance of the switch over that of the butterfly."""
    accepted = evidence.point(scenario, "acceptance", **keys).value
    return accepted / evidence.theory(scenario, "butterfly", "acceptance", **keys)


def _list(estimates: Iterable[Estimate]) -> str:
    return ", ".join(estimate.text for estimate in estimates)
