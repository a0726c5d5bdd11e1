"""Runs by the size of their messages: labelled, coloured, with estimates at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dvsim.scenario.sampled import Path
from dvsim.study.changes import changes_of
from dvsim.table.estimate import Estimate
from dvsim.view.figure import BLUE, OTHER_COLOURS, VERMILION

if TYPE_CHECKING:
    from dvsim.table.result import Result


@dataclass(frozen=True)
class Entry:
    """One run, ready to be shown.

    Attributes:
        run: The run itself.
        label: Unique name of the run within its message size.
        colour: Colour of its lines, "#rrggbb".
        judged: Whether a validation speaks about this run: it knows one run per scenario name, the
            last, and none that is emulated or of another system.
    """

    run: Result
    label: str
    colour: str
    judged: bool = True

    @property
    def path(self) -> Path:
        """How its messages get to the brokers."""
        path: Path = self.run.scenario.system.path
        return path

    @property
    def made(self) -> str:
        """How its numbers came about: "simulated" or "emulated"."""
        return made_text(self.run)

    @property
    def reading(self) -> str:
        """The reading in which the paper prints this transport: pieces on the Data Vortex."""
        return str(self.run.scenario.readings[0])

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the published columns that this run imitates."""
        return tuple(self.run.scenario.probe.columns)

    def value(self, column: str, reading: str, statistic: str) -> float | None:
        """Give the mean over replications of a statistic, None where it was not estimated."""
        known = self.estimate(column, reading, statistic)
        return None if known is None else known.value

    def estimate(self, column: str, reading: str, statistic: str) -> Estimate | None:
        """Give a statistic of a column, None where there is none; rates in counts per second."""
        return self.run.by_metric.get((column, 0, f"{reading}.{statistic}"))


@dataclass(frozen=True)
class Group:
    """All runs with messages of one size."""

    message_bytes: int
    entries: tuple[Entry, ...]


def size_text(size: int) -> str:
    """Write a message size as people say it.

    >>> [size_text(n) for n in (8, 1500, 131072)]
    ['8 B', '1,500 B', '128 KiB']
    """
    for factor, unit in ((1024**3, "GiB"), (1024**2, "MiB"), (1024, "KiB")):
        if size and size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size:,} B"


def transport_text(run: Result) -> str:
    """Name the transport of a run, with its link where that is not part of the name."""
    system = run.scenario.system
    label: str = (system.path if run.backend == "emu" else system).label
    return label + run.manifest.emulated_text


def set_text(run: Result) -> str:
    """Say what was set in a run, to follow its transport; nothing where nothing was."""
    changes = changes_of(run.scenario).said
    return f" with {', '.join(changes)}" if changes else ""


def made_text(run: Result) -> str:
    """Say how the numbers of a run came about."""
    return "emulated" if run.backend == "emu" else "simulated"


def unique_labels(runs: Sequence[Result]) -> list[str]:
    """Label runs of one size by what is varied, by transport, by scenario name, then by number."""
    varied = [run.scenario.whatif for run in runs]
    labels = [
        transport_text(run) + set_text(run) if point is None else point.says
        for run, point in zip(runs, varied, strict=True)
    ]
    if len(set(labels)) < len(labels):
        labels = [run.scenario.name + run.manifest.emulated_text for run in runs]
    seen: dict[str, int] = {}
    unique = []
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        unique.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return unique


def paths_of(groups: Sequence[Group]) -> list[Path]:
    """Return the paths of runs, each once, the base last."""
    paths = dict.fromkeys(entry.path for group in groups for entry in group.entries)
    return sorted(paths, key=lambda path: path.base)


def colours(runs: Sequence[Result]) -> list[str]:
    """Vermilion for the first run over the base, blue for the first other, then the rest."""
    first = {False: BLUE, True: VERMILION}
    chosen = []
    others = 0
    for run in runs:
        colour = first.pop(run.scenario.system.path.base, None)
        if colour is None:
            colour = OTHER_COLOURS[others % len(OTHER_COLOURS)]
            others += 1
        chosen.append(colour)
    return chosen


def grouped(runs: Sequence[Result]) -> list[Group]:
    """Sort runs by message size, those over the base last, and estimate each over its replications.

    Args:
        runs: At least one.

    Returns:
        list of Group: In order of message size; runs alike keep the order in which they were given.
    """
    same = [run for run in runs if run.backend != "emu" and not changes_of(run.scenario).said]
    last = {run.scenario.name: run for run in same}
    sizes: dict[int, list[Result]] = {}
    for run in runs:
        sizes.setdefault(run.scenario.workload.message_bytes, []).append(run)
    groups = []
    for size, members in sorted(sizes.items()):
        members.sort(key=lambda run: run.scenario.system.path.base)
        entries = tuple(
            Entry(run, label, colour, last.get(run.scenario.name) is run)
            for run, label, colour in zip(
                members, unique_labels(members), colours(members), strict=True
            )
        )
        groups.append(Group(size, entries))
    return groups
