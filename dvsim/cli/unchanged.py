"""Results of a changed scenario beside those of the unchanged one: kept, or run, too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dvsim.cli.options import RunOptions
    from dvsim.emu.asked import Emulation
    from dvsim.results.lines import Table
    from dvsim.results.points import PointsStudy
    from dvsim.results.run import Run
    from dvsim.scenario.spec import Spec

Pair = tuple["Run | PointsStudy", "Run | PointsStudy"]
"""A changed result, and the one of the unchanged scenario."""


def pairs_of(
    options: RunOptions,
    results: Sequence[Run | PointsStudy],
    backend: str | Emulation,
    *,
    baseline: bool,
) -> list[Pair]:
    """Return each changed result beside that of the unchanged scenario, asked in the same way.

    One that is not kept is run if `baseline` says so, and else left out.
    """
    changed = [(one, base) for one in results if (base := _base_of(one)) is not None]
    if not changed:
        return []
    if baseline:
        bases = options.run([base for _, base in changed], backend, scale=1.0)
        by_name = {base.scenario.name: base for base in bases}
        return [(one, by_name[base.name]) for one, base in changed]
    kept = [(one, _kept(options, one, base, backend)) for one, base in changed]
    return [(one, base) for one, base in kept if base is not None]


def pair_lines(pairs: Sequence[Pair]) -> Iterator[str | Table]:
    """Yield how much more each changed result gives: of systems the ratio of their rates."""
    from dvsim.cli.beside import study_lines
    from dvsim.results.beside_studies import compare_studies
    from dvsim.results.changed import changes_of
    from dvsim.results.paired import change
    from dvsim.results.points import PointsStudy
    from dvsim.results.run import Run
    from dvsim.results.sides import in_common

    for one, base in pairs:
        name = changes_of(one.scenario).name
        if isinstance(one, Run) and isinstance(base, Run):
            common = in_common([base, one])[1]
            times = change(base.rates, one.rates, "ratio", common=common)
            if times is not None:
                yield f"{name}: {times.text()} times {base.scenario.name}, which gives {base.rate}"
        elif isinstance(one, PointsStudy) and isinstance(base, PointsStudy):
            found = compare_studies([base, one])
            if found.rows:
                yield from study_lines(found)


def _base_of(result: Run | PointsStudy) -> Spec | None:
    """Return the unchanged scenario of a changed one, as long; None if nothing was changed."""
    from dvsim.results.changed import changes_of, of_the_same_length

    changes = changes_of(result.scenario)
    return of_the_same_length(changes, result.scenario) if changes.said else None


def _kept(
    options: RunOptions, one: Run | PointsStudy, base: Spec, backend: str | Emulation
) -> Run | PointsStudy | None:
    """Return the kept result of the unchanged scenario, None if there is none that is whole."""
    from dvsim.asked import backend_of
    from dvsim.errors import RunFailed
    from dvsim.kinds.base import How
    from dvsim.results.folder import find_kept

    version = str(one.manifest.get("version"))
    how = How(version, one.seed, one.replications, backend_of(backend))
    try:
        return find_kept(how, options.out, base)
    except RunFailed:  # nobody asked for it
        return None
