"""Scenarios in, results out: what is kept is found, the rest is run and kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from dvsim.contract.find import kind_of
from dvsim.emulation.settings import Emulation, check_emulation
from dvsim.pool import lasting
from dvsim.scenario.spec import Spec
from dvsim.study.design import Trial, Variants
from dvsim.study.execute import (
    DEFAULT_PRECISION,
    DEFAULT_REPLICATIONS,
    Runs,
    backend_of,
    check_asked,
    check_precision,
    execute,
)
from dvsim.study.precision import MOST, needs
from dvsim.table.result import Result


def run_scenarios(
    scenarios: Sequence[Spec],
    *,
    seed: int = 1,
    replications: int | None = None,
    out: Path | None = Path("runs"),
    force: bool = False,
    scale: float | None = None,
    workers: int | None = None,
    backend: str | Emulation = "sim",
    progress: bool = False,
    command: str | Sequence[str] = "dvsim.session.run_scenarios(...)",
    precision: float | None = None,
    more: Callable[[Sequence[Result]], Sequence[bool]] | None = None,
    steps: Sequence[int] = (),
) -> list[Result]:
    """Run scenarios, each once for the same scenario, version, seed and replications.

    Args:
        scenarios: What to run; the results come in this order. Equal ones share a run.
        seed, replications: Replication 1 .. `replications` of the seed. None goes by `precision`,
            and takes 1 of an emulated run.
        out, force, workers, progress, command: See `dvsim.study.execute.Runs`.
        scale: Multiplies the number of messages, or of slots that count; it is part of the question
            and of the resolved scenario. None takes 1, and of an emulated run what makes it short,
            see `dvsim.kinds.rabbitmq.size.own_scale`.
        backend: ``"sim"``, ``"emu"``, or how to emulate.
        precision: Instead of `replications`: 3 to 30, as many as it takes by a pilot that half of
            the 95 % interval of what is asked is at most this share of it, see
            `dvsim.study.precision`. 30 may be too few.
            None takes 0.05 of simulated runs where nothing else says how many replications there
            are.
        more: Instead of both: from the results so far to whether each needs more replications.
        steps: Replications of the first look, of the second, …; after the last nothing is asked.
    """
    emulation = backend_of(backend)
    if replications is None and precision is None and more is None and emulation is None:
        precision = DEFAULT_PRECISION
    needed = None
    if precision is not None:
        check_precision(precision)
        needed, replications = partial(needs, precision=precision), MOST
    if more is not None:
        replications = steps[0]
    times = DEFAULT_REPLICATIONS["sim" if emulation is None else "emu"]
    times = times if replications is None else replications
    check_asked(seed=seed, replications=times, scale=scale, workers=workers)
    sized: list[Spec] = [
        kind_of(scenario).sized(scenario, scale, emulation) for scenario in scenarios
    ]
    if emulation is not None:
        check_emulation(sized, emulation, {"workers": workers})
    trials = [
        Trial(scenario, times, whole=whole)
        for scenario, whole in zip(sized, scenarios, strict=True)
    ]
    with lasting():
        by = Runs(seed, out, force, workers, emulation, progress, command)
        return execute(Variants(trials, times=needed, more=more, steps=steps[1:]), by)
