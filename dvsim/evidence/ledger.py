"""The claims of all sources: what they speak about is run, and they are decided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from os.path import commonprefix
from pathlib import Path
from typing import Any

from dvsim.contract.find import kind_of
from dvsim.contract.load import load, load_campaign
from dvsim.emulation.settings import Emulation
from dvsim.errors import DvsimError
from dvsim.evidence.claims.source import sources
from dvsim.evidence.undecided import STEPS, open_verdicts
from dvsim.evidence.validation import validate
from dvsim.evidence.verdicts import Validation
from dvsim.table.result import Result

ENOUGH = 55  # confirmed claims were the goal

Runner = Callable[..., Sequence[Result]]
"""Scenarios in, a result for each: `dvsim.session.run_scenarios`, or what takes its arguments."""

MESSAGES = 200  # of an iteration, over both receivers
SHORT = f"workload.messages={MESSAGES}"


def gather(
    run: Runner,
    enough: Runner | None = None,
    *,
    replications: int | None = None,
    scale: float | None = None,
    **how: Any,  # noqa: ANN401 - as of `run_scenarios`
) -> tuple[list[Result], Validation]:
    """Return runs of all that any claim speaks about, and what they say.

    Args:
        run: Runs scenarios.
        enough: Runs them with as many replications as the verdicts need, unless `replications` are
            given.
        replications: Of each run.
        scale: Multiplies the messages of the scenarios of a system; the others are short as they
            are, and emulated runs are always the same short ones.
        **how: seed, out, force, workers, progress, command of `dvsim.session.run_scenarios`.
    """
    asked = [one for source in sources() for one in load_campaign(f"{source.name}/validation")]
    run_all = partial(run, replications=replications or STEPS[-1], **how)
    if enough is not None and replications is None:
        run_all = partial(enough, more=open_verdicts, steps=STEPS, **how)
    runs = [*run_all([item for item in asked if kind_of(item).sampled], scale=scale)]
    runs += run_all([item for item in asked if not kind_of(item).sampled])
    how = {key: value for key, value in how.items() if key not in ("workers", "command")}
    return runs, validate(runs, emulated_runs(run, **how), command_of())


def names() -> list[str]:
    """Return the scenarios of which any claim needs emulated runs."""
    entries = [entry for source in sources() for entry in source.values()]
    return list(dict.fromkeys(name for entry in entries for name in entry.emulated))


def command_of() -> str:
    """Return the command that makes the same runs."""
    beginning = commonprefix(names())  # noqa: RUF071 - of names, which are no paths
    return f"dvsim run '{beginning}*' --backend emu --clusters 1 --nodes 1 --set {SHORT} --scale 1"


def emulated_runs(
    run: Runner,
    out: Path | None = Path("runs"),
    **how: Any,  # noqa: ANN401 - as of `gather`
) -> Sequence[Result]:
    """Return an emulated run of each size; none if what they need is not installed.

    Raises:
        RunFailed: If a message was lost or changed, or a program fails.
    """
    if not ready():
        return []
    return run(
        [load(name, [SHORT]) for name in names()],
        out=out,
        scale=1,
        backend=Emulation(clusters=1, nodes=1),
        command=command_of(),
        **how,
    )


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
