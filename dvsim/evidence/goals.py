"""What the model of the 2018 study was to reach on columns it was not fitted to, and the floor.

The floor is how far the paper's own two runs of a size lie apart: whoever takes the other run for a
prediction does that well. A model that is told run 1 only cannot be expected to do much better.

Statistics are those printed, read as printed, and not zero; a number of samples counts, too. An
error is ln(simulated / published), as everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from dvsim.evidence.verdicts import Validation
from dvsim.scenario.reference import published_transports
from dvsim.scenario.spec import Spec
from dvsim.scenario.types import Parameter
from dvsim.scenario.units import Law
from dvsim.study.number_text import log_text
from dvsim.table.compare import log_errors

NEAR = 0.25  # of a statistic
SHARE = 0.85  # of the held-out statistics that must be so near
MEAN_NEAR = 0.10
EMPTY_NEAR = 0.03  # of the share of empty intervals, from the range that the quantiles allow
HEAD = ["what", "wanted", "got", "floor", "met"]

Goal = tuple[str, str, str, str, bool]


class Goals(NamedTuple):
    """All of them, and the held-out statistics that are not near.

    Attributes:
        table: A row for each goal, in the order in which they are printed: what, wanted, got, for
            people, with the number of cases; floor, the same between the paper's two runs, ``-``
            where there is no such thing; met. Empty if no held-out column was compared.
        misses: Held-out statistics outside of `NEAR`, the worst first; apart is ln(other run / this
            run) of the paper, and not a number if one of them is zero.
    """

    table: pd.DataFrame
    misses: pd.DataFrame


def goals(validation: Validation, scenarios: Iterable[Spec] = ()) -> Goals:
    """Return what was reached.

    Args:
        validation: Of the runs of the five published sizes on both paths; fewer give the goals of
            those.
        scenarios: Of these runs, to count the fitted parameters of their cards; none leaves that
            out.
    """
    rows = counted(validation)
    if rows.empty or "held out" not in set(rows["split"]):
        return Goals(pd.DataFrame(columns=HEAD), rows.assign(apart=[]) if rows.empty else rows[:0])
    keys = ["scenario", "statistic"]
    both = rows.merge(rows[[*keys, "column", "published"]], on=keys, suffixes=("", "_other"))
    both = both[both["column"] != both["column_other"]].drop_duplicates([*keys, "column"])
    both["apart"] = log_errors(both["published_other"], both["published"])
    rows = rows.merge(both[[*keys, "column", "apart"]], how="left")
    held = rows[rows["split"] == "held out"]
    table = [_near("all", held)]
    for path, transport in published_transports().items():
        part = held[held["transport"] == path]
        if len(part):
            table.append(_near(transport.label, part))
        if (part["statistic"] == "mean").any():
            table.append(_means(transport.label, part[part["statistic"] == "mean"]))
    columns = validation.printed()
    if len(columns):
        columns = columns[(columns["split"] == "held out") & columns["empty_low"].notna()]
    table += [_empty(columns)] if len(columns) else []
    table += _parameters(scenarios)
    size = _size(held["log_error"])
    misses = held.assign(size=size).sort_values("size", ascending=False, kind="stable")
    misses = misses[~_within(misses["log_error"], NEAR)].drop(columns="size")
    return Goals(pd.DataFrame(table, columns=HEAD), misses)


def counted(validation: Validation) -> pd.DataFrame:
    """Return the rows that are published numbers, not zero, read as printed."""
    rows = validation.rows
    if rows.empty:
        return rows
    info = (rows["published"] == 0) | (rows["verdict"] == "info")
    return rows[(rows["reading"] == "as printed") & ~info]


def free_parameters(scenarios: Iterable[Spec]) -> dict[str, tuple[str, ...]]:
    """Return the fitted numbers of all cards by transport: ``h3-bridge push, ns/B``.

    A law has two, unless one is 0. A number that several scenarios share is one.
    """
    results: dict[str, dict[str, None]] = {}
    known = published_transports()
    for scenario in scenarios:
        if scenario.reference is None:
            continue
        path = scenario.reference.transport
        names = results.setdefault(path, {})
        for role in known[path].fitted if path in known else ():
            card = scenario.cards[role]
            for parameter in card.parameters.values():
                if parameter.confidence == "calibrated":
                    names.update(dict.fromkeys(_numbers(card.name, parameter)))
    return {path: tuple(names) for path, names in results.items()}


def _numbers(card: str, parameter: Parameter) -> Iterator[str]:
    name, value = f"{card} {parameter.name}", parameter.value
    if not isinstance(value, Law) or value.fixed_ps or not value.per_byte_fs:
        yield name
    if isinstance(value, Law) and value.per_byte_fs:
        yield f"{name}, per byte"


def _within(errors: pd.Series[float], tolerance: float) -> pd.Series[bool]:
    return errors.abs().le(float(np.log1p(tolerance)))


def _size(errors: pd.Series[float]) -> pd.Series[float]:
    return errors.abs().fillna(np.inf)


def _near(path: str, rows: pd.DataFrame) -> Goal:
    good, floor = (int(_within(rows[name], NEAR).sum()) for name in ("log_error", "apart"))
    return (
        f"{path}: held-out statistics within {NEAR:.0%}",
        f"at least {SHARE:.0%}",
        f"{good / len(rows):.1%} ({good} of {len(rows)})",
        f"{floor / len(rows):.1%}",
        good >= SHARE * len(rows),
    )


def _means(path: str, means: pd.DataFrame) -> Goal:
    good = int(_within(means["log_error"], MEAN_NEAR).sum())
    worst, floor = (means.iloc[_size(means[name]).argmax()] for name in ("log_error", "apart"))
    return (
        f"{path}: held-out means within {MEAN_NEAR:.0%}",
        f"{len(means)} of {len(means)}",
        f"{good} of {len(means)}, {log_text(worst['log_error'])} at {worst['message_bytes']} B "
        f"{worst['column']}",
        f"{_size(means['apart']).max():.3f} at {floor['message_bytes']} B",
        good == len(means),
    )


def _empty(columns: pd.DataFrame) -> Goal:
    share = columns["empty_share"].astype(float)
    outside = pd.concat([columns["empty_low"] - share, share - columns["empty_high"]], axis=1)
    far = outside.max(axis=1).clip(lower=0).where(share.notna(), 1.0)
    worst = columns.iloc[far.argmax()]
    return (
        "share of empty intervals, points outside of the published range",
        f"at most {100 * EMPTY_NEAR:.0f}",
        f"{100 * far.max():.1f} in {worst['scenario']} {worst['column']}",
        "-",
        bool(far.max() <= EMPTY_NEAR),
    )


def _parameters(scenarios: Iterable[Spec]) -> list[Goal]:
    known = published_transports()
    return [
        (
            f"{known[path].label}: fitted parameters",
            f"at most {known[path].parameters}",
            str(len(names)),
            "-",
            len(names) <= known[path].parameters,
        )
        for path, names in free_parameters(scenarios).items()
        if path in known
    ]
