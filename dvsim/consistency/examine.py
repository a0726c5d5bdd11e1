"""All tests on all data, in the order in which they need one another."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from dvsim.consistency.copies import find_copied, find_repeated, find_single
from dvsim.consistency.factors import find_counted
from dvsim.consistency.limits import find_above
from dvsim.consistency.moments import find_contradictions
from dvsim.consistency.read import read_data, read_workloads
from dvsim.consistency.relations import find_relations
from dvsim.consistency.text import factor_finding, grid_finding
from dvsim.consistency.totals import find_batches, find_pieces
from dvsim.consistency.types import REPORTED, Column, Data, Examination, Finding, Workload
from dvsim.errors import Argument, ScenarioError


def examine(
    *tables: Any,  # noqa: ANN401 - see below
    messages: Any = None,  # noqa: ANN401
    limits: Mapping[str, float] | float | None = None,
) -> list[Finding]:
    """Return what data say by themselves, the strongest finding first.

    Args:
        *tables: Paths of CSV or Parquet files, or pandas tables: summaries in long form, tables of
            several numbers side by side, raw samples; see `dvsim.consistency.read`.
        messages: Path or table of what was sent, by size: ``message_bytes``, ``messages``,
            ``iterations``.
        limits: Bytes per second that a port carries: for all, or by group (a transport).

    Returns:
        list of Finding: Those of at least `REPORTED` decades; the same data give the same list.

    Raises:
        ScenarioError: If a table is none, with every fault; if `messages` or `limits` are given for
            data that do not say the size of a message.

    >>> import pandas as pd
    >>> polls = pd.DataFrame({"rate": [n / 0.005001 for n in (7, 12, 13, 29, 40, 41)]})
    >>> [finding.what for finding in examine(polls)]
    ['the values are whole multiples of 199.96']
    """
    return list(examination(*tables, messages=messages, limits=limits).findings)


def examination(
    *tables: Any,  # noqa: ANN401 - as above
    messages: Any = None,  # noqa: ANN401
    limits: Mapping[str, float] | float | None = None,
) -> Examination:
    """Return what data say by themselves, with what was looked at and looked for.

    Args:
        *tables, messages, limits: See `examine`.

    Raises:
        ScenarioError: As `examine`.
    """
    data = read_data(tables)
    workloads = {} if messages is None else read_workloads(messages)
    given = {"messages": messages is not None, "limits": limits is not None}
    if any(given.values()) and not any(column.message_bytes for column in data.columns):
        message = "needs data with a column 'message_bytes' or 'size'"
        raise ScenarioError(Argument(name).fault(message) for name, asked in given.items() if asked)
    groups = _groups(data.columns)
    if not isinstance(limits, Mapping):
        limits = {} if limits is None else dict.fromkeys(groups, float(limits))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # 1e308 beside 5e-324
        results = [
            finding
            for finding in _all(data, groups, workloads, limits)
            if finding.log10_odds >= REPORTED
        ]
    checks = _checks(data, workloads, limits)
    done = tuple(check for check, missing in checks.items() if not missing)
    if not done:
        files = (str(table) for table in tables if isinstance(table, str | PathLike))
        message = "nothing to examine: no column has three different numbers above 0"
        raise ScenarioError.at(next(files, "the table"), message)
    return Examination(
        findings=tuple(sorted(results, key=lambda finding: -finding.log10_odds)),
        columns=len(data.columns),
        numbers=data.numbers,
        checks=done,
        left_out=tuple(f"{check} ({missing})" for check, missing in checks.items() if missing),
    )


def _checks(
    data: Data, workloads: Mapping[int, Workload], limits: Mapping[str, float]
) -> dict[str, str]:
    several = any(
        len({number.value for number in column.single_values()}) >= 3 for column in data.columns
    )
    statistics = any(len(column.statistics) >= 2 for column in data.columns)
    few = "" if several else "no column has three different numbers above 0"
    return {
        "a grid of values": few,
        "common factors of counts": few,
        "pieces and batches of messages": "" if workloads else "needs what was sent",
        "rates above a limit": "" if limits else "needs a limit",
        "quantiles against mean and spread": "" if statistics else "needs a summary",
        "averages, differences, ratios and copies in a table": (
            "" if data.tables else "needs a table of several numbers side by side"
        ),
    }


def _all(
    data: Data,
    groups: Mapping[str, Sequence[Column]],
    workloads: Mapping[int, Workload],
    limits: Mapping[str, float],
) -> Iterator[Finding]:
    counted = [item for group, columns in groups.items() for item in find_counted(group, columns)]
    looks = math.log10(max(1, sum(len(item.factors) for item in counted)))
    for item in counted:
        if item.grid is not None:
            yield grid_finding(item.group, item.columns, len(groups[item.group]), item.grid)
        strong: dict[int | str, int] = {}
        for kind, factor in item.factors.items():
            alike = [column for column in item.columns if column.kind == kind]
            yield factor_finding(item.group, alike, item.grid, factor, looks)
            if factor.log10_odds - looks >= REPORTED:
                strong[kind] = factor.factor
        if item.grid is not None and workloads:
            yield from find_pieces(item.group, item.columns, item.grid, workloads, strong)
    for group, columns in groups.items():
        yield from find_batches(group, columns, workloads)
    yield from find_above(data.columns, limits)
    for column in data.columns:
        yield from find_contradictions(column)
    grids = [(item.group, item.grid) for item in counted if item.grid is not None]
    for name, lines in data.tables.items():
        yield from find_relations(name, lines)
        yield from find_repeated(name, lines)
        yield from find_copied(name, lines, data.columns)
        yield from find_single(name, lines, grids)


def _groups(columns: Sequence[Column]) -> dict[str, list[Column]]:
    groups: dict[str, list[Column]] = {}
    for column in columns:
        groups.setdefault(column.group, []).append(column)
    return groups
