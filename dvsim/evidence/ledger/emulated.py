"""Emulated runs of all message sizes: what no simulation has are the contents of messages.

Short ones: each sends a few hundred messages over emulated cards and a bridge into a private
RabbitMQ of one node, and fails unless what is drained is what was sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os.path import commonprefix
from pathlib import Path
from typing import cast

from dvsim.contract.load import load
from dvsim.emulation.settings import Emulation
from dvsim.errors import DvsimError
from dvsim.evidence.claims.source import sources
from dvsim.study.points import PointsStudy
from dvsim.study.run import Run

Runner = Callable[..., Sequence[Run | PointsStudy]]
"""Scenarios in, a result for each: `dvsim.session.run_scenarios`, or what takes its arguments."""

MESSAGES = 200  # of an iteration, over both receivers
SHORT = f"workload.messages={MESSAGES}"


def names() -> list[str]:
    """Return the scenarios of which any claim needs emulated runs."""
    entries = [entry for source in sources() for entry in source.values()]
    return list(dict.fromkeys(name for entry in entries for name in entry.emulated))


def command_of() -> str:
    """Return the command that makes the same runs."""
    beginning = commonprefix(names())  # noqa: RUF071 - of names, which are no paths
    return f"dvsim run '{beginning}*' --backend emu --clusters 1 --nodes 1 --set {SHORT} --scale 1"


def emulated_runs(
    run: Runner, out: Path | None, *, seed: int, force: bool, progress: bool
) -> list[Run]:
    """Return an emulated run of each size; none if what they need is not installed.

    Raises:
        RunFailed: If a message was lost or changed, or a program fails.
    """
    if not ready():
        return []
    runs = run(
        [load(name, [SHORT]) for name in names()],
        seed=seed,
        out=out,
        force=force,
        scale=1,
        backend=Emulation(clusters=1, nodes=1),
        progress=progress,
        command=command_of(),
    )
    return cast("list[Run]", runs)


def ready() -> bool:
    """Return whether there are a RabbitMQ and a bridge to it, which is compiled if it has to be."""
    from dvsim.broker.compile_bridge import vicbridge
    from dvsim.broker.install import find

    try:
        find()
        vicbridge()
    except DvsimError:
        return False
    return True
