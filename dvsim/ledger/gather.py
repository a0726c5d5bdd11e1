"""From nothing to the ledger: every run that a claim of any source speaks about."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from dvsim.ledger.moves import served
from dvsim.ledger.sent import COMMAND, sent
from dvsim.ledger.types import Ledger
from dvsim.results.run import Run
from dvsim.scenario.load import load_campaign
from dvsim.scenario.types import Scenario
from dvsim.session import run_scenarios
from dvsim.validation.assess import REGISTRIES, validate
from dvsim.validation.goals import goals


def gather(
    *,
    seed: int = 1,
    replications: int | None = None,
    out: Path | None = Path("runs"),
    force: bool = False,
    scale: float | None = None,
    workers: int | None = None,
    progress: bool = False,
    command: str | Sequence[str] = "dvsim.ledger.gather(...)",
) -> Ledger:
    """Run what every claim speaks about, and decide them all.

    Parameters
    ----------
    seed, replications, out, force, workers, progress, command
        See `dvsim.session.run_scenarios`. The emulated runs are always the same short ones.
    scale
        Multiplies the messages of the scenarios of a system; the others are short as they are.

    Raises
    ------
    ScenarioError, RunFailed, OutputError
        See there.
    """
    campaigns = {
        registry.campaign: load_campaign(f"{registry.campaign}/validation")
        for registry in REGISTRIES
    }
    asked = [scenario for campaign in campaigns.values() for scenario in campaign]
    run = partial(
        run_scenarios,
        seed=seed,
        replications=replications,
        out=out,
        force=force,
        workers=workers,
        progress=progress,
        report=False,
        command=command,
    )
    runs = run([one for one in asked if isinstance(one, Scenario)], scale=scale)
    runs += run([one for one in asked if not isinstance(one, Scenario)])
    emulated = sent(out, seed=seed, force=force, progress=progress)
    fitted = [
        one
        for registry in REGISTRIES
        for one in served(registry, campaigns[registry.campaign], seed=seed, workers=workers)
    ]
    validation = validate(runs, emulated, COMMAND)
    simulated = [one.scenario for one in runs if isinstance(one, Run)]
    return Ledger(
        validation=validation,
        fitted=tuple(fitted),
        goals=goals(validation, simulated),
        scale=1.0 if scale is None else scale,
    )
