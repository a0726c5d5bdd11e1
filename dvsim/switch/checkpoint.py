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

from dvsim.errors import OutputError
from dvsim.results.atomic import write_bytes
from dvsim.switch.settled import Batches
from dvsim.switch.simulation import Simulation
from dvsim.switch.trace import Trace
from dvsim.switch.traffic import Offer

if TYPE_CHECKING:
    from dvsim.switch.switch import Switch

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


def resume(path: str | os.PathLike[str], threads: int | None) -> Simulation:
    """Read a checkpoint; see `Switch.resume`."""
    from dvsim.switch.switch import Switch

    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ValueError(f"cannot read checkpoint {path}: {error.strerror}") from None
    if not data.startswith(MARK):
        raise ValueError(f"{path} is not a checkpoint of a switch")
    body = data[len(MARK) + _DIGEST :]
    if hashlib.sha256(body).digest() != data[len(MARK) : len(MARK) + _DIGEST]:
        raise ValueError(f"{path} is damaged or cut short")
    end = _LENGTH + int.from_bytes(body[:_LENGTH], "little")
    document = json.loads(body[_LENGTH:end])
    trace = None
    if document["packets"] is not None:
        packets = np.frombuffer(body, "<i8", 3 * document["packets"], end)
        trace = Trace(*packets.astype(np.int64).reshape(3, -1))
        end += packets.nbytes
    offer = _offer(document["offer"], trace)
    simulation = Simulation(Switch(**document["switch"]), offer, threads or document["threads"])
    try:
        simulation.core.load(body[end:])
    except ValueError:
        raise ValueError(f"{path} is of another version of the switch core") from None
    simulation.now = document["now"]
    simulation.counted_from = document["counted_from"]
    simulation.batches = Batches(**document["batches"])
    return simulation


def _switch_document(switch: Switch) -> dict[str, Any]:
    names = ("height", "angles", "injecting", "crossing", "exit", "faults")
    return {name: getattr(switch, name) for name in names}


def _offer_document(offer: Offer) -> dict[str, Any]:
    return {name: value for name, value in vars(offer).items() if name != "trace"}


def _offer(document: dict[str, Any], trace: Trace | None) -> Offer:
    hot, permutation = document.pop("hot"), document.pop("permutation")
    return Offer(
        **document,
        hot=None if hot is None else (hot[0], tuple(hot[1])),
        permutation=None if permutation is None else tuple(permutation),
        trace=trace,
    )


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
