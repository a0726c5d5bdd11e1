"""Checkpoints of a switch: a JSON document and the memory of the C core, under one hash.

A case has the document apart, so that its values can be changed; the hash is made again, as one
would who wants the file to be believed. The core's own sum of its words is made again, too.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from case_changes import mutated
from case_files import Files
from targets import Target

from dvsim.fabric.switch import Switch
from dvsim.fabric.switch.checkpoint import MARK

PACKETS = (
    [0, 0, 3, 30],
    [0, 1, 0, 11],
    [5, 7, 11, 0],
)
WORD, SUM = 8, 9  # bytes of a word; where the core keeps the sum of the others
MASK = 2**64 - 1


def checkpoint_seeds() -> list[Files]:
    """Return checkpoints of small switches: one with queues, one that plays a trace."""
    switch = Switch(height=4, angles=3)
    started = [
        switch.start(0.7, injection="queue"),
        switch.start(pattern="hot-spot", hot=(0.2, [1, 2]), injection="saturate"),
        switch.start(pattern="trace", trace=PACKETS),
    ]
    return [_parts(_saved(one)) for one in started]


def _saved(simulation) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        simulation.run(20)
        simulation.save(Path(folder, "checkpoint"))
        return Path(folder, "checkpoint").read_bytes()


def _parts(data: bytes) -> Files:
    body = data[len(MARK) + 32 :]
    end = 8 + int.from_bytes(body[:8], "little")
    return {"document.json": body[8:end], "state": body[end:]}


def _file(files: Files) -> bytes:
    text, state = files["document.json"], files["state"]
    body = len(text).to_bytes(8, "little") + text + state
    return MARK + hashlib.sha256(body).digest() + body


def read_checkpoint(files: Files, folder: Path) -> str:
    """Resume, run on and read the counts."""
    path = folder / "checkpoint"
    path.write_bytes(_file(files))
    simulation = Switch.resume(path, threads=1)
    simulation.run(5)
    run = simulation.result()
    return f"{run.counts.slots} {len(run.notes)}"


def sealed(pool: Sequence[Files]):
    """Return changed checkpoints; half of them with a right sum of the core's words."""
    from hypothesis import strategies as st

    return st.tuples(mutated(pool), st.booleans()).map(lambda one: _sealed(*one))


def _sealed(files: Files, seal: bool) -> Files:
    try:
        packets = json.loads(files["document.json"])["packets"] or 0
        at = 3 * WORD * int(packets)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        at = 0
    state = files["state"]
    if not seal or not 0 <= at <= len(state) - WORD * (SUM + 1):
        return files
    words = [state[n : n + WORD] for n in range(at, len(state) - WORD + 1, WORD)]
    total = 0
    for place, word in enumerate(words):
        if place != SUM:
            total = (_mix(total ^ int.from_bytes(word, "little")) + STEP) & MASK
    words[SUM] = total.to_bytes(WORD, "little")
    rest = state[at + WORD * len(words) :]
    return {**files, "state": state[:at] + b"".join(words) + rest}


STEP = 0x9E3779B97F4A7C15


def _mix(value: int) -> int:
    """Return what dvsim_mix of models/vortex returns."""
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
    return value ^ (value >> 31)


TARGETS = {
    "checkpoint": Target(checkpoint_seeds, read_checkpoint, (ValueError, MemoryError), sealed)
}
