"""A simulation in a file: what it was made of, and the state of the core.

The file is a mark, the SHA-256 of all that follows, the length of a JSON document, that document
and then bytes: the packets of a trace, if there is one, and the state. Counts are part of the
state, so a resumed run ends with the same bytes as one that was never interrupted.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dvsim.atomic import write_bytes
from dvsim.errors import OutputError
from dvsim.fabric.switch.check import whole
from dvsim.fabric.switch.settled import Batches, checked
from dvsim.fabric.switch.trace import Trace
from dvsim.fabric.switch.traffic import Offer

if TYPE_CHECKING:
    from dvsim.fabric.switch.simulation import Simulation
    from dvsim.fabric.switch.switch import Switch

MARK = b"dvsim switch 1\n"
_DIGEST = 32
_LENGTH = 8


def save(simulation: Simulation, path: str | os.PathLike[str]) -> None:
    """Write a checkpoint; see `Simulation.save`."""
    state = simulation.core.save()
    trace = simulation.offer.trace
    packets = b"" if trace is None else np.stack(trace).astype("<i8").tobytes()
    document = {
        "switch": _switch_document(simulation.switch),
        "offer": _offer_document(simulation.offer),
        "threads": simulation.threads,
        "now": simulation.now,
        "counted_from": simulation.counted_from,
        "batches": asdict(simulation.batches),
        "packets": None if trace is None else trace.slot.size,
    }
    text = json.dumps(document, separators=(",", ":")).encode()
    body = len(text).to_bytes(_LENGTH, "little") + text + packets + state
    _replace(Path(path), MARK + hashlib.sha256(body).digest() + body)


def resume(
    switch_class: type[Switch], path: str | os.PathLike[str], threads: int | None
) -> Simulation:
    """Return the simulation of a checkpoint; see `Switch.resume`."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ValueError(f"cannot read checkpoint {path}: {error.strerror}") from None
    if not data.startswith(MARK):
        raise ValueError(f"{path} is not a checkpoint of a switch")
    body = data[len(MARK) + _DIGEST :]
    if hashlib.sha256(body).digest() != data[len(MARK) : len(MARK) + _DIGEST]:
        raise ValueError(f"{path} is damaged or cut short")
    try:
        return _simulation(switch_class, body, threads)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(
            f"{path} is of another version of the switch, or made up: {error}"
        ) from None


def _simulation(switch_class: type[Switch], body: bytes, threads: int | None) -> Simulation:
    """Return the simulation of a body whose hash is right: what it says is checked all the same."""
    end = _LENGTH + int.from_bytes(body[:_LENGTH], "little")
    document = json.loads(body[_LENGTH:end])
    trace = None
    if document["packets"] is not None:
        count = whole("packets", document["packets"], 0, len(body))
        packets = np.frombuffer(body, "<i8", 3 * count, end)
        trace = Trace(*packets.astype(np.int64).reshape(3, -1))
        end += packets.nbytes
    switch = switch_class(**document["switch"])
    threads = threads or whole("threads", document["threads"], 1, 64)
    simulation = switch.start(**document["offer"], trace=trace, threads=threads)
    simulation.core.load(body[end:])
    simulation.now = whole("now", document["now"], 0)
    simulation.counted_from = whole("counted_from", document["counted_from"], 0)
    slots = simulation.core.slots()
    if simulation.now - simulation.counted_from != slots:
        raise ValueError("its slots are not those of the core")
    simulation.batches = checked(Batches(**document["batches"]), slots)
    return simulation


def _switch_document(switch: Switch) -> dict[str, Any]:
    names = ("height", "angles", "injecting", "crossing", "exit", "faults")
    return {name: getattr(switch, name) for name in names}


def _offer_document(offer: Offer) -> dict[str, Any]:
    return {name: value for name, value in vars(offer).items() if name != "trace"}


def _replace(path: Path, data: bytes) -> None:
    partial = path.with_name(f".partial-{os.getpid()}-{path.name}")
    try:
        write_bytes(partial, data)
        partial.replace(path)
    except OSError as error:
        raise OutputError(f"cannot write checkpoint {path}: {error.strerror}") from None
    finally:
        with contextlib.suppress(OSError):
            partial.unlink()
