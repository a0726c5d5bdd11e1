"""The claims of all sources: run, decided, weighed, written down.

emulated.py    the emulated runs of the claim that no simulation can decide
influence.py   which claims each fitted parameter moves: one that serves a single claim shows
types.py       the ledger, and its tally
page.py        the page docs/claims.md
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from dvsim.contract.find import kind_of
from dvsim.contract.load import load_campaign
from dvsim.evidence.claims.source import sources
from dvsim.evidence.ledger.emulated import Runner, command_of, emulated_runs
from dvsim.evidence.ledger.influence import served
from dvsim.evidence.ledger.types import ENOUGH, Ledger, Tally
from dvsim.evidence.published.goals import goals
from dvsim.evidence.undecided import STEPS, open_verdicts
from dvsim.evidence.validation import validate

__all__ = ["ENOUGH", "Ledger", "Tally", "gather"]


def gather(
    run: Runner,
    *,
    enough: Runner | None = None,
    seed: int = 1,
    replications: int | None = None,
    out: Path | None = Path("runs"),
    force: bool = False,
    scale: float | None = None,
    workers: int | None = None,
    progress: bool = False,
    command: str | Sequence[str] = "dvsim.evidence.ledger.gather(...)",
) -> Ledger:
    """Return every claim, decided by runs of all that they speak about.

    Args:
        run: Runs scenarios.
        enough: Runs them with as many replications as the verdicts need, unless `replications` are
            given.
        seed, replications, out, force, workers, progress, command: See
            `dvsim.session.run_scenarios`. The emulated runs are always the same short ones.
        scale: Multiplies the messages of the scenarios of a system; the others are short as they
            are.

    Raises:
        ScenarioError, RunFailed, OutputError: See there.
    """
    campaigns = {source.name: load_campaign(f"{source.name}/validation") for source in sources()}
    asked = [scenario for campaign in campaigns.values() for scenario in campaign]
    how: dict[str, Any] = {"seed": seed, "out": out, "force": force, "workers": workers}
    how |= {"progress": progress, "command": command}
    times = STEPS[-1] if replications is None else replications
    run_all = partial(run, replications=times, **how)
    if enough is not None and replications is None:
        run_all = partial(enough, more=open_verdicts, steps=STEPS, **how)
    runs = [*run_all([item for item in asked if not kind_of(item).studies], scale=scale)]
    runs += run_all([item for item in asked if kind_of(item).studies])
    emulated = emulated_runs(run, out, seed=seed, force=force, progress=progress)
    fitted = [
        item
        for source in sources()
        for item in served(source, campaigns[source.name], seed=seed, workers=workers)
    ]
    validation = validate(runs, emulated, command_of())
    return Ledger(
        validation=validation,
        fitted=tuple(fitted),
        goals=goals(validation, [item.scenario for item in runs]),
        scale=1.0 if scale is None else scale,
    )
