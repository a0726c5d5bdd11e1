"""Emulated runs of all message sizes: what no simulation has are the contents of messages.

Short ones: each sends a few hundred messages over emulated cards and a bridge into a private
RabbitMQ of one node, and fails unless what is drained is what was sent.
"""

from __future__ import annotations

from pathlib import Path

from dvsim.emu.asked import Emulation
from dvsim.errors import DvsimError
from dvsim.results.run import Run
from dvsim.scenario.load import load
from dvsim.session import run_scenarios
from dvsim.validation.h3_claims import SENT_SIZES, dv

MESSAGES = 200  # of an iteration, over both receivers
NAMES = tuple(dv(size) for size in SENT_SIZES)
SHORT = f"workload.messages={MESSAGES}"
COMMAND = f"dvsim run 'h3/dv-*' --backend emu --clusters 1 --nodes 1 --set {SHORT} --scale 1"
"""What makes the same runs."""


def sent(out: Path | None, *, seed: int, force: bool, progress: bool) -> list[Run]:
    """Return an emulated run of each size; none if what they need is not installed.

    Raises
    ------
    RunFailed
        If a message was lost or changed, or a program fails.
    """
    if not ready():
        return []
    runs = run_scenarios(
        [load(name, [SHORT]) for name in NAMES],
        seed=seed,
        out=out,
        force=force,
        scale=1,
        backend=Emulation(clusters=1, nodes=1),
        progress=progress,
        report=False,
        command=COMMAND,
    )
    return [run for run in runs if isinstance(run, Run)]


def ready() -> bool:
    """Say whether there are a RabbitMQ and a bridge to it, which is compiled if it has to be."""
    from dvsim.broker.bridge import vicbridge
    from dvsim.broker.install import find

    try:
        find()
        vicbridge()
    except DvsimError:
        return False
    return True
