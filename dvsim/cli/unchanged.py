"""Results of a changed scenario beside those of the unchanged one: kept, or run, too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dvsim.errors import RunFailed

if TYPE_CHECKING:
    from dvsim.cli.options import RunOptions
    from dvsim.emulation.settings import Emulation
    from dvsim.scenario.spec import Spec
    from dvsim.study.table import Table
    from dvsim.table.result import Result

Pair = tuple["Result", "Result"]
"""A changed result, and the one of the unchanged scenario."""


def pairs_of(
    options: RunOptions,
    results: Sequence[Result],
    backend: str | Emulation,
    *,
    baseline: bool,
) -> list[Pair]:
    """Return each changed result beside that of the unchanged scenario, asked in the same way.

    One that is neither among the results nor kept is run if `baseline` says so, and else left out.
    """
    from dvsim.study.precision import pairs_among

    changed = [
        (result, base) for result in results if (base := _base_of(result.scenario)) is not None
    ]
    if not changed:
        return []
    if baseline:
        there = pairs_among(results)
        rest: dict[int, list[Spec]] = {}  # by replications, to have as many pairs
        for run, base in changed:
            if not any(run is pair[0] for pair in there):
                rest.setdefault(run.replications, []).append(base)
        by_name = {base.scenario.name: base for _, base in there}
        for times, bases in rest.items():
            made = replace(options, replications=times).run(bases, backend, scale=1.0)
            by_name |= {result.scenario.name: result for result in made}
        return [(result, by_name[base.name]) for result, base in changed]
    kept = (_kept(options, result, base, backend) for result, base in changed)
    return [pair for pair in kept if pair is not None]


def with_bases(scenarios: Sequence[Spec]) -> list[Spec]:
    """Return scenarios, and the unchanged one of each that was changed."""
    return [*scenarios, *filter(None, map(_base_of, scenarios))]


def pair_lines(pairs: Sequence[Pair]) -> Iterator[str | Table]:
    """Yield how much more each changed result gives: of systems the ratio of their rates."""
    from dvsim.study.changes import changes_of
    from dvsim.table.compare import rate_ratio, side_by_side
    from dvsim.view.comparison import comparison_sections
    from dvsim.view.terminal import lines

    for run, base in pairs:
        if not run.sampled:
            yield from lines(comparison_sections(side_by_side([base, run])))
        elif (times := rate_ratio(base, run)) is not None:
            text = f"{times.text()} times {base.scenario.name}, which gives {base.rate}"
            yield f"{changes_of(run.scenario).name}: {text}"


def _base_of(scenario: Spec) -> Spec | None:
    from dvsim.study.changes import changes_of, of_the_same_length

    changes = changes_of(scenario)
    return of_the_same_length(changes, scenario) if changes.said else None


def _kept(options: RunOptions, run: Result, base: Spec, backend: str | Emulation) -> Pair | None:
    from dvsim.contract.kind import How
    from dvsim.study.arguments import backend_of
    from dvsim.study.store import find_kept

    how = How(run.manifest.version, run.seed, run.replications, backend_of(backend))
    try:
        other = find_kept(how, options.out, base)
    except RunFailed:  # nobody asked for it
        return None
    return None if other is None else (run, other)
