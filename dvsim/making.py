"""How scenarios are run, whatever their kind, and the results as they are made."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing

from dvsim.backends.pool import default_workers
from dvsim.kinds.base import How, kind_named
from dvsim.results.points import PointsStudy
from dvsim.results.run import Run
from dvsim.scenario.spec import Spec

Result = Run | PointsStudy


def made(
    scenarios: Sequence[Spec],
    how: How,
    workers: int | None,
    progress: bool,
    command: str | Sequence[str],
    whole: Mapping[str, Spec],
) -> Generator[Result, None, None]:
    """Yield the result of each scenario, kind by kind; closing it ends what works for it.

    `whole` has the scenarios before they were scaled, by question.

    Raises
    ------
    RunFailed
        If a run fails or does not fit in memory, or a worker dies.
    """
    groups: dict[str, list[Spec]] = {}
    for scenario in scenarios:
        groups.setdefault(scenario.KIND, []).append(scenario)
    for name, group in groups.items():
        processes = workers or default_workers()
        found = kind_named(name).made(group, how, processes, progress, command, whole)
        with closing(found):
            yield from found
