"""``dvsim sweep --sensitivity``: which keys a result depends on, as a table with bars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dvsim.cli.terminal import complain
from dvsim.errors import ScenarioError
from dvsim.study.table import Table

if TYPE_CHECKING:
    from dvsim.contract.load import Template
    from dvsim.study.sweeps.sensitivity import Index, Sensitivity
    from dvsim.table.result import Result

INDENT = "  "
BAR = 20  # characters of an index of 1
MOST = 12  # keys that are printed of a result


def sensitivity_of(base: Template, given: Mapping[str, Any]) -> Sensitivity:
    """Return the design that the options ask for, and say how large it is."""
    from dvsim.cli.sweep_text import chosen
    from dvsim.study.sweep import prepare
    from dvsim.study.sweeps.grid import ranges
    from dvsim.study.sweeps.sensitivity import Sensitivity, points_for

    for name, option in (("together", "--zip"), ("where", "--where"), ("sample", "--sample"),
                         ("precision", "--precision")):  # fmt: skip
        if given[name]:
            raise ScenarioError.at(option, "has no meaning with --sensitivity")
    seed, samples = given["seed"], given["samples"]
    varied = ranges(base.resolved(given["overrides"]).scenario, given["vary"], given["spread"])
    points = points_for(varied, samples, seed)
    times = 1 if given["replications"] is None else given["replications"]
    say_first = (
        f"{len(varied)} keys, {samples} samples: {len(points):,} points, {times} replication"
    )
    complain(say_first + "s each" * (times > 1))
    asked = {name: given[name] for name in ("overrides", "seed", "scale")}
    ready = prepare(base, points, replications=times, progress=True, **asked)

    def results(swept: Result) -> list[str]:
        return chosen(swept, given["results"])[: None if given["results"] else 1]

    return Sensitivity(**vars(ready), ranges=varied, samples=samples, results=results)


def index_lines(swept: Result, answers: Sequence[Index]) -> Iterator[str | Table]:
    """Yield the indices of each result, the most important key first, with bars."""
    yield (
        f"{swept.scenario.name}: {swept.asked.points:,} points, seed {swept.seed}; "
        "shares of the variance, in brackets their 95 % interval"
    )
    for name in dict.fromkeys(answer.result for answer in answers):
        own = [answer for answer in answers if answer.result == name]
        estimates = swept.estimates().set_index("metric")["value"]
        values = estimates.loc[[name]]
        unit = swept.METRICS[name]
        span = f"{values.min():,.4g} to {values.max():,.4g} {unit}".removesuffix(" 1")
        yield f"{INDENT}{name}: {span}"
        rows = []
        for index in own[:MOST]:
            bar = "█" * round(BAR * index.total)
            first = f"[{index.first_low:.2f}, {index.first_high:.2f}]"
            total = f"[{index.total_low:.2f}, {index.total_high:.2f}]"
            key = index.key.removeprefix("system.")
            rows.append(
                [key, index.range, f"{index.first:.2f}", first, f"{index.total:.2f}", total, bar]
            )
        yield Table(["key", "range", "alone", "", "in all", "", ""], rows, (2, 4), groups=[1, 2, 3])
        if len(own) > MOST:
            rest = max(index.total for index in own[MOST:])
            yield f"{INDENT * 2}… {len(own) - MOST} more, none above {rest:.2f}"
    if any(1 in (answer.first, answer.total) for answer in answers):
        yield f"{INDENT}an estimate above 1 is given as 1: the samples are few, see --samples"
    if swept.folder is not None:
        yield f"{INDENT}kept in {swept.folder}"
