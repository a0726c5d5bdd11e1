"""Cycle-level tables of one switch of a network, by the part that it plays and its load.

A unit is a switch and the links behind its outputs, with a link time of zero: packets arrive at
random at each input, wait for a free node, pass the switch, and wait for their turn on the link.
It is measured as a network of one level whose traffic is that of the part:

- on a level below the top, packets from below go down with probability 1 - up/below and up
  otherwise, and packets from above go down;
- on the top, packets go to any group but the one that they come from;
- a switch alone sends to all its ports alike.

Tables are made for loads of 1/64, 2/64, … 1 when they are first needed, and interpolated linearly.

Measurements that are kept: in memory, and on disk below $XDG_CACHE_HOME or ~/.cache.

A key says all that a measurement depends on, with digests of the C core and of this room, so an old
file is never wrong, only unused. What cannot be read, or is damaged, is measured again; what cannot
be written is kept in memory alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dvsim.atomic import write_file
from dvsim.core import source_digest
from dvsim.core.arrays import Ints
from dvsim.core.network import NetworkCore, NetworkCounts, NetworkParams
from dvsim.fabric.switch.figures import Floats
from dvsim.fabric.switch.switch import Switch
from dvsim.fabric.switch.wiring import random_order
from dvsim.machine import user_folder

Document = dict[str, Any]
_MEMORY: dict[str, Document] = {}


def kept(name: str, measure: Callable[[], Document], **depends_on: object) -> Document:
    """Return a measurement, from memory or disk if it is there.

    Args:
        name: Its kind, first part of the file name.
        measure: Called if it is not there; returns what JSON can hold.
        **depends_on: All that it depends on but the code.
    """
    key = json.dumps([name, source_digest().decode(), _room(), depends_on], sort_keys=True)
    if key not in _MEMORY:
        path = folder() / f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:24]}.json"
        document = _read(path, key)
        if document is None:
            document = measure()
            with suppress(OSError):
                write_file(path, _text(key, document).encode())
        _MEMORY[key] = document
    return _MEMORY[key]


def folder() -> Path:
    """Return where measurements are kept."""
    with suppress(RuntimeError):  # nobody's home
        return user_folder("CACHE", ".cache")
    return Path("/nonexistent")


@cache
def _room() -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _text(key: str, document: Document) -> str:
    body = json.dumps([key, document])
    return f"{hashlib.sha256(body.encode()).hexdigest()}\n{body}\n"


def _read(path: Path, key: str) -> Document | None:
    try:
        digest, body, _ = path.read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError):
        return None
    if hashlib.sha256(body.encode()).hexdigest() != digest:
        return None
    there, document = json.loads(body)
    return document if there == key else None


STEPS = 64
SLOTS, WARMUP = 1500, 300
INPUT_SLOTS = 1_000_000
MOST_PLANES = 64
SEED = 20_180_101


class Part(NamedTuple):
    """What a switch does in its network; rates are relative to the load of a port."""

    # Packets per slot on a link from below, and on a link up; up is 0 at the top.
    below: float
    up: float
    down: int  # ports towards below
    groups: int  # at the top: groups below, none of which sends to itself; else 0


@dataclass(frozen=True)
class Unit:
    """A switch at one load."""

    # Share of what arrives from below that is accepted (``drop``), or of all that arrives that is
    # delivered (``queue``).
    passed: float
    # Shares by nodes visited, and by slots.
    hops: Floats
    latency: Floats
    # Per slot and switch, by cylinder.
    wanted: Floats
    blocked: Floats
    present: Floats
    link: float  # mean packets that are behind an output and may pass

    @property
    def wait(self) -> float:
        """Mean slots that packets wait at the inputs."""
        delivered = float(self.present[-1])
        behind = self.link / delivered - 1 if delivered else 0.0
        return max(0.0, mean_of(self.latency) - mean_of(self.hops) - max(0.0, behind))


def mean_of(shares: Floats) -> float:
    """Return the mean of a distribution over 0, 1, 2 and so on."""
    return float(shares @ np.arange(shares.size))


def unit_of(switch: Switch, part: Part, load: float, injection: str) -> Unit:
    """Return the unit at a load, interpolated between the two that are measured."""
    position = min(max(load * STEPS, 1.0), float(STEPS))
    low = min(int(position), STEPS - 1)
    share = position - low
    units = [
        (_measured(switch, part, step, injection), weight)
        for step, weight in ((low, 1 - share), (low + 1, share))
        if weight > 0
    ]
    return Unit(
        passed=sum(unit.passed * weight for unit, weight in units),
        link=sum(unit.link * weight for unit, weight in units),
        **{
            name: added([getattr(unit, name) * weight for unit, weight in units])
            for name in ("hops", "latency", "wanted", "blocked", "present")
        },
    )


def added(arrays: list[Floats]) -> Floats:
    """Return the sum of distributions of different lengths."""
    total = np.zeros(max(array.size for array in arrays))
    for array in arrays:
        total[: array.size] += array
    return total


def _measured(switch: Switch, part: Part, step: int, injection: str) -> Unit:
    def measure() -> Document:
        return _measure(switch, part, step / STEPS, injection)

    geometry = [switch.height, switch.angles, list(switch.injecting), switch.crossing, switch.exit]
    how = [SLOTS, WARMUP, INPUT_SLOTS, SEED]
    document = kept(
        "unit", measure, switch=geometry, part=list(part), step=step, injection=injection, how=how
    )
    lists = {name: np.array(value) for name, value in document.items() if isinstance(value, list)}
    return Unit(passed=document["passed"], link=document["link"], **lists)


def _measure(switch: Switch, part: Part, load: float, injection: str) -> Document:
    ports = switch.outputs
    planes = max(1, min(MOST_PLANES, INPUT_SLOTS // (ports * (SLOTS + WARMUP))))
    core = NetworkCore(
        NetworkParams(
            height=switch.height,
            angles=switch.angles,
            crossing=switch.crossing,
            exit_rule=switch.exit,
            injecting=switch.injecting[0],
            order=random_order(switch.height, 1) if switch.crossing == "random" else None,
            levels=1,
            ports=ports,
            planes=planes,
            link_slots=0,
            injection=injection,
            trace=_traffic(part, ports, planes, load),
        )
    )
    core.run(WARMUP)
    core.reset()
    core.run(SLOTS)
    return _document(core.counts(), part, injection)


def _document(counts: NetworkCounts, part: Part, injection: str) -> dict[str, Any]:
    planes = counts.offered_at.shape[0]
    below = slice(0, part.down)
    if injection == "drop":
        passed = counts.accepted_at[:, below].sum() / max(1, counts.offered_at[:, below].sum())
    else:
        passed = counts.delivered / max(1, counts.offered)
    per_slot = 1 / (SLOTS * planes)

    def shares(histogram: Ints) -> list[float]:
        if not histogram.sum():
            return [1.0]
        result: list[float] = (histogram / histogram.sum()).tolist()
        return result

    return {
        "passed": float(min(1.0, passed)),
        "hops": shares(counts.hops),
        "latency": shares(counts.latency),
        "wanted": (counts.wanted[0] * per_slot).tolist(),
        "blocked": (counts.blocked[0] * per_slot).tolist(),
        "present": (counts.present[0] * per_slot).tolist(),
        "link": float(counts.queue_sum[0, 1] * per_slot),
    }


def _traffic(part: Part, ports: int, planes: int, load: float) -> tuple[Ints, Ints, Ints]:
    random = np.random.Generator(np.random.PCG64(SEED))
    rates = np.full(ports, load * part.below)
    rates[part.down :] = load * part.up
    arrives = random.random((SLOTS + WARMUP, planes, ports)) < rates
    slot, plane, source = np.nonzero(arrives)
    return slot, plane * ports + source, _outputs(part, ports, source, random)


def _outputs(
    part: Part, ports: int, source: npt.NDArray[np.intp], random: np.random.Generator
) -> Ints:
    if part.groups:
        links = ports // part.groups
        other = random.integers(1, part.groups, source.size)
        return (source // links + other) % part.groups * links + random.integers(
            0, links, source.size
        )
    down = random.integers(0, part.down, source.size)
    if part.down == ports:
        return down
    goes_up = (source < part.down) & (random.random(source.size) * part.below < part.up)
    return np.where(goes_up, part.down + random.integers(0, ports - part.down, source.size), down)
