"""What comparisons of runs and of studies have in common: values side by side, and differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dvsim.study.changes import changes_of
from dvsim.study.paired import Change, Each, Kind, change
from dvsim.study.points import PointsStudy
from dvsim.study.run import Run
from dvsim.study.statistics import Estimate, estimate

Result = Run | PointsStudy


@dataclass(frozen=True)
class Sides:
    """A number of each result; a base for rows that say which.

    Attributes:
        values: One for each result; None where it has none.
        changes: What became of the value of the first; None of the first, and where there is
            nothing to compare.
    """

    values: tuple[Estimate | None, ...]
    changes: tuple[Change | None, ...]


@dataclass(frozen=True)
class Difference:
    """Something that was asked or done differently, in words for each result."""

    what: str
    values: tuple[str, ...]


def names_of(results: Sequence[Result]) -> list[str]:
    """Return the name of each result with what was changed in it; of several alike what else.

    Examples: ``h3/dv-8192`` and ``h3/dv-8192 with 4 sockets``; ``h3/dv-8`` and ``h3/dv-8, seed 2``.
    """
    names = [
        changes_of(one.scenario).name + ", emulated" * (one.manifest.get("backend") == "emu")
        for one in results
    ]
    told = [
        {
            one.scenario.LENGTH: f"{changes_of(one.scenario).length:.3g} of its "
            f"{one.scenario.LENGTH}",
            "seed": f"seed {one.seed}",
            "replications": f"{one.replications} replication{'s' * (one.replications != 1)}",
            "version": f"version {one.manifest.get('version')}",
        }
        for one in results
    ]
    for what in told[0]:
        shared = {name for name in names if names.count(name) > 1}
        for same in shared:
            places = [place for place, name in enumerate(names) if name == same]
            texts = [told[place].get(what, "") for place in places]
            for place, text in zip(places, texts, strict=True):
                names[place] += f", {text}" * (len(set(texts)) > 1)
    return names


def sides(each: Sequence[Each], common: Sequence[bool], *, share: bool = False) -> Sides:
    """Put the values of results side by side.

    Args:
        each: Of each result the value in each replication; empty where it has none.
        common: Of each result whether its replications had the random numbers of those of the
            first.
        share: Shares are subtracted, not divided; so is everything if one of the results has 0.
    """
    values = tuple(estimate(one.values()) if one else None for one in each)
    nothing = any(one is not None and one.value == 0 for one in values)
    kind: Kind = "difference" if share or nothing else "ratio"
    changes = [
        change(each[0], one, kind, common=paired)
        for one, paired in zip(each[1:], common[1:], strict=True)
    ]
    return Sides(values, (None, *changes))


def in_common(results: Sequence[Result]) -> list[bool]:
    """Say of each result whether its replications had the random numbers of those of the first.

    They had if both were simulated with one seed; what an emulated run met on its machine no other
    run has met.
    """
    first = results[0]
    return [first.simulated and one.simulated and one.seed == first.seed for one in results]


def interval_notes(results: Sequence[Result]) -> Iterator[str]:
    """Say how the interval of each result against the first was made, results alike together."""
    said: dict[str, list[str]] = {}
    for number, (one, common) in enumerate(zip(results, in_common(results), strict=True), start=1):
        if number > 1:
            said.setdefault(_note(results[0], one, common=common), []).append(f"{number}/1")
    for note, which in said.items():
        yield f"{', '.join(which)}: {note}"


def _note(first: Result, other: Result, *, common: bool) -> str:
    if first.replications != other.replications:
        return f"no interval, {first.replications} and {other.replications} replications"
    if first.replications < 2:
        return "no interval, one replication"
    if common:
        return f"paired over replications: seed {first.seed} drew the same numbers for both"
    return "of independent runs, by Welch"


def unlike(told: Sequence[Mapping[str, str]]) -> Iterator[Difference]:
    """Yield what is not the same in all of several descriptions, in their order."""
    for what in dict.fromkeys(key for one in told for key in one):
        values = tuple(one.get(what, "–") for one in told)
        if len(set(values)) > 1:
            yield Difference(what, values)
