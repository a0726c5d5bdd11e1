"""A sweep as an array job of SLURM: a part for each task, then one job that merges them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from dvsim.study.sweeps.run import Sweep

_SCRIPT = """\
#!/bin/bash
# {points} points of {name} in {parts} parts; submit it with: sbatch FILE
#SBATCH --job-name=dvsim-sweep
#SBATCH --array=1-{parts}
#SBATCH --cpus-per-task=1
#SBATCH --output=dvsim-sweep-%A-%a.log
set -uo pipefail
sweep() {{
    {command} "$@"
}}

# the first task submits what puts the parts together when all have ended, well or not
if [ "$SLURM_ARRAY_TASK_ID" = "$SLURM_ARRAY_TASK_MIN" ]; then
    sbatch --job-name=dvsim-merge --output=dvsim-merge-%j.log \\
        --dependency="afterany:$SLURM_ARRAY_JOB_ID" \\
        --wrap={merge}
fi

sweep --workers "${{SLURM_CPUS_PER_TASK:-1}}" --shard "$SLURM_ARRAY_TASK_ID/{parts}"
"""


def script(
    sweep: Sweep, command: Sequence[str], parts: int, sweeps: Path, page: Path | None = None
) -> str:
    """Return a script for ``sbatch``.

    A task that is run again goes on from what is kept; so the whole job can be submitted again,
    or some tasks of it: ``sbatch --array=3,7 FILE``.
    The folders of runs and of the sweep must be seen by all nodes.

    Args:
        sweep: Every point is checked: a cluster shall not wait for a faulty one.
        command: What was typed, with ``--slurm``.
        parts: Tasks of the array; not more than there are points.
        sweeps: Where the table goes.
        page: Where a page of the whole goes; none if None.
    """
    count = min(parts, len(sweep.points))
    report = [] if page is None else ["--report", str(page)]  # of the whole
    merge = shlex.join(["dvsim", "merge", str(sweep.folder(sweeps)), *report])
    return _SCRIPT.format(
        points=len(sweep.points),
        name=sweep.name,
        parts=count,
        command=shlex.join(_without(command)),
        merge=shlex.quote(merge),
    )


def _without(command: Sequence[str]) -> list[str]:
    """Return a command without the options that each task gives itself."""
    remaining, skip = [], False
    for word in command:
        name = word.partition("=")[0]
        if skip:
            skip = False
        elif name in ("--slurm", "--workers", "--report"):
            skip = "=" not in word
        else:
            remaining.append(word)
    return remaining
